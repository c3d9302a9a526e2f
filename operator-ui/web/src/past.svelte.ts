// A flow as it was. Looking leaves no trace: nothing is changed, and going back to now is one step.
import { SvelteMap } from "svelte/reactivity";
import { flowApi, get } from "./api";
import { refKey } from "./router";
import { asFault, store } from "./store.svelte";
import type { FlowRef, FlowState } from "./wire";

/** Moments kept; looking back and forth asks once for each. */
const KEPT = 64;
const moments = new SvelteMap<string, FlowState>();
const asked = new Set<string>();

/** The flow at a moment, or null while it is fetched. */
export function past(flow: FlowRef, at: number): FlowState | null {
  const key = `${refKey(flow)}@${at}`;
  const found = moments.get(key) ?? null;
  if (found === null && !asked.has(key)) {
    asked.add(key);
    void get<FlowState>(flowApi(flow, "state", { at })).then((state) => {
      const oldest = moments.keys().next().value;
      if (moments.size >= KEPT && oldest !== undefined) {
        moments.delete(oldest);
        asked.delete(oldest);
      }
      moments.set(key, state);
    }, (error: unknown) => {
      asked.delete(key);
      store.fail(asFault(error));
    });
  }
  return found;
}
