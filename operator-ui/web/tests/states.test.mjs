// What every screen says in every state it can be in, and that nothing moves when the state changes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf } from "./checker.mjs";
import { armed, counts, decisions, LONG_REST_MS, says, settled, sleep, stage, until } from "./stage.mjs";
import { changed, FEED, FLOW, PLAYED, session, STATES, TRANSCRIPT } from "./states.mjs";
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
/** The position of everything that must not move. */
const places = (page, selectors) => page.evaluate((all) => Object.fromEntries(all.flatMap((selector) => [...document.querySelectorAll(selector)].slice(0, 12).map((node, n) => {
  const box = node.getBoundingClientRect();
  return [`${selector} ${n}`, [box.x, box.y, box.width, box.height].join(" ")];
}))), selectors);
const notice = (page) => page.locator("main").getByText(/Connection lost/).filter({ visible: true }).first();

/** What of a text is not on the screen: out of the window, cut off by a part around it, or covered by another. */
const cut = (part) => part.evaluate((node) => {
  const range = document.createRange();
  range.selectNodeContents(node.closest(".trunc") ?? node);
  // Half a line is cut by any tolerance; letters are a little higher than a tight line.
  const [SIDE, HEIGHT] = [1, 3];
  return [...range.getClientRects()].filter((box) => box.width > 0).flatMap((box) => {
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const faults = box.left < -SIDE || box.right > innerWidth + SIDE ? ["out of the window"] : [];
    for (let around = node; around !== null; around = around.parentElement) {
      const edge = around.getBoundingClientRect();
      if (getComputedStyle(around).overflow !== "visible" && (box.left < edge.left - SIDE || box.right > edge.right + SIDE || box.top < edge.top - HEIGHT || box.bottom > edge.bottom + HEIGHT)) faults.push(`cut by ${around.tagName}.${around.className}`);
    }
    const there = document.elementFromPoint(x, y);
    return there !== null && (node.contains(there) || there.contains(node) || node.parentElement?.contains(there)) ? faults : [...faults, `covered by ${there?.outerHTML.slice(0, 80)}`];
  });
});
/** The page in letters of one width, which are wider than those it is drawn with, on every machine; or in its own again. */
const inLetters = (page, face) => page.evaluate((face) => document.documentElement.style.setProperty("--sans", face ?? ""), face);

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
    await settled(page, LONG_REST_MS);
    const before = await places(page, still);
    server.drop(true);
    await notice(page).waitFor();
    assert.deepEqual(await places(page, still), before);
    const box = await notice(page).boundingBox();
    assert.ok(box !== null && box.y >= 0 && box.y < 160, "it stands at the top of the screen");
    // What it says is all to be read: nothing of it is cut off.
    assert.ok(await notice(page).evaluate((node) => { const whole = node.closest(".trunc") ?? node; return whole.scrollWidth <= whole.clientWidth + 1; }), await notice(page).innerText());
    assert.deepEqual(await cut(notice(page)), []);
    // So it is in wider letters, as of a machine that has not the page's own; and there, too, it is as high as what it replaced.
    const { y, height } = await page.locator("h1").filter({ visible: true }).first().boundingBox();
    await inLetters(page, "monospace");
    await until(() => cut(notice(page)), (faults) => faults.length === 0, "all of it is to be read in wide letters");
    const wide = await page.locator("h1").filter({ visible: true }).first().boundingBox();
    assert.deepEqual([wide.y, wide.height], [y, height]);
    await inLetters(page, null);
    server.refusing = false;
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await notice(page).waitFor({ state: "detached" });
    // Rows in wide letters are measured anew.
    await settled(page, LONG_REST_MS);
    assert.deepEqual(await places(page, still), before, "nor when it is back");
  });
}

test("in a flow and in a transcript a lost line says what is complete, and a list of many flows does not", async () => {
  for (const [path, words] of [["/inbox", /^Connection lost \d+ s ago\. Trying again/], [FLOW, /^Connection lost \d+ s ago\. Complete up to event 4,812\. Trying again/], [TRANSCRIPT, /^Connection lost \d+ s ago\. Complete up to event 4,812\. Trying again/]]) {
    const { server, page } = await at(path, { data: STATES["transcript-live"].data() });
    server.drop(true);
    await notice(page).waitFor();
    await says(page.locator("main .notice .trunc").filter({ visible: true }), words);
  }
});

