// What messages make of states.
import { describe, expect, it } from "vitest";
import { foldFeed, foldFlow, foldInbox, foldOlder } from "./fold";
import type { Ask, EdgeView, FeedState, FlowState, InboxState, Item, NodeView } from "./wire";

const node = (id: string, state: NodeView["state"]): NodeView => ({ id, state } as NodeView);
const item = (id: string, first: number, text = ""): Item => ({ id, first, seq: first, text } as Item);
const flow = (): FlowState => ({ flow: { title: "a" }, nodes: { a: node("a", "ready") }, edges: {}, roles: {}, asks: {}, improvement: null, changes: {} } as unknown as FlowState);
const inbox = (): InboxState => ({ flows: {}, asks: {}, decided: [] });
const feed = (...items: Item[]): FeedState => ({ items, total: items.length, before: null });

describe("a flow after a message", () => {
  it("has the part that was put, under the whole rest of the key", () => {
    const edge = { from: "a", to: "b" } as EdgeView;
    expect(foldFlow(flow(), { "edge/a/b": edge }).edges["a/b"]).toBe(edge);
  });
  it("loses a part that was put as null", () => {
    expect(foldFlow(flow(), { "node/a": null }).nodes).toEqual({});
  });
  it("is another object only where something changed", () => {
    const before = flow();
    const after = foldFlow(before, { "node/a": node("a", "done") });
    expect(after).not.toBe(before);
    expect(after.edges).toBe(before.edges);
    expect(before.nodes.a?.state).toBe("ready");
  });
  it("is the same when the message speaks of something unknown", () => {
    const before = flow();
    expect(foldFlow(before, { "weather/today": node("x", "done") })).toBe(before);
  });
  it("is the same however often the same message is told", () => {
    const once = foldFlow(flow(), { "node/b": node("b", "running") });
    expect(foldFlow(once, { "node/b": node("b", "running") })).toEqual(once);
  });
});

describe("the inbox after a message", () => {
  it("keeps asks by their whole id, which has slashes of its own", () => {
    const ask = { id: "f1/consent/c1" } as Ask;
    const after = foldInbox(inbox(), { "ask/f1/consent/c1": ask });
    expect(after.asks).toEqual({ "f1/consent/c1": ask });
    expect(foldInbox(after, { "ask/f1/consent/c1": null }).asks).toEqual({});
  });
  it("takes the list of decisions as a whole", () => {
    expect(foldInbox(inbox(), { decided: [{ words: "Denied" } as never] }).decided).toHaveLength(1);
  });
});

describe("a feed after a message", () => {
  it("replaces an item in its place and adds a new one at its own", () => {
    const after = foldFeed(feed(item("f1", 1), item("f5", 5)), [item("f1", 1, "more"), item("f3", 3)]);
    expect(after.items.map((one) => one.id)).toEqual(["f1", "f3", "f5"]);
    expect(after.items[0]?.text).toBe("more");
    expect(after.total).toBe(3);
  });
  it("leaves what stands before its window to the older page that holds it", () => {
    const shown: FeedState = { items: [item("f50", 50), item("f60", 60)], total: 9, before: 50 };
    const after = foldFeed(shown, [item("f2", 2, "ended"), item("f50", 50, "more")]);
    expect(after.items.map((one) => one.id)).toEqual(["f50", "f60"]);
    expect([after.items[0]?.text, after.total]).toEqual(["more", 9]);
    const whole = foldOlder(after, [item("f2", 2, "ended"), item("f9", 9)], null);
    expect(whole.items.map((one) => one.id)).toEqual(["f2", "f9", "f50", "f60"]);
  });
  it("puts older items in front and never twice", () => {
    const after = foldOlder(feed(item("f5", 5)), [item("f1", 1), item("f5", 5)], null);
    expect(after.items.map((one) => one.id)).toEqual(["f1", "f5"]);
  });
});
