import { describe, expect, it } from "vitest";
import type { Segment, TranscriptMessage } from "../../wire";
import { callWords, callsOf, kindWords, shareOf, shares, textOf } from "./map";

const segment = (id: string, tokens: number): Segment => ({ id, kind: id, words: id, messages: 1, tokens });
const message = (n: number, kind: string, tokens: number): TranscriptMessage => ({ n, kind, content: "", tokens, at: null, seq: null, raw: null });
const role = (window_tokens: number | null) => ({ window_tokens }) as never;

describe("the context window", () => {
  it("adds up to the window, with what is free at the end", () => {
    const found = shares([segment("system", 100), segment("tools", 50), segment("live", 60)], [message(0, "user", 20), message(1, "tool_result", 40)], 2, role(1000));
    expect(found.map((s) => [s.name, s.tokens])).toEqual([["System prompt", 100], ["Tools", 50], ["Messages", 20], ["Tool results", 40], ["Free", 790]]);
  });
  it("does not tell results from messages before all of them are here, and knows no free room without a window", () => {
    const found = shares([segment("live", 60)], [message(0, "tool_result", 40)], 500, role(null));
    expect(found).toEqual([{ name: "Messages", tokens: 60, look: "c" }]);
  });
});

describe("the context window, where the model's own count is known", () => {
  it("is as full as that, in all and in its parts", () => {
    const found = shares([segment("system", 100), segment("tools", 50), segment("live", 60)], [message(0, "user", 20), message(1, "tool_result", 40)], 2, role(1000), 333);
    expect(found.filter((s) => s.look !== "free").reduce((n, s) => n + s.tokens, 0)).toBe(333);
    expect(shareOf(found, "system") + shareOf(found, "tools") + shareOf(found, "live")).toBe(333);
    expect(found.at(-1)).toEqual({ name: "Free", tokens: 667, look: "free" });
  });
});

describe("a message that calls tools", () => {
  const raw = { role: "assistant_tool_calls", calls: [{ id: "c", name: "read_file", input: { path: "brief.md", lines: 3 } }, { broken: true }] };
  it("is one line for each call, by name and what it was given", () => {
    expect(callsOf(raw).map(callWords)).toEqual(["read_file brief.md"]);
    expect(callsOf("nothing")).toEqual([]);
    expect(kindWords("assistant_tool_calls")).toBe("Tool call");
  });
  it("has a text only when something was said besides", () => {
    expect(textOf('[{"id":"c"}]', callsOf(raw))).toBe("");
    expect(textOf("I read the brief.", callsOf(raw))).toBe("I read the brief.");
    expect(textOf('[{"just": "text"}]', [])).toBe('[{"just": "text"}]');
  });
});
