// A flow as it was. Looking leaves no trace: nothing is changed, and going back to now is one step.
//
// While the playhead moves, the address stays and nothing is asked: the picture comes from the track.
// Where it rests, the address says the moment and the server is asked once for the exact words.
import { SvelteMap } from "svelte/reactivity";
import { flowApi, get } from "./api";
import { nav } from "./nav.svelte";
import { asItWas, pastOf } from "./past";
import { refKey, type FlowRoute } from "./router";
import { asFault, store } from "./store.svelte";
import { complete, extend, type Track } from "./track";
import type { FlowRef, FlowState } from "./wire";

/** Moments kept; looking back and forth asks once for each. */
const KEPT = 64;
/** Keys pressed within this are one movement. */
const REST_MS = 350;
const moments = new SvelteMap<string, FlowState>();
const asked = new Set<string>();
const nameOf = (flow: FlowRef, at: number): string => `${refKey(flow)}@${at}`;

function ask(flow: FlowRef, at: number): void {
  const key = nameOf(flow, at);
  if (moments.has(key) || asked.has(key)) return;
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

class Looking {
  /** Which flow the track is of. */
  #of = $state<string | null>(null);
  #track = $state.raw<Track | null>(null);
  /** The playhead moves: nothing may be asked. */
  moving = $state(false);
  #before: FlowState | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  track(flow: FlowRef): Track | null {
    return this.#of === refKey(flow) ? this.#track : null;
  }

  /** Follows the live views of a flow; its track is asked for once and then extended here. */
  follow(flow: FlowRef, now: FlowState): void {
    const key = refKey(flow);
    if (this.#of !== key) {
      this.#of = key;
      this.#track = null;
      this.#before = now;
      get<Track>(flowApi(flow, "track")).then((track) => { if (this.#of === key) this.#track = complete(track, now); }, (error: unknown) => {
        if (this.#of === key) this.#of = null;
        store.fail(asFault(error));
      });
      return;
    }
    const before = this.#before;
    this.#before = now;
    if (this.#track && before && before !== now && now.flow.seq > this.#track.head) {
      this.#track = extend(this.#track, before, now, now.flow.seq, Date.parse(now.flow.updated_at));
    }
  }

  /** Moves the playhead of a flow's screen; null is now. */
  go(route: FlowRoute, at: number | null, rest: boolean): void {
    clearTimeout(this.#timer);
    this.moving = true;
    nav.route = { ...route, at };
    if (rest) this.#timer = setTimeout(() => this.rest(), REST_MS);
  }
  /** The playhead stays where it is. */
  rest(): void {
    clearTimeout(this.#timer);
    if (!this.moving) return;
    this.moving = false;
    if (nav.route.page === "flow") nav.replace(nav.route);
  }
}
export const looking = new Looking();

/** The flow at a moment, or null while it is fetched. */
export function past(flow: FlowRef, at: number, now: FlowState | null = null): FlowState | null {
  const exact = moments.get(nameOf(flow, at));
  const track = looking.track(flow);
  if (exact) return track ? asItWas(exact, track, at) : exact;
  if (!looking.moving) ask(flow, at);
  return now && track ? pastOf(now, track, at) : null;
}