test("what is decided and said without a connection stands there as not sent, and is sent once", async () => {
  const { server, page } = await at(FEED);
  await page.waitForSelector("[data-ask]");
  await armed(page);
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.locator("textarea").fill("Keep the old file format readable.");
  await page.locator("textarea").press("Enter");
  await page.getByText("Allowed once, sent as soon as the connection is back").waitFor();
  const queued = page.getByRole("list", { name: "Sent, not read yet" });
  await says(queued, /Keep the old file format readable\.\s*sent as soon as the connection is back/);
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

test("what was said without a connection stands in its field again when the page is loaded anew before it is back", async () => {
  const { server, page } = await at(FEED);
  await page.waitForSelector("[data-ask]");
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  await page.locator("textarea").fill("Keep the old file format readable.");
  await page.locator("textarea").press("Enter");
  await page.getByRole("list", { name: "Sent, not read yet" }).waitFor();
  assert.equal(await page.locator("textarea").inputValue(), "");
  // The page is gone before the server is back, so that it cannot send by itself.
  const address = page.url();
  await page.goto("about:blank");
  server.refusing = false;
  await page.goto(address);
  await until(() => page.locator("textarea").inputValue(), (text) => text === "Keep the old file format readable.", "it is not lost");
  assert.deepEqual(server.commands, []);
  // Sent and answered it is gone, also for the next load.
  await page.locator("textarea").press("Enter");
  await until(() => server.commands.length, (n) => n === 1, "it is sent");
  await until(() => page.locator("textarea").inputValue(), (text) => text === "", "it is taken");
  await until(() => page.evaluate(() => sessionStorage.getItem("a-society.drafts")), (kept) => kept === "[]", "and kept no more");
});

test("a transcript of the past says so, holds nothing that came later, and goes back to now", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { server, page } = await inState("transcript-past", look);
    const banner = page.getByRole("region", { name: "Past" });
    await banner.waitFor();
    await says(banner, /You are looking at the past\.\s+The flow has moved on by 1,712 events\./, size);
    await until(() => page.locator("[data-messages]").getAttribute("data-messages"), (n) => n === "10", "cut at the event");
    // What happens now changes nothing of it.
    server.put(`flow ${LEDGER}`, { "role/backend": { ...server.world.flows[LEDGER].state.roles.backend, last_seq: 4813 } });
    await page.getByText("1,713 events").waitFor();
    assert.equal(await page.locator("[data-messages]").getAttribute("data-messages"), "10");
    if (look === DESK) await page.keyboard.press("Escape");
    else await banner.getByRole("button", { name: "Back to live" }).click();
    await until(() => page.locator("[data-messages]").getAttribute("data-messages"), (n) => n === "15", "all of it");
    await counts(banner, 0);
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
  await says(told, /It is test 2, and this page came with test\./);
});

// ── what is on its way ────────────────────────────────────────────────────────────────────────────

/** Nothing turns and nothing runs over what is shown. */
const still = (page) => page.evaluate(() => document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations === Infinity && one.playState === "running").length);

test("what is not here yet is three quiet rows, which come late, count nothing and turn nothing", async () => {
  for (const [path, mute] of [["/inbox", "inbox"], ["/flows", "inbox"], [FLOW, "flow "], [FEED, "feed "], [TRANSCRIPT, "/transcript"]]) {
    const { server, page } = await at(path, { data: STATES["transcript-live"].data(), blank: true, motion: true, serve: (server) => { server.mute = [mute]; } });
    const quiet = page.locator("[data-quiet]").first();
    await quiet.waitFor({ state: "attached" });
    assert.equal(await quiet.evaluate((node) => getComputedStyle(node).animationDelay), "0.2s", path);
    await until(() => quiet.evaluate((node) => getComputedStyle(node).opacity), (opacity) => opacity === "1", "they come");
    await counts(quiet.locator(":scope > *"), 3);
    if (mute !== "feed ") assert.equal(await still(page), 0, path);
    assert.doesNotMatch(await page.locator("main").innerText(), /Nothing waits|All\s*0|No flow|No turns/, path);
    server.speak();
    await until(() => page.locator("[data-quiet]").count(), (n) => n === 0, `${path} is here`);
  }
});

