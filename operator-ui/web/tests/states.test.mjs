// What every screen says in every state it can be in, and that nothing moves when the state changes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decisions, GRACE, sleep, stage, until } from "./stage.mjs";
import { changed, FEED, FLOW, session, STATES, TRANSCRIPT } from "./states.mjs";
import { item } from "./world.mjs";

const at = stage();
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, touch: true };
const SIZES = { "a desk": DESK, "a phone": PHONE };
const LEDGER = "orchard/ledger";

/** Opens a screen in one of its states. */
async function inState(name, look = {}, change = () => {}) {
  const state = STATES[name];
  const data = state.data?.();
  if (data !== undefined) change(data);
  const opened = await at(state.path, { ...(data === undefined ? {} : { data }), serve: state.serve, blank: state.blank, ...look });
  return opened;
}
/** Where everything stands that must not move. */
const places = (page, selectors) => page.evaluate((all) => Object.fromEntries(all.flatMap((selector) => [...document.querySelectorAll(selector)].slice(0, 12).map((node, n) => {
  const box = node.getBoundingClientRect();
  return [`${selector} ${n}`, [box.x, box.y, box.width, box.height].join(" ")];
}))), selectors);
const notice = (page) => page.locator("main").getByText(/Connection lost/).filter({ visible: true }).first();

const SCREENS = {
  inbox: ["/inbox", ["[data-rows] li", ".detail", "h1", "h2.group"]],
  flows: ["/flows", ["[data-flow]", "h1", ".find"]],
  graph: [FLOW, ["[data-card]", "[role=log]", "[data-ask]", "textarea", ".lanes", "[data-row]"]],
  feed: [FEED, ["[role=log] .row", "[data-ask]", "textarea"]],
  transcript: [TRANSCRIPT, ["[role=option]", ".seg", "#segment", "h1"]],
};
for (const [name, [path, still]] of Object.entries(SCREENS)) for (const [size, look] of Object.entries(SIZES)) {
  test(`when the line is lost the screen "${name}" says so itself and moves nothing by a pixel, on ${size}`, async () => {
    const data = STATES["transcript-live"].data();
    const { server, page } = await at(path, { data, ...look });
    await until(() => places(page, still), (all) => Object.keys(all).length > 1, "the screen is there");
    await sleep(500);
    const before = await places(page, still);
    server.drop(true);
    await notice(page).waitFor();
    assert.deepEqual(await places(page, still), before);
    const box = await notice(page).boundingBox();
    assert.ok(box !== null && box.y >= 0 && box.y < 160, "it stands at the top of the screen");
    // What it says is all to be read: nothing of it is cut off.
    assert.ok(await notice(page).evaluate((node) => { const whole = node.closest(".trunc") ?? node; return whole.scrollWidth <= whole.clientWidth + 1; }), await notice(page).innerText());
    server.refusing = false;
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await notice(page).waitFor({ state: "detached" });
    assert.deepEqual(await places(page, still), before, "nor when it is back");
  });
}

test("in a flow and in a transcript a lost line says what is complete, and a list of many flows does not", async () => {
  for (const [path, says] of [["/inbox", /^Connection lost \d+ s ago\. Trying again/], [FLOW, /^Connection lost \d+ s ago\. Complete up to event 4,812\. Trying again/], [TRANSCRIPT, /^Connection lost \d+ s ago\. Complete up to event 4,812\. Trying again/]]) {
    const { server, page } = await at(path, { data: STATES["transcript-live"].data() });
    server.drop(true);
    await notice(page).waitFor();
    assert.match(await page.locator("main .notice .trunc").filter({ visible: true }).innerText(), says);
  }
});

test("what is decided and said without a connection stands there as not sent, and is sent once", async () => {
  const { server, page } = await at(FEED);
  await page.waitForSelector("[data-ask]");
  await sleep(GRACE);
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.locator("textarea").fill("Keep the old file format readable.");
  await page.locator("textarea").press("Enter");
  await page.getByText("Allowed once, sent as soon as the connection is back").waitFor();
  const queued = page.getByRole("list", { name: "Said, not heard yet" });
  assert.match(await queued.innerText(), /Keep the old file format readable\.\s*sent as soon as the connection is back/);
  await page.getByText("2 answers wait.").waitFor();
  await page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: /Inbox/ }).first().click();
  await page.getByText("Allowed once, not sent yet").waitFor();
  assert.deepEqual(server.commands, []);
  server.refusing = false;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await until(() => server.commands.length, (n) => n === 2, "both are sent");
  await until(() => page.getByText("not sent yet").count(), (n) => n === 0, "nothing waits any more");
  assert.deepEqual(decisions(server).map((one) => one.do), ["allow"]);
});

