// What every screen says in every state it can be in, and that nothing moves when the state changes. The states are those of the real
// program with models on loopback (`played/scenes.mjs`), behind a line that can be cut (`line.mjs`).
import assert from "node:assert/strict";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { test as runs } from "node:test";
import { faultsOf } from "./checker.mjs";
import { decided } from "./line.mjs";
import { KEPT } from "./played/scenes.mjs";
import { real } from "./real.mjs";
import { armed, counts, LONG_REST_MS, says, settled, sleep, until } from "./stage.mjs";
import { FEED, FLOW, late, limited, lose, PLAYED, REFUSED, STATES, TRANSCRIPT, within, yearBook } from "./states.mjs";

const { at, or } = real();
const test = (name, work) => runs(name, or(work));
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, touch: true };
const SIZES = { "a desk": DESK, "a phone": PHONE };
const WORDS = "Keep the old file format readable.";
const number = (n) => n.toLocaleString("en-GB");
/** How many tokens, as the page has them: a thousand and more are cut off. */
const thousands = (n) => (n < 10_000 ? `${(Math.floor(n / 100) / 10).toFixed(1)}k` : `${Math.floor(n / 1000)}k`);

/** Opens a screen in one of its states. */
const inState = (name, look = {}) => {
  const { path, scene, line, blank } = STATES[name];
  return at(path, { scene, line, blank, ...look });
};
const online = (page) => page.evaluate(() => dispatchEvent(new Event("online")));
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
    const { line, page } = await at(path, look);
    await until(() => places(page, still), (all) => Object.keys(all).length > 1, "the screen is there");
    await settled(page, LONG_REST_MS);
    const before = await places(page, still);
    line.cut();
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
    line.mend();
    await online(page);
    await notice(page).waitFor({ state: "detached" });
    // Rows in wide letters are measured anew.
    await settled(page, LONG_REST_MS);
    assert.deepEqual(await places(page, still), before, "nor when it is back");
  });
}

test("in a flow and in a transcript a lost line says what is complete, and a list of many flows does not", async () => {
  for (const path of ["/inbox", FLOW, TRANSCRIPT]) {
    const { line, page, scene } = await at(path);
    await page.locator("main").getByText(/run (a command|cargo install)/i).first().waitFor({ state: "attached" });
    const { flow: { seq } } = await scene.state("ledger");
    const complete = path === "/inbox" ? "" : ` Complete up to event ${number(seq)}\\.`;
    line.cut();
    await notice(page).waitFor();
    await says(page.locator("main .notice .trunc").filter({ visible: true }), new RegExp(`^Connection lost \\d+ s ago\\.${complete} Trying again`));
  }
});

test("what is decided and said without a connection stands there as not sent, and is sent once", async () => {
  const title = "Fuzz targets";
  const { line, page, scene } = await at(async (scene) => {
    await scene.wants(title, "touch fuzzed");
    return scene.path(title, "/r/writer");
  });
  await page.waitForSelector("[data-ask]");
  await armed(page);
  line.cut();
  await page.waitForSelector("[data-line=lost]");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.locator("textarea").fill(WORDS);
  await page.locator("textarea").press("Enter");
  await page.getByText("Allowed once, sent as soon as the connection is back").waitFor();
  const queued = page.getByRole("list", { name: "Sent, not read yet" });
  await says(queued, /Keep the old file format readable\.\s*sent as soon as the connection is back/);
  await page.getByText("2 answers wait.").waitFor();
  await page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: /Inbox/ }).first().click();
  await page.getByText("Allowed once, not sent yet").waitFor();
  assert.deepEqual(line.sent, []);
  line.mend();
  await online(page);
  await until(() => line.sent.length, (n) => n === 2, "both are sent");
  await until(() => page.getByText("not sent yet").count(), (n) => n === 0, "nothing waits any more");
  assert.deepEqual(decided(line).map((one) => one.do), ["allow"]);
  // The call ran, and the next request of the role contains the message.
  const { body } = await scene.provider.asked(`${title}/writer`);
  assert.equal(body.split(WORDS).length, 2, "it is heard once");
  assert.equal(existsSync(join(scene.place.folder, "fuzzed")), true);
  const facts = scene.place.log(scene.flows[title]);
  for (const kind of ["consent_resolved", "operator_steered"]) assert.equal(facts.filter((one) => one.fact === kind).length, 1, `${kind}: ${facts.map((one) => one.fact).join(" ")}`);
});