test("what is on its way is shown to a reader who asked for no motion, too", async () => {
  const { page } = await at("/inbox", { blank: true, serve: (server) => { server.mute = ["inbox"]; } });
  const quiet = page.locator("[data-quiet]").first();
  await until(() => quiet.evaluate((node) => getComputedStyle(node).opacity), (opacity) => opacity === "1", "they come");
});

test("a tab that is loaded anew shows the flows and the graph it had at once, and says nothing of states it does not know", async () => {
  const { server, page } = await at(FLOW);
  await page.locator("[data-card]").first().waitFor();
  await page.locator(".strip").first().waitFor();
  await sleep(600);
  const cards = () => page.locator("[data-card]").evaluateAll((all) => all.map((card) => card.getAttribute("data-card")).sort());
  const had = await cards();
  server.mute = ["flow ", "feed ", "/track", "inbox"];
  await page.reload();
  await page.locator("[data-loading] [data-card]").first().waitFor();
  assert.deepEqual(await cards(), had);
  assert.deepEqual(await page.locator("[data-card]").evaluateAll((all) => [...new Set(all.map((card) => card.getAttribute("data-state")))]), ["not-reached"]);
  await says(page.getByRole("navigation", { name: "Workspace" }), /Ledger journal[\s\S]*Billing export/);
  assert.doesNotMatch(await page.locator("main").innerText(), /Waiting for you|Working|turn 14|cargo/);
  server.speak();
  await page.locator('[data-card="api"][data-state="needs-you"]').waitFor();
  assert.deepEqual(await cards(), had);
  // Another flow has no shape here, and takes none from this one.
  await page.goto(`${server.address}/inbox`);
  server.mute = ["inbox"];
  server.build = "test";
  await page.reload();
  await page.getByRole("navigation", { name: "Workspace" }).getByText("Billing export").waitFor();
});

// ── what happens while the page is open ─────────────────────────────────────────────────────────────

test("an ask that comes never moves the one that is looked at, whatever it blocks", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { server, page } = await at("/inbox/wizard/improvement/flow", look);
    const row = page.locator("a[aria-current=true]");
    await row.waitFor();
    await settled(page, LONG_REST_MS);
    const before = await row.boundingBox();
    for (const id of ["late", "later"]) {
      const one = { ...server.world.inbox.asks["ledger/consent/c1"], id: `ledger/consent/${id}`, since: new Date().toISOString(), short: `Run ${id}` };
      server.put("inbox", { [`ask/${one.id}`]: one });
    }
    await page.getByText("New, blocking a role").waitFor();
    await page.getByText("Run later", { exact: true }).first().waitFor();
    assert.deepEqual(await row.boundingBox(), before, size);
    await says(row, /Run a retrospective/);
    // Once the reader moves on, it is where it belongs.
    await page.locator("a[href='/inbox/ledger/consent/c1']").click();
    await until(() => page.getByText("New, blocking a role").count(), (n) => n === 0, "they are among the others");
  }
});

test("a flow that runs is told as it happens: what its node does, what is being written, and a playhead that goes on", async () => {
  const { server, page } = await inState("flow-live");
  await page.locator('[data-card="ui"]').getByText("edit ui/src/LedgerTable.tsx, 1 place").waitFor();
  server.put(`flow ${LEDGER}`, { "node/ui": { ...server.world.flows[LEDGER].state.nodes.ui, live: "run npm test" } });
  await page.locator('[data-card="ui"]').getByText("run npm test").waitFor();
  server.delta(`feed ${LEDGER} frontend`, "f4700", 84, " snapshot.");
  await page.getByRole("log").getByText(/still being written/).waitFor({ state: "attached" });
  const moment = page.locator(".strip").getByText(/\d\d:\d\d:\d\d, event/).first();
  const first = await moment.innerText();
  await until(() => moment.innerText(), (now) => now !== first, "the moment goes on");
});

// ── what went wrong ───────────────────────────────────────────────────────────────────────────────

