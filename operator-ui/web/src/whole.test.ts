// What is allowed was shown to its end: how much is missing, and when an answer counts.
import { describe, expect, it } from "vitest";
import { choices, scopeWords, waitsForSight } from "./asks";
import { below, missing, Sights } from "./whole";
import type { Ask, AskKind } from "./wire";

const box = (top: number) => ({ top, tall: 176, full: 62 * 22, line: 22 });
const long = Array.from({ length: 62 }, (_, i) => `cargo test --test t${i} && \\`).join("\n");
const consent = (shown: string, for_the_flow: string | null): AskKind => ({ kind: "consent", consent: "c", action: "h", tool: "run_command", shown, facts: [], for_the_flow, diff: null });
const ask = (kind: AskKind): Ask => ({ id: "a", flow: { project: "p", flow: "f" }, role: "owner", node: null, since: "2026-01-01", blocking: true, kind } as Ask);

describe("a call that does not fit its box", () => {
  it("says how many lines are missing", () => {
    expect(below(box(0))).toBe(54);
    expect([missing(54), missing(1)]).toEqual(["54 more lines", "1 more line"]);
    expect(below(box(62 * 22 - 176))).toBe(0);
  });
  it("that fits has none missing, whatever zooming leaves over", () => {
    expect(below({ top: 0, tall: 43.5, full: 44.6, line: 22 })).toBe(0);
    expect(below({ top: 0, tall: 44, full: 49, line: 22 })).toBe(1);
  });
  it("cannot be allowed before it was scrolled to its end", () => {
    const sights = new Sights();
    const it = ask(consent(long, "x"));
    const held = (): string[] => choices(it).filter((choice) => waitsForSight(it, choice, sights.left("a"))).map((choice) => choice.id);
    expect(held()).toEqual(["allow", "allow-flow"]);
    sights.saw("a", box(0));
    expect(held()).toEqual(["allow", "allow-flow"]);
    sights.saw("a", box(400));
    expect(sights.left("a")).toBe(36);
    sights.saw("a", box(0));
    expect(sights.left("a")).toBe(36);
    sights.saw("a", box(62 * 22 - 176));
    expect(held()).toEqual([]);
    sights.saw("a", box(0));
    expect(held()).toEqual([]);
  });
  it("can be allowed once all of it was unfolded, and denied at any time", () => {
    const sights = new Sights();
    const it = ask(consent(long, null));
    sights.saw("a", box(0));
    expect(choices(it).filter((choice) => !waitsForSight(it, choice, 54)).map((choice) => choice.id)).toEqual(["deny", "deny-reason"]);
    sights.turn("a");
    expect([sights.isOpen("a"), sights.left("a")]).toEqual([true, 0]);
    sights.turn("a");
    expect([sights.isOpen("a"), sights.left("a")]).toEqual([false, 0]);
  });
  it("keeps back no other kind of answer", () => {
    const paused = ask({ kind: "unpause", reason: "x", detail: null });
    expect(choices(paused).some((choice) => waitsForSight(paused, choice, null))).toBe(false);
  });
});

describe("what is allowed for a flow", () => {
  it("does not repeat the command that is shown above", () => {
    expect(scopeWords(long, `This exact command, in this folder and sandbox, for any role in this flow: ${long}`)).toBe("This exact command, in this folder and sandbox, for any role in this flow");
    expect(scopeWords("x", "Every call of mcp__a__x, by any role in this flow")).toBe("Every call of mcp__a__x, by any role in this flow");
  });
});
