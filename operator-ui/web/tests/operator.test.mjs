// An operator with nothing but a keyboard, a feed that stays where it is read, and lines that break.
import assert from "node:assert/strict";
import { test } from "node:test";
import { armed, decisions, GRACE, LONG_REST_MS, settled, sleep, stage, until } from "./stage.mjs";
import { ask, changed, consent, item, world } from "./world.mjs";

const at = stage();
const FEED = "/p/orchard/f/ledger/r/backend";
const KINDS = {
  consent: [consent("k", "ls"), ["y"], { do: "allow", consent: "k", action: "hash-k", for_the_flow: false }],
  "consent for the flow": [consent("k", "ls"), ["f"], { do: "allow", consent: "k", action: "hash-k", for_the_flow: true }],
  "consent that is denied with a reason": [consent("k", "ls"), ["r", ..."no", "Enter"], { do: "deny", consent: "k", action: "hash-k", reason: "no" }],
  approval: [ask("x/approval/k", { kind: "approval", approval: "k", targets: [{ to: "close", artifact: { path: "a.md", hash: "h", bytes: 0 } }] }), ["y"], { do: "approve", approval: "k" }],
  "approval that is declined": [ask("x/approval/k", { kind: "approval", approval: "k", targets: [] }), ["n"], { do: "decline", approval: "k" }],
  question: [ask("x/text/k", { kind: "text", reason: "prompt_human", question: "Which?", may_retry: false }), ["r", ..."b", "Enter"], { do: "reply", to: { role: "backend" }, text: "b" }],
  "turn that failed": [ask("x/text/k", { kind: "text", reason: "provider", question: "", may_retry: true }), ["y"], { do: "retry", to: { role: "backend" } }],
  "role whose budget is used up": [ask("x/text/k", { kind: "text", reason: "budget", question: "", may_retry: true, budget: { role: null, measure: "cost_micros", limit: 5_000_000, spent: 4_970_000, least: 5_180_000, raise_to: 7_500_000 } }), ["y"], { do: "budget", role: null, measure: "cost_micros", limit: 7_500_000 }],
  configuration: [ask("x/configuration/k", { kind: "configuration", question: "Which model?", models: [{ name: "small", words: "" }, { name: "large", words: "slow" }], efforts: [], scopes: ["sandboxed"], current: {} }), ["Tab*", "Enter"], { do: "configure", role: "backend", settings: { model: "small" } }],
  improvement: [ask("x/improvement/k", { kind: "improvement", modes: ["graph-based", "parallel", "none"], roles: 3, estimates: [{ mode: "graph-based", roles: 5, ms: 720_000, cost_micros: 1_400_000 }, { mode: "parallel", roles: 5, ms: 240_000, cost_micros: null }] }), ["2"], { do: "improve", mode: "parallel" }],
  feedback: [ask("x/feedback/k", { kind: "feedback", path: "feedback/report.md" }), ["n"], { do: "feedback", granted: false }],
  pause: [ask("x/unpause/k", { kind: "unpause", reason: "The disk was full.", detail: null }), ["y"], { do: "unpause" }],
  "flow that stands still": [ask("x/stalled/k", { kind: "stalled" }, { role: null }), ["y"], { do: "resume" }],
  "role that was cut off": [ask("x/stopped/k", { kind: "stopped" }), ["r", ..."on", "Enter"], { do: "resume", note: "on" }],
  "flow that stopped": [ask("x/stopped/k", { kind: "stopped" }, { role: null }), ["y"], { do: "resume" }],
};
for (const [name, [one, keys, expected]] of Object.entries(KINDS)) {
  test(`without a pointer somebody can answer a ${name}`, async () => {
    const data = world();
    data.inbox.asks = { [one.id]: one };
    const { server, page, complaints } = await at("/flows", { data });
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.waitForSelector("a[aria-current=true]");
    await until(() => page.evaluate(() => document.activeElement?.getAttribute("aria-current")), (value) => value === "true", "the list has the focus");
    await armed(page);
    for (const key of keys) {
      if (key === "Tab*") {
        // On from the list to what answers, as far as it takes.
        for (let n = 0; n < 30 && (await page.evaluate(() => document.activeElement?.textContent)) !== "Use this"; n += 1) await page.keyboard.press("Tab");
        await sleep(GRACE);
      } else await page.keyboard.press(key);
    }
    await until(() => decisions(server), (list) => list.length === 1, "it is answered");
    // Words answer what was asked then, and nothing that is asked later.
    const whole = expected.do === "reply" ? { ...expected, asked: one.since } : expected;
    assert.deepEqual(decisions(server)[0], whole);
    await page.getByText("Nothing waits for you.").waitFor();
    assert.deepEqual(complaints, []);
  });
}