test("what was said without a connection stands in its field again when the page is loaded anew before it is back", async () => {
  const title = "Paint jobs";
  const { line, page, scene } = await at(async (scene) => { await scene.begins(title); return scene.path(title, "/r/writer"); });
  await page.getByRole("log").locator(".row").first().waitFor();
  line.cut();
  await page.waitForSelector("[data-line=lost]");
  await page.locator("textarea").fill(WORDS);
  await page.locator("textarea").press("Enter");
  await page.getByRole("list", { name: "Sent, not read yet" }).waitFor();
  assert.equal(await page.locator("textarea").inputValue(), "");
  // The page is gone before the server is back, so that it cannot send by itself.
  const address = page.url();
  await page.goto("about:blank");
  line.mend();
  await page.goto(address);
  await until(() => page.locator("textarea").inputValue(), (text) => text === WORDS, "it is not lost");
  assert.deepEqual(line.sent, []);
  // Sent and answered it is gone, also for the next load.
  await page.locator("textarea").press("Enter");
  await until(() => line.sent.length, (n) => n === 1, "it is sent");
  await until(() => page.locator("textarea").inputValue(), (text) => text === "", "it is taken");
  await until(() => page.evaluate(() => sessionStorage.getItem("a-society.drafts")), (kept) => kept === "[]", "and kept no more");
  await until(async () => (await scene.state(title)).roles.writer.queued, (queued) => queued.length === 1 && queued[0] === WORDS, "the role is to hear it once");
});

/** How many messages a session has, now or at an event. */
const messagesOf = async (scene, name, role, query = "") => (await scene.place.ask("GET", `/api/flow/orchard/${scene.flows[name]}/role/${role}/transcript${query}`)).total;

test("a transcript of the past says so, holds nothing that came later, and goes back to now", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page, scene } = await inState("transcript-past", look);
    const since = async () => (await scene.state("ledger")).flow.seq - scene.then.handed;
    const [then, now] = [await messagesOf(scene, "ledger", "backend", `?at=${scene.then.handed}`), await messagesOf(scene, "ledger", "backend")];
    assert.ok(then !== now, `${then} and ${now} messages`);
    const banner = page.getByRole("region", { name: "Past" });
    await banner.waitFor();
    await says(banner, new RegExp(`You are looking at the past\\.\\s+The flow has moved on by ${await since()} events\\.`), size);
    const shown = () => page.locator("[data-messages]").getAttribute("data-messages");
    await until(shown, (n) => n === String(then), "cut at the event");
    // What happens now changes nothing of it.
    const before = await since();
    scene.run("steer", scene.flows.ledger, "backend", `Say it to ${size} as well.`);
    assert.ok((await since()) > before);
    await page.getByText(`${await since()} events`).waitFor();
    assert.equal(await shown(), String(then));
    if (look === DESK) await page.keyboard.press("Escape");
    else await banner.getByRole("button", { name: "Back to live" }).click();
    await until(shown, (n) => n === String(now), "all of it");
    await counts(banner, 0);
    assert.doesNotMatch(page.url(), /at=/);
  }
});

test("the line above a feed of the past says the turn and the tokens of then, and nothing of now before it knows them", async () => {
  const { line, page, scene } = await at((scene) => `${FEED(scene)}?at=${scene.then.working}`, { line: (line) => line.mute("/state") });
  const [then, now] = [(await scene.state("ledger", `?at=${scene.then.working}`)).roles.backend, (await scene.state("ledger")).roles.backend];
  assert.deepEqual([then.turn, now.turn], [1, 2]);
  const sub = page.locator(".sub");
  await until(() => sub.innerText(), (text) => text.includes("turn 1"), "the turn of then");
  assert.doesNotMatch(await sub.innerText(), new RegExp(`${thousands(now.context_tokens)}|turn 2`));
  line.speak();
  await until(() => sub.innerText(), (text) => /turn 1/.test(text) && text.includes(`${thousands(then.context_tokens)} of 200k`), "the tokens of then");
});

