// Whole texts of items, loaded on demand, a page at a time, and kept for a while.
import { SvelteMap } from "svelte/reactivity";
import { itemBody } from "../../api";
import { refKey } from "../../router";
import { asFault, store } from "../../store.svelte";
import type { BodyParts, FlowRef, Item } from "../../wire";

export type Whole = { text: string; complete: boolean; next: number; parts: BodyParts | null; seq: number; at: string };
/** Bodies kept; a feed shows a few at a time. */
const KEPT = 60;

class Bodies {
  #known = new SvelteMap<string, Whole>();
  #loading = new Set<string>();

  /** What was fetched of an item, if the item has not changed since: a repair may give its number to another one. */
  of(flow: FlowRef, item: Item): Whole | null {
    const whole = this.#known.get(keyOf(flow, item)) ?? null;
    return whole !== null && whole.seq === item.seq && whole.at === item.at ? whole : null;
  }

  /** Fetches the next page of an item. */
  load(flow: FlowRef, item: Item): void {
    const key = keyOf(flow, item);
    if (this.#loading.has(key)) return;
    const had = this.of(flow, item);
    if (had?.complete === true) return;
    this.#loading.add(key);
    void itemBody(flow, item.id, had?.next ?? 0).then((body) => {
      const oldest = this.#known.keys().next().value;
      if (this.#known.size >= KEPT && oldest !== undefined) this.#known.delete(oldest);
      this.#known.set(key, { text: (had?.text ?? "") + body.text, complete: body.next === null, next: body.next ?? 0, parts: body.parts ?? had?.parts ?? null, seq: item.seq, at: item.at });
    }, (error: unknown) => store.fail(asFault(error))).finally(() => this.#loading.delete(key));
  }
}
const keyOf = (flow: FlowRef, item: Item): string => `${refKey(flow)} ${item.id}`;
export const bodies = new Bodies();