function long(n) {
  const data = world();
  data.flows["orchard/ledger"].feeds.backend = Array.from({ length: n }, (_, at) => item(1000 + at, at % 7 === 3 ? "tool-success" : "assistant", at % 7 === 3 ? "run cargo test\nok" : `Line ${at}. ${"word ".repeat((at * 13) % 60)}`, at % 7 === 3 ? { tool: "run_command", exit: 0, took_ms: 900 } : {}));
  return data;
}
/** The position of the row that is read, from the top of the feed. */
const place = (page, seq) => page.evaluate((wanted) => {
  const row = document.querySelector(`[role=log] [data-seq="${wanted}"]`);
  const feed = document.querySelector("[role=log]");
  return row === null ? null : row.getBoundingClientRect().top - feed.getBoundingClientRect().top;
}, seq);
const readRow = (page) => page.evaluate(() => {
  const feed = document.querySelector("[role=log]").getBoundingClientRect();
  const row = [...document.querySelectorAll("[role=log] .row")].find((one) => one.getBoundingClientRect().top > feed.top + 40);
  return Number(row.getAttribute("data-seq"));
});
const gap = (page) => page.locator("[role=log]").evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
async function up(page, by) {
  await page.locator("[role=log]").hover();
  for (let done = 0; done < by; done += 300) { await page.mouse.wheel(0, -300); await sleep(60); }
  await settled(page, LONG_REST_MS);
}

test("a feed opens at its end and stays there while text streams in", async () => {
  const { server, page } = await at(FEED, { data: long(200) });
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "it opens at the end");
  for (let n = 0; n < 20; n += 1) {
    server.put("feed orchard/ledger backend", [item(5000, "assistant", "streamed ".repeat(8 * (n + 1)), { pending: n < 19, seq: 5000 + n })]);
    await sleep(50);
  }
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "it is still at the end");
});

test("while somebody reads further up nothing moves by a pixel, whatever comes", async () => {
  const { server, page } = await at(FEED, { data: long(200) });
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "it opens at the end");
  await up(page, 1500);
  const seq = await readRow(page);
  const before = await place(page, seq);
  for (let n = 0; n < 25; n += 1) {
    server.put("feed orchard/ledger backend", [item(5000 + (n >> 2), "assistant", "streamed ".repeat(12 * ((n & 3) + 1)), { seq: 5000 + n })]);
    await sleep(40);
    assert.equal(await place(page, seq), before, `after ${n} pieces`);
  }
  await page.getByRole("button", { name: /7 new/ }).click();
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "the pill leads to the end");
});

test("older items come in front of what is read without moving it", async () => {
  const { server, page } = await at(FEED, { data: long(900) });
  server.slow = 900;
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "it opens at the end");
  await page.locator("[role=log]").focus();
  await page.keyboard.press("PageUp");
  const rows = () => page.locator("[role=log]").evaluate((node) => Number(node.getAttribute("data-rows")));
  const first = await rows();
  // Up to where the next page is asked for; it takes a while to come.
  for (let n = 0; n < 20 && (await page.locator("[role=log]").evaluate((node) => node.scrollTop)) > 350; n += 1) {
    await page.locator("[role=log]").evaluate((node) => { node.scrollTop = 300; });
    await sleep(120);
  }
  const seq = await readRow(page);
  const before = await place(page, seq);
  await until(rows, (n) => n > first, "older items come");
  await settled(page, LONG_REST_MS);
  assert.equal(await place(page, seq), before);
});

