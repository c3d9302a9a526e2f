import { describe, expect, it } from "vitest";
import { candidates, differs, fileLines, nodeLines, signed, union, type Run } from "./compare";
import type { Cost, Files, FlowRow, FlowState } from "./wire";

const cost = (name: string, turns: number): Cost => ({ name, turns, tokens: turns * 100, output: 10, cached: 0, requests: turns, ms: 5, cost_micros: 0 });
const run = (ids: string[], nodes: Cost[]): Run => ({
  state: { order: ids, nodes: Object.fromEntries(ids.map((id) => [id, { id, role: `r-${id}`, state: "done", words: "" }])) } as unknown as FlowState,
  costs: { all: cost("", 0), roles: [], models: [], nodes },
  files: { files: [] },
});
const row = (flow: string, more: Partial<FlowRow> = {}): FlowRow => ({
  project: "p", flow, title: flow, status: "", phase: "forward", waits: 0, running: 0, nodes_done: 0, nodes: 3, roles: 1, created_at: `2026-01-0${flow.length}T00:00:00Z`,
  updated_at: "", seq: 1, tokens: 0, cost_micros: 0, parent: null, damage: [], driven_by: null, over: true, stopped: false, standing: "working", again: null, ...more,
});

describe("two runs", () => {
  it("stand beside each other by node, and a node that only one has stands where it has it", () => {
    expect(union(["a", "c"], ["a", "b", "c", "d"])).toEqual(["a", "b", "c", "d"]);
    expect(union(["a"], ["x", "a"])).toEqual(["x", "a"]);
    const lines = nodeLines(run(["a", "b"], [cost("a", 1), cost("b", 2)]), run(["a", "c"], [cost("a", 1), cost("c", 1), cost("", 3)]));
    expect(lines.map((line) => [line.id, line.a?.cost.turns ?? null, line.b?.cost.turns ?? null])).toEqual([["a", 1, 1], ["c", null, 1], ["b", 2, null], ["", null, 3]]);
    expect(lines.map(differs)).toEqual([false, true, true, true]);
  });
  it("differ in artifacts by their bytes, and what differs comes first", () => {
    const files = (pairs: [string, string][]): Files => ({ files: pairs.map(([path, hash]) => ({ path, versions: [{ seq: 1, hash, bytes: 1, from: "", to: "", superseded: false }] })) });
    const lines = fileLines(files([["same.md", "1"], ["n10.md", "2"], ["n2.md", "2"], ["mine.md", "4"]]), { ...files([["same.md", "1"], ["n10.md", "3"], ["n2.md", "3"], ["yours.md", "5"]]), delivered: { node: "x", path: "end.md", hash: "9", bytes: 3 } });
    expect(lines.map((line) => `${line.path} ${line.stands}`)).toEqual(["n2.md differs", "n10.md differs", "mine.md a", "end.md b", "yours.md b", "same.md same"]);
  });
  it("are offered nearest first: the parent, forks, those of the same graph, then the rest, the newest first", () => {
    const rows = [row("z", { project: "q", workflow: "w" }), row("aa", { workflow: "w" }), row("aaa", { workflow: "w" }), row("me", { workflow: "w", parent: { flow: "old", at_seq: 3 } }), row("old"), row("child", { parent: { flow: "me", at_seq: 5 } }), row("bbbb", { workflow: "v" })];
    expect(candidates(rows, { project: "p", flow: "me" }).map(({ row: one, kin }) => `${one.flow} ${kin}`)).toEqual(["old parent", "child fork", "aaa graph", "aa graph", "bbbb other", "z other"]);
  });
  it("say a difference with its sign, and none with nothing", () => {
    expect([signed(1, 3, String), signed(3, 1, String), signed(2, 2, String)]).toEqual(["+2", "−2", ""]);
  });
});