test("a feed of the past does not tell what became later of what had begun then", async () => {
  const { line, page } = await at((scene) => {
    const facts = scene.place.log(scene.flows.ledger);
    const { call } = facts.find((one) => one.fact === "call_finished" && one.output?.includes("this loop never ends"));
    return `${FEED(scene)}?at=${facts.find((one) => one.fact === "call_started" && one.role === "backend" && one.call === call).seq}`;
  }, { line: (line) => line.mute("/items") });
  const log = page.getByRole("log");
  await log.getByText("./check lints").first().waitFor();
  assert.doesNotMatch(await log.innerText(), /never ends|exit 101|Tests pass/);
  line.speak();
  await sleep(700);
  assert.match(await log.innerText(), /\.\/check lints/);
  assert.doesNotMatch(await log.innerText(), /never ends|exit 101|Tests pass/);
});

// ── what is on its way ────────────────────────────────────────────────────────────────────────────

/** Nothing turns and nothing runs over what is shown. */
const still = (page) => page.evaluate(() => document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations === Infinity && one.playState === "running").length);

test("what is not here yet is three quiet rows, which come late, count nothing and turn nothing", async () => {
  for (const [path, mute] of [["/inbox", "inbox"], ["/flows", "inbox"], [FLOW, "flow "], [FEED, "feed "], [TRANSCRIPT, "/transcript"]]) {
    const { line, page } = await at(path, { blank: true, motion: true, line: (line) => line.mute(mute) });
    const quiet = page.locator("[data-quiet]").first();
    await quiet.waitFor({ state: "attached" });
    // Those of the flow may give way to those of the feed while they are looked at; what is gone has no style.
    await until(() => quiet.evaluate((node) => getComputedStyle(node).animationDelay), (delay) => delay === "0.2s", `${page.url()}: they come late`);
    await until(() => quiet.evaluate((node) => getComputedStyle(node).opacity), (opacity) => opacity === "1", "they come");
    await counts(quiet.locator(":scope > *"), 3);
    if (mute !== "feed ") assert.equal(await still(page), 0, page.url());
    assert.doesNotMatch(await page.locator("main").innerText(), /Nothing waits|All\s*0|No flow|No turns/, page.url());
    line.speak();
    await until(() => page.locator("[data-quiet]").count(), (n) => n === 0, `${page.url()} is here`);
  }
});

test("what is on its way is shown to a reader who asked for no motion, too", async () => {
  const { page } = await inState("inbox-loading");
  const quiet = page.locator("[data-quiet]").first();
  await until(() => quiet.evaluate((node) => getComputedStyle(node).opacity), (opacity) => opacity === "1", "they come");
});

test("a feed that is behind says how far it is to a reader who asked for no motion, too, until it has all", async () => {
  const { page, line, scene } = await at(FEED);
  const top = () => page.getByRole("log").evaluate((log) => log.getBoundingClientRect().top);
  const before = await top();
  await STATES["flow-behind"].then(page, { line, scene });
  const bar = page.locator(".behind");
  await until(() => bar.evaluate((node) => getComputedStyle(node).opacity), (opacity) => opacity === "1", "it is seen");
  const { flow: { seq } } = await scene.state("ledger");
  const [, had, head] = /^Catching up, (\d+) of (\d+)$/.exec((await bar.innerText()).trim());
  assert.ok(Number(head) === seq && Number(had) < seq, `${had} of ${head}, and there are ${seq}`);
  assert.equal(await top(), before);
  // The rows that it is over do not show through.
  assert.doesNotMatch(await bar.evaluate((node) => getComputedStyle(node).backgroundColor), /^rgba\(0, 0, 0, 0\)$|transparent/);
  line.speak();
  await bar.waitFor({ state: "detached" });
  assert.equal(await page.locator(".side[data-seq]").first().getAttribute("data-seq"), String(seq));
});