test("the tools of an item are there when the feed rests or somebody comes near, and move nothing", async () => {
  const { page } = await at(FEED, { data: long(200) });
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "it opens at the end");
  const bare = () => page.locator("[role=log] .row").evaluateAll((rows) => rows.filter((row) => row.querySelector("[role=group]") === null).length);
  await until(bare, (n) => n === 0, "at rest every item has its tools");
  await up(page, 900);
  const seq = await readRow(page);
  const before = await place(page, seq);
  await until(bare, (n) => n === 0, "those that came have theirs");
  assert.equal(await place(page, seq), before);
  await page.locator(`[role=log] [data-seq='${seq}']`).hover();
  await page.locator(`[role=log] [data-seq='${seq}']`).getByRole("button", { name: "Copy link" }).waitFor();
});

test("Page Up, Home and End work in the feed, and End follows again", async () => {
  const { server, page } = await at(FEED, { data: long(150) });
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "it opens at the end");
  await page.locator("[role=log]").focus();
  await page.keyboard.press("PageUp");
  await until(() => gap(page), (pixels) => pixels > 200, "a page up");
  await page.keyboard.press("Home");
  await until(() => page.locator("[role=log]").evaluate((node) => node.scrollTop), (top) => top < 400, "Home leads to the beginning");
  await page.keyboard.press("End");
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "End leads to the end");
  server.put("feed orchard/ledger backend", [item(6000, "assistant", "new ".repeat(300))]);
  await until(() => page.locator("[role=log] [data-seq='6000']").count(), (n) => n === 1, "it is there");
  await until(() => gap(page), (pixels) => Math.abs(pixels) < 2, "it follows");
});

test("an address of an event is used once and leaves the address", async () => {
  const { page } = await at(`${FEED}#e1250`, { data: long(400) });
  await until(() => place(page, 1250), (top) => top !== null && top > -10 && top < 200, "the event is in view");
  await until(() => page.url(), (url) => !url.includes("#"), "the address is clean");
  await up(page, 900);
  await settled(page, LONG_REST_MS);
  assert.ok((await place(page, 1250)) === null || (await place(page, 1250)) > 200, "the reader is not held there");
});

test("text that was written is not lost by leaving, by reloading, or by a refusal", async () => {
  const { server, page } = await at(FEED);
  await page.locator("textarea").fill("a long thought");
  await page.goto(`${server.address}/inbox`);
  await page.goto(server.address + FEED);
  assert.equal(await page.locator("textarea").inputValue(), "a long thought");
  server.answers = false;
  await page.locator("textarea").press("Enter");
  const given = await until(() => server.commands.find((up) => up.command.do === "steer"), (up) => up !== undefined, "it is sent");
  assert.deepEqual(given.command, { do: "steer", role: "backend", text: "a long thought", when: "queue" });
  for (const one of server.sockets) one.say({ t: "ack", cmd: given.cmd, ok: false, error: { code: "no", what: "It was not sent.", why: "The flow is over.", try: "Fork it." } });
  await page.getByText("It was not sent.", { exact: true }).waitFor();
  assert.equal(await page.locator("textarea").inputValue(), "a long thought");
});

test("Enter that belongs to an input method sends nothing", async () => {
  const { server, page } = await at(FEED);
  await page.locator("textarea").fill("half");
  await page.locator("textarea").evaluate((node) => {
    node.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", isComposing: true, bubbles: true, cancelable: true }));
    node.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 229, bubbles: true, cancelable: true }));
  });
  await sleep(200);
  assert.equal(server.commands.length, 0);
  assert.equal(await page.locator("textarea").inputValue(), "half");
});

test("a hole is noticed, told, and filled", async () => {
  const { server, page } = await at("/inbox");
  const warned = [];
  page.on("console", (message) => warned.push(message.text()));
  const late = consent("late", "ls");
  server.put("inbox", { [`ask/${late.id}`]: { ...late, short: "Run ls, late" } }, { hole: 3 });
  await page.getByText("Run ls, late").first().waitFor();
  assert.ok(warned.some((text) => text.includes("a hole in inbox")));
});

