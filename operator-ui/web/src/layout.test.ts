import { describe, expect, it } from 'vitest';
import {
  CARD_HEIGHT, CARD_WIDTH, COLLAPSE_ABOVE, LayoutCache, backEdge, chipSpot, collapse, crossings, direction, edgeKey,
  place, ranksOf, rounded, topologyHash, walk, type Pair, type Topology,
} from './layout';
import { order } from './order';

const review: Topology = {
  nodes: ['intake', 'design', 'api', 'ui', 'docs', 'review', 'acceptance', 'close'],
  edges: [
    ['intake', 'design'], ['design', 'api'], ['design', 'ui'], ['design', 'docs'],
    ['api', 'review'], ['ui', 'review'], ['docs', 'review'], ['review', 'acceptance'], ['acceptance', 'close'],
  ],
};
const wide = (n: number): Topology => ({
  nodes: ['in', ...Array.from({ length: n }, (_, i) => `w${i}`), 'out'],
  edges: Array.from({ length: n }, (_, i): Pair[] => [['in', `w${i}`], [`w${i}`, 'out']]).flat(),
});
const at = (t: Topology, dir: 'TB' | 'LR') => place(t, order(t, dir), dir);
const overlap = (p: ReturnType<typeof at>): number => {
  const all = [...p.boxes.values()];
  let n = 0;
  all.forEach((a, i) => all.slice(i + 1).forEach((b) => {
    if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h) n++;
  }));
  return n;
};

/** A small deterministic generator: a failing graph is named by its seed. */
function random(seed: number): () => number {
  let s = seed;
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2 ** 32;
  };
}
function someGraph(seed: number): Topology {
  const r = random(seed);
  const n = 2 + Math.floor(r() * 22);
  const nodes = Array.from({ length: n }, (_, i) => `n${i}`);
  const edges: Pair[] = [];
  for (let b = 1; b < n; b++) for (let a = 0; a < b; a++) if (r() < 2 / n) edges.push([`n${a}`, `n${b}`]);
  return { nodes, edges };
}

describe('the layout of a graph', () => {
  it('puts every node after all nodes it depends on, in both directions', () => {
    for (const dir of ['TB', 'LR'] as const) {
      const p = at(review, dir);
      for (const [a, b] of review.edges) expect(p.rank.get(a)).toBeLessThan(p.rank.get(b) ?? -1);
    }
  });

  it('never lays two cards over each other and never crosses a straight pipeline', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const t = someGraph(seed);
      for (const dir of ['TB', 'LR'] as const) {
        const p = at(t, dir);
        expect(overlap(p), `seed ${seed} ${dir}`).toBe(0);
        expect(p.boxes.size).toBe(t.nodes.length);
      }
    }
    expect(crossings(at(review, 'TB'))).toBe(0);
    expect(crossings(at(wide(9), 'TB'))).toBe(0);
  });

  it('keeps every box and every point inside the picture', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const p = at(someGraph(seed), 'TB');
      for (const b of p.boxes.values()) {
        expect(b.x).toBeGreaterThanOrEqual(0);
        expect(b.x + b.w).toBeLessThanOrEqual(p.width);
        expect(b.y + b.h).toBeLessThanOrEqual(p.height);
      }
      for (const e of p.edges.values()) for (const q of e.points) {
        expect(q.x).toBeGreaterThanOrEqual(0);
        expect(q.x).toBeLessThanOrEqual(p.width);
      }
    }
  });

  it('draws edges of straight pieces only, from the card that sends to the card that receives', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const p = at(someGraph(seed), 'TB');
      for (const e of p.edges.values()) {
        const from = p.boxes.get(e.from);
        const to = p.boxes.get(e.to);
        expect(e.points[0]).toEqual({ x: (from?.x ?? 0) + CARD_WIDTH / 2, y: (from?.y ?? 0) + CARD_HEIGHT });
        expect(e.points.at(-1)).toEqual({ x: (to?.x ?? 0) + CARD_WIDTH / 2, y: to?.y });
        e.points.slice(1).forEach((b, i) => {
          const a = e.points[i];
          expect(Math.min(Math.abs((a?.x ?? 0) - b.x), Math.abs((a?.y ?? 0) - b.y))).toBeLessThan(0.001);
        });
      }
    }
  });

  it('does not move a card when the same graph is laid out again', () => {
    expect(at(review, 'TB').boxes).toEqual(at(review, 'TB').boxes);
  });

  it('stands in the middle of its picture, also when it is one straight line', () => {
    for (const t of [review, wide(4), { nodes: ['a', 'b', 'c'], edges: [['a', 'b'], ['b', 'c']] as Pair[] }]) {
      const p = at(t, 'TB');
      const left = Math.min(...[...p.boxes.values()].map((b) => b.x));
      const right = Math.max(...[...p.boxes.values()].map((b) => b.x + b.w));
      expect(left).toBeCloseTo(p.width - right, 5);
    }
  });

  it('keeps the order the graph was written in, left to right', () => {
    const p = at(review, 'TB');
    const x = (id: string): number => p.boxes.get(id)?.x ?? -1;
    expect(x('api')).toBeLessThan(x('ui'));
    expect(x('ui')).toBeLessThan(x('docs'));
  });

  it('runs a correction outside the cards, against the flow', () => {
    const p = at(review, 'TB');
    const points = backEdge(p, 'review', 'api');
    const api = p.boxes.get('api');
    expect(points.at(-1)?.x).toBe(api?.x);
    expect(Math.min(...points.map((q) => q.x))).toBeLessThan(api?.x ?? 0);
    expect(Math.min(...points.map((q) => q.x))).toBeGreaterThanOrEqual(0);
    expect(backEdge(p, 'review', 'nobody')).toEqual([]);
  });

  it('goes around the neighbours when a correction leaves the middle of a rank', () => {
    const p = at(wide(5), 'TB');
    const points = backEdge(p, 'out', 'w2');
    for (const [id, box] of p.boxes) {
      if (id === 'w2' || id === 'out') continue;
      points.slice(1).forEach((b, i) => {
        const a = points[i] ?? b;
        const inside = Math.max(a.x, b.x) > box.x + 1 && Math.min(a.x, b.x) < box.x + box.w - 1
          && Math.max(a.y, b.y) > box.y + 1 && Math.min(a.y, b.y) < box.y + box.h - 1;
        expect(inside, `${id} is crossed`).toBe(false);
      });
    }
  });

  it('turns left to right when the pane is wide and top to bottom when it is narrow', () => {
    const tb = at(review, 'TB');
    const lr = at(review, 'LR');
    expect(direction(tb, lr, 740, 612)).toBe('TB');
    expect(direction(tb, lr, 1800, 420)).toBe('LR');
  });

  it('rounds corners and leaves no corner sharper than the pieces allow', () => {
    expect(rounded([{ x: 0, y: 0 }, { x: 0, y: 40 }])).toBe('M0 0L0 40');
    expect(rounded([{ x: 0, y: 0 }, { x: 0, y: 40 }, { x: 50, y: 40 }])).toBe('M0 0L0 30Q0 40 10 40L50 40');
    expect(rounded([{ x: 0, y: 0 }, { x: 0, y: 4 }, { x: 50, y: 4 }])).toBe('M0 0L0 2Q0 4 2 4L50 4');
    expect(rounded([])).toBe('');
  });

  it('finds the longest flat piece for the chip of a correction', () => {
    expect(chipSpot([{ x: 0, y: 0 }, { x: 0, y: 90 }, { x: 60, y: 90 }], true)).toEqual({ x: 30, y: 90 });
  });

  it('survives a graph with a cycle, an unknown end and a self edge', () => {
    const p = at({ nodes: ['a', 'b'], edges: [['a', 'b'], ['b', 'a'], ['a', 'a'], ['a', 'gone']] }, 'TB');
    expect(p.boxes.size).toBe(2);
  });
});

