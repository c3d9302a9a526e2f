// Messages for a screen reader: boundaries, never tokens. At most one message in three seconds, the newest of each
// subject; what is urgent goes first.

/** Messages come no faster than this. */
const EVERY = 3_000;
/** What is older than this many subjects is dropped; a person cannot listen to more. */
const MOST = 12;

export type Spoken = { polite: string; urgent: string };

export class Announcer {
  #queue = new Map<string, { text: string; urgent: boolean }>();
  #timer: (() => void) | null = null;
  #last = Number.NEGATIVE_INFINITY;
  #said: (spoken: Spoken) => void = () => undefined;
  #now: () => number;
  #later: (after: number, run: () => void) => () => void;

  constructor(now: () => number, later: (after: number, run: () => void) => () => void) {
    this.#now = now;
    this.#later = later;
  }

  /** Where messages go. */
  to(said: (spoken: Spoken) => void): void {
    this.#said = said;
  }

  /** Says something about a subject; a later message about the same subject takes its place. */
  say(subject: string, text: string, urgent = false): void {
    this.#queue.delete(subject);
    this.#queue.set(subject, { text, urgent });
    const oldest = this.#queue.keys().next().value;
    if (this.#queue.size > MOST && oldest !== undefined) this.#queue.delete(oldest);
    if (this.#timer === null) this.#timer = this.#later(Math.max(0, this.#last + EVERY - this.#now()), () => this.#next());
  }

  #next(): void {
    this.#timer = null;
    const entries = [...this.#queue];
    const entry = entries.find(([, message]) => message.urgent) ?? entries[0];
    if (entry === undefined) return;
    this.#queue.delete(entry[0]);
    this.#last = this.#now();
    this.#said({ polite: entry[1].urgent ? "" : entry[1].text, urgent: entry[1].urgent ? entry[1].text : "" });
    if (this.#queue.size > 0) this.#timer = this.#later(EVERY, () => this.#next());
  }
}

export const announcer = new Announcer(
  () => performance.now(),
  (after, run) => {
    const timer = setTimeout(run, after);
    return () => clearTimeout(timer);
  },
);
