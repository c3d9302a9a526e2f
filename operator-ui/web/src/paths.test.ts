import { expect, test } from "vitest";
import { cutMiddle, fromRecord, shortPath } from "./paths";

test("a path of a record is told from the record, wherever the record lies", () => {
  const long = "/elsewhere/.a-society/state/orchard/20261121T145750724Z-39nge3/record/briefs/install.md";
  expect(fromRecord(long)).toBe("record/briefs/install.md");
  expect(fromRecord(`edit ${long}, line 4`)).toBe("edit record/briefs/install.md, line 4");
  expect(fromRecord(".a-society/state/orchard/20261121T145750724Z-39nge3/record/x.md")).toBe("record/x.md");
  expect(fromRecord("crates/ledger/src/journal.rs")).toBe("crates/ledger/src/journal.rs");
});

test("a path that is cut keeps its beginning and the name of its file", () => {
  const path = "crates/ledger/src/storage/segments/recovery/journal.rs";
  const cut = cutMiddle(path, 30);
  expect(cut.length).toBeLessThanOrEqual(30);
  expect(cut.startsWith("crates/")).toBe(true);
  expect(cut.endsWith("/journal.rs")).toBe(true);
  expect(cutMiddle("short.md", 30)).toBe("short.md");
  const name = `${"a".repeat(60)}-end.md`;
  expect(cutMiddle(name, 20)).toHaveLength(20);
  expect(cutMiddle(name, 20).endsWith("-end.md")).toBe(true);
  expect(shortPath("/elsewhere/.a-society/state/p/20261121T145750724Z-39nge3/record/x.md")).toBe("record/x.md");
});
