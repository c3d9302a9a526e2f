// What an operator can answer to each kind of ask: words, keys and commands, in one place for every screen. Pure.
import type { IconName } from "./icons";
import { RUN_A_RETROSPECTIVE } from "./said/asks";
import { ANSWER, ANSWERED, CHOICE, CHOSEN, FOR_THIS_FLOW, ONCE, raiseTo, WITH_A_REASON } from "./said/choices";
import { ORDER } from "./said/retrospective";
import { amount, capital, compare, money, spoken } from "./words";
import type { Ask, Command, Estimate, ImprovementMode, OwnTurn, Whom } from "./wire";

/** Cards are named by their place; what a role offers is, too. */
export type ChoiceId = keyof typeof CHOICE | (typeof PLACES)[number];
/** The key that chooses, by its name in the table of keys. */
export type ChoiceKey = "KeyY" | "KeyF" | "KeyN" | "KeyR" | `Digit${1 | 2 | 3 | 4 | 5}`;
export type Choice = {
  id: ChoiceId;
  words: string;
  /** The same words once it is done. */
  past: string;
  /** Further answers than there are keys have none. */
  key: ChoiceKey | null;
  primary?: boolean;
  /** It asks for a text first. */
  needsText?: boolean;
  /** It opens a dialog, in which it is chosen. */
  opens?: "budget";
  /** More about it, where there is room. */
  more?: string;
  icon?: IconName;
  command: (text: string) => Command;
};

/** Whom an answer goes to. */
export function whom(ask: Ask): Whom {
  if (ask.role !== null) return { role: ask.role };
  return ask.node !== null ? { node: ask.node } : "only";
}

const MODES = {
  "graph-based": { icon: "flow", more: "Last role first; findings flow upstream" },
  parallel: { icon: "lines", more: "Every role at the same time, the owner last" },
  none: { icon: "close", more: "Close the flow now" },
} as const;

const PLACES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"] as const;
const DIGITS = ["Digit1", "Digit2", "Digit3", "Digit4", "Digit5"] as const;

/** What a way to look back would take, in words; null when nothing is known of it. */
export function estimate(one: Estimate | undefined): string | null {
  if (one === undefined) return null;
  const cost = one.cost_micros === null ? "" : `, ${money(one.cost_micros)}`;
  return `About ${spoken(one.ms)}${cost}`;
}

/** The card of what the project chose beforehand, if the flow can do that. */
export function usualChoice(ask: Ask, mode: ImprovementMode | null): ChoiceId | null {
  if (ask.kind.kind !== "improvement" || mode === null) return null;
  return PLACES[ask.kind.modes.indexOf(mode)] ?? null;
}

/** A choice with the words that every screen has for it. */
const choice = (id: keyof typeof CHOICE, key: ChoiceKey, command: Choice["command"], more: Partial<Choice> = {}): Choice => ({ id, words: capital(CHOICE[id]), past: capital(CHOSEN[id]), key, command, ...more });
const primary = { primary: true };
const needsText = { needsText: true };

