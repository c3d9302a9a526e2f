//! Where the cards of a graph are and how its edges run.
//!
//! dagre decides the order inside ranks and the position across them; the position along the
//! flow, the channels edges run in and the room for artifact chips are ours, because the cards
//! must not move when one of them gets a live line. Pure: the same topology gives the same picture.

export type Direction = 'TB' | 'LR';
export type Pair = readonly [from: string, to: string];
export interface Topology {
  nodes: readonly string[];
  edges: readonly Pair[];
}
export interface Point {
  x: number;
  y: number;
}
export interface Box extends Point {
  w: number;
  h: number;
}
/** Positions across the flow, as dagre found them: small, and what is cached. */
export interface Order {
  /** Ids of each rank, in order. */
  ranks: string[][];
  /** Centre of each node across the flow. */
  cross: Record<string, number>;
  /** For an edge longer than one rank: its centre in every rank it passes. */
  via: Record<string, number[]>;
}
export interface Placed {
  dir: Direction;
  width: number;
  height: number;
  boxes: Map<string, Box>;
  rank: Map<string, number>;
  ranks: string[][];
  edges: Map<string, PlacedEdge>;
}
export interface PlacedEdge {
  from: string;
  to: string;
  points: Point[];
  /** Middle of the piece that leaves the source, and of the one that enters the target. */
  leave: Point;
  enter: Point;
}

export const CARD_WIDTH = 188;
export const CARD_HEIGHT = 52;
/** A card with a live line: it grows into the gap below it, the others stay. */
export const CARD_TALL = 72;
/** Between two ranks joined by straight edges only: a chip fits, below a tall card too. */
const GAP_STRAIGHT = 48;
/** Room for a chip on the piece that leaves a card, and on the piece that enters one. */
const STUB_OUT = 52;
const STUB_IN = 30;
/** Between two channels of the same gap. */
const CHANNEL = 10;
/** Across a flow that runs left to right, chips lie along the edge and need their length. */
const LONG_STRAIGHT = 148;
const LONG_OUT = 132;
const LONG_IN = 26;
/** Corner radius of an edge. */
const RADIUS = 10;
/** Margin across the flow, where corrections run, and along it. */
const MARGIN = 30;
const MARGIN_ALONG = 14;
/** Above this many nodes dagre runs in a worker: it takes longer than a frame. */
export const WORKER_ABOVE = 150;
/** Layouts remembered: a session sees few topologies, a replay many. */
const CACHE_MAX = 24;

export const edgeKey = (from: string, to: string): string => `${from}\n${to}`;

/** Names the shape of a graph: what moves no card does not change it. */
export function topologyHash(t: Topology, dir: Direction): string {
  let h = 0x811c9dc5;
  const eat = (text: string): void => {
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    h = Math.imul(h ^ 0x1f, 0x01000193);
  };
  for (const n of t.nodes) eat(n);
  eat('|');
  for (const [a, b] of t.edges) eat(edgeKey(a, b));
  return `${dir}${t.nodes.length}.${t.edges.length}.${(h >>> 0).toString(36)}`;
}

interface Hop {
  key: string;
  /** The gap it turns in: between rank `gap` and the next. */
  gap: number;
  a: number;
  b: number;
  first: boolean;
  last: boolean;
  from: string;
  to: string;
}

/** One piece per gap an edge crosses. */
function hopsOf(t: Topology, o: Order, rank: Map<string, number>): Hop[] {
  const out: Hop[] = [];
  for (const [from, to] of t.edges) {
    const ra = rank.get(from);
    const rb = rank.get(to);
    if (ra === undefined || rb === undefined || rb <= ra) continue;
    const key = edgeKey(from, to);
    const stops = [o.cross[from] ?? 0, ...(o.via[key] ?? []), o.cross[to] ?? 0];
    for (let i = 0; i + 1 < stops.length; i++) {
      out.push({
        key, from, to, gap: ra + i, a: stops[i] ?? 0, b: stops[i + 1] ?? 0,
        first: i === 0, last: i + 2 === stops.length,
      });
    }
  }
  return out;
}

