// Looks for words in the messages of a segment while they are typed: how many have them, and which is next.
import type { TranscriptMessage } from "../../wire";
import { kindWords, toolOf } from "./map";
import { PAGE, type Pages } from "./pages.svelte";

/** How many pages are read for one look. What is behind them is looked at when it is asked for. */
const REACH = 50;
/** No look begins before the fingers rest. */
const REST_MS = 160;

export class Finding {
  /** The words that are looked for, in lower case; none while nothing is. */
  query = $state("");
  hits = $state.raw<readonly number[]>([]);
  /** How many messages were looked at. */
  seen = $state(0);
  reading = $state(false);
  readonly #pages: Pages;
  #look = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(pages: Pages) {
    this.#pages = pages;
  }
  get whole(): boolean {
    return this.seen >= this.#pages.total;
  }
  /** Something else was typed. */
  type(text: string): void {
    const query = text.trim().toLowerCase();
    if (query === this.query) return;
    clearTimeout(this.#timer);
    this.#look += 1;
    this.query = query;
    this.hits = [];
    this.seen = 0;
    this.reading = query !== "";
    if (query !== "") this.#timer = setTimeout(() => void this.read(), REST_MS);
  }
  /** Reads on: as much as one look may. */
  async read(): Promise<void> {
    clearTimeout(this.#timer);
    const look = (this.#look += 1);
    this.reading = true;
    const first = Math.floor(this.seen / PAGE);
    for (let p = first; p < first + REACH && p * PAGE < Math.max(1, this.#pages.total); p++) {
      const messages = await this.#pages.page(p);
      if (look !== this.#look) return;
      this.hits = [...this.hits, ...messages.filter((one) => one.n >= this.seen && has(one, this.query)).map((one) => one.n)];
      this.seen = Math.min(this.#pages.total, (p + 1) * PAGE);
    }
    this.reading = false;
  }
  /** The hit behind a message, or before it; round the ends. */
  next(from: number | null, by: 1 | -1): number | null {
    const { hits } = this;
    const found = by > 0 ? hits.find((n) => n > (from ?? -1)) : hits.findLast((n) => n < (from ?? Infinity));
    return found ?? (by > 0 ? hits[0] : hits.at(-1)) ?? null;
  }
  end(): void {
    clearTimeout(this.#timer);
    this.#look += 1;
  }
}

function has(message: TranscriptMessage, query: string): boolean {
  const tool = toolOf(message.raw);
  return message.content.toLowerCase().includes(query) || kindWords(message.kind).toLowerCase().includes(query) || (tool?.includes(query) ?? false);
}

/** The browser's own marks, where it has them: nothing in the page is changed by them. */
const NAME = "found";
/** More places than an eye follows. */
const MARKS_MAX = 500;
/** Marks the words wherever they are in these parts of the page. */
export function mark(roots: readonly (Element | null)[], query: string): void {
  if (!("highlights" in CSS)) return;
  const ranges: Range[] = [];
  if (query !== "") for (const root of roots) {
    if (root === null) continue;
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node !== null && ranges.length < MARKS_MAX; node = walk.nextNode()) {
      const low = (node.nodeValue ?? "").toLowerCase();
      // Lower case may have another length in some scripts; then nothing is marked.
      if (low.length !== node.nodeValue?.length) continue;
      for (let at = low.indexOf(query); at >= 0 && ranges.length < MARKS_MAX; at = low.indexOf(query, at + query.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + query.length);
        ranges.push(range);
      }
    }
  }
  if (ranges.length === 0) CSS.highlights.delete(NAME);
  else CSS.highlights.set(NAME, new Highlight(...ranges));
}