/** What can be chosen with one key or one press. A text answer and a configuration have controls of their own. */
export function choices(ask: Ask): Choice[] {
  const kind = ask.kind;
  const retry = (first: boolean): Choice => choice("retry", "KeyY", () => ({ do: "retry", to: whom(ask) }), { primary: first });
  switch (kind.kind) {
    case "consent": {
      const { consent, action } = kind;
      const list = [choice("allow", "KeyY", () => ({ do: "allow", consent, action, for_the_flow: false }), primary)];
      if (kind.for_the_flow !== null) list.push(choice("allow-flow", "KeyF", () => ({ do: "allow", consent, action, for_the_flow: true })));
      list.push(choice("deny", "KeyN", () => ({ do: "deny", consent, action })));
      list.push(choice("deny-reason", "KeyR", (reason) => ({ do: "deny", consent, action, reason }), needsText));
      return list;
    }
    case "approval": {
      const { approval } = kind;
      return [
        choice("approve", "KeyY", () => ({ do: "approve", approval }), primary),
        choice("decline", "KeyN", () => ({ do: "decline", approval })),
        choice("decline-reason", "KeyR", (reason) => ({ do: "decline", approval, reason }), needsText),
      ];
    }
    case "text": {
      const { budget } = kind;
      if (budget !== undefined) {
        const raise = (limit: number): Command => ({ do: "budget", role: budget.role, measure: budget.measure, limit });
        return [
          choice("raise", "KeyY", () => raise(budget.raise_to), { primary: true, words: capital(raiseTo(amount(budget.measure, budget.raise_to))) }),
          choice("amount", "KeyR", () => raise(budget.raise_to), { opens: "budget" }),
        ];
      }
      if (kind.turn !== undefined) return [];
      if (kind.failed !== undefined || wasStopped(ask)) return [retry(true), choice("retry-note", "KeyR", (text) => ({ do: "reply", to: whom(ask), text, asked: ask.since }), needsText)];
      return [...offers(ask), ...(kind.may_retry ? [retry(!wasDenied(ask))] : [])];
    }
    case "configuration": return [retry(false)];
    case "improvement":
      return kind.modes.map((mode, at) => ({
        id: PLACES[at] ?? "third", icon: MODES[mode].icon, words: capital(ORDER[mode]), past: mode === "none" ? capital(ORDER.none) : `Retrospective ${ORDER[mode]}`, key: DIGITS[at] ?? null,
        more: [MODES[mode].more, estimate(kind.estimates.find((one) => one.mode === mode))].filter((part) => part !== null).join(". "),
        command: () => ({ do: "improve", mode }),
      }));
    case "feedback":
      return [
        choice("grant", "KeyY", () => ({ do: "feedback", granted: true }), primary),
        choice("refuse", "KeyN", () => ({ do: "feedback", granted: false })),
      ];
    case "unpause": return [choice("continue", "KeyY", () => ({ do: "unpause" }), primary)];
    case "stalled": return [choice("resume", "KeyY", () => ({ do: "resume" }), primary)];
    case "stopped": {
      const resume = choice("resume", "KeyY", () => ({ do: "resume" }), primary);
      // Only an interrupted role gets a note.
      return ask.role === null ? [resume] : [{ ...resume, words: capital(CHOICE.continue), past: capital(CHOSEN.continue) }, choice("resume-note", "KeyR", (note) => ({ do: "resume", note }), needsText)];
    }
  }
}

// The same place can ask again later; what it asks about and since when tells the two apart.
export const nameOf = (ask: Pick<Ask, "id" | "since">): string => `${ask.id}\n${ask.since}`;
/** Under which name it is noted how much of a file that waits for approval was shown. */
export const sightOf = (ask: Ask, file: { path: string; hash: string }): string => `${nameOf(ask)}\n${file.path} ${file.hash}`;
/** What is seen to its end before an ask is granted, by those names: a call, and each file that is let through. */
export function toSee(ask: Ask): string[] {
  const { kind } = ask;
  if (kind.kind === "consent") return [nameOf(ask)];
  return kind.kind === "approval" ? [...new Set(kind.targets.map(({ artifact }) => sightOf(ask, artifact)))] : [];
}
/** How many lines of it were never shown; null while that is not known. */
export const leftOf = (ask: Ask, left: (name: string) => number | null): number | null => toSee(ask).reduce<number | null>((sum, name) => { const n = left(name); return sum === null || n === null ? null : sum + n; }, 0);
const GRANTS = new Set(["allow", "allow-flow", "approve"]);
/** Whether an answer does not count yet: what is granted was seen to its end. `left` is how many lines were not. */
export const waitsForSight = (ask: Ask, choice: Choice, left: number | null): boolean => GRANTS.has(choice.id) && left !== 0;

