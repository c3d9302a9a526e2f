// What belongs to this tab and no screen: its keys, what is open over it, drafts, answers on their way, snoozes.
import { SvelteMap } from "svelte/reactivity";
import { choices, nameOf, type Choice } from "./asks";
import { Keys } from "./keys";
import { look } from "./look.svelte";
import { store } from "./store.svelte";
import { Sights } from "./whole";
import type { Ask, Command } from "./wire";

export const keys = new Keys(() => look.singleKeys);

/** Which of the things without an address is open. */
class Over {
  palette = $state(false);
  help = $state(false);
  /** The inbox was asked for by a press on its link: its list takes the focus, as it does for a key. */
  inbox = $state(false);
}
export const over = new Over();

const DRAFTS = "a-society.drafts";
/** Drafts kept, and how long each may be: a browser keeps little. */
const MOST_DRAFTS = 50;

/** Text that the operator began to write. It survives leaving the screen, a reload and a lost connection. */
class Drafts {
  #texts = new SvelteMap<string, string>(readDrafts());
  /** Texts that were sent and not answered yet: they are kept too, and return to their fields if the page goes before the answer comes. */
  #onTheWay = new Set<readonly [string, string]>();
  get(key: string): string {
    return this.#texts.get(key) ?? "";
  }
  set(key: string, text: string): void {
    this.#texts.delete(key);
    if (text !== "") this.#texts.set(key, text);
    const oldest = this.#texts.keys().next().value;
    if (this.#texts.size > MOST_DRAFTS && oldest !== undefined) this.#texts.delete(oldest);
    this.#keep();
  }
  /** Takes a text to be sent. The returned function takes the outcome: refused text comes back in front of what was
   * typed since. */
  take(key: string): (ok: boolean) => void {
    const said = this.get(key);
    const way = [key, said] as const;
    this.#onTheWay.add(way);
    this.set(key, "");
    return (ok) => {
      this.#onTheWay.delete(way);
      this.#keep();
      if (!ok) this.set(key, [said, this.get(key)].filter((part) => part !== "").join("\n"));
    };
  }
  #kept(): Map<string, string> {
    const all = new Map<string, string>();
    for (const [key, text] of [...this.#onTheWay, ...this.#texts]) all.set(key, [all.get(key) ?? "", text].filter((part) => part !== "").join("\n"));
    return all;
  }
  #keep(): void {
    try {
      sessionStorage.setItem(DRAFTS, JSON.stringify([...this.#kept()]));
    } catch {
      // Nothing is kept then; what is on the screen stays.
    }
  }
}
function readDrafts(): [string, string][] {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFTS) ?? "[]") as [string, string][];
  } catch {
    return [];
  }
}
export const drafts = new Drafts();

export type Answered = { words: string; state: "sent" | "done" };

/** Answers on their way. An ask is answered once here; who else answers it is the server's to say. */
class Answers {
  #given = new SvelteMap<string, Answered>();

  of(ask: Ask): Answered | null {
    return this.#given.get(nameOf(ask)) ?? null;
  }

  /** Answers an ask with one of its choices, perhaps with the text of a draft. */
  choose(ask: Ask, choice: Choice, draft: string | null = null): boolean {
    return this.give(ask, choice.command(draft === null ? "" : drafts.get(draft).trim()), choice.past, draft);
  }

  /** Answers an ask with a command. The draft it was written in is taken, and comes back if it is refused. Says whether
   * this was the first answer to it. */
  give(ask: Ask, command: Command, words: string, draft: string | null = null): boolean {
    const name = nameOf(ask);
    if (this.#given.has(name)) return false;
    this.#given.set(name, { words, state: "sent" });
    const came = draft === null ? null : drafts.take(draft);
    void store.command(ask.flow, command).then((ack) => {
      came?.(ack.ok);
      if (ack.ok) this.#given.set(name, { words, state: "done" });
      else this.#given.delete(name);
    });
    return true;
  }

  /** Forgets answers whose asks are gone, so that the next ask of the same name can be answered. */
  sweep(open: readonly Ask[]): void {
    const names = new Set(open.map(nameOf));
    for (const [name, answered] of this.#given) if (answered.state === "done" && !names.has(name)) this.#given.delete(name);
  }
}
export const answers = new Answers();

/** How much of each call that is asked about was shown here. */
export const sights = new Sights(new SvelteMap(), new SvelteMap());

const SNOOZES = "a-society.snoozed";
export const SNOOZE_MINUTES = 30;

/** Asks put off on this machine. They still wait; they are only listed lower. */
class Snoozes {
  #until = new SvelteMap<string, number>(readSnoozes());
  until(ask: Ask, now: number): number | null {
    const until = this.#until.get(nameOf(ask)) ?? 0;
    return until > now ? until : null;
  }
  toggle(ask: Ask, now: number): void {
    const name = nameOf(ask);
    if ((this.#until.get(name) ?? 0) > now) this.#until.delete(name);
    else this.#until.set(name, now + SNOOZE_MINUTES * 60_000);
    for (const [old, until] of this.#until) if (until <= now) this.#until.delete(old);
    try {
      localStorage.setItem(SNOOZES, JSON.stringify([...this.#until]));
    } catch {
      // Put off until the page is closed.
    }
  }
}
function readSnoozes(): [string, number][] {
  try {
    return JSON.parse(localStorage.getItem(SNOOZES) ?? "[]") as [string, number][];
  } catch {
    return [];
  }
}
export const snoozes = new Snoozes();

/** The choice of a key, if the ask has it. */
export function choiceFor(ask: Ask, key: Choice["key"]): Choice | null {
  return choices(ask).find((choice) => choice.key === key) ?? null;
}
