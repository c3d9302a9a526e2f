//! The past of a flow, read from its track: node states, lanes, blocks and hops at any event.
//!
//! A track holds transitions only, so moving the playhead is a binary search and asks the server
//! nothing. Live events extend the track here too, from the views that arrive anyway.
import type { NodeState, Track, TrackKind } from './wire';
export type { NodeState, Track };

export type Transition = [seq: number, state: NodeState, correction: boolean];

/** Index of the last entry whose key is not above `x`, or -1. */
export function lastAtMost<T>(list: readonly T[], x: number, key: (item: T) => number): number {
  let lo = 0;
  let hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (key(list[mid] as T) <= x) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}

const first = (e: readonly [number, ...unknown[]]): number => e[0];

/** The state of a node when event `seq` was the last one. */
export function stateAt(transitions: readonly Transition[] | undefined, seq: number): Transition | null {
  if (!transitions) return null;
  return transitions[lastAtMost(transitions, seq, first)] ?? null;
}

/** All nodes at once. A node the track does not know was not reached. */
export function statesAt(track: Track, seq: number): Map<string, { state: NodeState; correction: boolean; since: number | null }> {
  const out = new Map<string, { state: NodeState; correction: boolean; since: number | null }>();
  for (const [id, list] of Object.entries(track.nodes)) {
    const hit = stateAt(list, seq);
    out.set(id, { state: hit?.[1] ?? 'not-reached', correction: hit?.[2] ?? false, since: hit?.[0] ?? null });
  }
  return out;
}

/** A sparse clock may end before the last event; the flow itself says when that was. */
export function complete(track: Track, now: { flow: { seq: number; updated_at: string } }): Track {
  const last = track.at[track.at.length - 1];
  const ms = Date.parse(now.flow.updated_at);
  if (now.flow.seq < track.head || Number.isNaN(ms) || (last && (last[0] >= track.head || last[1] > ms))) return track;
  return { ...track, at: [...track.at, [track.head, ms]] };
}

/** When event `seq` happened, between two known moments in proportion. */
export function timeAt(track: Track, seq: number): number {
  return along(track.at, seq, 0, 1);
}

/** The last event that had happened at `ms`. */
export function seqAt(track: Track, ms: number): number {
  const last = track.at[track.at.length - 1];
  if (last && ms >= last[1]) return track.head;
  return Math.max(0, Math.floor(along(track.at, ms, 1, 0) + 1e-6));
}

function along(clock: readonly [number, number][], x: number, from: 0 | 1, to: 0 | 1): number {
  const i = lastAtMost(clock, x, (e) => e[from]);
  const a = clock[i];
  const b = clock[i + 1];
  if (!a) return clock[0]?.[to] ?? 0;
  if (!b || b[from] === a[from]) return a[to];
  return a[to] + ((x - a[from]) / (b[from] - a[from])) * (b[to] - a[to]);
}

// ── the axis ──────────────────────────────────────────────────────────────────────────────────

export interface Piece {
  from: number;
  to: number;
  /** Its place on the strip, 0 to 1. */
  a: number;
  b: number;
  /** Nothing ran: drawn narrower than its time. */
  idle: boolean;
}
export interface Scale {
  from: number;
  to: number;
  pieces: Piece[];
}

/** An idle stretch longer than this and than this share of the work is drawn narrow. */
const IDLE_MIN_MS = 120_000;
const IDLE_SHARE = 0.15;
/** What a narrowed stretch takes of the strip. */
const IDLE_WIDTH = 0.025;
/** More than these many narrowed stretches would eat the strip: the longest are narrowed first. */
const IDLE_MOST = 12;
/** Room after the last event: a running flow does not touch the edge. */
const TAIL = 0.045;