test("a tab that is loaded anew shows the flows and the graph it had at once, and says nothing of states it does not know", async () => {
  const { line, page, scene } = await at(FLOW);
  await page.locator("[data-card]").first().waitFor();
  await page.locator(".strip").first().waitFor();
  await sleep(600);
  const cards = () => page.locator("[data-card]").evaluateAll((all) => all.map((card) => card.getAttribute("data-card")).sort());
  const had = await cards();
  assert.equal(had.length, 8);
  line.mute("flow ", "feed ", "/track", "inbox");
  await page.reload();
  await page.locator("[data-loading] [data-card]").first().waitFor();
  assert.deepEqual(await cards(), had);
  assert.deepEqual(await page.locator("[data-card]").evaluateAll((all) => [...new Set(all.map((card) => card.getAttribute("data-state")))]), ["not-reached"]);
  await says(page.getByRole("navigation", { name: "Workspace" }), /Ledger journal[\s\S]*Billing export/);
  assert.doesNotMatch(await page.locator("main").innerText(), /Waiting for you|Working|turn 2|cargo/);
  line.speak();
  await page.locator('[data-card="api"][data-state="needs-you"]').waitFor();
  assert.deepEqual(await cards(), had);
  // Another flow has no shape here, and takes none from this one.
  await page.goto(`${scene.place.origin}/inbox`);
  line.mute("inbox");
  await page.reload();
  await page.getByRole("navigation", { name: "Workspace" }).getByText("Billing export").waitFor();
});

// ── what happens while the page is open ─────────────────────────────────────────────────────────────

test("an ask that comes never moves the one that is looked at, whatever it blocks", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const titles = ["late", "later"].map((word) => `${word}-on-${size.split(" ")[1]}`);
    const { page, scene } = await inState("inbox-closed", look);
    const row = page.locator("a[aria-current=true]");
    await row.waitFor();
    await settled(page, LONG_REST_MS);
    const before = await row.boundingBox();
    for (const title of titles) await late(scene, title);
    await page.getByText("New, blocking a role").waitFor();
    await page.getByText(`Run ls ${titles[1]}`).first().waitFor({ state: "attached" });
    assert.deepEqual(await row.boundingBox(), before, size);
    await says(row, /Run a retrospective/);
    // Once the reader moves on, it is where it belongs.
    await page.locator("main [data-rows] a").filter({ hasText: "Run cargo install cargo-fuzz" }).first().click();
    await until(() => page.getByText("New, blocking a role").count(), (n) => n === 0, "they are among the others");
  }
});

test("a flow that runs is told as it happens: what its node does, what is being written, and a playhead that goes on", async () => {
  const title = "Table of balances";
  let whole;
  const { page, scene } = await at(async (scene) => {
    scene.place.put("slow", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.1; done\necho ready\n");
    chmodSync(join(scene.place.folder, "slow"), 0o755);
    await scene.begins(title, { allow: ["edits", "commands:./slow"] });
    await scene.says(title, { text: "The column no longer waits for the", rest: new Promise((done) => { whole = done; }), calls: [["run_command", { command: "./slow" }]] });
    return scene.path(title, "/r/writer");
  });
  const card = page.locator('[data-card="send"]');
  const log = page.getByRole("log");
  await card.getByText("Thinking").waitFor();
  await log.getByText(/The column no longer waits for/).waitFor();
  await log.getByText(/still being written/).waitFor({ state: "attached" });
  whole(" snapshot.");
  await log.getByText("The column no longer waits for the snapshot.").waitFor();
  await card.getByText("run ./slow").waitFor();
  await counts(log.getByText(/still being written/), 0);
  const moment = page.locator(".strip").getByText(/\d\d:\d\d:\d\d, event/).first();
  const first = await moment.innerText();
  await until(() => moment.innerText(), (now) => now !== first, "the moment goes on");
  scene.place.put("go", "");
  await card.getByText("Thinking").waitFor();
});

// ── what went wrong ───────────────────────────────────────────────────────────────────────────────

test("a model that was not reached is an item with its cause, its retry first, and a red octagon on its node", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page } = await inState("inbox-error", look);
    await page.getByRole("button", { name: "Retry turn" }).first().waitFor();
    const region = page.locator("main");
    await says(region, /The provider did not understand the request/);
    await counts(region.getByRole("textbox"), 0, size);
    const controls = ["Retry turn", ...(look === DESK ? ["Say what to do instead"] : [])];
    assert.deepEqual((await region.locator(".controls .button").allInnerTexts()).map((text) => text.split("\n")[0]), controls, size);
    await counts(region.locator(".controls .button.primary"), 1, size);
  }
  const { page, scene } = await inState("flow-error");
  await page.locator('[data-card="write"][data-state="failed"]').waitFor();
  await says(page.getByRole("log"), /The provider did not understand the request[\s\S]*status 400/);
  assert.deepEqual((await page.locator("[data-ask] .button").allInnerTexts()).map((text) => text.split("\n")[0]), ["Retry turn"]);
  // The item leads to what was sent.
  const { items } = await scene.place.ask("GET", `/api/flow/orchard/${scene.flows.tour}/items?role=writer`);
  const { seq } = items.find((one) => one.type === "error");
  const link = page.getByRole("log").locator(".row").filter({ hasText: "The provider did not understand" }).getByRole("link", { name: "Open in transcript" });
  assert.match(await link.getAttribute("href"), new RegExp(`transcript\\?seg=requests#e${seq}$`));
});

