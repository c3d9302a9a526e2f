import { describe, expect, it } from 'vitest';
import {
  complete, extend, lastAtMost, place, runningAt, scaleOf, seqAt, stateAt, statesAt, strip, ticks, timeAt, turnAt, turnStep, unplace,
  type NodeState, type Seen, type Track, type Transition,
} from './track';

const min = 60_000;
const track: Track = {
  head: 100,
  at: [[0, 0], [10, 10 * min], [50, 20 * min], [100, 60 * min]],
  nodes: {
    intake: [[1, 'ready', false], [2, 'running', false], [10, 'done', false]],
    api: [[10, 'ready', false], [11, 'running', false], [40, 'done', false], [60, 'running', true]],
  },
  turns: [
    { role: 'owner', node: 'intake', turn: 1, from: 2, to: 10, kind: 'turn' },
    { role: 'backend', node: 'api', turn: 1, from: 11, to: 30, kind: 'turn' },
    { role: 'backend', node: 'api', turn: null, from: 30, to: 40, kind: 'waiting' },
    { role: 'backend', node: 'api', turn: 2, from: 60, to: null, kind: 'correction' },
  ],
  hops: [{ seq: 10, from_role: 'owner', to_role: 'backend', backward: false, path: 'brief.md' }],
  marks: [{ seq: 35, role: 'backend', kind: 'compaction' }],
};

describe('the track', () => {
  it('finds the last transition not after an event by binary search, as a scan would', () => {
    const list: Transition[] = [];
    let seq = 0;
    for (let i = 0; i < 200; i++) list.push([(seq += 1 + (i * 7) % 5), i % 2 ? 'running' : 'done', false]);
    for (let s = 0; s < seq + 3; s++) {
      const scan = [...list].reverse().find((t) => t[0] <= s) ?? null;
      expect(stateAt(list, s)).toBe(scan);
    }
    expect(lastAtMost([], 3, Number)).toBe(-1);
  });

  it('says a node was not reached before its first transition', () => {
    expect(statesAt(track, 9).get('api')?.state).toBe('not-reached');
    expect(statesAt(track, 11).get('api')?.state).toBe('running');
    expect(statesAt(track, 99).get('api')).toEqual({ state: 'running', correction: true, since: 60 });
  });

  it('goes from events to time and back', () => {
    expect(timeAt(track, 5)).toBe(5 * min);
    expect(timeAt(track, 30)).toBe(15 * min);
    for (let s = 0; s <= 100; s++) expect(seqAt(track, timeAt(track, s))).toBe(s);
    expect(seqAt(track, -5)).toBe(0);
    expect(seqAt(track, 1e12)).toBe(100);
  });

  it('ends its clock at the last event, which the flow knows', () => {
    const short: Track = { ...track, at: [[0, 0], [50, 20 * min]] };
    const ends = complete(short, { flow: { seq: 100, updated_at: new Date(60 * min).toISOString() } });
    expect(timeAt(ends, 100)).toBe(60 * min);
    expect(timeAt(ends, 75)).toBe(40 * min);
    expect(complete(track, { flow: { seq: 100, updated_at: new Date(60 * min).toISOString() } })).toBe(track);
  });

  it('survives a flow without events', () => {
    const empty: Track = { head: 0, at: [], nodes: {}, turns: [], hops: [], marks: [] };
    const scale = scaleOf(empty, 5000);
    expect(strip(empty, scale).lanes).toEqual([]);
    expect(timeAt(empty, 3)).toBe(0);
    expect(place(scale, 5000)).toBeGreaterThanOrEqual(0);
    expect(ticks(scale, 5).length).toBeGreaterThan(0);
  });

  it('names the nodes at work at an event and the turn a node was in', () => {
    expect(runningAt(track, 20)).toEqual(['api']);
    expect(runningAt(track, 35)).toEqual([]);
    expect(turnAt(track, 'api', 70)?.turn).toBe(2);
    expect(turnAt(track, 'api', 5)).toBeNull();
  });

  it('steps from turn to turn and stops at both ends', () => {
    expect(turnStep(track, 0, 1)).toBe(2);
    expect(turnStep(track, 11, 1)).toBe(30);
    expect(turnStep(track, 30, -1)).toBe(11);
    expect(turnStep(track, 100, 1)).toBe(100);
    expect(turnStep(track, 1, -1)).toBe(0);
  });
});