/** A scale from time to the strip. Nights without work are narrowed, or the work would be a line. */
export function scaleOf(track: Track, now: number | null): Scale {
  const begin = track.at[0]?.[1] ?? now ?? 0;
  const end = Math.max(track.at[track.at.length - 1]?.[1] ?? begin, now ?? 0, begin + 1);
  const busy: [number, number][] = [];
  for (const t of track.turns) {
    if (t.kind === 'suspended' || t.kind === 'waiting') continue;
    busy.push([timeAt(track, t.from), t.to === null ? end : timeAt(track, t.to)]);
  }
  busy.sort((x, y) => x[0] - y[0]);
  const gaps: [number, number][] = [];
  let seen = begin;
  let work = 0;
  for (const [a, b] of busy) {
    if (a > seen) gaps.push([seen, a]);
    if (b > seen) {
      work += b - Math.max(a, seen);
      seen = b;
    }
  }
  if (end > seen) gaps.push([seen, end]);
  // Where nothing ran at all there is nothing to make room for.
  const limit = work === 0 ? Infinity : Math.max(IDLE_MIN_MS, work * IDLE_SHARE);
  const narrow = gaps.filter(([a, b]) => b - a > limit)
    .sort((x, y) => y[1] - y[0] - (x[1] - x[0])).slice(0, IDLE_MOST).sort((x, y) => x[0] - y[0]);
  const idle = narrow.reduce((sum, [a, b]) => sum + (b - a), 0);
  const real = Math.max(1, end - begin - idle);
  const room = 1 - TAIL - narrow.length * IDLE_WIDTH;
  const pieces: Piece[] = [];
  let t = begin;
  let at = 0;
  const push = (to: number, isIdle: boolean): void => {
    if (to <= t) return;
    const width = isIdle ? IDLE_WIDTH : ((to - t) / real) * room;
    pieces.push({ from: t, to, a: at, b: at + width, idle: isIdle });
    t = to;
    at += width;
  };
  for (const [a, b] of narrow) {
    push(a, false);
    push(b, true);
  }
  push(end, false);
  return { from: begin, to: end, pieces };
}

export function place(scale: Scale, ms: number): number {
  const i = Math.max(0, lastAtMost(scale.pieces, ms, (p) => p.from));
  const p = scale.pieces[i];
  if (!p) return 0;
  const share = Math.min(1, Math.max(0, (ms - p.from) / Math.max(1, p.to - p.from)));
  return p.a + share * (p.b - p.a);
}

export function unplace(scale: Scale, x: number): number {
  const i = Math.max(0, lastAtMost(scale.pieces, x, (p) => p.a));
  const p = scale.pieces[i];
  if (!p) return scale.from;
  const share = Math.min(1, Math.max(0, (x - p.a) / Math.max(1e-9, p.b - p.a)));
  return p.from + share * (p.to - p.from);
}

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];

/** Round times that fit on the strip, `most` of them or fewer. */
export function ticks(scale: Scale, most: number, offsetMinutes = 0): { ms: number; at: number }[] {
  const live = scale.pieces.filter((p) => !p.idle).reduce((s, p) => s + (p.to - p.from), 0);
  const step = (STEPS_S.find((s) => live / (s * 1000) <= most) ?? 604800) * 1000;
  const out: { ms: number; at: number }[] = [];
  const near = 0.8 / Math.max(1, most);
  const shift = offsetMinutes * 60_000;
  for (const p of scale.pieces) {
    if (p.idle) continue;
    for (let ms = Math.ceil((p.from - shift) / step) * step + shift; ms <= p.to; ms += step) {
      const at = place(scale, ms);
      const before = out[out.length - 1];
      if (!before || at - before.at >= near) out.push({ ms, at });
    }
  }
  if (out.length === 0) out.push({ ms: scale.from, at: 0 });
  return out;
}

// ── lanes ─────────────────────────────────────────────────────────────────────────────────────

export type BlockKind = 'turn' | 'running' | 'correction' | 'waiting' | 'suspended';
export interface Block {
  a: number;
  b: number;
  kind: BlockKind;
  from: number;
  to: number | null;
  turn: number | null;
  node: string | null;
}
export interface Lane {
  role: string;
  blocks: Block[];
  marks: { at: number; seq: number; kind: string }[];
}
export interface Strip {
  lanes: Lane[];
  hops: { at: number; seq: number; from: number; to: number; backward: boolean; path: string }[];
}

/** Blocks nearer than this share of the strip melt into one: a strip of 10,000 turns draws a few hundred. */
const MELT = 0.0012;

/** Everything the strip draws, in the order roles first worked. */
export function strip(track: Track, scale: Scale): Strip {
  const rows = new Map<string, Lane>();
  const lane = (role: string): Lane => {
    const known = rows.get(role);
    if (known) return known;
    const made: Lane = { role, blocks: [], marks: [] };
    rows.set(role, made);
    return made;
  };
  for (const t of [...track.turns].sort((x, y) => x.from - y.from)) {
    const a = place(scale, timeAt(track, t.from));
    const b = t.to === null ? place(scale, scale.to) : place(scale, timeAt(track, t.to));
    const kind: BlockKind = t.to === null && t.kind === 'turn' ? 'running' : t.kind;
    const { blocks } = lane(t.role);
    const before = blocks[blocks.length - 1];
    if (before && before.kind === kind && a - before.b < MELT && b - before.a < MELT * 4) {
      before.b = Math.max(before.b, b);
      before.to = t.to;
      continue;
    }
    blocks.push({ a, b, kind, from: t.from, to: t.to, turn: t.turn, node: t.node });
  }
  for (const m of track.marks) lane(m.role).marks.push({ at: place(scale, timeAt(track, m.seq)), seq: m.seq, kind: m.kind });
  const lanes = [...rows.values()];
  const index = new Map(lanes.map((l, i) => [l.role, i]));
  const hops: Strip['hops'] = [];
  for (const h of track.hops) {
    const from = index.get(h.from_role);
    const to = index.get(h.to_role);
    if (from === undefined || to === undefined || from === to) continue;
    const at = place(scale, timeAt(track, h.seq));
    const before = hops[hops.length - 1];
    if (before && before.from === from && before.to === to && at - before.at < MELT) continue;
    hops.push({ at, seq: h.seq, from, to, backward: h.backward, path: h.path });
  }
  return { lanes, hops };
}

