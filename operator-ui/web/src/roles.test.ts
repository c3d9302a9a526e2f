// A role that was cut off works no more, whatever its last record says.
import { describe, expect, it } from "vitest";
import { clockEnd, cutOff, nextAgain, waitingRoles, works } from "./roles";
import { besides } from "./words";
import type { FlowState, Item } from "./wire";

const item = (id: string, type: Item["type"], more: Partial<Item> = {}): Item => ({ id, type, text: "", event: null, pending: true, interrupted: false, ...more } as Item);

describe("a role whose driver was killed", () => {
  it("works no more: it has no dot and offers no stop", () => {
    expect(works({ state: "running" }, { stopped: false, over: false })).toBe(true);
    expect(works({ state: "reflecting" }, { stopped: false, over: false })).toBe(true);
    expect(works({ state: "running" }, { stopped: true, over: false })).toBe(false);
    expect(works({ state: "running" }, { stopped: false, over: true })).toBe(false);
    expect(works({ state: "idle" }, { stopped: false, over: false })).toBe(false);
    expect(works(null, { stopped: false, over: false })).toBe(false);
  });
  it("writes no more: its text and its calls are cut, and what it asks waits still", () => {
    const asked = item("c", "event", { consent: { about: "ls", answer: null } as Item["consent"] });
    const event = item("d", "event", { event: "human.awaiting_input" });
    const done = item("e", "assistant", { pending: false });
    const list = cutOff([item("a", "assistant"), item("b", "tool"), item("b2", "tool"), asked, event, done]);
    expect(list.map((one) => [one.pending, one.interrupted])).toEqual([[false, true], [false, true], [true, false], [true, false], [true, false], [false, false]]);
    expect(list[5]).toBe(done);
  });
  it("spends no more time", () => {
    const [at, now] = ["2026-01-01T00:00:43Z", Date.parse("2026-01-01T00:05:00Z")];
    expect(clockEnd({ stopped: true, over: false, updated_at: at }, now)).toBe(Date.parse(at));
    expect(clockEnd({ stopped: false, over: true, updated_at: at }, now)).toBe(Date.parse(at));
    expect(clockEnd({ stopped: false, over: false, updated_at: at }, now)).toBe(now);
    expect(clockEnd({ stopped: false, over: false, updated_at: at }, 0)).toBe(Date.parse(at));
  });
});

describe("a request that waits for its next try", () => {
  const node = (role: string, again: string | null, words = "Working") => ({ role, words, again: again === null ? null : { at: again, limit: false } });
  const flow = (nodes: object, head: object = {}): FlowState => ({ flow: { again: null, stopped: false, over: false, ...head }, nodes } as unknown as FlowState);
  it("is said of the flow also while another node works, the soonest first", () => {
    const two = flow({ a: node("painter", "2026-01-01T00:00:30Z"), b: node("writer", "2026-01-01T00:00:18Z"), c: node("tester", null), d: node("clerk", null, "Compacting") });
    const held = { ...node("scribe", "2026-01-01T00:00:42Z"), again: { at: "2026-01-01T00:00:42Z", limit: false, held_by: "openai", failing: true } };
    expect([...waitingRoles(flow({ a: held }))]).toEqual([["scribe", "waiting for openai to recover"]]);
    expect(nextAgain(two)).toEqual({ at: "2026-01-01T00:00:18Z", limit: false });
    expect([...waitingRoles(two)]).toEqual([["painter", "retrying"], ["writer", "retrying"], ["clerk", "compacting"]]);
    expect(besides("Working", { at: "2026-01-01T00:00:18Z", limit: false }, Date.parse("2026-01-01T00:00:00Z"))).toBe("Working, retrying in 18 s");
  });
  it("is what the flow itself waits for when nothing else of it works, and nothing of a flow that nobody drives", () => {
    const again = { at: "2026-01-01T00:01:00Z", limit: true };
    expect(nextAgain(flow({ a: node("painter", "2026-01-01T00:00:30Z") }, { again }))).toBe(again);
    expect(nextAgain(flow({ a: node("painter", "2026-01-01T00:00:30Z") }, { stopped: true }))).toBeNull();
    expect(nextAgain(flow({ a: node("painter", null) }))).toBeNull();
  });
});