/** What is allowed for the flow, without the call that is shown in full above it. */
export function scopeWords(shown: string, scope: string): string {
  const call = `: ${shown}`;
  return scope.endsWith(call) ? scope.slice(0, -call.length) : scope;
}

/** How a turn of the operator's own may end, if this is one. */
export const ownTurn = (ask: Ask): OwnTurn | null => (ask.kind.kind === "text" ? (ask.kind.turn ?? null) : null);
/** Whether the answer is a text. */
export const wantsText = (ask: Ask): boolean => ask.kind.kind === "text" && ask.kind.budget === undefined && ask.kind.turn === undefined;

/** Whether it is chosen among others like it, each of which has a line of its own. */
export const isCard = (choice: Choice): boolean => (PLACES as readonly string[]).includes(choice.id);
/** What the role offered as answers with its question. */
const offered = (ask: Ask): readonly string[] => (ask.kind.kind === "text" ? (ask.kind.choices ?? []) : []);
/** What the role offered: each is one press, and is sent in its own words. */
export const offers = (ask: Ask): Choice[] => offered(ask).flatMap((text, at) => {
  const id = PLACES[at];
  return id === undefined ? [] : [{ id, words: text, past: capital(ANSWERED), key: DIGITS[at] ?? null, command: () => ({ do: "reply", to: whom(ask), text, asked: ask.since }) }];
});
/** The question without the list of what can be pressed below it. */
export function questionOf(ask: Ask): string {
  if (ask.kind.kind !== "text") return "";
  const { question } = ask.kind;
  const list = offered(ask).map((text, at) => `\n${at + 1}. ${text}`).join("");
  return list !== "" && question.endsWith(list) ? question.slice(0, -list.length).trimEnd() : question;
}

/** A turn that the operator stopped: it asks nothing, and goes on by a press. */
const wasStopped = (ask: Pick<Ask, "kind">): boolean => ask.kind.kind === "text" && ask.kind.reason === "autonomous_abort" && ask.kind.failed === undefined && ask.kind.turn === undefined && ask.kind.question === "";
/** Whether the first answer is a text: what failed, and what was stopped, is tried again first. */
export const wantsWords = (ask: Ask): boolean => wantsText(ask) && !failed(ask) && !wasStopped(ask);

/** Whether it is a failure, which is no question. */
export const failed = (ask: Ask): boolean => ask.kind.kind === "text" && (ask.kind.failed !== undefined || ask.kind.reason === "provider");
/** Whether a role waits for new instructions after a denial. */
export const wasDenied = (ask: Ask): boolean => ask.kind.kind === "text" && ask.kind.reason === "consent_denied";
/** What it was denied. */
export const denied = (ask: Ask): string | null => (ask.kind.kind === "text" ? (ask.kind.denied ?? null) : null);
/** The placeholder in an empty answer field. */
export function answerHint(ask: Ask, name = ask.role ?? "the flow"): string {
  return wasDenied(ask) ? `Tell ${name} what to do instead` : `Your answer to ${name}`;
}

/** What the field for a choice that wants a text asks for. */
export function textHint(choice: Choice, name: string): { label: string; hint: string } {
  if (choice.id === "retry-note") return { label: "What it should do instead", hint: `Tell ${name} what to do instead` };
  return choice.id === "resume-note" ? { label: "What to say before it goes on", hint: `Tell ${name} what it should know` } : { label: "Why not, and what to do instead", hint: `Tell ${name} why, and what to do instead` };
}

/** How an ask looks in a list. */
export function askIcon(ask: Ask): IconName {
  switch (ask.kind.kind) {
    case "consent": return "key";
    case "approval": return "handoff";
    case "text": return failed(ask) ? "failed" : ask.kind.turn !== undefined ? "handoff" : ask.kind.reason === "budget" ? "alert" : "question";
    case "configuration": return "sliders";
    case "improvement": return "redo";
    case "feedback": return "file";
    case "unpause": return "pause";
    case "stalled": return "alert";
    case "stopped": return "bolt";
  }
}

