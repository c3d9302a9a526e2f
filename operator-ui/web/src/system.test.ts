// Keys are named as they are labelled on the machine, and in one place.
import { describe, expect, it } from "vitest";
import { isApple, keyNames } from "./system";

describe("the names of keys", () => {
  it("are signs on Apple's systems and words elsewhere", () => {
    expect([isApple({ userAgentData: { platform: "macOS" } }), isApple({ platform: "MacIntel" }), isApple({ platform: "iPhone" })]).toEqual([true, true, true]);
    expect([isApple({ userAgentData: { platform: "Linux" }, platform: "MacIntel" }), isApple({ platform: "Linux x86_64" }), isApple({ platform: "Win32" }), isApple({})]).toEqual([false, false, false, false]);
    expect([keyNames(true).mod("K"), keyNames(true).alt("Y"), keyNames(true).mod("↵")]).toEqual(["⌘K", "⌥Y", "⌘↵"]);
    expect([keyNames(false).mod("K"), keyNames(false).alt("Y"), keyNames(false).mod("↵")]).toEqual(["Ctrl K", "Alt Y", "Ctrl ↵"]);
  });
  it("are written nowhere else", () => {
    const sources = import.meta.glob<string>(["./**/*.svelte", "./**/*.ts", "!./system*.ts", "!./wire.ts"], { eager: true, query: "?raw", import: "default" });
    const found = Object.entries(sources).flatMap(([name, text]) => (/[⌘⌥]|Ctrl\b/.test(text) ? [name] : []));
    expect(found).toEqual([]);
  });
});