/** A page on a role whose request waits for its provider, in a flow of its own. */
const waiting = async (title, seconds, look) => {
  const opened = await at(async (scene) => {
    await scene.begins(title, { file: scene.apart() });
    await scene.says(title, limited(seconds));
    return scene.path(title, "/r/writer");
  }, look);
  await opened.page.getByRole("button", { name: "Retry now" }).waitFor();
  return opened;
};

test("a request that is tried again counts down in its feed, and says so no more when the time has come", async () => {
  const title = "Invitations";
  const { page, scene } = await waiting(title, 40);
  const told = page.locator("[data-retry]");
  // What is read while one countdown gives way to the next says no time, and is read again.
  const seconds = async () => Number(/in (\d+) s/.exec(await told.innerText())?.[1] ?? Number.NaN);
  const first = await seconds();
  assert.ok(first > 20 && first <= 41, `${first} s`);
  await until(seconds, (now) => now < first, "it counts down");
  assert.doesNotMatch(await page.getByRole("log").innerText(), /\d+ ms/);
  // The next one failed, too: only that is waited for, and it ends.
  scene.run("retry", scene.flows[title], "--now");
  await scene.says(title, limited(3));
  await until(async () => [await told.count(), await told.count() === 0 ? 0 : await seconds()], ([n, s]) => n === 1 && s <= 4, "the second one counts alone");
  await until(() => told.count(), (n) => n === 0, "and is over");
});

test("a request that waits is made at once by a button beside the countdown, which is nowhere that nothing waits", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const title = `Thanks, on ${size}`;
    const { line, page, scene } = await waiting(title, 40, look);
    const button = page.getByRole("button", { name: "Retry now" });
    if (look === PHONE) assert.ok((await button.boundingBox()).height >= 44);
    await button.click();
    await scene.provider.asked(`${title}/writer`);
    assert.deepEqual(line.sent.map((up) => up.command), [{ do: "retry_now", to: { role: "writer" } }]);
    await until(() => page.locator("[data-retry]").count(), (n) => n === 0, "it was made: nothing counts down");
    assert.match(await page.getByRole("log").innerText(), new RegExp(REFUSED));
    if (look === PHONE) return;
    await scene.says(title, limited(40));
    await button.waitFor();
    const { flow: { seq } } = await scene.state(title);
    await page.goto(`${page.url()}?at=${seq}`);
    await page.getByRole("log").getByText(REFUSED).first().waitFor();
    await counts(page.locator("[data-retry]"), 0, "the past waits for no provider");
  }
});

test("a request that waited when its program ended waits for no more, until the flow goes on", async () => {
  const title = "Limited, and left";
  const { page, scene } = await at(within(title, "/r/writer"), { scene: "left" });
  await page.getByRole("log").getByText(REFUSED).waitFor();
  await page.getByRole("button", { name: /^Continue(?! with)/ }).waitFor();
  await counts(page.locator("[data-retry]"), 0, "nothing drives it");
  await armed(page);
  await page.getByRole("button", { name: /^Continue(?! with)/ }).click();
  await scene.says(title, limited(40));
  await page.getByRole("button", { name: "Retry now" }).waitFor();
});