/** Gives every turning piece of a gap a channel, so that two that cross do not lie on each other. */
function channelsOf(hops: readonly Hop[]): { channel: Map<Hop, number>; count: number } {
  const outOf = new Map<string, number>();
  for (const h of hops) if (h.first) outOf.set(h.from, (outOf.get(h.from) ?? 0) + 1);
  // Pieces of one fan share their channel: it reads as a bus.
  const groups = new Map<string, { lo: number; hi: number; hops: Hop[] }>();
  for (const h of hops) {
    if (Math.abs(h.a - h.b) < 1) continue;
    const bus = h.first && (outOf.get(h.from) ?? 0) > 1 ? `o${h.from}` : h.last ? `i${h.to}` : `v${h.key}`;
    const lo = Math.min(h.a, h.b);
    const hi = Math.max(h.a, h.b);
    const g = groups.get(bus);
    if (g) {
      g.lo = Math.min(g.lo, lo);
      g.hi = Math.max(g.hi, hi);
      g.hops.push(h);
    } else groups.set(bus, { lo, hi, hops: [h] });
  }
  const channel = new Map<Hop, number>();
  const taken: number[] = [];
  for (const g of [...groups.values()].sort((x, y) => x.lo - y.lo || x.hi - y.hi)) {
    let c = taken.findIndex((end) => end + 4 < g.lo);
    if (c < 0) c = taken.push(-Infinity) - 1;
    taken[c] = g.hi;
    for (const h of g.hops) channel.set(h, c);
  }
  return { channel, count: taken.length };
}

/** The quick half: an order becomes boxes and lines. */
export function place(t: Topology, o: Order, dir: Direction): Placed {
  const tb = dir === 'TB';
  const deep = tb ? CARD_HEIGHT : CARD_WIDTH;
  const across = tb ? CARD_WIDTH : CARD_HEIGHT;
  const rank = new Map<string, number>();
  o.ranks.forEach((row, i) => row.forEach((id) => rank.set(id, i)));
  const all = hopsOf(t, o, rank);
  const byGap: Hop[][] = o.ranks.map(() => []);
  for (const h of all) byGap[h.gap]?.push(h);
  const laid = byGap.map(channelsOf);
  const near = Math.min(...Object.values(o.cross).map((c) => c - across / 2), ...Object.values(o.via).flat());
  const shift = MARGIN - (Number.isFinite(near) ? near : 0);

  const start: number[] = [];
  let at = MARGIN_ALONG;
  laid.forEach(({ count }, i) => {
    start[i] = at;
    const straight = tb ? GAP_STRAIGHT : LONG_STRAIGHT;
    const turning = (tb ? STUB_OUT + STUB_IN : LONG_OUT + LONG_IN) + Math.max(0, count - 1) * CHANNEL;
    at += deep + (i + 1 === laid.length ? 0 : count > 0 ? Math.max(straight, turning) : straight);
  });
  const boxes = new Map<string, Box>();
  let widest = 0;
  for (const [id, r] of rank) {
    const c = (o.cross[id] ?? 0) + shift - across / 2;
    widest = Math.max(widest, c + across);
    boxes.set(id, tb
      ? { x: c, y: start[r] ?? 0, w: CARD_WIDTH, h: CARD_HEIGHT }
      : { x: start[r] ?? 0, y: c, w: CARD_WIDTH, h: CARD_HEIGHT });
  }
  for (const list of Object.values(o.via)) for (const v of list) widest = Math.max(widest, v + shift);

  const edges = new Map<string, PlacedEdge>();
  const point = (along: number, c: number): Point => (tb ? { x: c, y: along } : { x: along, y: c });
  const span = new Map<string, Hop[]>();
  for (const h of all) {
    const list = span.get(h.key);
    if (list) list.push(h);
    else span.set(h.key, [h]);
  }
  for (const [key, hops] of span) {
    const points: Point[] = [];
    let leave: Point | null = null;
    let enter: Point = { x: 0, y: 0 };
    for (const h of hops) {
      const top = (start[h.gap] ?? 0) + deep;
      const bottom = start[h.gap + 1] ?? top;
      const a = h.a + shift;
      const b = h.b + shift;
      if (h.first) points.push(point(top, a));
      const c = laid[h.gap]?.channel.get(h);
      // In a gap where others turn, chips of straight edges stay clear of the channels as well.
      const busy = (laid[h.gap]?.count ?? 0) > 0;
      const out = tb ? STUB_OUT : LONG_OUT;
      if (h.first) leave = point(busy ? top + out / 2 : (top + bottom) / 2, a);
      if (h.last) enter = point(busy ? bottom - (tb ? STUB_IN : LONG_IN) / 2 : (top + bottom) / 2, b);
      if (c !== undefined) {
        const line = top + out + c * CHANNEL;
        points.push(point(line, a), point(line, b));
      }
      if (h.last) points.push(point(bottom, b));
    }
    const one = hops[0];
    if (one) edges.set(key, { from: one.from, to: one.to, points, leave: leave ?? enter, enter });
  }
  const long = at + MARGIN_ALONG + (tb ? CARD_TALL - CARD_HEIGHT : 0);
  const wide = widest + MARGIN + (tb ? 0 : CARD_TALL - CARD_HEIGHT);
  return { dir, width: tb ? wide : long, height: tb ? long : wide, boxes, rank, ranks: o.ranks, edges };
}

