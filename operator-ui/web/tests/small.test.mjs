// Small windows: a phone, a window that is magnified four times, and a line that breaks on a phone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, stage } from "./stage.mjs";

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
