// A session at any event, put together from what each event changed: what the server would tell of it.
import type { Drafted, ExportedTranscript, SessionPart, Transcript, TranscriptMessage } from "../wire";

/** A session after an event. */
export class Session {
  readonly #all: ExportedTranscript;
  readonly #lists = new Map<string, number[]>();
  #parts: readonly SessionPart[] | null = null;
  #drafted: Drafted | undefined;

  constructor(all: ExportedTranscript, at: number) {
    this.#all = all;
    for (const moment of all.moments) {
      if (moment.seq > at) break;
      this.#parts = moment.parts ?? this.#parts;
      this.#drafted = moment.drafted;
      for (const [id, change] of Object.entries(moment.set)) {
        const list = this.#lists.get(id) ?? [];
        list.length = change.same;
        for (const number of change.then) list.push(number);
        this.#lists.set(id, list);
      }
    }
  }

  /** Its parts, in their order; none before it began. */
  get parts(): readonly SessionPart[] {
    return this.#parts ?? [];
  }
  /** The messages of a part. */
  messages(id: string, from = 0, limit = Infinity): TranscriptMessage[] {
    const list = this.#lists.get(id) ?? [];
    return list.slice(from, from + limit).flatMap((number, k) => this.#message(number, from + k, id === "live" && from + k === list.length - 1));
  }
  #message(number: number, n: number, last: boolean): TranscriptMessage[] {
    const kept = this.#all.messages[number];
    if (kept === undefined) return [];
    if (!last || this.#drafted === undefined) return [{ ...kept, n }];
    // A draft ends here at its length at that event.
    const content = kept.content.slice(0, this.#drafted.chars);
    return [{ ...kept, n, content, tokens: this.#drafted.tokens, raw: { ...(kept.raw as Record<string, unknown>), content } }];
  }
  #tokens(id: string, list: readonly number[]): number {
    const [last] = this.messages(id, Math.max(0, list.length - 1));
    return list.slice(0, -1).reduce((sum, number) => sum + (this.#all.messages[number]?.tokens ?? 0), last?.tokens ?? 0);
  }
  /** A window of a part; null if there is no such part. */
  window(id: string, from: number, limit: number): Transcript | null {
    if (!this.parts.some((part) => part.id === id)) return null;
    const segments = this.parts.map((part) => {
      const counts = part.kind !== "tools" && part.kind !== "requests";
      const list = this.#lists.get(part.id) ?? [];
      const moments = counts && part.kind !== "system" ? list.flatMap((number) => this.#all.messages[number]?.at ?? []) : [];
      const [from, to] = [moments[0], moments.at(-1)];
      return { ...part, messages: list.length, tokens: counts ? this.#tokens(part.id, list) : 0, ...(from === undefined || to === undefined ? {} : { from, to }) };
    });
    return { segments, messages: this.messages(id, from, limit), total: this.#lists.get(id)?.length ?? 0 };
  }
}