/** An edge that runs against the flow, outside the cards: a correction. */
export function backEdge(p: Placed, from: string, to: string, nth = 0): Point[] {
  const a = p.boxes.get(from);
  const b = p.boxes.get(to);
  if (!a || !b) return [];
  const tb = p.dir === 'TB';
  const lo = (box: Box): number => (tb ? box.x : box.y);
  const size = (box: Box): number => (tb ? box.w : box.h);
  const mid = (box: Box): number => (tb ? box.y + box.h / 2 : box.x + box.w / 2);
  const head = (box: Box): number => (tb ? box.y : box.x);
  const ra = p.rank.get(from) ?? 0;
  const rb = p.rank.get(to) ?? 0;
  const between: Box[] = [];
  for (let r = Math.min(ra, rb); r <= Math.max(ra, rb); r++) {
    for (const id of p.ranks[r] ?? []) {
      const box = p.boxes.get(id);
      if (box) between.push(box);
    }
  }
  const nearSide = Math.min(...between.map(lo));
  const farSide = Math.max(...between.map((box) => lo(box) + size(box)));
  const row = (id: string): Box[] =>
    (p.ranks[p.rank.get(id) ?? 0] ?? []).flatMap((n) => (n === id ? [] : (p.boxes.get(n) ?? [])));
  const inTheWay = (id: string, box: Box, low: boolean): boolean =>
    row(id).some((other) => (low ? lo(other) < lo(box) : lo(other) > lo(box)));
  const cost = (low: boolean): number =>
    (inTheWay(from, a, low) ? 1000 : 0) + (inTheWay(to, b, low) ? 1000 : 0) +
    Math.abs(lo(a) - (low ? nearSide : farSide)) + Math.abs(lo(b) - (low ? nearSide : farSide));
  const low = cost(true) <= cost(false);
  const lane = low ? nearSide - 20 - nth * 9 : farSide + 20 + nth * 9;
  const side = (box: Box): number => (low ? lo(box) : lo(box) + size(box));
  const step = low ? -12 : 12;
  const pt = (along: number, c: number): Point => (tb ? { x: c, y: along } : { x: along, y: c });
  const out: Point[] = [pt(mid(a), side(a))];
  if (inTheWay(from, a, low)) out.push(pt(mid(a), side(a) + step), pt(head(a) - 9, side(a) + step), pt(head(a) - 9, lane));
  else out.push(pt(mid(a), lane));
  if (inTheWay(to, b, low)) out.push(pt(head(b) - 9, lane), pt(head(b) - 9, side(b) + step), pt(mid(b), side(b) + step));
  else out.push(pt(mid(b), lane));
  out.push(pt(mid(b), side(b)));
  return out;
}