test("after a break nothing is there twice and nothing is missing", async () => {
  const { server, page } = await at(FEED, { data: long(50) });
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  server.put("feed orchard/ledger backend", [item(7001, "assistant", "said while nobody heard")]);
  await page.getByText("Complete up to event").waitFor();
  server.refusing = false;
  // The page may have come back by itself meanwhile; then there is nothing to press.
  await page.evaluate(() => [...document.querySelectorAll("button")].find((one) => one.textContent === "Try now")?.click());
  await page.getByText("said while nobody heard").waitFor();
  assert.equal(await page.locator("[role=log]").getAttribute("data-rows"), "51");
});

test("a browser that the server no longer knows is told what to open, and goes on when it is known again", async () => {
  const { server, page } = await at("/inbox");
  server.unknown = true;
  server.drop();
  await page.getByRole("heading", { name: "This browser is signed out" }).waitFor();
  server.unknown = false;
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
});

test("an address that is pasted signs in where the page stands, and what was answered meanwhile is sent", async () => {
  const { server, page } = await at("/inbox");
  server.refusing = true;
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  await page.locator("a[aria-current=true].row").focus();
  await armed(page);
  await page.keyboard.press("y");
  await page.getByText("1 answer waits").waitFor();
  server.refusing = false;
  server.unknown = true;
  await page.getByText("1 answer that you gave is sent").waitFor();
  const field = page.getByLabel("Address or token");
  server.takes = "fresh";
  await field.fill("http://127.0.0.1:1/#token=old");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("does not accept this token").waitFor();
  await field.fill("http://127.0.0.1:1/#token=fresh");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await page.waitForFunction(() => !document.body.innerText.includes("answer waits"));
  await until(() => decisions(server), (list) => list.length === 1, "it is sent, once");
  assert.equal(decisions(server)[0].do, "resume");
});

test("a server that is away for long is said with its address, what is kept and how it comes back, and the page goes on by itself", async () => {
  const { server, page } = await at("/inbox");
  const words = page.getByRole("complementary", { name: "The server does not answer" });
  await page.clock.install();
  await page.reload();
  await page.waitForSelector("[data-line=open]");
  const loaded = page.waitForResponse(/ServerAway\.js/);
  await page.clock.runFor(16_000);
  await loaded;
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  await page.clock.runFor(2_000);
  assert.equal(await words.count(), 0);
  await page.clock.runFor(10_000);
  await words.waitFor();
  assert.match(await words.innerText(), /Nothing has come from http:\/\/127\.0\.0\.1:\d+ since [\d:]+[^]*Nothing is lost[^]*a-society serve --port \d+[^]*(Connects by itself|Trying)/);
  server.refusing = false;
  await page.clock.runFor(6_000);
  await words.waitFor({ state: "detached" });
});

test("an order of the flows is chosen by the heads of their columns", async () => {
  const { page } = await at("/flows");
  const titles = () => page.locator("a[data-flow]").allInnerTexts();
  const usual = await titles();
  await page.getByRole("button", { name: /^Title/ }).click();
  const sorted = await titles();
  assert.deepEqual([...sorted].sort((a, b) => a.localeCompare(b)), sorted);
  assert.notDeepEqual(sorted, usual);
  await page.getByRole("button", { name: /^Title/ }).click();
  assert.equal((await titles()).at(-1), sorted[0]);
  const sortOf = (name) => page.getByRole("columnheader", { name }).getAttribute("aria-sort");
  assert.deepEqual([await sortOf("Title"), await sortOf("Cost")], ["descending", "none"]);
  // From the keyboard, too.
  await page.getByRole("button", { name: /^Changed/ }).focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(await titles(), usual);
  assert.equal(await sortOf("Changed"), "descending");
});

test("F6 goes around rail, main, feed, ask and composer, and back with Shift", async () => {
  for (const width of [1440, 1000]) {
    const { page } = await at(FEED, { width });
    await page.waitForSelector("[data-ask]");
    const where = () => page.evaluate(() => {
      const region = document.activeElement?.closest("[data-region]");
      return region === null || region === undefined ? "nowhere" : (region.getAttribute("aria-label") ?? region.tagName.toLowerCase());
    });
    const seen = [];
    for (let n = 0; n < 5; n += 1) { await page.keyboard.press("F6"); seen.push(await where()); }
    assert.deepEqual(seen, ["Workspace", "main", "backend feed", "backend needs you", "form"], `${width} wide`);
    await page.keyboard.press("Shift+F6");
    assert.equal(await where(), "backend needs you");
  }
});

