import { describe, expect, it } from "vitest";
import { edgeKey } from "../../layout";
import { asItWas, pastOf } from "../../past";
import type { EdgeView, FlowState, NodeState, NodeView, Passed, Track } from "../../wire";
import { cardOf, cornersOf, improvementPicture, pictureOf } from "./model";

const node = (id: string, state: NodeState, more: Partial<NodeView> = {}): NodeView => ({
  id, role: `${id}-role`, work: [], human_colab: false, await_all: true, state, words: "", live: null, since: null, took_ms: null,
  turn: null, attempt: null, again: null, correction: false, rank: 0, seq: 1, ...more,
});
const sent = (path: string, seq: number, superseded_at: string | null = null): Passed => ({ artifact: { path, hash: path, bytes: 1 }, seq, at: "2026-01-01T00:00:10Z", superseded_at, read: true });
const edge = (from: string, to: string, more: Partial<EdgeView> = {}): EdgeView => ({ from, to, optional: false, state: "not-yet", forward: [], backward: [], open_correction: false, ...more });
function flowOf(nodes: NodeView[], edges: EdgeView[]): FlowState {
  return {
    flow: {
      input: null, origin: null, draft: false, mode: "partial-access", grants: [], paused: null, limits: {}, cached_tokens: null, owner: null, closing: null, pid: null,
      project: "p", flow: "f", title: "F", status: "running", phase: "forward", waits: 0, running: 0, nodes_done: 0, nodes: nodes.length, roles: 0,
      created_at: "", updated_at: "2026-01-01T00:01:00Z", seq: 100, tokens: 0, cost_micros: 0, parent: null, damage: [], driven_by: null, over: false, stopped: false, standing: "working", again: null,
    },
    order: nodes.map((n) => n.id),
    nodes: Object.fromEntries(nodes.map((n) => [n.id, n])), edges: Object.fromEntries(edges.map((e) => [`${e.from}/${e.to}`, e])), roles: {}, asks: {}, improvement: null, changes: {},
  };
}

describe("a card", () => {
  it("says its state in words, so that no state is told by colour or shape alone", () => {
    const states: NodeState[] = ["not-reached", "ready", "running", "needs-you", "suspended", "done", "failed", "interrupted"];
    const labels = states.map((s) => cardOf(node("api", s)).label);
    expect(new Set(labels).size).toBe(states.length);
  });
  it("keeps long words of a state off its title", () => {
    expect(cardOf(node("report", "failed", { words: "Stopped in its turn" }))).toMatchObject({ side: "Failed", line: "Stopped in its turn" });
    expect(cardOf(node("api", "needs-you", { words: "Needs an answer" }))).toMatchObject({ side: "Waiting for you", line: "needs an answer" });
  });
  it("has its state beside its name, or below it where a longer name leaves it no room, and then the turn goes up or is left out", () => {
    const corners = (id: string) => cornersOf(cardOf(node(id, "needs-you", { turn: 14 })));
    expect(corners("api")).toEqual({ top: "side", bottom: "note" });
    expect(corners("review")).toEqual({ top: "note", bottom: "side" });
    expect(corners("documentation")).toEqual({ top: null, bottom: "side" });
    // Without a state there is nothing to make room for.
    expect(cornersOf(cardOf(node("documentation-of-all", "not-reached", { human_colab: true })))).toEqual({ top: null, bottom: "note" });
  });
  it("has a live line only while it acts, and the time it took when it is done", () => {
    expect(cardOf(node("api", "running", { live: "editing a.rs", turn: 3 }))).toMatchObject({ line: "editing a.rs", note: "turn 3" });
    expect(cardOf(node("api", "done", { live: "old", took_ms: 240_000 }))).toMatchObject({ line: null, side: "4m" });
    expect(cardOf(node("api", "not-reached", { human_colab: true }))).toMatchObject({ pending: true, note: "with you" });
  });
});

