// The rail as one list by need, the feed that folds away, keys by what they type, and the keys below an ask.
import assert from "node:assert/strict";
import { test } from "node:test";
import { armed, decisions, says, sleep, stage, until } from "./stage.mjs";
import { world } from "./world.mjs";

const at = stage();
const FLOW = "/p/orchard/f/ledger";
const rail = (page) => page.getByRole("navigation", { name: "Workspace" });
const names = (page) => rail(page).locator("a.flow .name").allInnerTexts();

/** So many flows that are over, besides those of the world. */
function many(n) {
  const data = world();
  const over = Object.values(data.inbox.flows).find((row) => row.over);
  for (let i = 0; i < n; i += 1) data.inbox.flows[`orchard/done-${i}`] = { ...over, flow: `done-${i}`, title: `Done ${i}`, updated_at: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString() };
  return data;
}

test("the rail lists what blocks on the operator first, says what it wants, and marks nothing else in amber", async () => {
  const { page } = await at("/flows");
  await until(() => names(page), (list) => list.length === 6, "all flows");
  assert.deepEqual(await names(page), ["Ledger journal", "Billing export", "Account archive", "Onboarding tour", "Import wizard", "Search ranking fix"]);
  await says(rail(page).locator("a.flow").first(), /Run cargo install cargo-fuzz/);
  // The diamond is the sign of what blocks.
  assert.equal(await rail(page).locator("a.flow rect.edge").count(), 4);
  assert.equal(await rail(page).locator("a.flow").nth(4).locator("rect.edge").count(), 0);
});

test("the rail counts down to a retry, and once its time is over says only that it is retried", async () => {
  const data = world();
  data.inbox.asks = {};
  const soon = (ms, limit) => ({ at: new Date(Date.now() + ms).toISOString(), limit });
  for (const [flow, again] of Object.entries({ ledger: soon(45_000, false), billing: soon(-5_000, false), archive: soon(-5_000, true) })) Object.assign(data.inbox.flows[`orchard/${flow}`], { waits: 0, again });
  const { page } = await at("/flows", { data });
  const line = (name) => rail(page).locator("a.flow").filter({ hasText: name });
  await says(line("Ledger journal"), /retry 4\d s/);
  await says(line("Billing export"), /\bretrying\b/);
  await says(line("Account archive"), /\blimited\b/);
});

test("the flow that is open is in view, also where the rail has no room for it", async () => {
  const data = many(60);
  const open = data.inbox.flows["orchard/ledger"];
  data.inbox.asks = {};
  Object.assign(open, { waits: 0, running: 0, over: true, standing: "completed", phase: "completed", updated_at: "2020-01-01T00:00:00Z" });
  const { page } = await at(FLOW, { data, height: 500 });
  const mine = rail(page).locator("a.flow[aria-current=page]");
  await until(() => mine.evaluate((row) => {
    const [one, list] = [row.getBoundingClientRect(), row.parentElement.getBoundingClientRect()];
    return one.top >= list.top - 1 && one.bottom <= list.bottom + 1;
  }), (is) => is, "it is seen");
  await says(rail(page), /more/);
});

test("a narrow rail has icons of places and how much waits, and no list", async () => {
  const { page } = await at("/flows", { width: 1024 });
  await rail(page).getByRole("link", { name: /Inbox/ }).waitFor();
  assert.equal(await rail(page).locator("a.flow").filter({ visible: true }).count(), 0);
  await says(rail(page).locator(".n.you"), /6/);
});

test("the feed folds away and stays so, comes as a sheet when it is asked for, and back beside the graph", async () => {
  const { page } = await at(FLOW);
  const feed = page.getByRole("region", { name: "Feed", exact: true });
  await feed.waitFor();
  const before = await page.locator(".graph").first().evaluate((el) => el.clientWidth);
  await page.getByRole("button", { name: "Fold the feed away" }).click();
  await feed.waitFor({ state: "detached" });
  assert.ok((await page.locator(".graph").first().evaluate((el) => el.clientWidth)) > before + 300, "the graph has its room");
  await page.reload();
  await page.getByRole("link", { name: /backend\s+feed/ }).click();
  await feed.waitFor();
  assert.ok((await page.locator(".graph").first().evaluate((el) => el.clientWidth)) > before + 300, "it lies over the graph");
  await page.getByRole("button", { name: "Keep the feed beside" }).click();
  await until(() => page.locator(".graph").first().evaluate((el) => el.clientWidth), (width) => width === before, "it is beside the graph");
});

test("between the sizes of a phone and a desk, files and events have the room of the feed", async () => {
  for (const view of ["files", "events"]) {
    const { page } = await at(`${FLOW}/${view}`, { width: 1024 });
    await page.getByRole("link", { name: /backend\s+feed/ }).waitFor();
    assert.equal(await page.getByRole("region", { name: "Feed", exact: true }).count(), 0);
  }
});

test("a letter that answers is the one that the key types, and where it types none the one at its place", async () => {
  const press = (page, key, code) => page.evaluate(([key, code]) => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true })), [key, code]);
  // As on QWERTZ: the key at the place of Y types a Z. Then one that is not Latin.
  for (const [wrong, right] of [[["z", "KeyY"], ["y", "KeyZ"]], [null, ["н", "KeyY"]]]) {
    const { page, server } = await at("/inbox/ledger/consent/c1");
    await page.locator("a[aria-current=true]").first().focus();
    await armed(page);
    if (wrong !== null) {
      await press(page, ...wrong);
      await sleep(500);
      assert.deepEqual(decisions(server), []);
    }
    await press(page, ...right);
    await until(() => decisions(server), (list) => list.length === 1, "it is answered");
    assert.equal(decisions(server)[0].do, "allow");
  }
});

test("below an ask stand the keys that answer this one, and no others", async () => {
  const { page } = await at("/inbox/ledger/consent/c1");
  const keys = page.locator("footer.keys");
  const shown = async () => (await keys.locator("> span").allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
  const to = async (ask, expected) => {
    await page.locator(`a[href="/inbox/${ask}"]`).first().click();
    await until(shown, (list) => expected.every((one) => list.includes(one)) && list.length === expected.length + 3, `${ask} has ${expected.join(", ")}`);
  };
  await to("ledger/consent/c1", ["Yonce", "Ffor this flow", "Ndeny", "Rwith a reason"]);
  await to("billing/approval/a1", ["Yapprove", "Nsend back", "Rwith a reason"]);
  const question = await page.getByRole("link", { name: /Should archived accounts/ }).last().getAttribute("href");
  await page.locator(`a[href="${question}"]`).last().click();
  await until(shown, (list) => list.includes("Ranswer") && !list.some((one) => one.startsWith("Yonce") || one.startsWith("N")), "a question has an answer");
});
