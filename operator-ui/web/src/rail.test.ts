import { describe, expect, it } from "vitest";
import { railLines, tails } from "./rail";
import type { Ask, FlowRow } from "./wire";

const row = (flow: string, day: number, more: Partial<FlowRow> = {}): FlowRow => ({
  project: "p", flow, title: flow, status: "", phase: "forward", waits: 0, running: 0, nodes_done: 0, nodes: 3, roles: 1, created_at: `2026-01-0${day}T00:00:00Z`,
  updated_at: `2026-02-0${day}T00:00:00Z`, seq: 1, tokens: 0, cost_micros: 0, parent: null, damage: [], driven_by: null, over: false, stopped: false, standing: "working", again: null, ...more,
});
const ask = (flow: string, since: string, blocking = true): Ask => ({ id: `${flow} ${since}`, flow: { project: "p", flow }, since, blocking }) as Ask;

describe("the rail", () => {
  it("puts chats last, unless one of them asks", () => {
    const rows = [row("talk", 9, { chat: true, standing: "your-turn" }), row("old", 1, { over: true }), row("asks", 2, { chat: true })];
    const lines = railLines(rows, [ask("asks", "2026-03-01T00:00:00Z")], null, 9);
    expect(lines.map((line) => line.row.flow)).toEqual(["asks", "old", "talk"]);
  });

  it("puts what blocks on the operator first, then what is at work, then the rest, each the newest first", () => {
    const rows = [row("old", 1, { over: true }), row("new", 5, { over: true }), row("works", 2, { running: 1 }), row("works-newer", 3, { running: 2, updated_at: "2026-01-01T00:00:00Z" }), row("asks", 4), row("asks-later", 1), row("has-time", 9)];
    const asks = [ask("asks", "2026-03-01"), ask("asks-later", "2026-03-02"), ask("has-time", "2026-03-09", false)];
    const lines = railLines(rows, asks, null, 10);
    expect(lines.map((line) => line.row.flow)).toEqual(["asks-later", "asks", "works-newer", "works", "has-time", "new", "old"]);
    expect(lines.filter((line) => line.ask !== null)).toHaveLength(2);
  });
  it("tells flows of one title apart by the ends of their ids, and leaves the others alone", () => {
    const rows = [row("20260527T143000123Z-a1b2c3", 1, { title: "Nightly" }), row("20260528T143000123Z-d4e5f6", 2, { title: "Nightly" }), row("20260528T150000123Z-0f0f0f", 3, { title: "Notes" }), row("20260529T150000123Z-123456", 4, { title: "" }), row("20260529T150000124Z-654321", 4, { title: "" })];
    expect([...tails(rows)]).toEqual([["p/20260527T143000123Z-a1b2c3", "a1b2c3"], ["p/20260528T143000123Z-d4e5f6", "d4e5f6"]]);
  });
  it("always has the flow that is open, also where it has no room", () => {
    const rows = [1, 2, 3, 4, 5].map((day) => row(`f${day}`, day));
    expect(railLines(rows, [], "p/f1", 3).map((line) => line.row.flow)).toEqual(["f5", "f4", "f1"]);
    expect(railLines(rows, [], "p/f4", 3).map((line) => line.row.flow)).toEqual(["f5", "f4", "f3"]);
  });
});
