// No decision happens by accident, and everything that is decided can be read first. What is asked is asked by the real program, whose
// models are on loopback, and what was decided is what reached it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test as runs } from "node:test";
import { decided } from "./line.mjs";
import { workshop } from "./played/scenes.mjs";
import { real } from "./real.mjs";
import { armed, burst, GRACE, LONG_REST_MS, says, settled, sleep, until } from "./stage.mjs";

/** A server of tools with one of them. */
const MEMO = `const lines = require("node:readline").createInterface({ input: process.stdin });
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "memo", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "note", description: "Keeps a note.", inputSchema: { type: "object", properties: { text: { type: "string" } } } }] }),
};
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }) + "\\n");
});
`;
const MEMO_FLOW = `workflow:
  name: Notes
  nodes:
    - { id: send, role: writer, work: [Keep a note.] }
  edges: []
roles:
  writer: { instructions: You keep notes., mcp-servers: [memo] }
`;
const { at, or } = real(() => workshop({ "memo.cjs": MEMO, "flows/memo.yaml": MEMO_FLOW }, (folder) => `mcp-servers:\n  memo: { command: ${process.execPath}, args: [${join(folder, "memo.cjs")}], env: { COLOUR: green } }\n`));
const test = (name, work) => runs(name, or(work));
/** Milliseconds from key to key of a fast typist. */
const FAST = 66;
/** What a role may do without asking is no part of this. */
let flows = 0;
const titled = () => `Work ${(flows += 1)}`;

/** A page on the feed of a flow whose role has asked nothing yet, and how it asks for a command. */
async function quiet(look) {
  const title = titled();
  const opened = await at(async (scene) => { await scene.begins(title); return scene.path(title, "/r/writer"); }, look);
  return { ...opened, title, appears: (command) => opened.scene.asksFor(title, command) };
}
/** A page on the feed of a role that wants to run a command. */
async function wanted(command, look) {
  const title = titled();
  const opened = await at(async (scene) => { await scene.wants(title, command); return scene.path(title, "/r/writer"); }, look);
  await opened.page.waitForSelector("[data-ask]");
  return { ...opened, title };
}
/** A page of the inbox on what such a role asks, with the focus on its row. */
async function listed(command, look) {
  const title = titled();
  const opened = await at(async (scene) => `/inbox/${(await scene.wants(title, command)).id}`, look);
  const ask = await opened.scene.asked(title);
  await opened.page.locator("a[aria-current=true]").focus();
  return { ...opened, title, ask };
}
/** What of a flow's facts decided something. */
const answers = (scene, title) => scene.place.log(scene.flows[title]).filter((one) => one.fact === "consent_resolved");
const focused = (page) => page.evaluate(() => document.activeElement?.tagName + (document.activeElement?.getAttribute("aria-label") ?? ""));

for (const [where, focus] of [["the composer", "textarea"], ["the feed", "[role=log]"], ["nothing", null]]) {
  test(`an ask that appears while somebody types with the focus in ${where} is not decided`, async () => {
    const { line, page, scene, title, appears } = await quiet();
    if (focus !== null) await page.locator(focus).first().focus();
    const typing = burst(page, "yfn ".repeat(12), FAST);
    await sleep(700);
    await appears("rm -rf /");
    await typing;
    await page.waitForSelector("[data-ask]");
    assert.deepEqual([decided(line), answers(scene, title)], [[], []]);
  });
}

test("typing in the list of the inbox while an ask appears decides nothing, old or new", async () => {
  const { line, page, scene } = await listed("touch it");
  const late = titled();
  await scene.begins(late);
  await sleep(100);
  const typing = burst(page, "zz yfn yfn yfn yfn ", FAST);
  await sleep(300);
  await scene.asksFor(late, "rm -rf /");
  await typing;
  await scene.asked(late);
  assert.deepEqual(decided(line), []);
});

test("a letter in the list decides once the ask has been there to be read", async () => {
  const { line, page, scene, title, ask } = await listed("touch allowed");
  await armed(page);
  await page.keyboard.press("y");
  await until(() => decided(line), (list) => list.length === 1, "Y allows");
  assert.deepEqual(decided(line)[0], { do: "allow", consent: ask.kind.consent, action: ask.kind.action, for_the_flow: false });
  await until(() => existsSync(join(scene.place.folder, "allowed")), (is) => is, "and it is run");
  assert.equal(answers(scene, title).length, 1);
});

test("a key that is held down decides at most once", async () => {
  const { line, page } = await listed("touch it");
  await armed(page);
  await page.keyboard.down("n");
  for (let n = 0; n < 8; n += 1) { await page.keyboard.down("n"); await sleep(60); }
  await sleep(700);
  await page.keyboard.down("n");
  await page.keyboard.up("n");
  assert.equal(decided(line).length, 1);
});