describe('the strip', () => {
  it('keeps lanes in the order roles began, and blocks inside the strip and in order', () => {
    const s = strip(track, scaleOf(track, null));
    expect(s.lanes.map((l) => l.role)).toEqual(['owner', 'backend']);
    for (const lane of s.lanes) {
      let before = -1;
      for (const b of lane.blocks) {
        expect(b.a).toBeGreaterThanOrEqual(before);
        expect(b.b).toBeGreaterThanOrEqual(b.a);
        expect(b.b).toBeLessThanOrEqual(1);
        before = b.a;
      }
    }
    expect(s.lanes[1]?.blocks.map((b) => b.kind)).toEqual(['turn', 'waiting', 'correction']);
    expect(s.hops).toEqual([expect.objectContaining({ from: 0, to: 1, path: 'brief.md' })]);
    expect(s.lanes[1]?.marks).toHaveLength(1);
  });

  it('calls a turn that has not ended running', () => {
    const open: Track = { ...track, turns: [{ role: 'a', node: 'n', turn: 1, from: 2, to: null, kind: 'turn' }] };
    expect(strip(open, scaleOf(open, null)).lanes[0]?.blocks[0]?.kind).toBe('running');
  });

  it('places time monotonically, and back to where it came from', () => {
    const scale = scaleOf(track, 61 * min);
    let before = -1;
    for (let ms = 0; ms <= 61 * min; ms += 7000) {
      const x = place(scale, ms);
      expect(x).toBeGreaterThanOrEqual(before);
      expect(Math.abs(unplace(scale, x) - ms)).toBeLessThan(2);
      before = x;
    }
  });

  it('narrows a night nobody worked so that the work stays readable', () => {
    const night: Track = {
      ...track, at: [[0, 0], [10, 10 * min], [11, 800 * min], [100, 810 * min]],
      turns: [
        { role: 'a', node: 'n', turn: 1, from: 0, to: 10, kind: 'turn' },
        { role: 'a', node: 'n', turn: null, from: 10, to: 11, kind: 'waiting' },
        { role: 'a', node: 'n', turn: 2, from: 11, to: 100, kind: 'turn' },
      ],
    };
    const scale = scaleOf(night, null);
    expect(scale.pieces.filter((p) => p.idle)).toHaveLength(1);
    expect(place(scale, 10 * min)).toBeGreaterThan(0.4);
  });

  it('melts ten thousand tiny turns into something a browser can draw', () => {
    const many: Track = {
      head: 20_000, at: [[0, 0], [20_000, 20_000 * 1000]], nodes: {}, hops: [], marks: [],
      turns: Array.from({ length: 10_000 }, (_, i) => ({ role: 'a', node: 'n', turn: i, from: i * 2, to: i * 2 + 1, kind: 'turn' as const })),
    };
    expect(strip(many, scaleOf(many, null)).lanes[0]?.blocks.length).toBeLessThan(1000);
  });

  it('labels round times only, in order and not on each other', () => {
    const scale = scaleOf(track, null);
    const found = ticks(scale, 6);
    expect(found.length).toBeGreaterThan(2);
    found.forEach((t, i) => {
      expect(t.ms % min).toBe(0);
      if (i > 0) expect(t.at - (found[i - 1]?.at ?? 0)).toBeGreaterThan(0.05);
    });
  });
});

describe('live events', () => {
  const node = (state: NodeState, turn: number | null = 1, correction = false) => ({ role: 'backend', state, turn, correction });
  const seen = (nodes: Seen['nodes'], edges: Seen['edges'] = {}, archives: string[] = []): Seen => ({ nodes, edges, roles: { backend: { archives } } });

  it('extend the track by what changed, close the open turn and open the next', () => {
    const before = seen({ api: node('running', 2, true) });
    const after = seen({ api: node('needs-you', 2, true) });
    const t = extend(track, before, after, 103, 61 * min);
    expect(t.head).toBe(103);
    expect(t.nodes.api?.at(-1)).toEqual([103, 'needs-you', true]);
    expect(t.turns.filter((x) => x.to === null)).toEqual([expect.objectContaining({ kind: 'waiting', from: 103 })]);
    expect(track.nodes.api).toHaveLength(4);
  });

  it('add a hop for a handoff and a mark for a compaction', () => {
    const edge = { from: 'intake', to: 'api', forward: [{ artifact: { path: 'brief-2.md' }, seq: 104 }], backward: [] };
    const nodes = { intake: { ...node('done'), role: 'owner' }, api: node('running') };
    const t = extend(track, seen(nodes), seen(nodes, { e: edge }, ['archive-1']), 105, 62 * min);
    expect(t.hops.at(-1)).toEqual({ seq: 104, from_role: 'owner', to_role: 'backend', backward: false, path: 'brief-2.md' });
    expect(t.marks.at(-1)).toEqual({ seq: 105, role: 'backend', kind: 'compaction' });
  });

  it('change nothing when they are already known', () => {
    expect(extend(track, seen({}), seen({}), 100, 0)).toBe(track);
  });
});
