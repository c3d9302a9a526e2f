import { expect, test } from "vitest";
import { fill, percent, read, share, typed, used, why } from "./budget";
import { amount, moneyExact } from "./words";

test("a budget is nearly used up at 80 percent, has hardly anything left at 95, and is full at its limit", () => {
  for (const [spent, limit, expected, part] of [
    [0, 100, "some", 0], [79, 100, "some", 79], [80, 100, "near", 80], [94, 100, "near", 94], [95, 100, "last", 95],
    [99_999, 100_000, "last", 99], [100, 100, "full", 100], [130, 100, "full", 100], [0, 0, "full", 100],
  ] as const) {
    expect([fill(spent, limit), percent(spent, limit)]).toEqual([expected, part]);
  }
  expect(share(1, 4)).toBe(0.25);
});

test("a limit is read as it is typed, and what is no number is nothing", () => {
  for (const [measure, text, expected] of [
    ["cost_micros", "5", 5_000_000], ["cost_micros", "$0.50", 500_000], ["cost_micros", "1,250.5", 1_250_500_000], ["cost_micros", "0.000001", 1],
    ["tokens", "2M", 2_000_000], ["tokens", "1.5m", 1_500_000], ["tokens", "200 k", 200_000], ["tokens", "2,000,000", 2_000_000], ["tokens", "2 000 000", 2_000_000], ["tokens", "2_000", 2_000],
    ["turns", "20", 20], ["turns", "0", 0],
    ["turns", "", null], ["tokens", " none ", null], ["cost_micros", "", null],
    ["turns", "1.5", undefined], ["tokens", "many", undefined], ["tokens", "-1", undefined], ["cost_micros", "5 euros", undefined], ["cost_micros", "1,5", undefined],
    ["tokens", "99999999999999999", undefined], ["tokens", "1e6", undefined],
  ] as const) {
    expect([text, read(measure, text)]).toEqual([text, expected]);
  }
});

test("what stands in a field is read back as the same limit", () => {
  for (const limit of [0, 1, 999, 120_000, 5_000_000, 7_500_000, 1_234_567_890]) {
    for (const measure of ["cost_micros", "tokens", "turns"] as const) expect(read(measure, typed(measure, limit))).toBe(limit);
  }
});

test("money is said to its last digit where a limit is set", () => {
  expect([0, 1, 120, 10_000, 500_000, 7_500_000, 5_123_456].map(moneyExact)).toEqual(["$0.00", "$0.000001", "$0.00012", "$0.01", "$0.50", "$7.50", "$5.123456"]);
  expect([amount("tokens", 1), amount("tokens", 2_000), amount("turns", 1), amount("turns", 5)]).toEqual(["1 token", "2,000 tokens", "1 turn", "5 turns"]);
});

test("what stands in the way is said with the figures of whoever lacks it", () => {
  const short = { role: null, measure: "cost_micros", limit: 5_000_000, spent: 4_970_000, least: 5_180_000, raise_to: 7_500_000 } as const;
  expect(why(short)).toBe("This flow spent $4.97 of $5.00. The next request may take up to $0.21, and $0.03 is left.");
  expect(why({ ...short, spent: 5_000_000, least: 5_000_001 })).toBe("This flow spent $5.00 of $5.00.");
  expect(why({ ...short, role: "writer", measure: "tokens", limit: 5_000, spent: 5_000, least: 5_001 })).toBe("writer used 5,000 tokens of 5,000 tokens.");
  expect([used("cost_micros", 5_000_000), used("tokens", 1), used("turns", 12)]).toEqual(["$5.00 spent", "1 token used", "12 turns used"]);
  expect(why({ role: "writer", measure: "turns", limit: 2, spent: 3, least: 4, raise_to: 5 })).toBe("writer may take 2 turns, and the next would be one more.");
});
