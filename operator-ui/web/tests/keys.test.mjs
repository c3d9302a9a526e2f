// Every key of the page is pressed here, by the name of what it does; a test of the small hearts compares the names with the table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { armed, decisions, GRACE, sleep, stage, until } from "./stage.mjs";
import { world } from "./world.mjs";

const at = stage();
const FLOW = "/p/orchard/f/ledger";
const FEED = `${FLOW}/r/backend`;
const ASK = "/inbox/ledger/consent/c1";
const path = async (page) => { const url = new URL(page.url()); return url.pathname + url.search; };
const leads = async (page, to) => until(() => path(page), (now) => (to instanceof RegExp ? to.test(now) : now === to), `it leads to ${to}`);
const open = (page, name) => page.getByRole("dialog", { name }).waitFor();
const current = (page) => page.locator("a[aria-current=true]").first().getAttribute("href");
/** In the list of the inbox, when its ask can have been read. */
async function inList(page) {
  await page.locator("a[aria-current=true]").first().focus();
  await armed(page);
}
const answered = async (server, expected) => {
  await until(() => decisions(server), (list) => list.length === 1, "it is answered");
  const { do: verb, ...rest } = decisions(server)[0];
  assert.deepEqual([verb, rest.for_the_flow ?? rest.reason ?? rest.mode ?? null], expected);
};
const off = (page) => page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());

/** The workspace, with a first call of more lines than its box has. */
function longCall() {
  const data = world();
  const one = Object.values(data.inbox.asks).find((it) => it.id === "ledger/consent/c1");
  one.kind.shown = Array.from({ length: 62 }, (_, i) => `cargo test --test part_${i} && \\`).join("\n");
  return data;
}

/** The workspace, with a question that offers five answers. */
const OFFERS = "/inbox/archive/text/analyst";
function offering() {
  const data = world();
  const one = Object.values(data.inbox.asks).find((it) => it.id === "archive/text/analyst");
  one.kind.choices = ["Keep it", "Drop it", "Keep a year", "Ask the owner", "Keep totals"];
  one.kind.question += one.kind.choices.map((text, at) => `${at === 0 ? "\n" : ""}\n${at + 1}. ${text}`).join("");
  return data;
}