describe("the picture of a flow", () => {
  const three = [node("a", "done"), node("b", "running"), node("c", "running")];
  it("puts one chip where an artifact leaves for several nodes, and one at each end when they differ", () => {
    const shared = pictureOf(flowOf(three, [edge("a", "b", { state: "delivered", forward: [sent("x.md", 5)] }), edge("a", "c", { state: "delivered", forward: [sent("x.md", 5)] })]));
    expect(shared.chips).toEqual([expect.objectContaining({ where: "leave", chip: expect.objectContaining({ text: "x.md" }) })]);
    const apart = pictureOf(flowOf(three, [edge("a", "b", { forward: [sent("x.md", 5)] }), edge("a", "c", { forward: [sent("y.md", 5)] })]));
    expect(apart.chips.map((c) => [c.where, c.chip.text])).toEqual([["enter", "x.md"], ["enter", "y.md"]]);
  });
  it("names the newest artifact, counts those that travelled with it and strikes what was superseded", () => {
    const one = (forward: Passed[]) => pictureOf(flowOf(three, [edge("a", "b", { forward })])).chips[0]?.chip;
    expect(one([sent("d/old.md", 4, "2026-01-01T00:00:20Z"), sent("d/new.md", 9), sent("d/more.md", 9)])).toMatchObject({ text: "new.md +1", stale: false });
    expect(one([sent("old.md", 4, "2026-01-01T00:00:20Z")])).toMatchObject({ stale: true });
  });
  it("says that a refused request is sent again, and does not look at work", () => {
    const again = { at: "2026-01-01T00:00:18Z", limit: false };
    expect(cardOf(node("api", "running", { words: "Working", again }))).toMatchObject({ side: "Retrying", tone: "you", again });
    expect(cardOf(node("api", "running", { words: "Working" }))).toMatchObject({ side: "Working", tone: "run" });
  });
  it("draws a correction against the flow while it is open, and only then", () => {
    const open = edge("a", "b", { open_correction: true, backward: [sent("gap.md", 8)] });
    expect(pictureOf(flowOf(three, [open])).corrections).toEqual([expect.objectContaining({ from: "b", to: "a", chip: expect.objectContaining({ text: "gap.md" }) })]);
    expect(pictureOf(flowOf(three, [{ ...open, open_correction: false }])).corrections).toEqual([]);
  });
  it("folds a wide rank into one card that says how many are done and what wants attention", () => {
    const many = Array.from({ length: 70 }, (_, i) => node(`n${i}`, i === 3 ? "needs-you" : i < 40 ? "done" : "not-reached"));
    const nodes = [node("in", "done"), ...many];
    const picture = pictureOf(flowOf(nodes, many.map((n) => edge("in", n.id))));
    const group = [...picture.cards.values()].find((c) => c.opens !== null);
    expect(group).toMatchObject({ title: "70 nodes", side: "39 done", state: "needs-you", tone: "you", line: "1 waiting for you" });
    expect(pictureOf(flowOf(nodes, many.map((n) => edge("in", n.id))), new Set([1])).cards.size).toBe(71);
  });
  it("leaves out an edge to a node that is not there", () => {
    expect(pictureOf(flowOf(three, [edge("a", "gone")])).lines).toEqual([]);
  });
});

describe("the picture of improvement", () => {
  it("runs from whom one waits for to who waits", () => {
    const picture = improvementPicture({
      mode: "graph-based", feedback: { state: "undecided", path: null },
      roles: { owner: { state: "waiting", depends_on: ["qa"], findings: null, seq: null }, qa: { state: "done", depends_on: [], findings: { path: "i/qa.md", hash: "h", bytes: 1 }, seq: 7 } },
    });
    expect(picture.lines).toEqual([{ key: edgeKey("qa", "owner"), from: "qa", to: "owner", look: "ok" }]);
    expect(picture.chips.map((c) => c.chip.text)).toEqual(["qa.md"]);
  });
});

describe("a flow as it was", () => {
  const track: Track = {
    head: 100, at: [[0, Date.parse("2026-01-01T00:00:00Z")], [100, Date.parse("2026-01-01T00:01:40Z")]],
    nodes: { a: [[1, "running", false], [10, "done", false]], b: [[10, "running", false], [50, "suspended", false]] },
    turns: [{ role: "a-role", node: "a", turn: 1, from: 1, to: 10, kind: "turn" }, { role: "b-role", node: "b", turn: 1, from: 10, to: 50, kind: "turn" }], hops: [], marks: [],
  };
  const now = flowOf([node("a", "done"), node("b", "needs-you", { live: "asks" })], [edge("a", "b", { state: "stale", forward: [sent("x.md", 10, "2026-01-01T00:00:55Z")], backward: [sent("gap.md", 50)], open_correction: true })]);

  it("has the states, artifacts and corrections of that event and nothing later", () => {
    const early = pastOf(now, track, 5);
    expect([early.nodes.a?.state, early.nodes.b?.state, early.edges["a/b"]?.state]).toEqual(["running", "not-reached", "not-yet"]);
    const mid = pastOf(now, track, 20);
    expect(mid.nodes.a).toMatchObject({ state: "done", took_ms: 9000 });
    expect(mid.nodes.b).toMatchObject({ state: "running", turn: 1, live: null });
    expect(mid.edges["a/b"]).toMatchObject({ state: "delivered", open_correction: false });
    expect(mid.edges["a/b"]?.forward[0]?.superseded_at).toBeNull();
    const late = pastOf(now, track, 60);
    expect(late.edges["a/b"]).toMatchObject({ state: "stale", open_correction: true });
    expect(late.flow).toMatchObject({ seq: 60, nodes_done: 1 });
  });
  it("calls a turn that was open then running, and one that was cut off interrupted", () => {
    const told = flowOf([node("a", "interrupted"), node("b", "interrupted")], []);
    const cut: Track = { ...track, nodes: { a: [[1, "running", false]], b: [[1, "interrupted", false]] } };
    expect(Object.values(asItWas(told, cut, 5).nodes).map((n) => n.state)).toEqual(["running", "interrupted"]);
  });
  it("never changes what is known of now", () => {
    const before = structuredClone(now);
    pastOf(now, track, 20);
    expect(now).toEqual(before);
  });
});