test("a model that was not reached is an item with its cause and one button, and a red octagon on its node", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page } = await inState("inbox-error", look);
    await page.getByRole("button", { name: "Retry turn" }).first().waitFor();
    const region = page.locator("main");
    await says(region, /429 Too Many Requests/);
    await counts(region.getByRole("textbox"), 0, size);
    await counts(region.locator(".controls .button"), 1, size);
    await counts(region.locator(".controls .button.primary"), 1, size);
  }
  const { page } = await inState("flow-error");
  await page.locator('[data-card="api"][data-state="failed"]').waitFor();
  await says(page.getByRole("log"), /The model did not answer[\s\S]*429 Too Many Requests/);
  await counts(page.locator("[data-ask] .button"), 1);
  // The item leads to what was sent.
  const link = page.locator("[role=log] .row").last().getByRole("link", { name: "Open in transcript" });
  assert.match(await link.getAttribute("href"), /transcript\?seg=requests#e4700$/);
});

test("a request that is tried again counts down in its feed, and says so no more when the time has come", async () => {
  const { server, page } = await inState("flow-retrying");
  const told = page.locator("[data-retry]");
  await told.waitFor();
  // What is read while one countdown gives way to the next says no time, and is read again.
  const seconds = async () => Number(/in (\d+) s/.exec(await told.innerText())?.[1] ?? Number.NaN);
  const first = await seconds();
  assert.ok(first > 20 && first <= 40, `${first} s`);
  await until(seconds, (now) => now < first, "it counts down");
  assert.doesNotMatch(await page.getByRole("log").innerText(), /\d+ ms/);
  // The next one failed, too: only that is waited for, and it ends without a message.
  const failed = Date.now();
  const { roles } = server.world.flows[LEDGER].state;
  server.put(`feed ${LEDGER} backend`, [item(4710, "error", "overloaded (server).", { event: "provider.failed", label: "The model did not answer", at: new Date(failed).toISOString(), again_at: new Date(failed + 1_500).toISOString() })]);
  server.put(`flow ${LEDGER}`, { "role/backend": { ...roles.backend, retry_at: new Date(failed + 1_500).toISOString() } });
  await until(async () => [await told.count(), await told.count() === 0 ? 0 : await seconds()], ([n, s]) => n === 1 && s <= 2, "the second one counts alone");
  await until(() => told.count(), (n) => n === 0, "and is over");
});

test("a request that waits is made at once by a button beside the countdown, which is nowhere that nothing waits", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { server, page } = await inState("flow-retrying", look);
    const button = page.getByRole("button", { name: "Retry now" });
    await button.waitFor();
    if (size === "phone") assert.ok((await button.boundingBox()).height >= 44);
    await button.click();
    await until(() => server.commands.length, (n) => n === 1, "it is said");
    assert.deepEqual(server.commands.map((up) => up.command), [{ do: "retry_now", to: { role: "backend" } }]);
    const { roles } = server.world.flows[LEDGER].state;
    server.put(`flow ${LEDGER}`, { "role/backend": { ...roles.backend, retry_at: null } });
    await until(() => page.locator("[data-retry]").count(), (n) => n === 0, "it was made: nothing counts down");
    assert.match(await page.getByRole("log").innerText(), /429 Too Many Requests/);
  }
  const { server, page } = await inState("flow-retrying");
  await page.getByRole("button", { name: "Retry now" }).waitFor();
  server.put(`flow ${LEDGER}`, { flow: { ...server.world.flows[LEDGER].state.flow, driven_by: null } });
  await until(() => page.locator("[data-retry]").count(), (n) => n === 0, "nobody drives it");
  server.put(`flow ${LEDGER}`, { flow: { ...server.world.flows[LEDGER].state.flow, driven_by: "server" } });
  await page.getByRole("button", { name: "Retry now" }).waitFor();
  await page.goto(`${page.url()}?at=4750`);
  await page.getByRole("log").getByText("429 Too Many Requests").waitFor();
  assert.equal(await page.locator("[data-retry]").count(), 0, "the past waits for nobody");
});

test("a command that came too late says so, and the button can be pressed again", async () => {
  const { server, page } = await inState("flow-retrying");
  server.answers = false;
  const button = page.getByRole("button", { name: "Retry now" });
  await button.click();
  await until(() => button.isDisabled(), (is) => is, "it is on its way");
  const [up] = server.commands;
  for (const one of server.sockets) one.say({ t: "ack", cmd: up.cmd, ok: false, error: { code: "command-refused", what: "no request waits for a retry", why: "nothing is waiting to be retried there. Waiting for a provider: none", try: "see the flow's state: a-society status FLOW" } });
  await page.getByText("no request waits for a retry").first().waitFor();
  assert.equal(await button.isDisabled(), false);
});