/** The middle of the longest piece of a line: where its chip reads best. */
export function chipSpot(points: readonly Point[], horizontalFirst: boolean): Point {
  let best: Point = points[0] ?? { x: 0, y: 0 };
  let long = -1;
  for (let i = 0; i + 1 < points.length; i++) {
    const a = points[i];
    const b = points[i + 1];
    if (!a || !b) continue;
    const flat = Math.abs(a.y - b.y) < 0.5;
    const len = Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
    const worth = flat === horizontalFirst ? len : len / 3;
    if (worth > long) {
      long = worth;
      best = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    }
  }
  return best;
}

/** An orthogonal line with rounded corners, as the `d` of a path. */
export function rounded(points: readonly Point[], radius = RADIUS): string {
  const clean = points.filter((p, i) => {
    const before = points[i - 1];
    return !before || Math.abs(before.x - p.x) + Math.abs(before.y - p.y) > 0.5;
  });
  const first = clean[0];
  if (!first) return '';
  const n = (v: number): string => String(Math.round(v * 10) / 10);
  let d = `M${n(first.x)} ${n(first.y)}`;
  for (let i = 1; i < clean.length; i++) {
    const prev = clean[i - 1] as Point;
    const here = clean[i] as Point;
    const next = clean[i + 1];
    if (!next) {
      d += `L${n(here.x)} ${n(here.y)}`;
      continue;
    }
    const la = Math.hypot(here.x - prev.x, here.y - prev.y);
    const lb = Math.hypot(next.x - here.x, next.y - here.y);
    const r = Math.min(radius, la / 2, lb / 2);
    const ax = here.x + ((prev.x - here.x) / la) * r;
    const ay = here.y + ((prev.y - here.y) / la) * r;
    const bx = here.x + ((next.x - here.x) / lb) * r;
    const by = here.y + ((next.y - here.y) / lb) * r;
    d += `L${n(ax)} ${n(ay)}Q${n(here.x)} ${n(here.y)} ${n(bx)} ${n(by)}`;
  }
  return d;
}

/** The direction in which more of the graph is readable in the pane; top to bottom when equal. */
export function direction(topToBottom: Placed, leftToRight: Placed, paneW: number, paneH: number): Direction {
  const scale = (p: Placed): number => Math.min(1, paneW / p.width, paneH / p.height);
  return scale(leftToRight) > scale(topToBottom) * 1.08 ? 'LR' : 'TB';
}

/** How many pieces of two edges cross: what a test holds the picture to. */
export function crossings(p: Placed): number {
  const pieces = [...p.edges.entries()].flatMap(([key, e]) =>
    e.points.slice(1).map((b, i) => ({ key, from: e.from, to: e.to, a: e.points[i] as Point, b })));
  let n = 0;
  for (let i = 0; i < pieces.length; i++) {
    for (let j = i + 1; j < pieces.length; j++) {
      const s = pieces[i];
      const q = pieces[j];
      if (!s || !q || s.key === q.key || s.from === q.from || s.to === q.to) continue;
      if (cross(s.a, s.b, q.a, q.b)) n++;
    }
  }
  return n;
}

function cross(a: Point, b: Point, c: Point, d: Point): boolean {
  const flat1 = Math.abs(a.y - b.y) < 0.5;
  const flat2 = Math.abs(c.y - d.y) < 0.5;
  if (flat1 === flat2) return false;
  const [h0, h1, v0, v1] = flat1 ? [a, b, c, d] : [c, d, a, b];
  return v0.x > Math.min(h0.x, h1.x) && v0.x < Math.max(h0.x, h1.x) &&
    h0.y > Math.min(v0.y, v1.y) && h0.y < Math.max(v0.y, v1.y);
}