describe('the names of topologies', () => {
  it('differ when a node, an edge, the order or the direction differs', () => {
    const seen = new Set([
      topologyHash(review, 'TB'), topologyHash(review, 'LR'),
      topologyHash({ ...review, edges: review.edges.slice(1) }, 'TB'),
      topologyHash({ ...review, nodes: [...review.nodes].reverse() }, 'TB'),
      topologyHash({ nodes: ['ab', 'c'], edges: [] }, 'TB'), topologyHash({ nodes: ['a', 'bc'], edges: [] }, 'TB'),
    ]);
    expect(seen.size).toBe(6);
  });

  it('let the cache forget the oldest only', () => {
    const cache = new LayoutCache();
    const made = Array.from({ length: 40 }, (_, i): Topology => ({ nodes: [`n${i}`], edges: [] }));
    for (const t of made) cache.set(t, 'TB', order(t, 'TB'));
    expect(cache.size).toBeLessThan(40);
    expect(cache.get(made[39] as Topology, 'TB')).toBeDefined();
    expect(cache.get(made[0] as Topology, 'TB')).toBeUndefined();
  });
});

describe('arrow keys', () => {
  const p = at(review, 'TB');
  it('walk along edges and across a rank', () => {
    expect(walk(p, review, 'intake', 'down')).toBe('design');
    expect(walk(p, review, 'design', 'up')).toBe('intake');
    expect(walk(p, review, 'review', 'up')).toBe('ui');
    const left = walk(p, review, 'ui', 'left');
    expect(['api', 'docs']).toContain(left);
    expect(walk(p, review, left ?? '', 'left')).toBeNull();
    expect(walk(p, review, 'close', 'down')).toBeNull();
  });
  it('turn with the flow when it runs left to right', () => {
    const lr = at(review, 'LR');
    expect(walk(lr, review, 'intake', 'right')).toBe('design');
    expect(walk(lr, review, 'design', 'left')).toBe('intake');
    expect(walk(lr, review, 'intake', 'down')).toBeNull();
  });
});

describe('collapsing', () => {
  const big = wide(COLLAPSE_ABOVE);
  const ranks = ranksOf(big);
  const rankOf = (id: string): number => ranks.get(id) ?? 0;
  it('leaves a graph of ordinary size as it is', () => {
    expect(collapse(review, () => 0, new Set()).topology).toBe(review);
  });
  it('puts a wide rank into one card and opens it again on request', () => {
    const closed = collapse(big, rankOf, new Set());
    expect(closed.topology.nodes).toHaveLength(3);
    expect(closed.topology.edges).toHaveLength(2);
    expect([...closed.groups.values()][0]).toHaveLength(COLLAPSE_ABOVE);
    const open = collapse(big, rankOf, new Set([1]));
    expect(open.topology.nodes).toHaveLength(COLLAPSE_ABOVE + 2);
    expect(open.groups.size).toBe(0);
  });
  it('loses no node, whatever the shape', () => {
    for (let seed = 1; seed < 20; seed++) {
      const t = { nodes: Array.from({ length: 80 }, (_, i) => `n${i}`), edges: someGraph(seed).edges };
      const r = ranksOf(t);
      const c = collapse(t, (id) => r.get(id) ?? 0, new Set());
      const all = [...c.topology.nodes.filter((id) => !c.groups.has(id)), ...[...c.groups.values()].flat()];
      expect(all.sort()).toEqual([...t.nodes].sort());
    }
  });
  it('keys an edge by both ends', () => {
    expect(edgeKey('a', 'bc')).not.toBe(edgeKey('ab', 'c'));
  });
});
