// What a message makes of a state. Pure: parts are replaced by their key, feed items by their id, null removes.
// The server folds journals; here nothing is worked out, so that the two cannot differ.
import type { Ask, ChangeView, Decided, EdgeView, FeedState, FlowHead, FlowRow, FlowState, ImprovementView, InboxState, Item, NodeView, Part, RoleView } from "./wire";

type Puts = Record<string, Part | null>;

/** A key's family and the rest: `edge/a/b` is `edge` and `a/b`. */
function split(key: string): [string, string] {
  const slash = key.indexOf("/");
  return slash < 0 ? [key, ""] : [key.slice(0, slash), key.slice(slash + 1)];
}

function put<T>(map: Record<string, T>, key: string, value: T | null): Record<string, T> {
  if (value !== null) return { ...map, [key]: value };
  if (!(key in map)) return map;
  const { [key]: _gone, ...rest } = map;
  return rest;
}

/** A map that is copied with its first change only, however many there are. */
class Once<T> {
  now: Record<string, T>;
  #mine = false;
  constructor(map: Record<string, T>) {
    this.now = map;
  }
  put(key: string, value: T | null): void {
    if (value === null && !(key in this.now)) return;
    if (!this.#mine) this.now = { ...this.now };
    this.#mine = true;
    if (value === null) delete this.now[key];
    else this.now[key] = value;
  }
}

/** The inbox after a message. An unknown family is left alone: a newer server may have more to say. */
export function foldInbox(state: InboxState, puts: Puts): InboxState {
  const [flows, asks] = [new Once(state.flows), new Once(state.asks)];
  let { decided } = state;
  for (const [key, value] of Object.entries(puts)) {
    const [family, name] = split(key);
    if (family === "flow") flows.put(name, value as FlowRow | null);
    else if (family === "ask") asks.put(name, value as Ask | null);
    else if (family === "decided" && value !== null) decided = value as Decided[];
  }
  return { flows: flows.now, asks: asks.now, decided };
}

/** One flow after a message. */
export function foldFlow(state: FlowState, puts: Puts): FlowState {
  let next = state;
  for (const [key, value] of Object.entries(puts)) next = foldOne(next, key, value);
  return next;
}

function foldOne(state: FlowState, key: string, value: Part | null): FlowState {
  const [family, name] = split(key);
  switch (family) {
    case "flow": return value === null ? state : { ...state, flow: value as FlowHead };
    case "order": return value === null ? state : { ...state, order: value as string[] };
    case "node": return { ...state, nodes: put(state.nodes, name, value as NodeView | null) };
    case "edge": return { ...state, edges: put(state.edges, name, value as EdgeView | null) };
    case "role": return { ...state, roles: put(state.roles, name, value as RoleView | null) };
    case "ask": return { ...state, asks: put(state.asks, name, value as Ask | null) };
    case "improvement": return { ...state, improvement: value as ImprovementView | null };
    case "change": return { ...state, changes: put(state.changes, name, value as ChangeView | null) };
    default: return state;
  }
}

/** A feed after a message: an item replaces the one of its id, else it takes its place by `first`. */
export function foldFeed(state: FeedState, news: readonly Item[]): FeedState {
  if (news.length === 0) return state;
  const items = state.items.slice();
  let total = state.total;
  for (const item of news) {
    // An item before the window comes with the older page that holds it, in its state by then.
    if (state.before !== null && item.first < state.before) continue;
    const place = placeOf(items, item.first);
    const at = indexOf(items, item, place);
    if (at >= 0) items[at] = item;
    else {
      if (place === items.length) items.push(item);
      else items.splice(place, 0, item);
      total += 1;
    }
  }
  return { ...state, items, total };
}

/** Older items in front. What is there already stays, so that a page asked for twice does nothing. */
export function foldOlder(state: FeedState, older: Item[], before: number | null): FeedState {
  const known = new Set(state.items.map((item) => item.id));
  return { ...state, items: [...older.filter((item) => !known.has(item.id)), ...state.items], before };
}

/** The position of an item that began with this record: after all that began no later. */
function placeOf(items: readonly Item[], first: number): number {
  let low = 0;
  let high = items.length;
  // News nearly always concerns the newest items.
  if (high === 0 || (items[high - 1]?.first ?? 0) <= first) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.first ?? 0) <= first) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An item of the same id. The record that began an item never changes, so it is among those of that record. */
function indexOf(items: readonly Item[], item: Item, place: number): number {
  for (let at = place - 1; at >= 0 && items[at]?.first === item.first; at -= 1) if (items[at]?.id === item.id) return at;
  return -1;
}