/** Cache of orders by topology: opening a flow again, or turning back in time, costs nothing. */
export class LayoutCache {
  #kept = new Map<string, Order>();
  get(t: Topology, dir: Direction): Order | undefined {
    const key = topologyHash(t, dir);
    const hit = this.#kept.get(key);
    if (hit) {
      this.#kept.delete(key);
      this.#kept.set(key, hit);
    }
    return hit;
  }
  set(t: Topology, dir: Direction, o: Order): void {
    const key = topologyHash(t, dir);
    this.#kept.delete(key);
    this.#kept.set(key, o);
    const oldest = this.#kept.keys().next().value;
    if (this.#kept.size > CACHE_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
  get size(): number {
    return this.#kept.size;
  }
}

// ── walking and collapsing ────────────────────────────────────────────────────────────────────

export type Step = 'up' | 'down' | 'left' | 'right';

/** The node an arrow key leads to: along the flow by an edge, across it in the same rank. */
export function walk(p: Placed, t: Topology, from: string, step: Step): string | null {
  const tb = p.dir === 'TB';
  const along = tb ? (step === 'down' ? 1 : step === 'up' ? -1 : 0) : step === 'right' ? 1 : step === 'left' ? -1 : 0;
  const here = p.boxes.get(from);
  if (!here) return p.ranks[0]?.[0] ?? null;
  if (along !== 0) {
    const next = t.edges.flatMap(([a, b]) => (along > 0 ? (a === from ? [b] : []) : b === from ? [a] : []));
    const near = (id: string): number => {
      const box = p.boxes.get(id);
      if (!box) return Infinity;
      return (tb ? Math.abs(box.x - here.x) : Math.abs(box.y - here.y)) + Math.abs((p.rank.get(id) ?? 0) - (p.rank.get(from) ?? 0)) * 1000;
    };
    return next.sort((a, b) => near(a) - near(b))[0] ?? null;
  }
  const row = p.ranks[p.rank.get(from) ?? 0] ?? [];
  const i = row.indexOf(from) + (step === 'right' || step === 'down' ? 1 : -1);
  return row[i] ?? null;
}

/** Above this many nodes, ranks with several nodes become one card. */
export const COLLAPSE_ABOVE = 60;
/** From this many nodes the graph has a minimap. */
export const MINIMAP_FROM = 40;
/** A rank this small stays open. */
const RANK_KEEPS = 4;

export const groupId = (rank: number): string => `\u0001rank ${rank}`;

export interface Collapsed {
  topology: Topology;
  /** Members by group id. */
  groups: Map<string, string[]>;
}

/** Puts the nodes of a rank into one card each, except ranks the reader opened. */
export function collapse(t: Topology, rankOf: (id: string) => number, open: ReadonlySet<number>): Collapsed {
  const groups = new Map<string, string[]>();
  if (t.nodes.length <= COLLAPSE_ABOVE) return { topology: t, groups };
  const rows = new Map<number, string[]>();
  for (const id of t.nodes) {
    const r = rankOf(id);
    const row = rows.get(r);
    if (row) row.push(id);
    else rows.set(r, [id]);
  }
  const home = new Map<string, string>();
  const nodes: string[] = [];
  for (const [r, row] of [...rows].sort((a, b) => a[0] - b[0])) {
    if (row.length < RANK_KEEPS || open.has(r)) {
      nodes.push(...row);
      continue;
    }
    const id = groupId(r);
    groups.set(id, row);
    nodes.push(id);
    for (const n of row) home.set(n, id);
  }
  const seen = new Set<string>();
  const edges: Pair[] = [];
  for (const [a, b] of t.edges) {
    const x = home.get(a) ?? a;
    const y = home.get(b) ?? b;
    const key = edgeKey(x, y);
    if (x === y || seen.has(key)) continue;
    seen.add(key);
    edges.push([x, y]);
  }
  return { topology: { nodes, edges }, groups };
}

/** Longest path from the roots: the rank of every node when the server sends none. Cycles end where they close. */
export function ranksOf(t: Topology): Map<string, number> {
  const into = new Map<string, string[]>();
  for (const [a, b] of t.edges) into.set(b, [...(into.get(b) ?? []), a]);
  const rank = new Map<string, number>();
  const open = new Set<string>();
  const visit = (id: string): number => {
    const known = rank.get(id);
    if (known !== undefined) return known;
    if (open.has(id)) return 0;
    open.add(id);
    let r = 0;
    for (const p of into.get(id) ?? []) r = Math.max(r, visit(p) + 1);
    open.delete(id);
    rank.set(id, r);
    return r;
  };
  for (const id of t.nodes) visit(id);
  return rank;
}