/** By what a key does: where it is pressed, and its effect. */
const KEYS = {
  palette: [FEED, async ({ page }) => { await page.locator("textarea").focus(); await page.keyboard.press("Control+k"); await open(page, "Search or jump to"); await page.keyboard.press("Meta+k"); await page.getByRole("dialog").waitFor({ state: "detached" }); }],
  help: [FEED, async ({ page }) => { await page.keyboard.press("Shift+Slash"); await open(page, "Keys"); }],
  "go-inbox": [FEED, async ({ page }) => { await page.keyboard.press("g"); await page.keyboard.press("i"); await leads(page, "/inbox"); }],
  "go-flows": [FEED, async ({ page }) => { await page.keyboard.press("g"); await page.keyboard.press("f"); await leads(page, "/flows"); }],
  "next-waiting": [FEED, async ({ page }) => { await page.getByText("1 of 2").waitFor(); await page.keyboard.press("]"); await page.getByText("2 of 2").waitFor(); }],
  "previous-waiting": [FEED, async ({ page }) => { await page.getByText("1 of 2").waitFor(); await page.keyboard.press("["); await page.getByText("2 of 2").waitFor(); }],
  down: [ASK, async ({ page }) => { await inList(page); await page.keyboard.press("j"); await until(() => current(page), (to) => to === "/inbox/ledger/consent/c2", "the next one"); }],
  up: [ASK, async ({ page }) => { await inList(page); await page.keyboard.press("k"); await until(() => current(page), (to) => to === "/inbox/billing/approval/a1", "the one before"); }],
  open: ["/flows", async ({ page }) => { await page.locator("a[data-flow]").first().waitFor(); await page.keyboard.press("j"); await until(() => page.evaluate(() => document.activeElement?.getAttribute("data-flow")), (flow) => flow !== null, "one is chosen"); await page.keyboard.press("Enter"); await leads(page, /^\/p\/orchard\/f\//); }],
  "open-in-flow": [ASK, async ({ page }) => { await inList(page); await page.keyboard.press("o"); await leads(page, /^\/p\/orchard\/f\/ledger\/r\/backend/); }],
  "answer-yes": [ASK, async ({ page, server }) => { await inList(page); await page.keyboard.press("y"); await answered(server, ["allow", false]); }],
  "answer-flow": [ASK, async ({ page, server }) => { await inList(page); await page.keyboard.press("f"); await answered(server, ["allow", true]); }],
  "answer-no": [ASK, async ({ page, server }) => { await inList(page); await page.keyboard.press("n"); await answered(server, ["deny", null]); }],
  "answer-reason": [ASK, async ({ page, server }) => { await inList(page); await page.keyboard.press("r"); await until(() => page.evaluate(() => document.activeElement?.tagName), (tag) => tag === "TEXTAREA", "a field"); await page.keyboard.type("not now"); await page.keyboard.press("Enter"); await answered(server, ["deny", "not now"]); }],
  "answer-first": ["/inbox/wizard/improvement/flow", async ({ page, server }) => { await inList(page); await page.keyboard.press("1"); await answered(server, ["improve", "graph-based"]); }],
  "answer-second": ["/inbox/wizard/improvement/flow", async ({ page, server }) => { await inList(page); await page.keyboard.press("2"); await answered(server, ["improve", "parallel"]); }],
  "answer-third": ["/inbox/wizard/improvement/flow", async ({ page, server }) => { await inList(page); await page.keyboard.press("3"); await answered(server, ["improve", "none"]); }],
  "answer-fourth": [OFFERS, async ({ page, server }) => { await inList(page); await page.keyboard.press("4"); await until(() => decisions(server), (list) => list.length === 1, "it is answered"); assert.equal(decisions(server)[0].text, "Ask the owner"); }, offering()],
  "answer-fifth": [OFFERS, async ({ page, server }) => { await inList(page); await page.keyboard.press("5"); await until(() => decisions(server), (list) => list.length === 1, "it is answered"); assert.equal(decisions(server)[0].text, "Keep totals"); }, offering()],
  "show-all": [ASK, async ({ page, server }) => {
    await inList(page);
    await page.keyboard.press("y");
    await page.getByText("It can be allowed once all of it was shown: ").waitFor();
    assert.deepEqual(decisions(server), []);
    await sleep(GRACE);
    await page.keyboard.press("v");
    await page.getByRole("button", { name: "Show less" }).waitFor();
    await sleep(GRACE);
    await page.keyboard.press("y");
    await answered(server, ["allow", false]);
  }, longCall()],
  snooze: [ASK, async ({ page, server }) => { await inList(page); await page.keyboard.press("e"); await page.getByRole("heading", { name: "Later" }).waitFor(); assert.deepEqual(decisions(server), []); }],
  "role-tab": [FEED, async ({ page }) => { await page.keyboard.press("4"); await leads(page, `${FLOW}/r/frontend`); await page.keyboard.press("1"); await leads(page, `${FLOW}/r/owner`); }],
  view: [FLOW, async ({ page }) => { await page.keyboard.press("Shift+V"); await leads(page, `${FLOW}/outline`); await page.keyboard.press("Shift+V"); await leads(page, FLOW); }],
  find: [FLOW, async ({ page }) => { await page.locator("[data-card]").first().waitFor(); await page.keyboard.press("/"); await page.getByRole("combobox", { name: "Find a node or role" }).waitFor(); }],
  transcript: [FEED, async ({ page }) => { await page.keyboard.press("t"); await leads(page, `${FLOW}/r/backend/transcript`); }],
  diff: [FLOW, async ({ page }) => { await page.keyboard.press("d"); await leads(page, `${FLOW}/files`); }],
  "stop-turn": [`${FLOW}/r/frontend`, async ({ page, server }) => {
    await page.keyboard.press(".");
    await page.getByText("Again to stop").waitFor();
    assert.deepEqual(decisions(server), []);
    await page.keyboard.press(".");
    await until(() => decisions(server), (list) => list.length === 1, "it stops");
    assert.deepEqual(decisions(server), [{ do: "stop", scope: { role: "frontend" } }]);
  }],
  "previous-event": [FLOW, async ({ page }) => { await page.getByRole("slider").waitFor(); await page.keyboard.press(","); await leads(page, /at=4811/); }],
  "next-event": [`${FLOW}?at=3100`, async ({ page }) => { await page.getByRole("slider").waitFor(); await page.keyboard.press(";"); await leads(page, /at=3101/); }],
  live: [`${FLOW}?at=3100`, async ({ page }) => { await page.getByText("You are looking at the past.").waitFor(); await page.keyboard.press("l"); await leads(page, FLOW); }],
  fork: [FLOW, async ({ page }) => { await page.getByRole("slider").waitFor(); await page.keyboard.press("Shift+F"); await open(page, "Fork from here"); }],
  "new-flow": [FEED, async ({ page }) => { await page.keyboard.press("Shift+N"); await open(page, "Start a flow"); }],
  composer: [FEED, async ({ page }) => { await page.keyboard.press("c"); await until(() => page.evaluate(() => document.activeElement?.tagName), (tag) => tag === "TEXTAREA", "it can be written to"); assert.equal(await page.locator("textarea").first().inputValue(), ""); }],
  region: [FEED, async ({ page }) => { await page.keyboard.press("F6"); await until(() => page.evaluate(() => document.activeElement?.closest("[data-region]")?.getAttribute("aria-label")), (name) => name === "Workspace", "the first region"); }],
  close: [`${FLOW}?at=3100`, async ({ page }) => {
    await page.keyboard.press("Control+k");
    await open(page, "Search or jump to");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.match(await path(page), /at=3100/);
    await page.keyboard.press("Escape");
    await leads(page, FLOW);
  }],
};

for (const [name, [where, press, data]] of Object.entries(KEYS)) {
  test(`the key for "${name}" does what the list of keys says`, async () => {
    const opened = await at(where, data === undefined ? {} : { data });
    await opened.page.locator(where.startsWith(FLOW) ? "[role=log]" : "main").first().waitFor();
    await off(opened.page);
    await press(opened);
  });
}

test("with Alt an ask is answered from within text, with each of its letters", async () => {
  for (const [key, expected] of [["Alt+y", ["allow", false]], ["Alt+f", ["allow", true]], ["Alt+n", ["deny", null]]]) {
    const { server, page } = await at(FEED);
    await page.waitForSelector("[data-ask]");
    await page.locator("textarea").focus();
    await armed(page);
    await page.keyboard.press(key);
    await answered(server, expected);
  }
});

test("Enter sends, Shift Enter is a new line, and Enter with Control or Command sends and follows", async () => {
  for (const send of ["Enter", "Control+Enter", "Meta+Enter"]) {
    const { server, page } = await at(FEED);
    const field = page.locator("textarea");
    await field.focus();
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    assert.equal(await field.inputValue(), "one\ntwo");
    await page.keyboard.press(send);
    await until(() => server.commands.length, (n) => n === 1, "it is sent");
    assert.equal(server.commands[0].command.text, "one\ntwo");
    assert.equal(await page.locator("[role=log]").getAttribute("data-follow"), "true");
  }
});

test("single letters can be switched off: none of them does anything then, and chords still do", async () => {
  const { server, page } = await at("/settings/keys");
  await page.getByRole("checkbox", { name: /Single-key shortcuts/ }).click();
  for (const where of [FEED, ASK]) {
    await page.goto(server.address + where);
    await page.waitForSelector(where === FEED ? "[data-ask]" : "a[aria-current=true]");
    if (where === ASK) await inList(page);
    const before = await path(page);
    for (const key of ["Shift+Slash", "g", "i", "g", "f", "[", "]", "j", "k", "o", "y", "f", "n", "r", "e", "1", "4", "v", "Shift+V", "/", "t", "d", ".", ".", ",", ";", "l", "Shift+F", "c"]) await page.keyboard.press(key, { delay: 15 });
    await sleep(GRACE);
    assert.equal(await path(page), before);
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.deepEqual(server.commands, []);
  }
  await page.keyboard.press("Control+k");
  await open(page, "Search or jump to");
});

test("open beside keeps what is looked at: a role comes beside it, what has no place there in a tab of its own", async () => {
  const { page } = await at(`${FLOW}/files`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("@fron");
  await page.getByRole("option", { name: /frontend/ }).waitFor();
  await page.keyboard.press("Control+Enter");
  await leads(page, `${FLOW}/files?role=frontend`);
  await page.getByRole("log", { name: "frontend feed" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("Billing");
  await page.getByRole("option", { name: /Billing export/ }).last().waitFor();
  for (let n = 0; n < 6 && !/^Billing export/.test(await page.locator("[role=option][aria-selected=true]").innerText()); n += 1) await page.keyboard.press("ArrowDown");
  const [tab] = await Promise.all([page.context().waitForEvent("page"), page.keyboard.press("Meta+Enter")]);
  await tab.waitForURL("**/p/orchard/f/billing");
  await leads(page, `${FLOW}/files?role=frontend`);
});

test("under a dialog no key does anything to the page, and an ask is not answered", async () => {
  const { server, page } = await at(FEED);
  await page.waitForSelector("[data-ask]");
  await armed(page);
  await page.keyboard.press("Shift+Slash");
  await open(page, "Keys");
  for (const key of ["v", "Shift+V", "t", "d", "]", "Alt+y", "Alt+n", "c", "g", "f"]) await page.keyboard.press(key);
  await sleep(GRACE);
  assert.equal(await path(page), FEED);
  assert.deepEqual(server.commands, []);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("what is listed under settings is what the page answers to", async () => {
  const { page } = await at("/settings/keys");
  await page.getByRole("heading", { name: "On the time strip" }).waitFor();
  const listed = await page.locator("dt kbd").allInnerTexts();
  for (const shown of ["Ctrl K", "?", "G I", "G F", "[", "]", "J", "K", "Enter", "O", "Y, in text Alt Y", "F, in text Alt F", "N, in text Alt N", "R", "E", "1 to 9", "V, in text Alt V", "Shift V", "/", "T", "D", ". twice", ",", ";", "L", "Shift F", "C", "F6", "Esc", "Shift Enter", "Ctrl Enter"]) assert.ok(listed.includes(shown), shown);
});

