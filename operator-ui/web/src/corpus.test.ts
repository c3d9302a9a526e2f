// The same cases as the server's fold: its messages, applied one by one, give the very state that it folds from the whole journal.
import { describe, expect, it } from "vitest";
import { foldFlow } from "./fold";
import type { Down, FlowState } from "./wire";

type Case = { messages: Down[]; state: FlowState };
const CASES = import.meta.glob<Case>("../../tests/corpus/*.json", { eager: true, import: "default" });
const names = Object.keys(CASES);
const read = (name: string): Case => CASES[name] as Case;

/** What the page makes of messages, each of which continues the one before. */
function folded(messages: readonly Down[]): FlowState | null {
  let state: FlowState | null = null;
  let seq = 0;
  for (const down of messages) {
    if (down.t === "snap") {
      state = down.state as FlowState;
      seq = down.seq;
    } else if (down.t === "ev") {
      expect(down.from, "a message continues the one before").toBe(seq);
      seq = down.to;
      if (state !== null && down.put !== undefined && !Array.isArray(down.put)) state = foldFlow(state, down.put);
    }
  }
  return state;
}

describe("the fold of the page", () => {
  it("has cases", () => expect(names.length).toBeGreaterThanOrEqual(4));
  it.each(names)("makes of %s what the server made of it", (name) => {
    const { messages, state } = read(name);
    expect(folded(messages)).toEqual(state);
  });
  it.each(names)("makes the same of %s when every message but the first came twice in one piece", (name) => {
    const { messages, state } = read(name);
    const puts = messages.flatMap((down) => (down.t === "ev" && down.put !== undefined && !Array.isArray(down.put) ? [down.put] : []));
    const first = messages.find((down) => down.t === "snap");
    if (first?.t !== "snap") throw new Error("a case begins with a snapshot");
    const joined = Object.assign({}, ...puts) as Parameters<typeof foldFlow>[1];
    expect(foldFlow(foldFlow(first.state as FlowState, joined), joined)).toEqual(state);
  });
});