/** The roles at work at an event, for the words of the slider. */
export function runningAt(track: Track, seq: number): string[] {
  const out: string[] = [];
  for (const t of track.turns) {
    if (t.from <= seq && (t.to === null || t.to > seq) && (t.kind === 'turn' || t.kind === 'correction') && t.node !== null && !out.includes(t.node)) out.push(t.node);
  }
  return out;
}

/** The event a turn step leads to: the next (or previous) beginning of a turn of any role. */
export function turnStep(track: Track, seq: number, by: 1 | -1): number {
  const starts = [...new Set(track.turns.map((t) => t.from))].sort((a, b) => a - b);
  if (by > 0) return starts[lastAtMost(starts, seq, (s) => s) + 1] ?? track.head;
  return starts[lastAtMost(starts, seq - 1, (s) => s)] ?? 0;
}

/** The turn a node was in at an event. */
export function turnAt(track: Track, node: string, seq: number): Track['turns'][number] | null {
  let hit: Track['turns'][number] | null = null;
  for (const t of track.turns) if (t.node === node && t.from <= seq && (!hit || t.from >= hit.from)) hit = t;
  return hit;
}

// ── live ──────────────────────────────────────────────────────────────────────────────────────

/** What of the views the track follows. */
export interface Seen {
  nodes: Record<string, { role: string; state: NodeState; turn: number | null; correction: boolean }>;
  edges: Record<string, { from: string; to: string; forward: { artifact: { path: string }; seq: number }[]; backward: { artifact: { path: string }; seq: number }[] }>;
  roles: Record<string, { archives: string[] }>;
}

const KIND: Record<NodeState, TrackKind | null> = {
  'not-reached': null, ready: null, running: 'turn', 'needs-you': 'waiting', suspended: 'suspended',
  done: null, failed: null, interrupted: null,
};

/**
 * Extends a track by what a batch of events changed in the views. `before` and `after` are the same
 * object for a view that did not change, which is how a big flow stays cheap.
 */
export function extend(track: Track, before: Seen, after: Seen, seq: number, ms: number): Track {
  if (seq <= track.head) return track;
  const last = track.at[track.at.length - 1];
  const at = last && last[1] >= ms ? track.at : [...track.at, [seq, ms] as [number, number]];
  let { nodes, turns, hops, marks } = track;
  const close = (node: string): void => {
    turns = turns.map((t) => (t.node === node && t.to === null ? { ...t, to: seq } : t));
  };
  for (const [id, now] of Object.entries(after.nodes)) {
    const was = before.nodes[id];
    if (was === now) continue;
    const moved = !was || was.state !== now.state || was.correction !== now.correction;
    if (moved) nodes = { ...nodes, [id]: [...(nodes[id] ?? []), [seq, now.state, now.correction]] };
    if (!moved && was.turn === now.turn) continue;
    close(id);
    const kind = KIND[now.state];
    if (kind) {
      turns = [...turns, {
        role: now.role, node: id, turn: now.turn, from: seq, to: null,
        kind: kind === 'turn' && now.correction ? 'correction' : kind,
      }];
    }
  }
  for (const [key, now] of Object.entries(after.edges)) {
    const was = before.edges[key];
    if (was === now) continue;
    const from_role = after.nodes[now.from]?.role ?? now.from;
    const to_role = after.nodes[now.to]?.role ?? now.to;
    for (const p of now.forward) if (p.seq > track.head) hops = [...hops, { seq: p.seq, from_role, to_role, backward: false, path: p.artifact.path }];
    for (const p of now.backward) if (p.seq > track.head) hops = [...hops, { seq: p.seq, from_role: to_role, to_role: from_role, backward: true, path: p.artifact.path }];
  }
  for (const [role, now] of Object.entries(after.roles)) {
    if ((before.roles[role]?.archives.length ?? now.archives.length) < now.archives.length) marks = [...marks, { seq, role, kind: 'compaction' }];
  }
  return { head: seq, at, nodes, turns, hops, marks };
}