test("in a text field a letter is text, and only Alt with it decides", async () => {
  const { line, page, scene, title } = await wanted("touch it");
  await page.locator("textarea").focus();
  await armed(page);
  await page.keyboard.press("y");
  assert.equal(await page.locator("textarea").inputValue(), "y");
  assert.deepEqual(decided(line), []);
  await sleep(GRACE);
  await page.keyboard.press("Alt+n");
  await until(() => decided(line), (list) => list.length === 1, "Alt N denies");
  assert.equal(decided(line)[0].do, "deny");
  await until(() => answers(scene, title).map((one) => one.answer), (all) => all.join() === "deny", "it is denied");
  assert.equal(await page.locator("textarea").inputValue(), "y");
});

test("outside the list and the bar a letter answers nothing", async () => {
  const { line, page } = await wanted("touch it");
  await page.locator("[role=log]").focus();
  await armed(page);
  for (const key of ["y", "f", "n"]) { await page.keyboard.press(key); await sleep(GRACE); }
  assert.deepEqual(decided(line), []);
});

test("an ask that appears takes no focus, no text and no place in the feed", async () => {
  const title = titled();
  const { page, scene } = await at(async (scene) => {
    await scene.begins(title);
    for (let n = 0; n < 12; n += 1) await scene.says(title, { text: Array.from({ length: 10 }, (_, at) => `Line ${n}.${at}. ${"word ".repeat((n + at) % 40)}`).join("\n\n"), calls: [["glob", { pattern: `*.${n}` }]] });
    await scene.provider.asked(`${title}/writer`);
    return scene.path(title, "/r/writer");
  });
  await page.locator("textarea").fill("half a sentence");
  await page.locator("textarea").focus();
  await page.getByRole("log").getByText(/^Line 11\.9/).waitFor();
  await page.locator("[role=log]").hover();
  await page.mouse.wheel(0, -900);
  await settled(page, LONG_REST_MS);
  const before = { focus: await focused(page), top: await page.locator("[role=log]").evaluate((node) => node.scrollTop) };
  await scene.asksFor(title, "touch it");
  await page.waitForSelector("[data-ask]");
  await settled(page);
  assert.ok(before.top > 900, `${before.top} is further down`);
  assert.deepEqual({ focus: await focused(page), top: await page.locator("[role=log]").evaluate((node) => node.scrollTop) }, before);
  assert.equal(await page.locator("textarea").inputValue(), "half a sentence");
});

test("a click on a button that has only just come under the pointer decides nothing", async () => {
  const { line, page, appears } = await quiet();
  // Pressed by the page's own observer, so that no machine is too slow for "only just".
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      const found = document.querySelector("[data-ask] .button.primary");
      if (found === null) return;
      observer.disconnect();
      found.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
      document.body.dataset.pressed = "yes";
    }).observe(document.body, { subtree: true, childList: true });
  });
  await appears("touch it");
  await page.waitForSelector("body[data-pressed=yes]", { state: "attached" });
  const button = page.getByRole("button", { name: "Allow once" });
  assert.deepEqual(decided(line), []);
  await armed(page);
  await button.click();
  await until(() => decided(line), (list) => list.length === 1, "a later click allows");
});

for (const [size, width, height] of [["a desk", 1440, 900], ["a phone", 390, 844]]) {
  test(`the whole of a long command can be read and its buttons are in view on ${size}`, async () => {
    const command = Array.from({ length: 60 }, (_, n) => `step ${n} --with ${"x".repeat(n)}`).join("\n");
    const { page } = await wanted(command, { width, height });
    const pre = page.locator("[data-ask] pre");
    assert.equal(await pre.textContent(), command);
    const lines = await pre.evaluate((node) => node.closest("[role=group][tabindex]").clientHeight / Number.parseFloat(getComputedStyle(node).lineHeight));
    assert.ok(lines <= 8.01, `${lines} lines are shown at once`);
    assert.equal(await pre.evaluate((node) => getComputedStyle(node).fontVariantLigatures), "none");
    for (const name of ["Allow once", "Allow for this flow", "Deny"]) {
      const box = await page.locator("[data-ask]").getByRole("button", { name, exact: false }).first().boundingBox();
      assert.ok(box !== null && box.y >= 0 && box.y + box.height <= height, `${name} is in view`);
    }
  });
}

test("a long command says how much of it is missing, and is allowed once its end was scrolled to", async () => {
  const { line, page } = await wanted(Array.from({ length: 60 }, (_, n) => `step ${n}`).join("\n"));
  await page.getByText("52 more lines", { exact: true }).waitFor();
  await armed(page);
  const allow = page.getByRole("button", { name: /^Allow once/ });
  await allow.click({ force: true });
  await page.keyboard.press("Alt+y");
  await page.getByText("It can be allowed once all of it was shown: 52 more lines.").waitFor();
  assert.deepEqual(decided(line), []);
  await page.getByRole("group", { name: "What would be done" }).evaluate((node) => node.scrollTo(0, node.scrollHeight));
  await page.getByText("The end", { exact: true }).waitFor();
  await allow.click();
  await until(() => decided(line), (list) => list.length === 1, "it is allowed");
});

