// The flow at any event, put together from what each event changed. The same views come out that the server would
// send, so that the page shows them without knowing where they came from.
import type { FlowState, Moment } from "../wire";

type Views = Map<string, Record<string, unknown> | null>;

/** How far apart moments are that are kept whole, so that going back does not begin at the beginning. */
const KEPT_EVERY = 500;

export class Moments {
  #list: readonly Moment[];
  #kept: Views[] = [new Map()];

  constructor(list: readonly Moment[]) {
    this.#list = list;
  }

  /** The flow after an event; null before there was anything. */
  at(seq: number): FlowState | null {
    let to = 0;
    for (let low = 0, high = this.#list.length; low < high;) {
      const middle = (low + high) >> 1;
      if ((this.#list[middle]?.seq ?? 0) <= seq) low = to = middle + 1;
      else high = middle;
    }
    const from = Math.min(Math.floor(to / KEPT_EVERY), this.#kept.length - 1);
    const views: Views = new Map(this.#kept[from]);
    for (let at = from * KEPT_EVERY; at < to; at += 1) {
      if (at > 0 && at % KEPT_EVERY === 0 && this.#kept.length === at / KEPT_EVERY) this.#kept.push(new Map(views));
      const moment = this.#list[at];
      if (moment !== undefined) changed(views, moment);
    }
    return assembled(views, seq);
  }
}

function changed(views: Views, moment: Moment): void {
  for (const [key, view] of Object.entries(moment.set)) {
    if (view === null) views.delete(key);
    else views.set(key, view as Record<string, unknown>);
  }
  for (const [key, some] of Object.entries(moment.merge)) views.set(key, { ...views.get(key), ...some });
}

function assembled(views: Views, seq: number): FlowState | null {
  const head = views.get("flow");
  if (head == null) return null;
  const state: Record<string, unknown> = { flow: { ...head, seq }, order: views.get("order") ?? [], improvement: views.get("improvement") ?? null };
  const families: Record<string, Record<string, unknown>> = { node: {}, edge: {}, role: {}, ask: {}, change: {} };
  for (const [key, view] of views) {
    const slash = key.indexOf("/");
    const family = families[key.slice(0, Math.max(0, slash))];
    if (family !== undefined) family[key.slice(slash + 1)] = view;
  }
  return { ...state, nodes: families.node, edges: families.edge, roles: families.role, asks: families.ask, changes: families.change } as unknown as FlowState;
}