test("a role that was cut off asks to go on, with what it had said and where it was cut", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page } = await inState("inbox-interrupted", look);
    await page.getByRole("main").getByText("Cut off in its turn. Continue?").first().waitFor();
    await says(page.locator("main"), /assigns sequence\s*Cut here/, size);
    for (const name of [/^Continue(?! with)/, /^Continue with a note/]) await page.getByRole("button", { name }).first().waitFor();
  }
  const { page } = await inState("flow-interrupted");
  await page.locator('[data-card="api"][data-state="interrupted"]').waitFor();
  await page.getByRole("log").getByText("Cut here").waitFor();
  for (const name of [/^Continue(?! with)/, /^Continue with a note/]) await page.locator("[data-ask]").getByRole("button", { name }).waitFor();
});

test("what was denied is a line of the feed, and the composer hints at what to say instead", async () => {
  const { page } = await inState("flow-denied");
  await says(page.getByRole("log"), /Denied by you\s*rm -rf build/);
  await page.getByPlaceholder("Tell backend what to do instead").waitFor();
  const inbox = await inState("inbox-denied");
  await inbox.page.getByRole("heading", { name: "You denied this. What should backend do instead?" }).waitFor();
});

test("a draft is one ready node and a composer that has the focus and says what to write", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { server, page } = await inState("flow-draft", look);
    const field = page.getByPlaceholder("Say what you want done");
    await field.waitFor();
    await until(() => field.evaluate((node) => node === document.activeElement), (has) => has, `it has the focus on ${size}`);
    if (look === DESK) await counts(page.locator('[data-card][data-state="ready"]'), 1);
    await page.keyboard.type("A ledger that is only appended to");
    await page.keyboard.press("Enter");
    await until(() => server.commands.length, (n) => n === 1, "it is said");
    assert.equal(server.commands[0].command.text, "A ledger that is only appended to");
  }
});

test("a flow that a newer version wrote is listed as such, and hides no other", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page, complaints } = await inState("flows-newer", look);
    await until(() => page.locator("[data-flow]").count(), (n) => n === 7, `all flows are listed on ${size}`);
    const row = page.getByRole("row").filter({ has: page.locator('[data-flow="orchard/unread"]') });
    await says(row, /^unread\s+damaged\s+Written by a newer version/);
    assert.deepEqual(complaints, []);
  }
});

test("what can be read of a flow that a newer version wrote on is shown, said to end there, and only read", async () => {
  const { page } = await inState("flow-newer");
  const banner = page.getByRole("region", { name: "What cannot be read" });
  await banner.waitFor();
  await says(banner, /Written by a newer version\. Events after 4,812 are unreadable\. The rest is shown, read-only\./);
  await page.getByRole("log").getByText("Tests pass.").waitFor();
  await counts(page.locator("form.composer textarea"), 0);
  const none = await inState("flow-unreadable");
  await none.page.getByRole("heading", { name: "Written by a newer version" }).waitFor();
  await says(none.page.getByRole("region", { name: "What cannot be read" }), /None of it can be shown\. Open it with that version\./);
  const session = await inState("transcript-newer");
  await session.page.getByRole("region", { name: "What cannot be read" }).waitFor();
  await until(() => session.page.getByRole("option").count(), (n) => n > 5, "and it is readable");
});

// ── transcripts ───────────────────────────────────────────────────────────────────────────────────

test("before its first turn a session says so and shows the prompt it was given, and a role that has not begun says that", async () => {
  const { page } = await inState("transcript-empty");
  await page.getByText("No turns yet. The system prompt is ready.").waitFor();
  await page.getByRole("region", { name: "System prompt" }).getByText("You are backend. You keep the journal.").waitFor();
  const none = await inState("transcript-none");
  await none.page.getByText("No turns yet. backend has not begun.").waitFor();
});

