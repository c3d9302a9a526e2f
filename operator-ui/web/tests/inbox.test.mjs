// The inbox when very much waits, which is stood in for, and what follows a denial, of the real program.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decided } from "./line.mjs";
import { handsOver } from "./model.mjs";
import { workshop } from "./played/scenes.mjs";
import { real } from "./real.mjs";
import { armed, decisions, says, stage, until } from "./stage.mjs";
import { ask, consent, world } from "./world.mjs";

const HANDED = `workflow:
  name: Handed over
  nodes:
    - { id: write, role: writer, human-colab: true, work: [Write it.] }
    - { id: close, role: writer, work: [Close it.] }
  edges:
    - { from: write, to: close }
roles:
  writer: { instructions: You write. }
`;
const TOOLED = `workflow:
  name: With tools
  nodes:
    - { id: write, role: writer, work: [Write it.] }
  edges: []
roles:
  writer: { instructions: You write., mcp-servers: [tickets] }
`;
const at = stage();
const { at: atReal, or } = real(() => workshop({ "flows/handed.yaml": HANDED, "flows/tooled.yaml": TOOLED }, () => "mcp-servers:\n  tickets: { command: /bin/false }\n"));
/** A test of the real program. */
const really = (name, work) => test(name, or(work));
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

really("a denial is followed by a question for what to do instead, which nobody is moved to", async () => {
  const title = "Denied";
  const { line, page, scene, complaints } = await atReal(async (scene) => { await scene.wants(title, "rm -rf build"); return scene.path(title, "/r/writer"); });
  await page.waitForSelector("[data-ask]");
  await armed(page);
  await page.getByRole("button", { name: /^Deny/ }).first().click();
  await page.getByRole("heading", { name: "You denied this. What should writer do instead?" }).waitFor();
  await page.locator("[data-ask]").getByText("rm -rf build").waitFor();
  assert.deepEqual(decided(line).map((one) => one.do), ["deny"]);
  // After an answer the focus is in the feed, or where it was answered if the question is there before that is gone; never in a field.
  await until(() => page.evaluate(() => document.activeElement.tagName), (tag) => tag === "DIV" || tag === "SECTION", "the focus is moved into no field");
  const { since } = await scene.asked(title);
  const field = page.getByPlaceholder("Tell writer what to do instead");
  await field.fill("Empty it by hand.");
  await field.press("Enter");
  await until(() => line.sent, (list) => list.length === 2, "it is told");
  assert.deepEqual(line.sent[1].command, { do: "reply", to: { role: "writer" }, text: "Empty it by hand.", asked: since });
  const { body } = await scene.provider.asked(`${title}/writer`);
  assert.equal(body.split("Empty it by hand.").length, 2);
  assert.deepEqual(complaints, []);
});

really("a reason can be given with a denial from the bar and on a phone, and with a handoff that is declined", async () => {
  for (const [title, look] of [["From the bar", {}], ["From a phone", { width: 390, height: 844, touch: true }]]) {
    const { line, page, scene } = await atReal(async (scene) => {
      const { id } = await scene.wants(title, "touch it");
      return look.touch ? `/inbox/${id}` : scene.path(title, "/r/writer");
    }, look);
    const { kind } = await scene.asked(title);
    await page.getByRole("button", { name: "Deny with a reason" }).waitFor();
    await armed(page);
    await page.getByRole("button", { name: "Deny with a reason" }).click();
    await page.getByLabel("Why not, and what to do instead").fill("Use the copy.");
    await page.getByRole("button", { name: "Deny with this reason" }).click();
    await until(() => decided(line), (list) => list.length === 1, "it is denied");
    assert.deepEqual(decided(line)[0], { do: "deny", consent: kind.consent, action: kind.action, reason: "Use the copy." });
    // It is the result of the call, and the role goes on with it at once.
    const { body } = await scene.provider.asked(`${title}/writer`);
    assert.ok(body.includes("Use the copy."));
  }
  const title = "Declined";
  const { line, page, scene } = await atReal(async (scene) => {
    await scene.begins(title, { file: "flows/handed.yaml" });
    await scene.says(title, { calls: [["write_file", { path: "record/it.md", content: "# It\n" }]] });
    await scene.says(title, { text: handsOver("close", "record/it.md") });
    return `/inbox/${(await scene.asked(title)).id}`;
  });
  const { kind: { approval } } = await scene.asked(title);
  await page.locator("a[aria-current=true]").focus();
  await armed(page);
  await page.keyboard.press("r");
  await page.keyboard.type("Name the year.");
  await page.keyboard.press("Enter");
  await until(() => decided(line), (list) => list.length === 1, "it is declined");
  assert.deepEqual(decided(line)[0], { do: "decline", approval, reason: "Name the year." });
  const { body } = await scene.provider.asked(`${title}/writer`);
  assert.ok(body.includes("Name the year."));
  assert.equal(scene.place.log(scene.flows[title]).some((one) => one.fact === "handoff_applied"), false);
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

really("a server of tools that did not start is said in the inbox, with the role that works without it and why", async () => {
  const title = "Without tickets";
  const { page, scene } = await atReal(async (scene) => { await scene.begins(title, { file: "flows/tooled.yaml" }); return "/inbox"; });
  await page.getByRole("heading", { name: "Tools that are missing" }).waitFor();
  const row = page.getByRole("link", { name: /writer works without the tools of tickets/ });
  assert.match(await row.innerText(), /Without tickets\s*It (is gone: it )?ended with exit code 1/);
  assert.ok((await row.getAttribute("href")).startsWith(scene.path(title, "/r/writer")));
});
