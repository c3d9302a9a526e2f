// The views of a flow, transcripts, lists and settings in a real browser: what they show, what they ask for, what they cost.
import { after, afterEach, before, beforeEach, test } from "node:test";
import { here, launch } from "./browser.mjs";
import { faultsIn, LOOKS } from "./checker.mjs";
import { HEAD, LONG, SCREENS, stage } from "./ledger/told.mjs";
import { serve } from "./ledger/server.mjs";
import { rests } from "./stage.mjs";

/** Screens with more on them than `quality.test.mjs` has of them, or which it does not have: they are looked at in each look. */
const ALONE = ["graph", "artifact", "transcript", "improve", "big", "models", "wide"];
const FLOW = "/p/orchard/f/ledger";
let browser;
let server;
const NOW = new Date("2026-03-03T14:11:52Z");

async function open(path, { theme = "light", width = 1440, height = 900, fixed = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, timezoneId: "UTC", locale: "en-GB", reducedMotion: "reduce" });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
  page.on("pageerror", (e) => complaints.push(String(e)));
  if (fixed) await page.clock.setFixedTime(NOW);
  await page.goto(server.url + path);
  await here(page);
  return { page, complaints, close: () => context.close() };
}
const same = (got, want, what) => { if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(want)}`); };
const yes = (is, what) => { if (!is) throw new Error(what); };
const clean = (complaints) => same(complaints, [], "the browser complained");

/** Drags the playhead over the lanes, in steps, and stops at `share` of them. */
async function scrub(page, from, to) {
  const box = await page.getByRole("slider", { name: "Position in flow history" }).boundingBox();
  const x = (share) => box.x + 92 + (box.width - 92) * share;
  await page.mouse.move(x(from), box.y + 40);
  await page.mouse.down();
  for (let i = 1; i <= 20; i++) await page.mouse.move(x(from + ((to - from) * i) / 20), box.y + 40);
  return () => page.mouse.up();
}
const card = (page, id) => page.locator(`[data-card="${id}"]`);

const tests = {
  async "scrubbing moves every card, asks the server for nothing and tells it nothing"() {
    const { page, complaints, close } = await open(`${FLOW}?role=backend`);
    await card(page, "api").waitFor();
    await rests(server.asked);
    const [asked, said] = [server.asked.length, server.said.length];
    const up = await scrub(page, 0.9, 0.2);
    await page.waitForFunction(() => document.querySelector('[data-card="design"]').getAttribute("data-state") === "running" && document.querySelector('[data-card="api"]').getAttribute("data-state") === "not-reached");
    same(server.asked.slice(asked), [], "requests while the playhead moved");
    same(server.said.slice(said).filter((m) => m.t === "do"), [], "commands while the playhead moved");
    await up();
    await page.waitForURL(/[?&]at=\d+/);
    await rests(server.asked);
    yes(server.asked.slice(asked).every((a) => a.startsWith("GET ")), `only reads after it rests: ${server.asked.slice(asked)}`);
    same(server.said.slice(said).filter((m) => m.t === "do"), [], "commands after it rests");
    await page.getByRole("button", { name: /Back to live/ }).first().click();
    await page.waitForFunction(() => document.querySelector('[data-card="api"]')?.getAttribute("data-state") === "needs-you");
    yes(!page.url().includes("at="), "the address is of now again");
    clean(complaints);
    await close();
  },

  async "the playhead is a slider for keys and says in words where it is"() {
    const { page, close } = await open(FLOW);
    const slider = page.getByRole("slider", { name: "Position in flow history" });
    await slider.waitFor();
    await rests(server.asked);
    await slider.focus();
    same(await slider.getAttribute("aria-valuenow"), String(HEAD), "at the end");
    await page.keyboard.press("ArrowLeft");
    same(await slider.getAttribute("aria-valuenow"), String(HEAD - 1), "one event back");
    yes(/^\d\d:\d\d:\d\d, event 4,811 of 4,812, .+ running$/.test(await slider.getAttribute("aria-valuetext")), `words: ${await slider.getAttribute("aria-valuetext")}`);
    await page.keyboard.press("Shift+ArrowLeft");
    yes(Number(await slider.getAttribute("aria-valuenow")) < HEAD - 1, "a turn back is more than an event");
    await page.keyboard.press("Home");
    same(await slider.getAttribute("aria-valuenow"), "1", "at the beginning");
    await page.keyboard.press("End");
    same(await slider.getAttribute("aria-valuenow"), String(HEAD), "at the end again");
    yes((await slider.getAttribute("aria-valuetext")).includes("live"), "live again");
    await close();
  },

  async "a deep link into the past shows that moment, says so, and veils what came later"() {
    const { page, close } = await open(`${FLOW}?at=3204`);
    await page.getByText("You are looking at the past.").waitFor();
    await page.getByText("1,608 events").first().waitFor();
    same(await card(page, "api").getAttribute("data-state"), "done", "api was done then");
    same(await card(page, "acceptance").getAttribute("data-state"), "not-reached", "acceptance");
    same(await page.locator(".veil").count(), 1, "a veil over the future");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !location.search.includes("at="));
    await close();
  },

  async "arrow keys walk along the edges and Enter opens the role"() {
    const { page, close } = await open(FLOW);
    await card(page, "intake").waitFor();
    await card(page, "intake").focus();
    const here = () => page.evaluate(() => document.activeElement?.getAttribute("data-card"));
    const step = async (key, want) => { await page.keyboard.press(key); await page.waitForFunction((w) => document.activeElement?.getAttribute("data-card") === w, want).catch(async () => { throw new Error(`${key} led to ${await here()}, not ${want}`); }); };
    await step("ArrowDown", "design");
    await step("ArrowDown", "ui");
    await step("ArrowLeft", "api");
    await step("ArrowDown", "review");
    await step("ArrowUp", "ui");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.search.includes("node=ui") && location.search.includes("role=frontend"));
    await close();
  },

  async "a node is found by its name, also inside a folded rank"() {
    const { page, close } = await open("/p/orchard/f/big");
    await page.locator("[data-card]").first().waitFor();
    await page.locator("body").press("/");
    await page.getByRole("combobox", { name: "Find a node or role" }).fill("step-133");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-card") === "step-133");
    await close();
  },

  async "a graph of 200 nodes is painted at once, folded by rank, and opens rank by rank"() {
    const { page, complaints, close } = await open("/p/orchard/f/big", { fixed: false });
    await page.locator("[data-card]").first().waitFor();
    same(await page.locator("[data-card]").count(), 11, "cards");
    await page.locator("[data-card]").nth(1).click();
    await page.waitForFunction(() => document.querySelectorAll("[data-card]").length === 30);
    await page.getByRole("button", { name: "Fold ranks" }).click();
    await page.waitForFunction(() => document.querySelectorAll("[data-card]").length === 11);
    clean(complaints);
    await close();
  },

  async "a flow is forked from the moment that is looked at, and the new flow opens"() {
    const { page, close } = await open(`${FLOW}?at=3204`);
    await rests(server.asked);
    const said = server.said.length;
    await page.getByRole("region", { name: "Timeline" }).getByRole("button", { name: /Fork/ }).click();
    const dialog = page.getByRole("dialog", { name: "Fork from here" });
    await dialog.getByText("Sessions as they were then: backend (41 messages).").waitFor();
    yes((await dialog.textContent()).includes("event 3,204"), "the dialog names the moment");
    yes((await dialog.textContent()).includes("The project's files: both flows work on the same ones"), "it says what is not carried");
    yes((await dialog.textContent()).includes("First message to backend"), "it says who hears");
    await dialog.getByLabel("Name").fill("With a fuzz target");
    await dialog.getByLabel(/First message/).fill("Write the fuzz target first.");
    await dialog.getByRole("button", { name: "Fork and open" }).click();
    await page.waitForFunction(() => location.pathname.endsWith("/f/ledger-2"));
    same(server.said.slice(said).filter((m) => m.t === "do").map((m) => m.command), [{ do: "fork", at: 3204, name: "With a fuzz target", first_message: "Write the fuzz target first." }], "commands");
    await close();
  },

  async "a change that a finding led to is looked at, applied or declined, and one whose file changed is only declined"() {
    const { page, complaints, close } = await open("/findings");
    await page.getByRole("button", { name: /checks\.md/ }).click();
    const card = page.locator('[data-change="c1"]');
    await card.getByRole("group", { name: /What would change/ }).waitFor();
    same(await card.getByRole("link").getAttribute("href"), "/p/orchard/f/closed/r/reviewer#e4610", "where it came from");
    await card.getByRole("button", { name: "Apply", exact: true }).click();
    await card.getByText("Applied").waitFor();
    await page.getByRole("button", { name: /^a-docs\/style\.md/ }).click();
    const changed = page.locator('[data-change="c3"]');
    await changed.getByText("it is not overwritten").waitFor();
    same(await changed.getByRole("button", { name: "Apply", exact: true }).count(), 0, "buttons that write over");
    await changed.getByRole("button", { name: "Decline" }).click();
    await changed.getByText("Declined").waitFor();
    const commands = server.said.filter((up) => up.t === "do").map((up) => up.command);
    same(commands, [{ do: "change", change: "c1", applied: true }, { do: "change", change: "c3", applied: false }], "what was said");
    clean(complaints);
    await close();
  },

  async "the flows are walked with J and K, the models say what they cost, and roles stand with their project"() {
    const { page, complaints, close } = await open("/flows");
    await page.locator("a[data-flow]").first().waitFor();
    const order = await page.locator("a[data-flow]").evaluateAll((all) => all.map((one) => one.dataset.flow));
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-flow"));
    await page.keyboard.press("j");
    await page.waitForFunction((first) => document.activeElement?.getAttribute("data-flow") === first, order[0]);
    await page.keyboard.press("j");
    await page.waitForFunction((next) => document.activeElement?.getAttribute("data-flow") === next, order[1]);
    await page.keyboard.press("k");
    await page.waitForFunction((first) => document.activeElement?.getAttribute("data-flow") === first, order[0]);
    same(await focused(), order[0], "the first again");
    await page.keyboard.press("Enter");
    await page.waitForFunction((first) => location.pathname.endsWith(`/f/${first.split("/")[1]}`), order[0]);
    await page.goto(`${server.url}/settings/models`);
    await page.getByRole("listitem").filter({ hasText: /large[^]*large-70b, window 200k, \$3\.00 in, \$15\.00 out for a million, effort high[^]*orchard\/backend/ }).waitFor();
    await page.getByRole("listitem").filter({ hasText: /local-small\s*default[^]*Found in the variable LOCAL_KEY/ }).waitFor();
    await page.goto(`${server.url}/roles`);
    await page.getByText("You keep the journal.").waitFor();
    await page.getByText("When work is done, a retrospective all at once, and no report is written.").waitFor();
    clean(complaints);
    await close();
  },

  async "a finding becomes a proposal only after its diff was seen, and what was typed is kept"() {
    const { page, complaints, close } = await open("/findings");
    await page.getByRole("button", { name: /^(Qa ?)?qa\b/i }).click();
    await page.getByRole("button", { name: "Propose a change" }).click();
    const form = page.getByRole("form", { name: /Propose a change/ });
    await page.waitForFunction(() => document.querySelector("form input")?.value === "a-docs/style.md");
    const field = form.getByLabel("What the file would say");
    const send = form.getByRole("button", { name: "Propose this change" });
    yes(await send.isDisabled(), "nothing differs yet");
    await field.fill("# Style\n\nShort sentences.\nWhat breaks comes first.\n");
    await form.getByRole("group", { name: "What would change", exact: true }).getByText("What breaks comes first.").waitFor();
    await page.reload();
    await page.getByRole("button", { name: /^(Qa ?)?qa\b/i }).click();
    await page.getByRole("button", { name: "Propose a change" }).click();
    await page.waitForFunction(() => document.querySelector("form textarea")?.value.includes("What breaks"));
    await send.click();
    await page.locator(".mono", { hasText: "a-docs/style.md" }).nth(1).waitFor();
    const commands = server.said.filter((up) => up.t === "do").map((up) => up.command);
    same(commands, [{ do: "propose", role: "qa", path: "a-docs/style.md", text: "# Style\n\nShort sentences.\nWhat breaks comes first.\n" }], "what was said");
    clean(complaints);
    await close();
  },

  async "a transcript of a hundred thousand messages stays windowed and can be jumped into"() {
    const { page, complaints, close } = await open(`${FLOW}/r/frontend/transcript`);
    await page.waitForFunction((n) => Number(document.querySelector("[data-messages]")?.getAttribute("data-messages")) === n, LONG);
    const rows = () => page.locator('[role="option"]').count();
    yes((await rows()) < 120, `${await rows()} rows`);
    await page.locator("body").press("/");
    await page.keyboard.type("88888");
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Message 88,888" }).waitFor();
    yes((await rows()) < 120, `${await rows()} rows after the jump`);
    yes(page.url().includes("msg=88888"), "the address names the message");
    await page.getByRole("button", { name: "Raw" }).click();
    await page.getByText('"call_88887"').waitFor();
    clean(complaints);
    await close();
  },

  async "a tick on a change stays, and is for that text only"() {
    const { page, close } = await open(`${FLOW}/files`);
    const tick = page.getByRole("checkbox", { name: "ledger/src/journal.rs reviewed" });
    await tick.check();
    await page.getByText("1 of 2 reviewed").waitFor();
    await page.reload();
    await page.getByText("1 of 2 reviewed").waitFor();
    await close();
  },

  async "the journal is windowed, filtered by kind and opened at an event"() {
    const { page, close } = await open(`${FLOW}/events#e3204`);
    await page.getByRole("complementary", { name: "Event 3,204" }).waitFor();
    yes((await page.locator('[role="option"]').count()) < 120, "rows");
    await page.getByLabel("Filter by kind, or jump to a number").fill("handed_off");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.search.includes("kind=handed_off"));
    await page.getByRole("button", { name: "Older events" }).waitFor();
    const kinds = await page.locator(".fact").allTextContents();
    yes(kinds.length > 0 && kinds.every((k) => k === "handed_off"), `kinds: ${[...new Set(kinds)]}`);
    await close();
  },

  async "the outline says the same as the graph"() {
    const { page, close } = await open(FLOW);
    await card(page, "api").waitFor();
    const cards = await page.locator("[data-card]").evaluateAll((all) => all.map((c) => [c.getAttribute("data-card"), c.getAttribute("data-state"), c.getAttribute("aria-label")]).sort());
    await page.goto(`${server.url}${FLOW}/outline`);
    await page.locator("[data-row]").first().waitFor();
    const lines = await page.locator("[data-row]").evaluateAll((all) => all.map((c) => [c.getAttribute("data-row"), c.getAttribute("data-state"), c.getAttribute("aria-label")]).sort());
    same(lines, cards, "rows");
    await close();
  },

  async "live events move cards and the strip without another request"() {
    const { page, close } = await open(FLOW);
    await card(page, "ui").waitFor();
    await rests(server.asked);
    const asked = server.asked.length;
    const blocks = await page.locator(".block").count();
    const { ledger } = await import("./ledger/told.mjs");
    server.put((t) => t.topic === "flow", { "node/ui": { ...ledger.nodes.ui, state: "done", live: null, words: "", took_ms: 900_000 }, flow: { ...ledger.flow, seq: HEAD + 1, nodes_done: 4, updated_at: "2026-03-03T14:11:53Z" } });
    await page.waitForFunction(() => document.querySelector('[data-card="ui"]')?.getAttribute("data-state") === "done");
    server.put((t) => t.topic === "flow", { "node/api": { ...ledger.nodes.api, state: "running", turn: 15 }, flow: { ...ledger.flow, seq: HEAD + 2, updated_at: "2026-03-03T14:11:55Z" } });
    await page.waitForFunction((n) => document.querySelectorAll(".block").length > n, blocks);
    same(server.asked.slice(asked), [], "requests");
    await close();
  },
};

before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });
beforeEach(async () => { server = await serve(stage()); });
afterEach(async () => { await server.close(); });
for (const [name, body] of Object.entries(tests)) test(name, body);

for (const [name, path] of Object.entries(SCREENS)) {
  // What `quality.test.mjs` looks at in all four with another flow is looked at in two here: each theme and each size.
  const looks = ALONE.includes(name) ? LOOKS : LOOKS.filter((_, n) => n % 2 === 1);
  test(`the screen "${name}" of a flow with a long past passes the accessibility rules in both themes, on a desk and on a phone`, async () => {
    const { page, complaints, close } = await open(path);
    same(await faultsIn(page, looks), [], "faults");
    clean(complaints);
    await close();
  });
}