test("new messages are appended: who reads the end goes on with them, and who reads further up is told how many", async () => {
  const { server, page } = await at(TRANSCRIPT, { data: STATES["transcript-live"].data(), height: 420 });
  const { live } = server.world.flows[LEDGER].transcripts.backend;
  let seq = 4812;
  const says = (text) => {
    seq += 1;
    live.messages.push({ kind: "assistant", content: text, seq, tokens: 40 });
    server.put(`flow ${LEDGER}`, { "role/backend": { ...server.world.flows[LEDGER].state.roles.backend, last_seq: seq } });
  };
  const list = page.getByRole("listbox", { name: "Messages" });
  await until(() => page.getByRole("option").count(), (n) => n > 5, "they are here");
  for (const text of ["the first", "the second", "the third"]) says(text);
  const pill = page.getByRole("button", { name: "3 new" });
  await pill.waitFor();
  assert.equal(await list.evaluate((node) => node.scrollTop), 0, "nothing moves");
  await pill.click();
  await page.getByText("the third").waitFor();
  await counts(pill, 0);
  says("the fourth");
  await page.getByText("the fourth").waitFor();
  const end = () => list.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
  await until(end, (gap) => Math.abs(gap) < 2, "it goes on at the end");
});

test("a transcript says what its role waits for, and leads there", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page } = await inState("transcript-live", look);
    const link = page.locator("main header").getByRole("link", { name: "backend wants to run a command" }).filter({ visible: true });
    await link.waitFor();
    assert.equal(await link.getAttribute("href"), FEED, size);
  }
});

test("a request that failed is opened with what came back for it", async () => {
  const { page } = await inState("transcript-error");
  const body = page.getByRole("region", { name: "What came back" });
  await says(body, /limit, retried after 40 s[\s\S]*429 Too Many Requests/);
  // Without a message in the address it is the one that failed last.
  await page.goto(page.url().replace("&msg=3", ""));
  await body.waitFor();
  // So it is from the item in the feed that says so.
  await page.goto(page.url().replace(/\?.*/, "?seg=requests#e3140"));
  await page.getByRole("complementary", { name: "Message 2" }).waitFor();
  assert.match(page.url(), /msg=2$/);
});

test("a message that was broken off says where, and one that is being written says that", async () => {
  const { page } = await inState("transcript-cut", {}, (data) => { data.flows[LEDGER].transcripts.backend.live.messages.push({ kind: "assistant", content: "And on it", seq: 4812, tokens: 4, raw: { role: "assistant", text: "And on it", draft: true } }); });
  await page.getByRole("option", { name: /assigns sequence\s*cut here/ }).click();
  await page.getByText("Cut here. The turn was broken off before the model had ended.").waitFor();
  await page.getByRole("option", { name: /And on it\s*being written/ }).click();
  await page.getByText("This is still being written.").waitFor();
});

test("archives of a closed flow stay readable, and what a role found leads to the message it was in", async () => {
  const data = STATES["flow-improving"].data();
  data.flows[LEDGER].transcripts = { backend: session(), reviewer: session() };
  const { server, page } = await at(TRANSCRIPT, { data });
  await page.getByRole("button", { name: /Archive 1/ }).click();
  await page.getByText("Earlier words 3").waitFor();
  data.flows[LEDGER].transcripts.reviewer.live.messages.push({ kind: "assistant", content: "What I found", seq: 4700, tokens: 12 });
  await page.goto(`${server.address}${FLOW}/r/reviewer/transcript`);
  await page.getByRole("link", { name: /What reviewer found/ }).click();
  await page.getByRole("complementary").getByText("What I found").waitFor();
  await page.goto(`${server.address}${FLOW}/improve`);
  await page.getByRole("button", { name: /reviewer/ }).first().click();
  assert.equal(await page.getByRole("link", { name: "In its transcript" }).getAttribute("href"), `${FLOW}/r/reviewer/transcript#e4700`);
});

// ── all of them ───────────────────────────────────────────────────────────────────────────────────

/** Every state is looked at when everything is wanted; each run looks at one in so many. */
const EACH = process.env.A_SOCIETY_TEST_FULL === "1" ? 1 : 5;
for (const [n, name] of Object.keys(STATES).filter((name) => PLAYED[name] === undefined).entries()) {
  if (n % EACH !== 0) continue;
  test(`the state "${name}" has no fault that a checker finds, on a desk and on a phone`, async () => {
    for (const [look, theme] of [[DESK, "dark"], [PHONE, "light"]]) {
      const { server, page, complaints } = await inState(name, { ...look, theme });
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await settled(page, LONG_REST_MS);
      await STATES[name].then?.(page, server);
      assert.deepEqual(await faultsOf(page), [], theme);
      assert.deepEqual(complaints.filter((text) => !/WebSocket|\b404\b|ERR_CONNECTION/.test(text)), []);
    }
  });
}