/** The filters above the list. */
export const FAMILIES = ["All", "Permissions", "Questions", "Handoffs"] as const;
export type Family = (typeof FAMILIES)[number];
export function family(ask: Ask): Family {
  switch (ask.kind.kind) {
    case "consent": return "Permissions";
    case "approval": return "Handoffs";
    case "text": return ask.kind.turn === undefined ? "Questions" : "Handoffs";
    case "configuration": return "Questions";
    case "improvement": case "feedback": case "unpause": case "stalled": case "stopped": return "All";
  }
}

/** What is asked in a few words, as a line begins. The name of a tool or of a role stays as it is. */
export function shortWords(ask: Pick<Ask, "short" | "kind">): string {
  if (wasStopped(ask)) return capital(CHOICE.retry);
  const [first = ""] = ask.short.split(" ", 1);
  return ask.kind.kind === "consent" && /^[a-z]+$/.test(first) ? capital(ask.short) : ask.short;
}

/** The title of what is asked, above its detail. */
export function askTitle(ask: Ask): string {
  switch (ask.kind.kind) {
    case "consent": case "approval": case "stalled": case "stopped": case "configuration": case "feedback": case "unpause": return ask.headline;
    case "text": return wasDenied(ask) ? `You denied this. What should ${ask.role ?? "the role"} do instead?` : ask.headline;
    case "improvement": return capital(RUN_A_RETROSPECTIVE);
  }
}

/** The key's label on a button. */
export const keyCap = (key: Choice["key"]): string => key?.replace(/^Key|^Digit/, "") ?? "";

/** What has no room in a row of keys. */
const SHORT: Partial<Record<ChoiceId, string>> = { allow: ONCE, "allow-flow": FOR_THIS_FLOW, "deny-reason": WITH_A_REASON, "decline-reason": WITH_A_REASON };

/** The keys that answer an ask, and what each does: only what counts for this one. */
export function keyHints(ask: Ask): { key: string; words: string }[] {
  const hints = choices(ask).filter((one) => ask.kind.kind !== "text" || !isCard(one)).map(({ id, key, words }) => ({ key: keyCap(key), words: SHORT[id] ?? words.charAt(0).toLowerCase() + words.slice(1) }));
  if (hints.some((hint) => hint.key === "R")) return hints;
  return ownTurn(ask) !== null ? [...hints, { key: "R", words: "end your turn" }] : wantsText(ask) ? [...offerHint(ask), ...hints, { key: "R", words: ANSWER }] : hints;
}

function offerHint(ask: Ask): { key: string; words: string }[] {
  const keys = offers(ask).flatMap(({ key }) => (key === null ? [] : [keyCap(key)]));
  const [first, last] = [keys[0], keys.at(-1)];
  return first === undefined ? [] : [{ key: first === last ? first : `${first}–${last}`, words: "an offered answer" }];
}

/** Requests of one tool that would do exactly the same, with the same facts; they can be allowed together. */
export function identical(ask: Ask, all: readonly Ask[]): Ask[] {
  const { kind } = ask;
  if (kind.kind !== "consent") return [ask];
  // What is shown tells most apart; the rest is only compared where that is the same.
  const like = all.filter((other) => other.kind.kind === "consent" && other.kind.tool === kind.tool && other.kind.shown === kind.shown);
  const print = fingerprint(ask);
  return like.filter((other) => fingerprint(other) === print);
}
function fingerprint(ask: Ask): string | null {
  if (ask.kind.kind !== "consent") return null;
  return JSON.stringify([ask.kind.tool, ask.kind.shown, ask.kind.facts, ask.kind.diff]);
}

/** The order of the inbox: what blocks first, then the longest wait. */
export function inOrder(asks: readonly Ask[]): Ask[] {
  return asks.slice().sort((a, b) => Number(b.blocking) - Number(a.blocking) || compare(a.since, b.since) || compare(a.id, b.id));
}
