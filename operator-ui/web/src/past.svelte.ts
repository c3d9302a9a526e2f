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

/** More events than this at once are a past that was missed, and not a live flow. */
const AT_ONCE = 50;
/** A track with what each of these states changed. */
const goneOn = (track: Track, states: readonly FlowState[]): Track => states.slice(1).reduce((all, now, at) => extend(all, states[at] as FlowState, now, now.flow.seq, Date.parse(now.flow.updated_at)), track);

/** Whether a turn began and ended between two states. */
const skipped = (before: FlowState, now: FlowState): boolean => Object.values(now.nodes).some((node) => { const was = before.nodes[node.id]; return node !== was && node.state === "done" && (was === undefined || was.state === "not-reached" || was.state === "ready"); });

class Looking {
  /** Which flow the track is of. */
  #of = $state<string | null>(null);
  #track = $state.raw<Track | null>(null);
  /** The playhead moves: nothing may be asked. */
  moving = $state(false);
  /** The last state, and those that came since the track was asked for. */
  #seen: FlowState[] = [];
  #asks = false;
  #missed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  track(flow: FlowRef): Track | null {
    return this.#of === refKey(flow) ? this.#track : null;
  }

  /** Follows the live views of a flow: its track is asked for, and then extended here by what each view changes. */
  follow(flow: FlowRef, now: FlowState): void {
    const key = refKey(flow);
    const before = this.#of === key ? this.#seen.at(-1) : undefined;
    if (before === now) return;
    if (before === undefined) {
      this.#of = key;
      this.#track = null;
      this.#ask(flow, now);
      return;
    }
    this.#seen = this.#asks ? [...this.#seen, now] : [now];
    if (this.#track !== null) this.#track = goneOn(this.#track, [before, now]);
    // Of what came at once only the end is in the view.
    if (now.flow.seq > before.flow.seq + AT_ONCE || skipped(before, now)) this.#missed = true;
    if (!this.#asks && this.#missed) this.#ask(flow, now);
  }

  /** What happens from now on is not followed, or not step by step. */
  miss(): void {
    this.#missed = true;
  }

  #ask(flow: FlowRef, now: FlowState): void {
    const key = refKey(flow);
    this.#asks = true;
    this.#missed = false;
    this.#seen = [now];
    get<Track>(flowApi(flow, "track")).then((track) => {
      if (this.#of !== key) return;
      this.#asks = false;
      this.#track = goneOn(complete(track, now), this.#seen);
    }, (error: unknown) => {
      if (this.#of !== key) return;
      this.#asks = false;
      if (this.#track === null) {
        this.#of = null;
        store.fail(asFault(error));
      } else this.#missed = true;
    });
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