test("a command that came too late says so, and the button can be pressed again", async () => {
  const title = "Reminders, too late";
  const { line, page, scene } = await waiting(title, 40);
  const button = page.getByRole("button", { name: "Retry now" });
  line.hold();
  await button.click();
  await until(() => button.isDisabled(), (is) => is, "it is on its way");
  // Another one made the request meanwhile, and it is refused again while the command arrives.
  scene.run("retry", scene.flows[title], "--now");
  await scene.provider.asked(`${title}/writer`);
  line.release();
  await page.getByText(/no request waits for a retry/i).first().waitFor();
  await scene.says(title, limited(40));
  await until(() => button.isEnabled(), (is) => is, "it can be pressed again");
});

test("a role that was cut off asks to go on, with what it had said and where it was cut", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page } = await inState("inbox-interrupted", look);
    await page.getByRole("main").getByText("Cut off in its turn. Continue?").first().waitFor();
    await says(page.locator("main"), /takes the lock once per batch and assigns\s*Cut here/, size);
    for (const name of [/^Continue(?! with)/, /^Continue with a note/]) await page.getByRole("button", { name }).first().waitFor();
  }
  const { page } = await inState("flow-interrupted");
  await page.locator('[data-card="send"][data-state="interrupted"]').waitFor();
  await page.getByRole("log").getByText("Cut here").waitFor();
  for (const name of [/^Continue(?! with)/, /^Continue with a note/]) await page.locator("[data-ask]").getByRole("button", { name }).waitFor();
});

test("what was denied is a line of the feed, and the composer hints at what to say instead", async () => {
  const { page } = await inState("flow-denied");
  await says(page.getByRole("log"), /Denied by you\s*rm -rf build/);
  await page.getByPlaceholder("Tell writer what to do instead").waitFor();
  const inbox = await inState("inbox-denied");
  await inbox.page.getByRole("heading", { name: "You denied this. What should writer do instead?" }).waitFor();
});

test("what the owner of a draft asks is answered where it is written to, and heard", async () => {
  const { page, line, scene } = await at(async (scene) => {
    scene.flows.draft = (await scene.place.ask("POST", "/api/flows", { from: { draft: "orchard" }, title: "A ledger" })).flow;
    await scene.says("A ledger", { text: "I have no task yet.", calls: [["ask_operator", { question: "What do you want done?" }]] }, "owner");
    return scene.path("draft", "/r/owner");
  });
  await says(page.locator("[data-ask]"), /What do you want done\?/);
  const field = page.getByPlaceholder("Answer owner");
  await field.fill("A ledger that is only appended to");
  await field.press("Enter");
  const { body } = await scene.provider.asked("A ledger/owner");
  assert.equal(body.split("A ledger that is only appended to").length, 2);
  assert.deepEqual(line.sent.map((up) => [up.command.do, up.command.text]), [["reply", "A ledger that is only appended to"]]);
});

test("a flow that a newer version wrote is listed as such, and hides no other", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page, complaints, scene } = await inState("flows-newer", look);
    const { flows } = JSON.parse(scene.run("ls", "--all", "--json"));
    await until(() => page.locator("[data-flow]").count(), (n) => n === flows.length, `all flows are listed on ${size}`);
    const unread = scene.flows.archive;
    const row = page.getByRole("row").filter({ has: page.locator(`[data-flow="orchard/${unread}"]`) });
    await says(row, new RegExp(`^${unread}\\s+damaged\\s+Written by a newer version`));
    await page.getByText("Account archive").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  }
});

test("what can be read of a flow that a newer version wrote on is shown, said to end there, and only read", async () => {
  const { page, complaints } = await inState("flow-newer");
  const banner = page.getByRole("region", { name: "What cannot be read" });
  await banner.waitFor();
  await says(banner, new RegExp(`Written by a newer version\\. Events after ${KEPT} are unreadable\\. The rest is shown, read-only\\.`));
  await page.getByRole("log").getByText("Clicks on the first page went up.").waitFor();
  await counts(page.locator("form.composer textarea"), 0);
  assert.deepEqual(complaints, []);
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
  await page.getByRole("region", { name: "System prompt" }).getByText("You are the writer.").waitFor();
  const none = await inState("transcript-none");
  await none.page.getByText("No turns yet. qa has not begun.").waitFor();
});

