// What goes wrong between a page and its server: breaks at any moment, a machine that slept, a journal that was
// rewritten, two windows that answer at once. Nothing is there twice, nothing is missing, and one answer counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTO } from "./door.mjs";
import { armed, decisions, says, sleep, stage, until } from "./stage.mjs";
import { consent, item, world } from "./world.mjs";

const at = stage();
const FEED = "/p/orchard/f/ledger/r/backend";
const TOPIC = "feed orchard/ledger backend";
/** A feed of so many items, none of which collapses into another. */
const long = (n) => {
  const data = world();
  data.flows["orchard/ledger"].feeds.backend = Array.from({ length: n }, (_, i) => item(i + 1, "assistant", `item ${i + 1}`));
  return data;
};
const rows = (page) => page.locator("[role=log]").getAttribute("data-rows");
const said = (page) => page.locator("[role=log]").innerText();

test("through a hundred breaks, at whatever moment, no item is lost and none is there twice", async () => {
  const { server, page } = await at(FEED, { data: long(3) });
  let last = 3;
  for (let round = 0; round < 100; round += 1) {
    // Before, while and after the line is away; the page comes back by itself and at once.
    if (round % 3 === 0) server.put(TOPIC, [item(++last, "assistant", `item ${last}`)]);
    server.drop();
    if (round % 3 === 1) server.put(TOPIC, [item(++last, "assistant", `item ${last}`)]);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    if (round % 3 === 2) server.put(TOPIC, [item(++last, "assistant", `item ${last}`)]);
    if (round % 10 === 9) await until(() => rows(page), (n) => n === String(last), `all items after ${round + 1} breaks`);
  }
  await until(() => rows(page), (n) => n === String(last), "all items at the end");
  await page.getByRole("log").focus();
  await page.keyboard.press("End");
  await until(() => said(page), (text) => text.includes(`item ${last}`), "the newest stands at the end");
  const shown = (await said(page)).match(/item \d+/g);
  assert.deepEqual(shown, [...new Set(shown)], "none is there twice");
});

test("a feed that is told what it missed says how far it is, until it was told all, and moves nothing", async () => {
  const { server, page } = await at(FEED, { data: long(30) });
  const top = () => page.locator("[role=log]").evaluate((log) => log.getBoundingClientRect().top);
  const before = await top();
  server.behind = [TOPIC];
  server.drop();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  const bar = page.locator(".behind");
  await bar.waitFor();
  await says(bar, /^Catching up, [\d,]+ of [\d,]+$/);
  assert.equal(await top(), before);
  const [socket] = server.sockets;
  const [id] = [...socket.subs].find(([, topic]) => topic === TOPIC);
  const seq = server.seq(TOPIC);
  socket.say({ t: "ev", id, from: seq, to: seq + 1, at: new Date().toISOString(), put: [item(31, "assistant", "item 31")] });
  socket.say({ t: "caught_up", id, seq: seq + 1, head: seq + 1 });
  await bar.waitFor({ state: "detached" });
  await until(() => rows(page), (n) => n === "31", "what was missed is there");
});

test("after a sleep the page comes back at once, with what happened meanwhile and with what was written", async () => {
  const { server, page } = await at(FEED, { data: long(20) });
  await page.locator("textarea").fill("half a sentence");
  const hide = (hidden) => page.evaluate((hidden) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (hidden ? "hidden" : "visible") });
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await hide(true);
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  server.put(TOPIC, [item(21, "assistant", "said while it slept")]);
  const late = consent("late", "ls");
  server.put("inbox", { [`ask/${late.id}`]: { ...late, short: "Run ls, late" } });
  // Long enough that the next try by itself is seconds away.
  await sleep(3_000);
  server.refusing = false;
  await hide(false);
  await until(() => said(page), (text) => text.includes("said while it slept"), "what was said meanwhile");
  await page.getByText("Run ls, late").first().waitFor();
  assert.equal(await rows(page), "21");
  assert.equal(await page.locator("textarea").inputValue(), "half a sentence");
});

test("when the journal was rewritten, what the page shows is the new one and nothing of the old", async () => {
  const { server, page } = await at(FEED, { data: long(40) });
  await until(() => said(page), (text) => text.includes("item 40"), "the old journal");
  server.drop(true);
  server.epoch = "e2";
  server.seqs.clear();
  server.world.flows["orchard/ledger"].feeds.backend = [item(1, "assistant", "item 1"), item(2, "assistant", "repaired")];
  server.world.inbox.asks = {};
  server.world.flows["orchard/ledger"].state.asks = {};
  server.refusing = false;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await until(() => rows(page), (n) => n === "2", "the new journal");
  await until(() => said(page), (text) => text.includes("repaired") && !text.includes("item 40"), "nothing of the old one");
  server.put(TOPIC, [item(3, "assistant", "and on it goes")]);
  await until(() => said(page), (now) => now.includes("and on it goes"), "it is followed from there");
  await page.goto(`${server.address}/inbox`);
  await page.getByText("Nothing waits for you").first().waitFor();
});

