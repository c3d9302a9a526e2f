// The focus is never lost and never hidden; a screen reader gets boundaries, one at a time; text may be spaced out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { armed, counts, settled, sleep, stage, until } from "./stage.mjs";
import { consent, item, world } from "./world.mjs";

const at = stage();
const FLOW = "/p/orchard/f/ledger";
const FEED = `${FLOW}/r/backend`;
/** Where the focus is: a region by its name, or nowhere. */
const where = (page) => page.evaluate(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return "nowhere";
  const region = one.closest("[data-region]");
  return region === null ? one.tagName.toLowerCase() : (region.getAttribute("aria-label") ?? region.tagName.toLowerCase());
});

test("whoever answers with the keyboard stays at what is asked next, and at last in the feed", async () => {
  const { page } = await at(FEED);
  for (const [left, next] of [["1 of 2", "backend needs you"], [null, "backend feed"]]) {
    if (left !== null) await page.getByText(left).waitFor();
    await page.getByRole("button", { name: /^Allow once/ }).focus();
    await armed(page);
    await page.keyboard.press("Enter");
    if (left !== null) await counts(page.getByText(left), 0);
    await until(() => where(page), (place) => place === next, `the focus is in ${next}`);
  }
  await page.waitForSelector("[data-ask]", { state: "detached" });
  await until(() => where(page), (place) => place === "backend feed", "it stays there");
});

test("whoever answers in the inbox with a text is at the next question in the list, where letters answer", async () => {
  const { server, page } = await at("/inbox/archive/text/analyst");
  await page.locator("a[aria-current=true].row").focus();
  await armed(page);
  await page.keyboard.press("r");
  await until(() => page.evaluate(() => document.activeElement?.tagName), (tag) => tag === "TEXTAREA", "a field");
  await page.keyboard.type("Yes, keep it.");
  await page.keyboard.press("Enter");
  await until(() => server.commands.map((up) => up.command.text), (texts) => texts.includes("Yes, keep it."), "it is answered");
  await until(() => page.evaluate(() => document.activeElement?.matches("a.row[aria-current=true]")), (is) => is, "the line of the next one has the focus");
  assert.notEqual(await page.locator("a.row[aria-current=true]").getAttribute("href"), "/inbox/archive/text/analyst");
});

test("whoever answers the last that was asked stays in what comes in its place, and no pane has a ring", async () => {
  const data = world();
  const [[id, one]] = Object.entries(data.inbox.asks).filter(([, ask]) => ask.kind.kind === "consent");
  data.inbox.asks = { [id]: one };
  const { page } = await at("/", { data });
  await page.waitForSelector("[aria-current=true]");
  await page.locator("a[aria-current=true].row").focus();
  await armed(page);
  await page.keyboard.press("y");
  await page.getByRole("heading", { name: "Flows" }).waitFor();
  await until(() => where(page), (place) => place === "main", "the focus is in the list of flows");
  assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
});

test("whoever asks for the inbox with keys works in its list, whatever had the focus", async () => {
  const { page } = await at(FLOW);
  await page.getByRole("link", { name: /^Flows/ }).first().focus();
  for (const again of [false, true]) {
    if (again) await page.getByRole("link", { name: /^Flows/ }).first().focus();
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.waitForSelector("main.split");
    await until(() => page.evaluate(() => document.activeElement?.getAttribute("aria-current") === "true" && document.activeElement.closest("[aria-label='Waiting for you']") !== null), (is) => is, "the line of the list has the focus");
  }
});