test("the palette takes every key from the one that opened it", async () => {
  const { page } = await at("/p/orchard/f/ledger");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("outline");
  await page.keyboard.press("Enter");
  await until(() => page.url(), (url) => url.endsWith("/outline"), "it jumps");
});

test("the tab says how much waits, in its title and its icon", async () => {
  const { server, page } = await at("/inbox");
  assert.match(await page.title(), /^\(6\) Inbox/);
  assert.match(await page.locator("link[rel=icon]").getAttribute("href"), /waiting/);
  for (const id of Object.keys(server.world.inbox.asks)) server.put("inbox", { [`ask/${id}`]: null });
  await until(() => page.title(), (title) => title.startsWith("Inbox"), "nothing waits");
  assert.doesNotMatch(await page.locator("link[rel=icon]").getAttribute("href"), /waiting/);
});

test("a role's line says how far its tools reach, and whoever chooses its model can choose a narrower scope", async () => {
  const data = world();
  const one = ask("x/configuration/k", { kind: "configuration", question: "Which model?", models: [{ name: "small", words: "" }], efforts: [], scopes: ["sandboxed", "project"], current: {} });
  data.inbox.asks = { [one.id]: one };
  data.flows["orchard/ledger"].state.roles.backend.reach = "scope project, network off";
  const { server, page, complaints } = await at(FEED, { data });
  await page.getByText("scope project, network off").waitFor();
  await page.goto(`${server.address}/inbox`);
  const scopes = page.getByLabel("How far its tools reach");
  await scopes.first().waitFor();
  assert.deepEqual(await scopes.first().locator("option").evaluateAll((all) => all.map((option) => option.value)), ["", "sandboxed", "project"]);
  await scopes.first().selectOption("sandboxed");
  await armed(page);
  await page.getByRole("button", { name: "Use this" }).first().click();
  await until(() => decisions(server), (given) => given.length === 1, "it is configured");
  assert.deepEqual(decisions(server)[0], { do: "configure", role: one.role, settings: { model: "small", scope: "sandboxed" } });
  assert.deepEqual(complaints, []);
});

// The program asks the model of a draft's owner as soon as there is the draft: what this shows is over before a page can show it.
test("a draft is one ready node and a composer that has the focus and says what to write", async () => {
  for (const [size, look] of Object.entries({ "a desk": {}, "a phone": { width: 390, height: 844, touch: true } })) {
    const data = changed((data, state, feeds) => {
      data.inbox.asks = {};
      const none = { title: "Untitled", status: "waiting for you", nodes: 1, nodes_done: 0, running: 0, waits: 0, tokens: 0, cost_micros: 0 };
      Object.assign(data.inbox.flows["orchard/ledger"], none);
      Object.assign(state.flow, none, { draft: true, input: null, cached_tokens: null, closing: null, seq: 2, limits: {} });
      Object.assign(state, { asks: {}, order: ["open"], edges: {}, nodes: { open: { ...state.nodes.intake, id: "open", state: "ready", words: "Ready", took_ms: null, since: null, human_colab: true } } });
      state.roles = { owner: { ...state.roles.owner, state: "idle", turn: null, turns: 0, context_tokens: 0, archives: [], items: 0 } };
      feeds.owner = [];
    });
    const { server, page } = await at("/p/orchard/f/ledger/r/owner", { data, ...look });
    const field = page.getByPlaceholder("Say what you want done");
    await field.waitFor();
    await until(() => field.evaluate((node) => node === document.activeElement), (has) => has, `it has the focus on ${size}`);
    if (size === "a desk") assert.equal(await page.locator('[data-card][data-state="ready"]').count(), 1);
    await page.keyboard.type("A ledger that is only appended to");
    await page.keyboard.press("Enter");
    await until(() => server.commands.length, (n) => n === 1, "it is said");
    assert.equal(server.commands[0].command.text, "A ledger that is only appended to");
  }
});