test("new messages are appended: who reads the end goes on with them, and who reads further up is told how many", async () => {
  const title = "A long list";
  const writes = (scene, name) => scene.says(title, { text: `I write ${name}.`, calls: [["write_file", { path: `record/${name}.md`, content: `# ${name}\n` }]] });
  const { page, scene } = await at(async (scene) => {
    await scene.begins(title);
    for (const name of ["one", "two", "three", "four", "five", "six", "seven", "eight"]) await writes(scene, name);
    await scene.provider.asked(`${title}/writer`);
    return scene.path(title, "/r/writer/transcript");
  }, { height: 420 });
  const list = page.getByRole("listbox", { name: "Messages" });
  await until(() => page.getByRole("option").count(), (n) => n > 5, "they are here");
  const before = await messagesOf(scene, title, "writer");
  for (const name of ["nine", "ten"]) await writes(scene, name);
  await scene.provider.asked(`${title}/writer`);
  const now = await messagesOf(scene, title, "writer");
  assert.ok(now >= before + 4, `${before} and ${now}`);
  const pill = page.getByRole("button", { name: `${now - before} new`, exact: true });
  await pill.waitFor();
  assert.equal(await list.evaluate((node) => node.scrollTop), 0, "nothing moves");
  await pill.click();
  await list.getByText("record/ten.md").first().waitFor();
  await counts(pill, 0);
  await writes(scene, "eleven");
  await list.getByText("record/eleven.md").first().waitFor();
  const end = () => list.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
  await until(end, (gap) => Math.abs(gap) < 2, "it goes on at the end");
});

test("a transcript says what its role waits for, and leads there", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page, scene } = await inState("transcript-live", look);
    const link = page.locator("main header").getByRole("link", { name: "backend wants to run a command" }).filter({ visible: true });
    await link.waitFor();
    assert.equal(await link.getAttribute("href"), FEED(scene), size);
  }
});

