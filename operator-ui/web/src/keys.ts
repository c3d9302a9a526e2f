// Every key of the page: where it counts, and who does it now. What it does in words is in `said/acts.ts`.
//
// A key is matched by the letter or sign that it types, as it is labelled; where it types neither, as on layouts that are not
// Latin or with Alt on some systems, by its place. Never while it repeats. In a text field
// only Alt chords and the palette act. Answers act only in the inbox or inside the bar, and only when `arm.ts` says so.
import { keyMayAnswer, typing } from "./arm";
import type { ACT } from "./said/acts";
import { chord as named } from "./system";

/** What keys do: as the table of words has it, the answers, and what is listed with another. */
export type ActionId = keyof typeof ACT | "answer-yes" | "answer-flow" | "answer-no" | "answer-reason" | "answer-second" | "answer-third" | "answer-fourth" | "answer-fifth";

type Chord = { code: string; alt?: boolean; mod?: boolean; shift?: boolean; after?: string };
export type Action = {
  id: ActionId;
  chords: Chord[];
  /** Where it counts besides everywhere outside text. */
  where: "anywhere" | "outside-text" | "answers";
};

const letter = (code: string): Chord => ({ code });
const answer = (code: string): Chord[] => [{ code }, { code, alt: true }];

export const ACTIONS: readonly Action[] = [
  { id: "palette", chords: [{ code: "KeyK", mod: true }], where: "anywhere" },
  { id: "help", chords: [{ code: "Slash", shift: true }], where: "outside-text" },
  { id: "go-inbox", chords: [{ code: "KeyI", after: "KeyG" }], where: "outside-text" },
  { id: "go-flows", chords: [{ code: "KeyF", after: "KeyG" }], where: "outside-text" },
  { id: "previous-waiting", chords: [letter("BracketLeft")], where: "outside-text" },
  { id: "next-waiting", chords: [letter("BracketRight")], where: "outside-text" },
  { id: "down", chords: [letter("KeyJ")], where: "outside-text" },
  { id: "up", chords: [letter("KeyK")], where: "outside-text" },
  { id: "open", chords: [letter("Enter")], where: "outside-text" },
  { id: "open-in-flow", chords: [letter("KeyO")], where: "outside-text" },
  { id: "answer-yes", chords: answer("KeyY"), where: "answers" },
  { id: "answer-flow", chords: answer("KeyF"), where: "answers" },
  { id: "answer-no", chords: answer("KeyN"), where: "answers" },
  { id: "answer-reason", chords: [letter("KeyR")], where: "answers" },
  { id: "answer-first", chords: answer("Digit1"), where: "answers" },
  { id: "answer-second", chords: answer("Digit2"), where: "answers" },
  { id: "answer-third", chords: answer("Digit3"), where: "answers" },
  { id: "answer-fourth", chords: answer("Digit4"), where: "answers" },
  { id: "answer-fifth", chords: answer("Digit5"), where: "answers" },
  { id: "show-all", chords: answer("KeyV"), where: "answers" },
  { id: "snooze", chords: [letter("KeyE")], where: "answers" },
  { id: "role-tab", chords: ["1", "2", "3", "4", "5", "6", "7", "8", "9"].map((n) => letter(`Digit${n}`)), where: "outside-text" },
  { id: "view", chords: [{ code: "KeyV", shift: true }], where: "outside-text" },
  { id: "find", chords: [letter("Slash")], where: "outside-text" },
  { id: "transcript", chords: [letter("KeyT")], where: "outside-text" },
  { id: "diff", chords: [letter("KeyD")], where: "outside-text" },
  { id: "stop-turn", chords: [letter("Period")], where: "outside-text" },
  { id: "previous-event", chords: [letter("Comma")], where: "outside-text" },
  { id: "next-event", chords: [letter("Semicolon")], where: "outside-text" },
  { id: "live", chords: [letter("KeyL")], where: "outside-text" },
  { id: "fork", chords: [{ code: "KeyF", shift: true }], where: "outside-text" },
  { id: "new-flow", chords: [{ code: "KeyN", shift: true }], where: "outside-text" },
  { id: "composer", chords: [letter("KeyC")], where: "outside-text" },
  { id: "region", chords: [letter("F6"), { code: "F6", shift: true }], where: "anywhere" },
  { id: "close", chords: [letter("Escape")], where: "anywhere" },
];

/** A handler says whether it did something; if not, the one before it is asked. */
export type Handler = (event: KeyboardEvent) => boolean | void;
export type AnswerHandler = {
  /** Where single letters answer: the list or the bar. */
  within: () => Element | null;
  /** When the ask was painted. */
  painted: () => number | null;
  run: (action: ActionId) => boolean;
};

/** The second key of a sequence such as G I comes within this. */
const SEQUENCE = 1_200;
const NO_LETTERS = new Set(["Enter", "F6", "Escape"]);

export class Keys {
  #handlers = new Map<ActionId, Handler[]>();
  #answers: AnswerHandler[] = [];
  #first: { code: string; at: number } | null = null;
  #singles: () => boolean;

  constructor(singles: () => boolean) {
    this.#singles = singles;
  }

