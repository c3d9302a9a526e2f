//! The slow half of a layout: dagre orders the cards of each rank. Loaded when the first graph is drawn.

// dagre has its own copy of what it draws on; the package of that would come a second time.
import { Graph as DagreGraph, layout as dagreLayout } from '@dagrejs/dagre';
import { CARD_TALL, CARD_WIDTH, edgeKey, type Direction, type Order, type Point, type Topology } from './layout';

/** Orders a topology. Runs in a worker for big graphs. */
export function order(t: Topology, dir: Direction): Order {
  const g = new DagreGraph({ directed: true, multigraph: false });
  const tb = dir === 'TB';
  const across = tb ? CARD_WIDTH : CARD_TALL;
  // Always laid out top to bottom; a flow that runs left to right is turned afterwards.
  g.setGraph({ rankdir: 'TB', nodesep: tb ? 60 : 28, edgesep: 24, ranksep: 60 });
  g.setDefaultEdgeLabel(() => ({}));
  const known = new Set(t.nodes);
  for (const id of t.nodes) g.setNode(id, { width: across, height: 40 });
  for (const [from, to] of t.edges) {
    if (known.has(from) && known.has(to) && from !== to) g.setEdge(from, to, {});
  }
  dagreLayout(g as never);
  const spot = (id: string): Point => g.node(id) as unknown as Point;
  const levels = [...new Set(t.nodes.map((id) => Math.round(spot(id).y)))].sort((a, b) => a - b);
  const levelOf = new Map(levels.map((y, i) => [y, i]));
  const ranks: string[][] = levels.map(() => []);
  const cross: Record<string, number> = {};
  for (const id of t.nodes) {
    const p = spot(id);
    cross[id] = p.x;
    ranks[levelOf.get(Math.round(p.y)) ?? 0]?.push(id);
  }
  for (const row of ranks) row.sort((a, b) => (cross[a] ?? 0) - (cross[b] ?? 0));
  const turn = mirrored(t.nodes, ranks) ? -1 : 1;
  if (turn < 0) {
    for (const id of t.nodes) cross[id] = -(cross[id] ?? 0);
    for (const row of ranks) row.reverse();
  }
  // Where a card is drawn that has changed places.
  const seat = new Map<string, string>();
  for (const twins of twinsOf(t)) {
    const seats = twins.toSorted((a, b) => (cross[a] ?? 0) - (cross[b] ?? 0));
    const at = seats.map((id) => cross[id] ?? 0);
    twins.forEach((id, n) => {
      cross[id] = at[n] ?? 0;
      seat.set(id, seats[n] ?? id);
    });
  }
  for (const row of ranks) row.sort((a, b) => (cross[a] ?? 0) - (cross[b] ?? 0));
  const via: Record<string, number[]> = {};
  for (const e of g.edges()) {
    const a = levelOf.get(Math.round(spot(e.v).y)) ?? 0;
    const b = levelOf.get(Math.round(spot(e.w).y)) ?? 0;
    if (b - a < 2) continue;
    const drawn = g.edge(seat.get(e.v) ?? e.v, seat.get(e.w) ?? e.w) as unknown as { points: Point[] };
    const pts = drawn.points;
    via[edgeKey(e.v, e.w)] = levels.slice(a + 1, b).map((y) => turn * nearest(pts, y));
  }
  return { ranks, cross, via };
}

/**
 * Nodes that hang between the very same others: which of them is where makes no edge longer and no crossing more, so
 * that they are drawn as the graph was written.
 */
function twinsOf(t: Topology): string[][] {
  const around = new Map<string, string[]>(t.nodes.map((id) => [id, []]));
  for (const [from, to] of t.edges) {
    if (from === to) continue;
    around.get(from)?.push(`>${to}`);
    around.get(to)?.push(`<${from}`);
  }
  const alike = new Map<string, string[]>();
  for (const id of t.nodes) {
    const key = [...new Set(around.get(id))].sort().join('\n');
    alike.set(key, [...(alike.get(key) ?? []), id]);
  }
  return [...alike].filter(([key, ids]) => key !== '' && ids.length > 1).map(([, ids]) => ids);
}

/** dagre keeps crossings low in either hand; the reader expects the order the graph was written in. */
function mirrored(nodes: readonly string[], ranks: readonly string[][]): boolean {
  const written = new Map(nodes.map((id, i) => [id, i]));
  let kept = 0;
  for (const row of ranks) {
    for (let i = 1; i < row.length; i++) {
      kept += (written.get(row[i] ?? '') ?? 0) > (written.get(row[i - 1] ?? '') ?? 0) ? 1 : -1;
    }
  }
  return kept < 0;
}

function nearest(points: readonly Point[], y: number): number {
  let best = 0;
  let off = Infinity;
  for (const p of points) {
    const d = Math.abs(p.y - y);
    if (d < off) {
      off = d;
      best = p.x;
    }
  }
  return best;
}