test("a request that failed is opened with what came back for it", async () => {
  const title = "Two refusals";
  const { page, scene } = await at(async (scene) => {
    await scene.begins(title, { file: scene.apart() });
    await scene.says(title, limited(40));
    while ((await scene.state(title)).roles.writer.retry_at === null) await sleep(50);
    scene.run("retry", scene.flows[title], "--now");
    await scene.says(title, limited(45));
    await until(async () => (await scene.state(title)).roles.writer.retry_at, (again) => again !== null, "it waits again");
    return scene.path(title, "/r/writer/transcript?seg=requests&msg=2");
  });
  const body = page.getByRole("region", { name: "What came back" });
  await says(body, /What came back: the provider's limit was reached, retried after 4\d s\s+the provider answered with status 429: this key may send 40 requests a minute/);
  // Without a message in the address it is the one that failed last.
  await page.goto(page.url().replace("&msg=2", ""));
  await body.waitFor();
  await page.getByRole("complementary", { name: "Message 2" }).waitFor();
  await says(page.getByRole("option").last(), /Request 2 of turn 1 to apart-\d+, failed: the provider's limit was reached/);
  // So it is from the item in the feed that says so.
  const { items } = await scene.place.ask("GET", `/api/flow/orchard/${scene.flows[title]}/items?role=writer`);
  const { seq } = items.find((one) => one.type === "error");
  await page.goto(page.url().replace(/\?.*/, `?seg=requests#e${seq}`));
  await page.getByRole("complementary", { name: "Message 1" }).waitFor();
  assert.match(page.url(), /msg=1$/);
});

test("a message that was broken off says where, and one that is being written says that", async () => {
  const { page } = await inState("transcript-cut");
  await page.getByRole("option", { name: /assigns\s*cut here/ }).click();
  await page.getByText("Cut here. The turn was broken off before the model had ended.").waitFor();
  const live = await at(within("Release notes", "/r/writer/transcript"));
  await live.page.getByRole("option", { name: /assigns\s*being written/ }).click();
  await live.page.getByText("This is still being written.").waitFor();
});

test("archives of a closed flow stay readable, and what a role found leads to the message it was in", async () => {
  const transcript = (more) => async (scene) => scene.path(await scene.once(yearBook.name, () => yearBook(scene)), more);
  const { page, scene } = await at(transcript("/r/analyst/transcript"));
  await page.getByRole("button", { name: /Archive 1/ }).click();
  await page.getByRole("option", { name: /record\/count\.md/ }).first().waitFor();
  await page.getByRole("link", { name: /What analyst found/ }).click();
  await page.getByRole("complementary").getByText("What I found is short.").waitFor();
  const { seq } = (await scene.state("Year book")).improvement.roles.analyst;
  assert.match(page.url(), /msg=8$/);
  await page.goto(scene.place.origin + scene.path("Year book", "/improve"));
  await page.getByRole("button", { name: /^analyst, done/ }).click();
  await page.getByText("The task did not say what a picture is.").last().waitFor();
  assert.equal(await page.getByRole("link", { name: "In its transcript" }).getAttribute("href"), scene.path("Year book", `/r/analyst/transcript#e${seq}`));
});

// ── what is not asked, and what was not found ─────────────────────────────────────────────────────

test("the inbox lists the flows that wait for a provider for long and go on by themselves, and no other", async () => {
  for (const [size, look] of Object.entries(SIZES)) {
    const { page, scene } = await at("/inbox", look);
    await page.getByRole("heading", { name: "Going on without you" }).waitFor();
    const link = page.locator("main").getByRole("link", { name: /Limit resets in/ });
    await says(link, /^Limit resets in (3\d|40) min\s*Letters to members$/, size);
    await counts(link, 1, size);
    assert.equal(await link.getAttribute("href"), scene.path("letters"));
    assert.doesNotMatch(await page.locator("main").innerText(), /Retrying in/, "a short wait is none of it");
  }
  // A flow that was paused or goes on is not listed.
  const { page, scene } = await waiting("A long wait", 600);
  await page.goto(`${scene.place.origin}/inbox`);
  const link = page.locator("main").getByRole("link", { name: /A long wait/ });
  await says(link, /in (9|10) min/);
  scene.run("retry", scene.flows["A long wait"], "--now");
  await scene.provider.asked("A long wait/writer");
  await link.waitFor({ state: "detached" });
});

test("a search that left something out says so, and one that found all does not", async () => {
  const { page, scene } = await at("/inbox");
  const asked = (words) => scene.place.ask("GET", `/api/search?q=${encodeURIComponent(words)}`);
  assert.deepEqual([(await asked("in")).truncated, (await asked("torn frame")).truncated], [true, false]);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("in");
  const partly = page.getByText("Older items and further results were not searched; name the flow, or say more");
  await partly.waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("torn frame");
  await page.getByRole("listbox", { name: "Results" }).getByText(/a torn frame/).first().waitFor();
  await counts(partly, 0);
});

// ── all of them ───────────────────────────────────────────────────────────────────────────────────

for (const width of [860, 960, 1179, 1180, 1440]) {
  test(`all tabs of a flow that looks back are in its head in a window of ${width}`, async () => {
    const { page } = await inState("flow-improving", { width });
    const tabs = page.locator(".wide-head .head.wide .segments");
    await tabs.getByText("Retrospective").waitFor();
    const out = await tabs.evaluate((all) => [...all.children].filter((one) => one.getBoundingClientRect().left < all.getBoundingClientRect().left - 1 || one.getBoundingClientRect().right > all.getBoundingClientRect().right + 1).map((one) => one.textContent));
    assert.deepEqual(out, []);
  });
}

/** Every state is looked at when everything is wanted; each run looks at one in so many. */
const EACH = process.env.A_SOCIETY_TEST_FULL === "1" ? 1 : 5;
for (const [n, name] of Object.keys(STATES).filter((name) => PLAYED[name] === undefined).entries()) {
  if (n % EACH !== 0) continue;
  test(`the state "${name}" has no fault that a checker finds, on a desk and on a phone`, async () => {
    for (const [look, theme] of [[DESK, "dark"], [PHONE, "light"]]) {
      const { page, complaints, line, scene } = await inState(name, { ...look, theme });
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await settled(page, LONG_REST_MS);
      await STATES[name].then?.(page, { line, scene });
      assert.deepEqual(await faultsOf(page), [], theme);
      assert.deepEqual(complaints.filter((text) => !/WebSocket|\b404\b|ERR_(CONNECTION|FAILED)/.test(text)), []);
    }
  });
}