test("a transcript of the past says so, holds nothing that came later, and goes back to now", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { server, page } = await inState("transcript-past", look);
    const banner = page.getByRole("region", { name: "Past" });
    await banner.waitFor();
    assert.match(await banner.innerText(), /You are looking at the past\.\s+The flow has moved on by 1,712 events\./, size);
    await until(() => page.locator("[data-messages]").getAttribute("data-messages"), (n) => n === "10", "cut at the event");
    // What happens now changes nothing of it.
    server.put(`flow ${LEDGER}`, { "role/backend": { ...server.world.flows[LEDGER].state.roles.backend, last_seq: 4813 } });
    await page.getByText("1,713 events").waitFor();
    assert.equal(await page.locator("[data-messages]").getAttribute("data-messages"), "10");
    if (look === DESK) await page.keyboard.press("Escape");
    else await banner.getByRole("button", { name: "Back to live" }).click();
    await until(() => page.locator("[data-messages]").getAttribute("data-messages"), (n) => n === "15", "all of it");
    assert.equal(await banner.count(), 0);
    assert.doesNotMatch(page.url(), /at=/);
  }
});

test("the line above a feed of the past says the turn and the tokens of then, and nothing of now before it knows them", async () => {
  const data = changed((data, state) => {
    data.flows[LEDGER].track = { head: 4812, at: [[1, Date.parse(state.flow.created_at)], [4812, Date.parse(state.flow.updated_at)]], nodes: { api: [[900, "running", false]] }, turns: [{ role: "backend", node: "api", turn: 11, from: 2300, to: 3150, kind: "turn" }, { role: "backend", node: "api", turn: 14, from: 4000, to: null, kind: "turn" }], hops: [], marks: [] };
    data.flows[LEDGER].then = (seq) => ({ ...state, asks: {}, flow: { ...state.flow, seq }, roles: { ...state.roles, backend: { ...state.roles.backend, turn: 11, turns: 11, context_tokens: 44_000 } } });
  });
  const { server, page } = await at(`${FEED}?at=3100`, { data, serve: (server) => { server.mute = ["/state"]; } });
  const line = page.locator(".sub");
  await until(() => line.innerText(), (text) => text.includes("turn 11"), "the turn of then");
  assert.doesNotMatch(await line.innerText(), /122k|turn 14/);
  server.speak();
  await until(() => line.innerText(), (text) => /turn 11/.test(text) && /44k of 200k/.test(text), "the tokens of then");
});

test("a feed of the past does not tell what became later of what had begun then", async () => {
  const data = changed((data, state, feeds) => {
    feeds.backend = [item(3000, "assistant", "I run the tests."), item(3050, "tool-error", "run cargo test\nerror: nothing compiles", { tool: "run_command", exit: 101, took_ms: 9000, seq: 3300 }), item(3400, "assistant", "They fail.")];
  });
  const { server, page } = await at(`${FEED}?at=3100`, { data, serve: (server) => { server.mute = ["/items"]; } });
  await page.getByText("run cargo test").waitFor();
  const said = await page.getByRole("log").innerText();
  assert.doesNotMatch(said, /nothing compiles|exit 101|They fail/);
  server.world.flows[LEDGER].feeds.backend[1] = item(3050, "tool", "run cargo test", { tool: "run_command", pending: true });
  server.speak();
  await sleep(700);
  assert.doesNotMatch(await page.getByRole("log").innerText(), /nothing compiles|exit 101|They fail/);
});

test("a page that a program served before another one answered first knows that it is of the other", async () => {
  const { server, page } = await at("/inbox", { blank: true, serve: (server) => { server.refusing = true; } });
  await page.waitForSelector("[data-line=lost]");
  server.build = "test 2";
  server.refusing = false;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  const told = page.getByRole("alert").filter({ hasText: "another version" });
  await told.waitFor();
  assert.match(await told.innerText(), /It is test 2, and this page came with test\./);
});
