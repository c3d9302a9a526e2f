// The task list of a role on the screen: where it changes in the feed, and beside the role's figures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, LONG_REST_MS, presses, says, settled, stage, until } from "./stage.mjs";
import { FEED, item } from "./world.mjs";

const at = stage();
const LEDGER = "orchard/ledger";
const SIZES = { "a desk": { width: 1440, height: 900 }, "a phone": { width: 390, height: 844, touch: true } };
/** What a model may write, which is nothing but text. */
const HOSTILE = '<img src=x onerror="document.title=1"> & **bold**';
const list = (...states) => states.map((state, n) => ({ text: ["Read the store", HOSTILE, "Write the fuzz target"][n], state }));
const wrote = (seq, tasks) => item(seq, "tool-success", "tasks: told\n[told]", { tool: "todo", label: "todo", call_id: `c${seq}`, took_ms: 4, tasks });
/** The lines of a list: what is to be done and how far it is. */
const lines = (part) => part.locator("li").evaluateAll((all) => all.map((one) => [one.querySelector(".text").textContent, one.querySelector(".state").textContent].join(": ")));

for (const [size, look] of Object.entries(SIZES)) {
  test(`a task list is a list in the feed where it changes, the newest open, and what a model wrote stays text, on ${size}`, async () => {
    const { server, page } = await at(FEED, look);
    const log = page.getByRole("log");
    server.put(`feed ${LEDGER} backend`, [wrote(4900, list("in_progress", "open", "open"))]);
    await says(log, /0 of 3 tasks done, now: Read the store/);
    await until(() => lines(log.getByRole("list", { name: "Tasks" })), (all) => all.length === 3, "it is open");
    assert.deepEqual(await lines(log.getByRole("list", { name: "Tasks" })), ["Read the store: in progress", `${HOSTILE}: open`, "Write the fuzz target: open"]);
    await counts(log.locator("li img, li b, li strong"), 0);
    // The next one takes its place, and the one before it is a line that can be opened.
    server.put(`feed ${LEDGER} backend`, [wrote(4910, list("done", "in_progress", "open"))]);
    await says(log, /1 of 3 tasks done, now: <img/);
    await counts(log.getByRole("list", { name: "Tasks" }), 1);
    const lists = log.getByRole("list", { name: "Tasks" });
    await presses(log.getByRole("button", { name: /0 of 3 tasks done/ }), async () => (await lists.count()) === 2, "it is open again");
    assert.notEqual(await page.title(), "1");
  });

  test(`the role's own list is one press away from its figures, is what it wrote last, and moves nothing when it comes, on ${size}`, async () => {
    const { server, page } = await at(FEED, look);
    const role = server.world.flows[LEDGER].state.roles.backend;
    const log = page.getByRole("log");
    await log.locator(".row").first().waitFor();
    await settled(page, LONG_REST_MS);
    const before = await log.boundingBox();
    server.put(`flow ${LEDGER}`, { "role/backend": { ...role, tasks: list("done", "in_progress", "open") } });
    const opens = page.getByRole("button", { name: "1 of 3 tasks done", exact: true });
    await opens.waitFor();
    assert.deepEqual(await log.boundingBox(), before);
    await counts(page.getByRole("region", { name: "Tasks of backend" }), 0);
    await opens.click();
    const listed = page.getByRole("region", { name: "Tasks of backend" });
    assert.deepEqual(await lines(listed), ["Read the store: done", `${HOSTILE}: in progress`, "Write the fuzz target: open"]);
    await counts(listed.locator("img"), 0);
    server.put(`flow ${LEDGER}`, { "role/backend": { ...role, tasks: list("done", "done", "done") } });
    await page.getByRole("button", { name: "3 of 3 tasks done", exact: true }).waitFor();
    assert.deepEqual(await lines(listed), ["Read the store: done", `${HOSTILE}: done`, "Write the fuzz target: done"]);
    // Nothing is wider than the window, and what is pressed is large enough.
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    const box = await page.getByRole("button", { name: "3 of 3 tasks done", exact: true }).boundingBox();
    assert.ok(box.height >= 24 && box.width >= 44, JSON.stringify(box));
    await page.getByRole("button", { name: "3 of 3 tasks done", exact: true }).click();
    await counts(listed, 0);
    server.put(`flow ${LEDGER}`, { "role/backend": role });
    await counts(opens, 0);
  });
}
