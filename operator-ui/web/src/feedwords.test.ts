import { expect, test } from "vitest";
import { actWords, labelOf, textOf } from "./feedwords";
import type { Item } from "./wire";
import { tokens } from "./words";

const item = (event: string, label: string): Item => ({ event, label }) as Item;

test("the end of a turn is its figures in a line", () => {
  const over = item("usage.turn_summary", "Turn over");
  expect(actWords(over, "15000 tokens in, of which 13000 cached, 546 out; the window holds 2900", tokens)).toBe("Turn finished · 15k in (13k cached), 546 out · context 2.9k");
  expect(actWords(over, "200 tokens in, 40 out", tokens)).toBe("Turn finished · 200 in, 40 out");
});

test("what came back, a compaction and an approval are said as the page says them", () => {
  expect(textOf("backend takes api up again, because work came back.", tokens)).toBe("Work on api was sent back to backend");
  expect(textOf("A summary stands in place of 13081 tokens; the history is archived.", tokens)).toBe("13,081 tokens became a summary. The history is archived");
  expect(labelOf(item("handoff.staged", "Handoff waits for your word"))).toBe("Waiting for your approval");
  expect(labelOf(item("role.active", "Active"))).toBe("Active");
  expect(textOf("What nobody renamed.", tokens)).toBe("What nobody renamed");
});
