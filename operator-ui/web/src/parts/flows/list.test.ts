import { describe, expect, it } from "vitest";
import type { FlowRow } from "../../wire";
import { nested, standing, stateOf, type Column, type Wanted } from "./list";

const row = (flow: string, more: Partial<FlowRow> = {}): FlowRow => ({
  project: "p", flow, title: flow, status: "running", phase: "forward", waits: 0, running: 0, nodes_done: 0, nodes: 3, roles: 1,
  created_at: "2026-01-01T00:00:00Z", updated_at: `2026-01-01T00:00:0${flow.length % 10}Z`, seq: 1, tokens: 0, cost_micros: 0,
  parent: null, damage: [], driven_by: null, over: false, stopped: false, standing: "working", again: null, ...more,
});
const all: Wanted = { project: null, state: null, q: null };
const shape = (rows: FlowRow[], wanted: Wanted = all): string[] => nested(rows, wanted).map((n) => "  ".repeat(n.depth) + n.row.flow);

describe("the list of flows", () => {
  it("knows a chat whose person speaks next from a flow that works", () => {
    const chat = row("a", { chat: true, standing: "your-turn" });
    expect([stateOf(chat), standing(chat)]).toEqual(["chat", "Your turn"]);
    expect(stateOf(row("a", { chat: true, waits: 1, standing: "waiting" }))).toBe("waits");
  });
  it("puts forks under their parent, newest first, at every depth", () => {
    const rows = [row("a"), row("bb", { parent: { flow: "a", at_seq: 4 } }), row("ccc", { parent: { flow: "bb", at_seq: 4 } }), row("dddd")];
    expect(shape(rows)).toEqual(["dddd", "a", "  bb", "    ccc"]);
  });
  it("stands in the order that was chosen, either way, with forks under their parent", () => {
    const rows = [row("a", { cost_micros: 5, title: "Chairs" }), row("bb", { cost_micros: 9, title: "account" }), row("ccc", { title: "Billing", over: true }), row("dddd", { parent: { flow: "a", at_seq: 4 }, cost_micros: 7 })];
    const flows = (by: Column, turned = false): string[] => nested(rows, all, { by, turned }).map((n) => n.row.flow);
    expect(flows("cost")).toEqual(["bb", "a", "dddd", "ccc"]);
    expect(flows("cost", true)).toEqual(["ccc", "a", "dddd", "bb"]);
    expect(flows("title")).toEqual(["bb", "ccc", "a", "dddd"]);
    expect(flows("state").at(-1)).toBe("ccc");
  });
  it("lets a fork stand on its own when its parent is filtered away or gone", () => {
    const rows = [row("a"), row("fork", { parent: { flow: "a", at_seq: 1 } }), row("lone", { parent: { flow: "pruned", at_seq: 1 } })];
    expect(shape(rows, { ...all, q: "fork" })).toEqual(["fork"]);
    expect(shape(rows)).toContain("lone");
  });
  it("loses no flow when parents form a ring", () => {
    const rows = [row("a", { parent: { flow: "b", at_seq: 1 } }), row("b", { parent: { flow: "a", at_seq: 1 } })];
    expect(nested(rows, all)).toHaveLength(2);
  });
  it("keeps flows of one name in different projects apart", () => {
    const rows = [row("a"), row("a", { project: "q" }), row("f", { project: "q", parent: { flow: "a", at_seq: 2 } })];
    expect(nested(rows, all)).toHaveLength(3);
    expect(shape(rows, { ...all, project: "q" })).toEqual(["a", "  f"]);
  });
  it("says how a flow stands, and what waits also when nobody drives it", () => {
    expect(standing(row("a", { standing: "waiting", stopped: true, waits: 1 }))).toBe("Waiting for you");
    expect(standing(row("a", { standing: "stopped", stopped: true }))).toBe("Stopped");
    expect(standing(row("a", { standing: "waiting", phase: "improvement_choice" }))).toBe("Waiting for you");
    expect(standing(row("a", { standing: "waiting", waits: 2 }))).toBe("Waiting for you (2)");
    expect(standing(row("a", { waits: 1, running: 2 }))).toBe("Working, asks (1)");
    expect(standing(row("a", { standing: "compacting", phase: "improving", running: 2 }))).toBe("Compacting");
    expect(standing(row("a", { standing: "completed", over: true, phase: "completed", waits: 1 }))).toBe("Completed");
  });
  it("says what a flow wants in one word, the most urgent first", () => {
    expect(stateOf(row("a", { waits: 2, running: 1 }))).toBe("waits");
    expect(stateOf(row("a", { standing: "waiting", stopped: true, waits: 1 }))).toBe("waits");
    expect(stateOf(row("a", { standing: "stopped", stopped: true }))).toBe("stopped");
    expect(stateOf(row("a", { standing: "cancelled", over: true, phase: "cancelled" }))).toBe("cancelled");
    expect(stateOf(row("a", { standing: "completed", over: true, phase: "completed" }))).toBe("done");
    expect(stateOf(row("a", { running: 1 }))).toBe("working");
    const again = { at: "2026-01-01T00:44:00Z", limit: true };
    expect(stateOf(row("a", { standing: "limited", running: 1, driven_by: "server", again }))).toBe("limited");
    expect(standing(row("a", { standing: "limited", again }), Date.parse("2026-01-01T00:00:00Z"))).toBe("Limit resets in 44 min");
    expect(stateOf(row("a", { standing: "retrying", running: 1, driven_by: "server", again: { ...again, limit: false } }))).toBe("working");
    expect(standing(row("a", { standing: "retrying", running: 1, again: { ...again, limit: false } }), Date.parse("2026-01-01T00:43:42Z"))).toBe("Retrying in 18 s");
    expect(stateOf(row("a", { standing: "paused" }))).toBe("paused");
  });
});
