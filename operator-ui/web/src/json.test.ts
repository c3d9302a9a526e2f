import { describe, expect, it } from "vitest";
import { jsonLines } from "./json";

const text = (value: unknown): string => jsonLines(value).lines.map((l) => "  ".repeat(l.indent) + l.words.map((w) => w.text).join("")).join("\n");

describe("JSON as lines", () => {
  it("reads back as what it was", () => {
    for (const value of [null, 3, "a\nb", [], {}, [1, [2, { a: "x" }]], { role: "assistant", calls: [{ id: "c", input: { path: "p", n: 1.5, ok: true, none: null } }], empty: [] }]) {
      expect(JSON.parse(text(value))).toEqual(value);
      expect(text(value)).toBe(JSON.stringify(value, null, 2));
    }
  });
  it("cuts what is longer than a screen can use and says so", () => {
    const long = jsonLines(Array.from({ length: 20_000 }, (_, i) => i));
    expect(long.cut).toBe(true);
    expect(long.lines.length).toBeLessThan(5100);
    expect(jsonLines("x".repeat(100_000)).cut).toBe(true);
  });
});
