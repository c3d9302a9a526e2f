// Small windows: a phone, a window that is magnified four times, and a line that breaks on a phone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, stage, until } from "./stage.mjs";
import { world } from "./world.mjs";

const at = stage();
const PHONE = { width: 390, height: 844, touch: true };
/** 1440 by 900, magnified four times. */
const MAGNIFIED = { width: 360, height: 225 };
const FEED = "/p/orchard/f/ledger/r/backend";

for (const path of ["/inbox", "/flows", "/findings", "/roles", "/settings/look", "/settings/keys", "/nowhere"]) {
  test(`on a phone the four places can be reached from ${path}`, async () => {
    const { page } = await at(path, PHONE);
    const bar = page.getByRole("navigation", { name: "Main" });
    await bar.waitFor();
    await counts(bar, 1);
    const box = await bar.boundingBox();
    assert.ok(box !== null && Math.abs(box.y + box.height - PHONE.height) < 1, "it stands at the lower edge");
    await bar.getByText("Flows").tap();
    await page.waitForURL("**/flows");
  });
}

test("in a window magnified four times an ask can be answered and a role written to", async () => {
  const { page } = await at(FEED, MAGNIFIED);
  for (const one of [page.getByRole("button", { name: "Allow once" }), page.getByRole("button", { name: "Deny", exact: true }), page.getByRole("button", { name: "Send" })]) {
    await one.scrollIntoViewIfNeeded();
    await one.click({ trial: true });
  }
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "nothing is wider than the window");
});

test("in a window magnified four times the nodes of a flow can be read", async () => {
  const { page } = await at("/p/orchard/f/ledger/outline", MAGNIFIED);
  const last = page.getByRole("main").getByText("acceptance", { exact: true });
  await last.scrollIntoViewIfNeeded();
  await last.click({ trial: true });
});

test("on a phone Feed opens the feed of the role that waits", async () => {
  const { page } = await at("/p/orchard/f/ledger", PHONE);
  await page.getByRole("link", { name: "Feed", exact: true }).tap();
  await page.getByRole("log", { name: "backend feed" }).waitFor();
});

test("on a phone a lost line is told in the place of the figures, and nothing moves", async () => {
  const { page, server } = await at("/p/orchard/f/ledger/outline", PHONE);
  const node = page.getByRole("main").getByText("intake", { exact: true }).first();
  const before = await node.boundingBox();
  server.drop(true);
  await page.getByText(/Connection lost, complete up to 4,812/).waitFor();
  await page.getByRole("button", { name: "Try now" }).waitFor();
  assert.deepEqual(await node.boundingBox(), before);
});

test("between a phone and a desk the three answers of the bar stand on one line", async () => {
  const { page } = await at(FEED, { width: 1000, height: 760 });
  const tops = new Set();
  for (const name of [/^Allow once/, /^Allow for this flow/, /^Deny(?! with)/]) tops.add((await page.getByRole("button", { name }).first().boundingBox()).y);
  assert.equal(tops.size, 1);
});

test("what is chosen is told by a line where a system chooses the colours", async () => {
  const { page } = await at("/p/orchard/f/ledger");
  await page.emulateMedia({ forcedColors: "active" });
  const style = (name) => page.getByRole("navigation", { name: "View" }).getByText(name).evaluate((node) => getComputedStyle(node).outlineStyle);
  assert.equal(await style("Graph"), "solid");
  assert.equal(await style("Files"), "none");
});

test("on a phone what is opened in the inbox is read from its beginning, also when what was open above it closes", async () => {
  const data = world();
  const question = Object.values(data.inbox.asks).find((ask) => ask.kind.kind === "text");
  question.kind.question = Array.from({ length: 30 }, (_, n) => `Line ${n} of what is asked.`).join("\n\n");
  data.inbox.decided = Array.from({ length: 50 }, () => data.inbox.decided[0]);
  const { page } = await at(`/inbox/${question.id}`, { ...PHONE, data });
  const row = page.locator("a.row").filter({ hasText: "Hand over to close" });
  // Read on to what is listed below it.
  await page.locator(".rows").evaluate((box) => { box.scrollTop = 380; });
  await row.tap();
  await until(() => row.getAttribute("aria-current"), (is) => is === "true", "it is open");
  await until(() => row.evaluate((one) => {
    const [mine, box] = [one.getBoundingClientRect(), one.closest(".rows").getBoundingClientRect()];
    return mine.top >= box.top - 1 && mine.bottom <= box.bottom + 1;
  }), (is) => is, "its beginning is seen");
});