test("the call of a tool of a server shows the same facts beside a feed as in the inbox", async () => {
  const title = titled();
  const { page, scene } = await at(async (scene) => {
    await scene.begins(title, { file: "flows/memo.yaml" });
    await scene.says(title, { calls: [["mcp__memo__note", { text: "hello" }]] });
    await scene.asked(title);
    return scene.path(title, "/r/writer");
  });
  const { id, kind: { facts } } = await scene.asked(title);
  for (const label of ["Server", "Environment", "Tool", "Network"]) assert.ok(facts.some((fact) => fact.label === label), `${label}: ${JSON.stringify(facts)}`);
  const shown = async () => (await page.locator("dl.facts").allInnerTexts()).join();
  await page.locator("[data-ask] dl.facts").waitFor();
  const beside = await shown();
  for (const { label, value } of facts) assert.ok(beside.includes(label) && beside.includes(value), `${label} is shown`);
  await page.goto(`${scene.place.origin}/inbox/${id}`);
  await page.locator("dl.facts").waitFor();
  assert.equal(await shown(), beside);
});

test("what cannot be seen in a call is written out, and a command with it is asked by no role", async () => {
  const hidden = "a\u202etxt.exe \u200b\x1b[2K; rm \u00a0x";
  const written = "a\\u{202e}txt.exe \\u{200b}";
  const title = titled();
  const { page, scene } = await at(async (scene) => {
    await scene.begins(title, { file: "flows/memo.yaml" });
    await scene.asksFor(title, `touch ${hidden}`);
    await scene.says(title, { calls: [["mcp__memo__note", { text: hidden }]] });
    return `/inbox/${(await scene.asked(title)).id}`;
  });
  const text = await page.locator(".command pre").textContent();
  assert.ok(text.includes(`${written}\\u001b[2K; rm \\u{a0}x`), text);
  assert.doesNotMatch(text, /[\u202e\u200b\x1b\u00a0]/);
  // The command was refused, and no row of the feed hides what is in it.
  await page.goto(scene.place.origin + scene.path(title, "/r/writer"));
  const log = page.getByRole("log");
  await says(log, /The command has the character U\+202E in it[\s\S]*a\\u\{202e\}txt\.exe/);
  assert.doesNotMatch(await log.innerText(), /[\u202e\u200b\x1b]/);
  assert.equal(existsSync(join(scene.place.folder, "a\u202etxt.exe")), false);
});

test("the scope of an allowance for the flow stands there before it is pressed", async () => {
  const { page } = await wanted("touch it");
  await says(page.locator("[data-ask]"), /This exact command, in this folder and sandbox, for any role in this flow/);
});

test("an answer without a connection waits visibly and is given once", async () => {
  const { line, page, scene, title } = await listed("touch it");
  await armed(page);
  line.cut();
  await page.waitForSelector("[data-line=lost]");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("sent as soon as the connection is back").first().waitFor();
  assert.deepEqual(decided(line), []);
  line.mend();
  await until(() => decided(line), (list) => list.length === 1, "it is sent");
  await page.waitForSelector("[data-line=open]");
  await until(() => answers(scene, title).length, (n) => n === 1, "it is answered");
  assert.equal(decided(line).length, 1);
});

test("of two windows the first answers, and the ask leaves both", async () => {
  const { line, page, scene, title, ask, another } = await listed("touch it");
  const other = await another(`/inbox/${ask.id}`);
  for (const window of [page, other.page]) await armed(window);
  await page.getByRole("button", { name: "Deny", exact: false }).first().click();
  for (const window of [page, other.page]) await until(() => window.locator(`a[href='/inbox/${ask.id}']`).count(), (n) => n === 0, "the ask is gone");
  assert.deepEqual([decided(line).length, decided(other.line).length, answers(scene, title).length], [1, 0, 1]);
  await other.close();
});

test("requests that are the same in everything can be allowed together, others not", async () => {
  const command = "touch together";
  const titles = [titled(), titled()];
  const { line, page, ask, scene } = await listed(command);
  const asks = [ask];
  for (const title of titles) asks.push(await scene.wants(title, command));
  await scene.wants(titled(), `${command} apart`);
  await page.getByRole("button", { name: "Allow all 3 identical" }).waitFor();
  await armed(page);
  await page.getByRole("button", { name: "Allow all 3 identical" }).click();
  await until(() => decided(line), (list) => list.length === 3, "three are allowed");
  assert.deepEqual(decided(line).map((command) => command.consent).sort(), asks.map((one) => one.kind.consent).sort());
});

test("single letters can be switched off", async () => {
  const { line, page } = await listed("touch it");
  await page.evaluate(() => localStorage.setItem("a-society.look", JSON.stringify({ singleKeys: false })));
  await page.reload();
  await page.locator("a[aria-current=true]").focus();
  await armed(page);
  await page.keyboard.press("y");
  await sleep(200);
  assert.deepEqual(decided(line), []);
});
