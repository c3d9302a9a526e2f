// The messages of one segment, fetched a page at a time as they come near the eye.
import { SvelteMap } from "svelte/reactivity";
import { flowApi, get, Refused } from "../../api";
import { asFault, store } from "../../store.svelte";
import type { FlowRef, Segment, Transcript, TranscriptMessage } from "../../wire";

export const PAGE = 200;
/** Pages held at once: a transcript of 100,000 messages is 500. */
const HELD = 40;

export class Pages {
  segments = $state.raw<Segment[]>([]);
  total = $state(0);
  ready = $state(false);
  problem = $state<string | null>(null);
  /** There is no such session: the role has not begun. */
  none = $state(false);
  /** There is a session, and no such part of it. */
  nowhere = $state(false);
  readonly #pages = new SvelteMap<number, TranscriptMessage[]>();
  /** Pages on their way: who asks for one of them again waits for the same answer. */
  readonly #asked = new Map<number, Promise<TranscriptMessage[]>>();
  readonly #stop = new AbortController();
  readonly #flow: FlowRef;
  readonly #role: string;
  readonly #seg: string;
  readonly #at: number | null;

  constructor(flow: FlowRef, role: string, seg: string, at: number | null) {
    this.#flow = flow;
    this.#role = role;
    this.#seg = seg;
    this.#at = at;
  }

  /** The message at a place, if its page is here. */
  at(n: number): TranscriptMessage | undefined {
    return this.#pages.get(Math.floor(n / PAGE))?.find((m) => m.n === n);
  }
  held(): TranscriptMessage[] {
    return [...this.#pages].sort((a, b) => a[0] - b[0]).flatMap(([, list]) => list);
  }
  /** The index of the last message that was there at an event. */
  async locate(event: number): Promise<number> {
    await this.page(0);
    let [low, high] = [0, Math.floor(Math.max(0, this.total - 1) / PAGE)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const [first] = await this.page(middle);
      if ((first?.seq ?? 0) <= event) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, (await this.page(low)).findLast((one) => (one.seq ?? 0) <= event)?.n ?? 0);
  }
  see(from: number, to: number): void {
    for (let p = Math.floor(from / PAGE); p <= Math.floor(Math.max(from, to - 1) / PAGE); p++) void this.page(p);
  }

  page(p: number): Promise<TranscriptMessage[]> {
    const here = this.#pages.get(p);
    if (here) return Promise.resolve(here);
    const asked = this.#asked.get(p) ?? this.#fetch(p).finally(() => this.#asked.delete(p));
    this.#asked.set(p, asked);
    return asked;
  }
  async #fetch(p: number): Promise<TranscriptMessage[]> {
    try {
      const told = await get<Transcript>(flowApi(this.#flow, `role/${encodeURIComponent(this.#role)}/transcript`, { seg: this.#seg, from: p * PAGE, limit: PAGE, at: this.#at }), this.#stop.signal);
      this.segments = told.segments;
      this.total = told.total;
      this.ready = true;
      this.problem = null;
      this.none = false;
      for (const old of this.#pages.keys()) {
        if (this.#pages.size < HELD) break;
        this.#pages.delete(old);
      }
      this.#pages.set(p, told.messages);
      return told.messages;
    } catch (error) {
      if (this.#stop.signal.aborted) return [];
      // A lost connection has its own notice, and the missing page is loaded when it is back.
      if (!(error instanceof Refused)) return [];
      this.nowhere = error.fault.code === "part-not-found";
      this.none = error.status === 404 && !this.nowhere && p === 0;
      if (this.nowhere) void this.#parts();
      this.problem = error.fault.what;
      return [];
    }
  }

  /** Which parts there are, where there is not the one that was asked for. */
  async #parts(): Promise<void> {
    const told = get<Transcript>(flowApi(this.#flow, `role/${encodeURIComponent(this.#role)}/transcript`, { limit: 1, at: this.#at }), this.#stop.signal);
    this.segments = await told.then(({ segments }) => segments, () => []);
  }

  /** There is more: the last page is asked for again. */
  refresh(): void {
    const last = Math.floor(Math.max(0, this.total - 1) / PAGE);
    const grown = this.total - last * PAGE < PAGE ? last : last + 1;
    void get<Transcript>(flowApi(this.#flow, `role/${encodeURIComponent(this.#role)}/transcript`, { seg: this.#seg, from: grown * PAGE, limit: PAGE, at: this.#at }), this.#stop.signal).then((told) => {
      this.segments = told.segments;
      this.total = told.total;
      this.#pages.set(grown, told.messages);
    }, (error: unknown) => { if (!this.#stop.signal.aborted && error instanceof Refused) store.fail(asFault(error)); });
  }
  end(): void {
    this.#stop.abort();
  }
}
