// The inbox when very much waits, and what follows a denial.
import assert from "node:assert/strict";
import { test } from "node:test";
import { armed, decisions, says, stage, until } from "./stage.mjs";
import { ask, consent, world } from "./world.mjs";

const at = stage();
/** More than any list could draw. */
const MANY = 10_000;

function crowded() {
  const data = world();
  const since = (n) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
  data.inbox.asks = Object.fromEntries(Array.from({ length: MANY }, (_, n) => consent(`k${String(n).padStart(5, "0")}`, `echo ${n}`, { since: since(n), short: `Run echo ${n}` })).map((one) => [one.id, one]));
  return data;
}
const rows = (page) => page.locator("[data-rows] li").count();
const current = (page) => page.locator("a[aria-current=true]").innerText();

test("ten thousand asks are listed with few rows, reached at both ends, and walked with keys", async () => {
  const { server, page, complaints } = await at("/inbox", { data: crowded() });
  await page.waitForSelector("a[aria-current=true]");
  assert.match(await current(page), /Run echo 0\b/);
  assert.equal(await page.locator("[data-rows]").getAttribute("data-rows"), String(MANY));
  assert.ok((await rows(page)) < 60, `${await rows(page)} rows`);
  // The end of the list is there as soon as it is scrolled to, and the row with the focus stays in the page.
  await page.evaluate(() => { const list = document.querySelector(".rows"); list.scrollTop = list.scrollHeight; });
  await page.getByText(`Run echo ${MANY - 1}`, { exact: true }).waitFor();
  assert.ok((await rows(page)) < 60, `${await rows(page)} rows`);
  assert.match(await page.evaluate(() => document.activeElement.innerText), /Run echo 0\b/);
  // A key brings the next one back into view and gives it the focus.
  await page.keyboard.press("j");
  await until(() => page.evaluate(() => document.activeElement.innerText), (text) => /Run echo 1\b/.test(text), "the next one has the focus");
  const box = await page.locator("a[aria-current=true]").boundingBox();
  assert.ok(box.y > 0 && box.y < 900, `it is seen, at ${box.y}`);
  await armed(page);
  await page.keyboard.press("y");
  await until(() => decisions(server), (list) => list.length === 1, "it is answered");
  assert.equal(decisions(server)[0].consent, "k00001");
  await until(() => page.locator("[data-rows]").getAttribute("data-rows"), (n) => n === String(MANY - 1), "it is gone");
  assert.deepEqual(complaints, []);
});

test("an ask that comes while ten thousand wait moves nothing that is read", async () => {
  const { server, page } = await at("/inbox", { data: crowded() });
  await page.waitForSelector("a[aria-current=true]");
  await page.evaluate(() => { document.querySelector(".rows").scrollTop = 57_000; });
  await page.getByText("Run echo 1005", { exact: true }).waitFor();
  const place = () => page.getByText("Run echo 1005", { exact: true }).evaluate((node) => node.getBoundingClientRect().top);
  const before = await place();
  server.put("inbox", { "ask/late": consent("late", "ls", { id: "late", since: new Date().toISOString(), short: "Run ls" }) });
  await until(() => page.locator("[data-rows]").getAttribute("data-rows"), (n) => n === String(MANY + 1), "it is there");
  assert.equal(await place(), before);
});

test("a denial is followed by a question for what to do instead, which nobody is moved to", async () => {
  const data = world();
  const one = consent("k", "rm -rf build");
  data.inbox.asks = { [one.id]: one };
  data.flows["orchard/ledger"].state.asks = { [one.id]: one };
  const { server, page, complaints } = await at("/p/orchard/f/ledger/r/backend", { data });
  await page.waitForSelector("[data-ask]");
  await armed(page);
  await page.getByRole("button", { name: /^Deny/ }).first().click();
  await until(() => decisions(server), (list) => list.length === 1, "it is denied");
  const follow = ask("ledger/text/api", { kind: "text", reason: "consent_denied", question: "", may_retry: false, denied: "rm -rf build" }, { headline: "backend needs your guidance after a denial", short: "Answer", earlier: [{ at: new Date().toISOString(), flow: one.flow, role: "backend", words: "Denied", detail: "rm -rf build" }] });
  const focus = () => page.evaluate(() => document.activeElement.tagName);
  // After an answer the focus is in the feed once nothing is asked any more.
  await page.locator("[data-ask]").waitFor({ state: "detached" });
  await until(focus, (tag) => tag === "DIV", "the focus is in the feed");
  const had = await focus();
  server.put("flow orchard/ledger", { [`ask/${follow.id}`]: follow });
  await page.getByRole("heading", { name: "You denied this. What should backend do instead?" }).waitFor();
  await page.locator("[data-ask]").getByText("rm -rf build").waitFor();
  assert.equal(await focus(), had, "appearing moves no focus");
  const field = page.getByPlaceholder("Tell backend what to do instead");
  await field.fill("Empty it by hand.");
  await field.press("Enter");
  await until(() => server.commands, (list) => list.length === 2, "it is told");
  assert.deepEqual(server.commands[1].command, { do: "reply", to: { role: "backend" }, text: "Empty it by hand.", asked: follow.since });
  assert.deepEqual(complaints, []);
});

