// A flow as it was at an event, from the views of now and the track. Pure and local: looking back sends no request.
import { NODE } from "./standing";
import { statesAt, timeAt, turnAt, type Track } from "./track";
import type { EdgeView, FlowState, Item, NodeState, NodeView, Passed, RoleView } from "./wire";

/** How long a node had worked when it was done at `seq`. */
function tookAt(track: Track, id: string, seq: number): number | null {
  const seen = (track.nodes[id] ?? []).filter((t) => t[0] <= seq);
  const last = seen[seen.length - 1];
  const began = seen.find((t) => t[1] === "running") ?? seen[0];
  if (!last || !began || last[1] !== "done") return null;
  return timeAt(track, last[0]) - timeAt(track, began[0]);
}

function nodeAt(now: NodeView, track: Track, seq: number, state: NodeState, correction: boolean, since: number | null): NodeView {
  const turn = state === "not-reached" || state === "ready" ? null : (turnAt(track, now.id, seq)?.turn ?? null);
  return {
    ...now, state, correction, turn, words: NODE[state], live: null, again: null, seq: since ?? 0, took_ms: tookAt(track, now.id, seq),
    since: since === null ? null : new Date(timeAt(track, since)).toISOString(),
  };
}

function passedAt(list: readonly Passed[], seq: number, ms: number): Passed[] {
  return list.filter((p) => p.seq <= seq).map((p) => (p.superseded_at !== null && Date.parse(p.superseded_at) > ms ? { ...p, superseded_at: null } : p));
}

function edgeAt(now: EdgeView, seq: number, ms: number): EdgeView {
  const forward = passedAt(now.forward, seq, ms);
  const backward = passedAt(now.backward, seq, ms);
  const last = forward[forward.length - 1];
  const returned = backward[backward.length - 1];
  return {
    ...now, forward, backward,
    state: !last ? "not-yet" : last.superseded_at === null ? "delivered" : "stale",
    open_correction: returned !== undefined && (last === undefined || last.seq <= returned.seq),
  };
}

function roleAt(now: RoleView, track: Track, seq: number): RoleView {
  const mine = track.turns.filter((t) => t.role === now.instance && t.from <= seq);
  const last = mine[mine.length - 1];
  const open = last && (last.to === null || last.to > seq) ? last : undefined;
  const state: RoleView["state"] = !open ? "idle" : open.kind === "waiting" ? "needs-you" : open.kind === "suspended" ? "awaiting-handoff" : "running";
  // What it had read and spent by then the track does not know: it is left out until the server says it.
  return { ...now, context_tokens: 0, tokens: 0, cost_micros: 0, last_seq: Math.min(now.last_seq, seq), state, node: last?.node ?? null, turn: last?.turn ?? null, turns: mine.filter((t) => t.kind === "turn" || t.kind === "correction").length, queued: [], tasks: [], retry_at: null };
}

export function pastOf(flow: FlowState, track: Track, seq: number): FlowState {
  const ms = timeAt(track, seq);
  const states = statesAt(track, seq);
  const nodes: Record<string, NodeView> = {};
  for (const [id, n] of Object.entries(flow.nodes)) {
    const s = states.get(id);
    nodes[id] = nodeAt(n, track, seq, s?.state ?? "not-reached", s?.correction ?? false, s?.since ?? null);
  }
  const edges: Record<string, EdgeView> = {};
  for (const [key, e] of Object.entries(flow.edges)) edges[key] = edgeAt(e, seq, ms);
  const roles: Record<string, RoleView> = {};
  for (const [id, r] of Object.entries(flow.roles)) roles[id] = roleAt(r, track, seq);
  const all = Object.values(nodes);
  const done = all.filter((n) => n.state === "done").length;
  return {
    ...flow, nodes, edges, roles, asks: {},
    flow: {
      // What was spent until then the track does not know: it is left out until the server says it.
      ...flow.flow, seq, updated_at: new Date(ms).toISOString(), tokens: 0, cached_tokens: null, cost_micros: 0, limits: {}, paused: null, stopped: false, again: null, over: false, nodes_done: done, running: all.filter((n) => n.state === "running").length,
      waits: all.filter((n) => n.state === "needs-you").length, phase: done < all.length ? "forward" : flow.flow.phase,
    },
  };
}

/** An item as it was at an event: later results are not shown. */
function itemAt(item: Item, seq: number): Item {
  if (item.seq <= seq) return item;
  const then = { ...item, seq: item.first, took_ms: null, exit: null, signal: undefined, end: undefined, added: null, removed: null, full_bytes: null, pending: true, interrupted: false, discarded: false, tasks: undefined, files: undefined };
  switch (item.type) {
    case "tool": case "tool-success": case "tool-error": return { ...then, type: "tool", text: item.text.split("\n", 1)[0] ?? "" };
    case "assistant": case "reasoning": return { ...then, text: "" };
    case "user": case "event": case "error": case "handoff": case "resume": case "repair": case "activation": return item;
  }
}
/** A feed cut at an event, from what is here. */
export const cutAt = (items: readonly Item[], seq: number): readonly Item[] => items.filter((item) => item.first <= seq).map((item) => itemAt(item, seq));
/** Whether what is here says exactly what was there: nothing that had begun by then changed later. */
export const settledAt = (items: readonly Item[], seq: number): boolean => items.every((item) => item.first > seq || item.seq <= seq);

/**
 * What the server tells of a moment, with turns that were open then as running: read back, an open
 * turn looks like one that was cut off.
 */
export function asItWas(then: FlowState, track: Track, seq: number): FlowState {
  const states = statesAt(track, seq);
  const nodes: Record<string, NodeView> = {};
  for (const [id, n] of Object.entries(then.nodes)) {
    const state = states.get(id)?.state;
    nodes[id] = n.state === "interrupted" && state === "running" ? { ...n, state, words: NODE[state] } : n;
  }
  return { ...then, nodes, flow: { ...then.flow, stopped: false, again: null } };
}