  /** Takes an action over until the returned function is called. */
  on(id: ActionId, handler: Handler): () => void {
    const list = this.#handlers.get(id) ?? [];
    this.#handlers.set(id, [...list, handler]);
    return () => this.#handlers.set(id, (this.#handlers.get(id) ?? []).filter((one) => one !== handler));
  }

  /** Answers asks until the returned function is called. */
  answers(handler: AnswerHandler): () => void {
    this.#answers.push(handler);
    return () => (this.#answers = this.#answers.filter((one) => one !== handler));
  }

  /** A key went down. */
  pressed(event: KeyboardEvent): void {
    typing.note(event);
    if (event.defaultPrevented || event.repeat || event.isComposing || event.keyCode === 229) return;
    const text = inText(event.target);
    const first = this.#first !== null && event.timeStamp - this.#first.at < SEQUENCE ? this.#first.code : null;
    this.#first = null;
    const covered = isCovered();
    for (const action of ACTIONS) {
      // Under a dialog nothing is done: what it would be done to is not what is looked at. Escape is the dialog's own.
      if (covered && action.id !== "palette") continue;
      const chord = action.chords.find((one) => matches(one, event, first));
      if (chord === undefined || !this.#counts(action, chord, text)) continue;
      const done = action.where === "answers" ? this.#answer(action, chord, event, text) : this.#run(action.id, event);
      if (done) {
        event.preventDefault();
        return;
      }
    }
    if (codeOf(event).code === "KeyG" && !text && this.#singles() && !event.metaKey && !event.ctrlKey && !event.altKey) this.#first = { code: "KeyG", at: event.timeStamp };
  }

  #counts(action: Action, chord: Chord, text: boolean): boolean {
    const single = chord.alt !== true && chord.mod !== true && !NO_LETTERS.has(chord.code);
    if (single && !this.#singles()) return false;
    return !text || action.where === "anywhere" || chord.alt === true;
  }

  #run(id: ActionId, event: KeyboardEvent): boolean {
    return (this.#handlers.get(id) ?? []).toReversed().some((handler) => handler(event) !== false);
  }

  #answer(action: Action, chord: Chord, event: KeyboardEvent, text: boolean): boolean {
    for (const handler of this.#answers.toReversed()) {
      const inside = handler.within()?.contains(event.target as Node) === true;
      if (chord.alt !== true && (!inside || text)) continue;
      // Ignored, not handed on: a key that comes too early answers nothing else either.
      if (!keyMayAnswer(handler.painted(), event, typing)) return chord.alt === true;
      if (handler.run(action.id)) return true;
    }
    return false;
  }
}

const SIGNS: Readonly<Record<string, string>> = { "[": "BracketLeft", "]": "BracketRight", "/": "Slash", "?": "Slash", ".": "Period", ",": "Comma", ";": "Semicolon" };

/** Which key of the table was pressed. A sign is the same however many keys its layout wants for it. */
export function codeOf(event: Pick<KeyboardEvent, "key" | "code" | "shiftKey">): { code: string; shift: boolean } {
  const { key = "", code, shiftKey: shift } = event;
  if (/^[a-z]$/i.test(key)) return { code: `Key${key.toUpperCase()}`, shift };
  if (/^\d$/.test(key)) return { code: `Digit${key}`, shift: false };
  const sign = SIGNS[key];
  return sign === undefined ? { code, shift } : { code: sign, shift: key === "?" };
}

/** How a chord is called on this machine, such as "Shift F" or "G I". */
export function nameOfChord({ code, after, ...held }: Chord): string {
  const sign = Object.keys(SIGNS).find((one) => SIGNS[one] === code && (one === "?") === (held.shift === true));
  const key = sign ?? code.replace(/^Key|^Digit|ape$/, "");
  if (held.mod || held.alt) return (held.mod ? named.mod : named.alt)(key);
  return (after === undefined ? "" : `${nameOfChord({ code: after })} `) + (held.shift && sign === undefined ? "Shift " : "") + key;
}
/** How the first key is called that does something. */
export const keyName = (id: ActionId): string => ACTIONS.flatMap((action) => (action.id === id ? action.chords : [])).map(nameOfChord)[0] ?? "";

function matches(chord: Chord, event: KeyboardEvent, first: string | null): boolean {
  const pressed = codeOf(event);
  if (chord.code !== pressed.code) return false;
  if ((chord.after ?? null) !== first) return false;
  const mod = event.metaKey || event.ctrlKey;
  return (chord.alt ?? false) === event.altKey && (chord.mod ?? false) === mod && (chord.shift ?? false) === pressed.shift;
}

/** Whether a dialog covers the page. */
const isCovered = (): boolean => typeof document !== "undefined" && document.querySelector("dialog:modal") !== null;

/** Whether keys are text here. */
export function inText(target: EventTarget | null): boolean {
  if (typeof Element === "undefined" || !(target instanceof Element)) return false;
  if (target.closest("textarea, select, [contenteditable='true'], [contenteditable='plaintext-only']") !== null) return true;
  const input = target.closest("input");
  return input !== null && !["button", "checkbox", "radio", "range", "submit"].includes(input.type);
}