test("a reason can be given with a denial from the bar and on a phone, and with a handoff that is declined", async () => {
  const data = world();
  const one = consent("k", "ls");
  data.inbox.asks = { [one.id]: one };
  data.flows["orchard/ledger"].state.asks = { [one.id]: one };
  for (const [path, look] of [["/p/orchard/f/ledger/r/backend", {}], ["/inbox", { width: 390, height: 844, touch: true }]]) {
    const { server, page } = await at(path, { data: structuredClone(data), ...look });
    await page.getByRole("button", { name: "Deny with a reason" }).waitFor();
    await armed(page);
    await page.getByRole("button", { name: "Deny with a reason" }).click();
    await page.getByLabel("Why not, and what to do instead").fill("Use the copy.");
    await page.getByRole("button", { name: "Deny with this reason" }).click();
    await until(() => decisions(server), (list) => list.length === 1, "it is denied");
    assert.deepEqual(decisions(server)[0], { do: "deny", consent: "k", action: "hash-k", reason: "Use the copy." });
  }
  const staged = ask("x/approval/k", { kind: "approval", approval: "k", targets: [] });
  data.inbox.asks = { [staged.id]: staged };
  const { server, page } = await at("/inbox", { data });
  await page.waitForSelector("a[aria-current=true]");
  await armed(page);
  for (const key of ["r", ..."no", "Enter"]) await page.keyboard.press(key);
  await until(() => decisions(server), (list) => list.length === 1, "it is declined");
  assert.deepEqual(decisions(server)[0], { do: "decline", approval: "k", reason: "no" });
});

test("what the project chose stands out among the ways to look back, each with about how long it takes", async () => {
  const data = world();
  data.projects = [{ name: "orchard", ready: true, flows: 1, improve: "parallel", feedback: null }];
  const { server, page } = await at("/inbox/wizard/improvement/flow", { data });
  const usual = page.getByRole("button", { name: /All at once, as orchard chooses/ });
  await usual.waitFor();
  await says(usual, /About 4 minutes/);
  const graph = page.getByRole("button", { name: /In graph order/ });
  await says(graph, /About 12 minutes, \$1\.40/);
  assert.doesNotMatch(await graph.innerText(), /as orchard chooses/);
  assert.deepEqual(decisions(server), [], "it is chosen by nobody but a person");
});

test("where nothing can go on, a node that is done is run again with a word about why", async () => {
  const data = world();
  const stalled = ask("ledger/stalled", { kind: "stalled" }, { role: null, node: null });
  data.inbox.asks = { [stalled.id]: stalled };
  const { server, page, complaints } = await at("/inbox", { data });
  await page.getByLabel("Node", { exact: true }).selectOption("design");
  await page.getByLabel("What should it do differently?").fill("Say where it ends.");
  await page.getByRole("button", { name: "Run design again" }).click();
  await until(() => decisions(server), (list) => list.length === 1, "it is said");
  assert.deepEqual(decisions(server)[0], { do: "reopen", node: "design", note: "Say where it ends." });
  assert.deepEqual(complaints, []);
});

test("who opens the inbox with a click on its link works in its list at once", async () => {
  for (const from of ["/flows", "/inbox/archive/text/analyst"]) {
    const { page, server } = await at(from);
    await page.locator("nav[aria-label=Workspace] a[href='/inbox']").click();
    await until(() => page.evaluate(() => document.activeElement?.getAttribute("aria-current")), (now) => now === "true", `a row has the focus, from ${from}`);
    await page.locator("[aria-current=true]").first().waitFor();
    await armed(page);
    await page.keyboard.press("j");
    await armed(page);
    await page.keyboard.press("e");
    await page.getByRole("heading", { name: "Later" }).waitFor();
    assert.deepEqual(server.commands, []);
  }
});

test("a click that opens the inbox in another tab, and Tab through the rail, leave the focus", async () => {
  const { page } = await at("/inbox");
  const link = page.locator("nav[aria-label=Workspace] a[href='/inbox']");
  await link.focus();
  await page.keyboard.press("Shift");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("href")), "/inbox");
});

test("a server of tools that did not start is said in the inbox, with the role that works without it and why", async () => {
  const data = world();
  data.inbox.flows["orchard/ledger"].absent = [{ role: "backend", server: "tickets", why: "it ended with 1 before it answered" }];
  const { page } = await at("/inbox", { data });
  await page.getByRole("heading", { name: "Tools that are missing" }).waitFor();
  const row = page.getByRole("link", { name: /backend works without the tools of tickets/ });
  assert.match(await row.innerText(), /Ledger journal\s*it ended with 1 before it answered/);
  assert.match(await row.getAttribute("href"), /\/p\/orchard\/f\/ledger\/r\/backend/);
});