test("a text that was fetched of an item is not shown for the one that took its number when the journal was mended", async () => {
  const data = long(1);
  data.flows["orchard/ledger"].feeds.backend.push(item(2, "assistant", "It begins", { full_bytes: 9_000 }));
  const { server, page } = await at(FEED, { data });
  await page.getByRole("button", { name: /^Show all of it/ }).click();
  await until(() => said(page), (text) => text.includes("the whole text"), "all of it");
  server.drop(true);
  server.epoch = "e2";
  server.seqs.clear();
  server.world.flows["orchard/ledger"].feeds.backend[1] = item(2, "assistant", "another one", { at: new Date().toISOString() });
  server.refusing = false;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await until(() => said(page), (text) => text.includes("another one") && !text.includes("the whole text"), "the item that is there now");
});

test("of two windows that answer in the same moment one counts, and the other says so", async () => {
  const { server, page, another } = await at("/inbox/ledger/consent/c1");
  server.first = true;
  const other = await another("/inbox/ledger/consent/c1");
  for (const window of [page, other.page]) await armed(window);
  // Both answers are under way before the first of them arrives.
  server.held = [];
  await page.getByRole("button", { name: "Allow once" }).click();
  await other.page.getByRole("button", { name: "Deny", exact: false }).first().click();
  await until(() => server.held.length, (n) => n === 2, "both were said");
  server.release();
  await until(() => decisions(server).length, (n) => n === 2, "both were heard");
  for (const window of [page, other.page]) await until(() => window.locator("a[href='/inbox/ledger/consent/c1']").count(), (n) => n === 0, "the ask has left both");
  assert.equal(server.refused.length, 1, "one was refused");
  const told = await Promise.all([page, other.page].map((window) => window.locator(".toast").count()));
  assert.deepEqual(told.toSorted(), [0, 1], "whoever was second is told");
  await other.close();
});

test("an answer that is refused comes back to where it was written, in front of what was typed since", async () => {
  const { server, page } = await at("/inbox/archive/text/analyst");
  const field = page.locator("main textarea").first();
  await field.fill("Keep running for a year");
  server.first = true;
  server.held = [];
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await until(() => server.held.length, (n) => n === 1, "it was said");
  // Another answer was first, and this page does not know yet.
  delete server.world.inbox.asks["archive/text/analyst"];
  server.release();
  await page.locator(".toast").waitFor();
  assert.equal(await field.inputValue(), "Keep running for a year");
});

const replaced = (page) => page.getByRole("alert").filter({ hasText: "another version" });

test("when another build answers, the page says so above what is shown, goes on, reloads with what was written, and opens other screens with a page of that build", async () => {
  const { server, page, complaints } = await at(FEED, { data: long(3) });
  await page.locator("textarea").fill("half a sentence");
  assert.equal(await replaced(page).count(), 0);
  server.build = "test 2";
  server.drop();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await replaced(page).waitFor();
  await says(replaced(page), /It is test 2, and this page came with test\. It goes on/);
  server.put(TOPIC, [item(4, "assistant", "and on it goes")]);
  await until(() => said(page), (text) => text.includes("and on it goes"), "it is followed further");
  await page.getByRole("button", { name: "Reload" }).click();
  await until(() => replaced(page).count(), (n) => n === 0, "after reloading the two are one");
  await until(() => page.locator("textarea").inputValue(), (text) => text === "half a sentence", "what was written is there");
  server.build = "test 3";
  server.drop();
  await page.evaluate(() => { window.stayed = true; dispatchEvent(new Event("online")); });
  await replaced(page).waitFor();
  // Its parts do not fit this page.
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  assert.deepEqual([await replaced(page).count(), await page.evaluate(() => window.stayed)], [0, undefined]);
  await page.goBack();
  await until(() => page.locator("textarea").inputValue(), (text) => text === "half a sentence", "what was written is still there");
  assert.deepEqual(complaints, []);
});

test("a server of another protocol is neither believed nor told anything, and the page offers to reload", async () => {
  const { server, page } = await at(FEED, { data: long(3) });
  server.proto = PROTO + 1;
  server.build = "test 2";
  server.drop();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await replaced(page).waitFor();
  await says(replaced(page), /does not understand.*nothing is sent/);
  server.put(TOPIC, [item(4, "assistant", "of another world")]);
  await page.locator("textarea").fill("go on");
  await page.locator("textarea").press("Enter");
  await page.getByRole("region", { name: "Errors" }).getByText("another version").waitFor();
  assert.deepEqual(server.commands, []);
  assert.ok(!(await said(page)).includes("of another world"));
  server.proto = PROTO;
  await page.getByRole("button", { name: "Reload" }).click();
  await until(() => said(page), (text) => text.includes("of another world"), "after reloading all is there");
  assert.equal(await replaced(page).count(), 0);
});

// One program says one version, so that two of them are stood in for.
test("a page that a program served before another one answered first knows that it is of the other", async () => {
  const { server, page } = await at("/inbox", { blank: true, serve: (server) => { server.refusing = true; } });
  await page.waitForSelector("[data-line=lost]");
  server.build = "test 2";
  server.refusing = false;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  const told = page.getByRole("alert").filter({ hasText: "another version" });
  await told.waitFor();
  await says(told, /It is test 2, and this page came with test\./);
});