test("a sheet takes the focus with it when it opens, and gives it back when it closes", async () => {
  const { page } = await at(FLOW, { width: 800 });
  await page.getByRole("link", { name: /backend feed/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("log").waitFor();
  await until(() => where(page), (place) => place !== "nowhere", "it is somewhere");
  await page.getByRole("button", { name: "Close the feed" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("log").waitFor({ state: "detached" });
  await until(() => where(page), (place) => place === "main", "it is in what was under the sheet");
});

test("what goes away under the focus leaves it beside: the way back to now, and an error that is closed", async () => {
  const { page, server } = await at(`${FLOW}?at=3100`);
  await page.getByRole("button", { name: /^Back to live/ }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByText("You are looking at the past.").waitFor({ state: "detached" });
  await until(() => where(page), (place) => place !== "nowhere", "it is somewhere");
  server.answers = false;
  await page.locator("textarea").fill("hello");
  await page.locator("textarea").press("Enter");
  const given = await until(() => server.commands.at(-1), (up) => up !== undefined, "it is sent");
  for (const one of server.sockets) one.say({ t: "ack", cmd: given.cmd, ok: false, error: { code: "no", what: "It was not sent.", why: "The flow is over.", try: "Fork it." } });
  await page.getByRole("button", { name: "Close this error" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Close this error" }).waitFor({ state: "detached" });
  await until(() => where(page), (place) => place !== "nowhere", "it is somewhere");
});

test("a dialog gives the focus back to where it was", async () => {
  const { page } = await at(FEED);
  await page.locator("textarea").focus();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await until(() => where(page), (place) => place === "form", "the focus is in the composer");
});

test("the row that has the focus stays while the feed is scrolled far away from it", async () => {
  const data = world();
  data.flows["orchard/ledger"].feeds.backend = Array.from({ length: 200 }, (_, n) => item(3000 + n, "assistant", `Line ${n}. ${"word ".repeat(n % 40)}`));
  const { page } = await at(FEED, { data });
  await page.locator("[role=log] [data-seq='3198']").waitFor();
  await page.locator("[role=log] [data-seq='3198'] button").first().focus();
  await page.locator("[role=log]").hover();
  for (let n = 0; n < 12; n += 1) { await page.mouse.wheel(0, -900); await sleep(40); }
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement?.closest("[data-seq]")?.getAttribute("data-seq")), "3198");
});

test("the Tab key goes from rail to main to feed to ask to composer, and nothing that has the focus is covered", async () => {
  const { page } = await at(FEED, { width: 1280, height: 720 });
  await page.waitForSelector("[data-ask]");
  await page.locator("[data-card]").first().waitFor();
  const seen = [];
  for (let n = 0; n < 160; n += 1) {
    await page.keyboard.press("Tab");
    const [place, covered] = await page.evaluate(() => {
      const one = document.activeElement;
      if (one === null || one === document.body) return ["end", false];
      const region = one.closest("[data-region]");
      const box = one.getBoundingClientRect();
      // Some of it can be seen: one of nine points of it is its own.
      const shares = [0.1, 0.5, 0.9];
      const own = shares.some((x) => shares.some((y) => {
        const found = document.elementFromPoint(box.x + box.width * x, box.y + box.height * y);
        return found !== null && (one.contains(found) || found.contains(one));
      }));
      return [region?.getAttribute("aria-label") ?? region?.tagName.toLowerCase() ?? "between", !own];
    });
    if (place === "end") break;
    assert.equal(covered, false, `what has the focus in ${place} can be seen`);
    if (seen.at(-1) !== place) seen.push(place);
  }
  assert.deepEqual(seen.filter((place) => place !== "between"), ["Workspace", "main", "backend feed", "backend needs you", "form"]);
});

test("a screen reader hears boundaries and nothing of what streams, one thing in three seconds, and a lost line at once", async () => {
  const { page, server } = await at("/inbox");
  await page.clock.install();
  await page.goto(server.address + FEED);
  await page.waitForSelector("[data-ask]");
  const heard = () => page.evaluate(() => [...document.querySelectorAll("[data-voice]")].map((voice) => voice.textContent));
  const live = await page.locator("[aria-live]:not([aria-live=off]), [role=status], [role=alert]").count();
  assert.equal(live, 2, "one polite voice, one that is urgent");
  for (let n = 0; n < 10; n += 1) server.put("feed orchard/ledger backend", [item(5000, "assistant", "streamed ".repeat(n + 1), { pending: true, seq: 5000 + n })]);
  await until(() => page.locator("[role=log]").innerText(), (text) => text.includes("streamed streamed"), "it streams");
  await page.clock.runFor(10_000);
  assert.deepEqual(await heard(), ["", ""]);
  // By the page's own clock, which also goes on by itself: the polite announcements, and when.
  await page.evaluate(() => {
    window.told = [];
    new MutationObserver(() => {
      const [polite] = [...document.querySelectorAll("[data-voice]")].map((voice) => voice.textContent);
      if (polite !== "" && polite !== window.told.at(-1)?.[1]) window.told.push([Date.now(), polite]);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const role = server.world.flows["orchard/ledger"].state.roles.backend;
  const late = consent("late", "ls", { short: "Run ls" });
  server.put("flow orchard/ledger", { "role/backend": { ...role, turns: 15 } });
  // Time passes only as the test advances it.
  const soon = async () => { await page.clock.runFor(100); return heard(); };
  await until(soon, ([polite]) => polite === "backend finished turn 15", "the end of a turn");
  server.put("inbox", { [`ask/${late.id}`]: late });
  server.put("flow orchard/ledger", { [`ask/${late.id}`]: late });
  await page.getByText("1 of 3").waitFor();
  await until(soon, ([polite]) => polite === "backend needs you: Run ls", "what is asked");
  const [[first], [second]] = (await page.evaluate(() => window.told)).slice(-2);
  assert.ok(second - first >= 2_900, `not so soon: ${second - first} ms`);
  server.drop(true);
  await until(async () => { await page.clock.runFor(500); return heard(); }, ([, urgent]) => urgent === "Connection lost. Trying again.", "a lost line");
});

test("a hidden tab tells of what has waited five seconds, once, by who waits, and leads to it", async () => {
  const { page, server } = await at("/inbox");
  await page.evaluate(() => localStorage.setItem("a-society.look", JSON.stringify({ notify: true })));
  await page.clock.install();
  await page.addInitScript(() => {
    window.notes = [];
    window.Notification = class { static permission = "granted"; constructor(title, more) { Object.assign(this, { title, ...more, at: Date.now(), close: () => undefined }); window.notes.push(this); } };
    Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
  });
  await page.goto(`${server.address}/flows`);
  await page.waitForSelector("a[data-flow]");
  const notes = () => page.evaluate(() => window.notes.map((note) => note.title));
  await page.clock.runFor(100);
  await until(notes, (list) => list.length === 1, "it is told");
  assert.deepEqual(await notes(), ["4 roles and 1 flow wait"]);
  const now = await page.evaluate(() => Date.now());
  server.put("inbox", { "ask/ledger/consent/late": consent("late", "ls", { since: new Date(now).toISOString() }) });
  await until(() => page.title(), (title) => title.startsWith("(7)"), "it is known");
  await until(async () => { await page.clock.runFor(500); return notes(); }, (list) => list.length === 2, "it is told as well");
  assert.deepEqual((await notes()).slice(1), ["backend wants to run a command"]);
  const [first, second] = await page.evaluate(() => window.notes.map((note) => note.at));
  assert.ok(second - first >= 9_900, `not within ten seconds of the one before: ${second - first} ms`);
  await page.evaluate(() => window.notes[1].onclick());
  await page.waitForURL("**/inbox/ledger/consent/late");
});

const SPACED = "*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}";
for (const [name, path, width] of [["inbox", "/inbox/ledger/consent/c1", 1440], ["flow", FEED, 1440], ["flow in a narrow window", FEED, 860], ["inbox on a phone", "/inbox/ledger/consent/c1", 390], ["feed on a phone", FEED, 390], ["outline on a phone", `${FLOW}/outline`, 390], ["settings", "/settings/keys", 1440]]) {
  test(`text that a reader spaces out is not cut off: ${name}`, async () => {
    const { page } = await at(path, { width });
    await page.evaluate((text) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text); document.adoptedStyleSheets = [sheet]; }, SPACED);
    await settled(page);
    // What is cut in its height cannot be read; what is too long for its line ends in dots and is whole in its title or on its page.
    const cut = await page.evaluate(() => [...document.querySelectorAll("#app *")].filter((one) => {
      const style = getComputedStyle(one);
      const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
      if (!own || one.clientHeight <= 1 || one.closest(".unseen, svg, option, select, [aria-hidden=true]") !== null || style.display === "inline" || !one.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
      return ["hidden", "clip"].includes(style.overflowY) && one.scrollHeight > one.clientHeight + 3;
    }).map((one) => `${one.clientHeight} of ${one.scrollHeight}: ${one.outerHTML.slice(0, 120)}`));
    assert.deepEqual(cut, []);
    const over = await page.evaluate(() => [...document.querySelectorAll("button, a")].filter((one) => {
      if (!one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || one.closest(".unseen, .plane") !== null) return false;
      const range = document.createRange();
      range.selectNodeContents(one);
      const [text, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
      return getComputedStyle(one).display !== "inline" && box.width > 2 && (text.bottom > box.bottom + 6 || text.top < box.top - 6);
    }).map((one) => one.outerHTML.slice(0, 120)));
    assert.deepEqual(over, []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  });
}
