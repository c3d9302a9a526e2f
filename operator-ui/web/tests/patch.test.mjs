// A patch of several files on the screen: a row for each with its lines and its differences, as an edit of one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, presses, says, stage, until } from "./stage.mjs";
import { changed, DIFF, FEED, item } from "./world.mjs";

const at = stage();
const LEDGER = "orchard/ledger";
const FILES = [{ path: "src/journal.rs", added: 2, removed: 1, gone: false }, { path: "src/<b>new</b>.rs", added: 1, removed: 0, gone: false }, { path: "src/old.rs", added: null, removed: null, gone: true }];
const patch = (seq, more = {}) => item(seq, "tool-success", "patch 3 files: src/journal.rs, src/<b>new</b>.rs, src/old.rs\nDone", { tool: "apply_patch", label: "apply_patch", call_id: `c${seq}`, took_ms: 90, files: FILES, ...more });
const added = (path, text) => ({ path, old: null, new: "n", truncated: false, hunks: [{ old_start: 1, new_start: 1, lines: [{ op: "+", text }] }] });
const body = { text: "Done", total_bytes: 4, next: null, parts: { result: "Done", diffs: [{ ...DIFF, path: "src/journal.rs" }, added("src/<b>new</b>.rs", "pub mod journal;"), { path: "src/old.rs", old: "o", new: "e", truncated: false, hunks: [{ old_start: 1, new_start: 1, lines: [{ op: "-", text: "gone" }] }] }] } };
const rows = (log) => log.getByRole("list", { name: "Files of the patch" });

for (const [size, look] of Object.entries({ "a desk": { width: 1440, height: 900 }, "a phone": { width: 390, height: 844, touch: true } })) {
  test(`a patch of several files is a row for each with its differences, the newest open, on ${size}`, async () => {
    const { server, page } = await at(FEED, { data: changed(() => {}), ...look, serve: (server) => { for (const seq of ["f4900", "f4910"]) server.bodies.set(seq, body); } });
    const log = page.getByRole("log");
    server.put(`feed ${LEDGER} backend`, [patch(4900)]);
    await says(rows(log), /src\/journal\.rs\s*\+2 −1[\s\S]*src\/<b>new<\/b>\.rs\s*\+1\s[\s\S]*src\/old\.rs\s*removed/);
    await says(log, /3 files/);
    await says(rows(log), /let end = self\.recover_tail\(\)\?;[\s\S]*pub mod journal;[\s\S]*gone/);
    await counts(rows(log).locator(".line code b"), 0);
    // A newer edit takes its place as the open one; each of its files can still be opened by itself.
    server.put(`feed ${LEDGER} backend`, [item(4920, "tool-success", "edit a.rs\nok", { tool: "edit_file", label: "edit_file", call_id: "c4920", added: 1, removed: 1 })]);
    await until(() => rows(log).locator(".diff").count(), (n) => n === 0, "they are one line each");
    await presses(rows(log).getByRole("button", { name: /new/ }), async () => (await rows(log).locator(".diff").count()) === 1, "one is open");
    await says(rows(log), /pub mod journal;/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  });
}

test("a patch that was refused shows why and no file as changed", async () => {
  const { server, page } = await at(FEED);
  const log = page.getByRole("log");
  server.put(`feed ${LEDGER} backend`, [{ ...patch(4900), type: "tool-error", text: "patch 3 files: a, b, c\nThe hunk does not fit. Nothing was changed." }]);
  await says(log, /Nothing was changed\./);
  await counts(rows(log), 0);
});

test("the row of a command that failed says its code and what it counted as one sentence", async () => {
  const { server, page } = await at(FEED);
  const log = page.getByRole("log");
  server.put(`feed ${LEDGER} backend`, [item(4950, "tool-error", "run cargo test\n3 passed", { tool: "run_command", label: "run_command", call_id: "c4950", exit: 3, outcome: { words: "1 failed, 3 passed", failed: true }, took_ms: 900 })]);
  const end = log.locator(".call .end", { hasText: "exit 3" });
  await counts(end, 1);
  assert.equal((await end.innerText()).trim(), "exit 3, 1 failed, 3 passed");
});
