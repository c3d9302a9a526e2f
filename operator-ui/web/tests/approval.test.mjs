// No decision happens by accident, and everything that is decided can be read first.
import assert from "node:assert/strict";
import { test } from "node:test";
import { armed, burst, decisions, GRACE, LONG_REST_MS, says, settled, sleep, stage, until } from "./stage.mjs";
import { consent, item, world } from "./world.mjs";

const at = stage();
const FLOW = "/p/orchard/f/ledger/r/backend";
/** Milliseconds from key to key of a fast typist. */
const FAST = 66;

function quiet() {
  const data = world();
  data.inbox.asks = {};
  data.flows["orchard/ledger"].state.asks = {};
  return data;
}
function appears(server, ask) {
  server.put("inbox", { [`ask/${ask.id}`]: ask });
  server.put("flow orchard/ledger", { [`ask/${ask.id}`]: ask });
}
const focused = (page) => page.evaluate(() => document.activeElement?.tagName + (document.activeElement?.getAttribute("aria-label") ?? ""));

for (const [where, focus] of [["the composer", "textarea"], ["the feed", "[role=log]"], ["nothing", null]]) {
  test(`an ask that appears while somebody types with the focus in ${where} is not decided`, async () => {
    const { server, page } = await at(FLOW, { data: quiet() });
    if (focus !== null) await page.locator(focus).first().focus();
    const typing = burst(page, "yfn ".repeat(12), FAST);
    await sleep(700);
    appears(server, consent("late", "rm -rf /"));
    await typing;
    await page.waitForSelector("[data-ask]");
    assert.deepEqual(decisions(server), []);
  });
}

test("typing in the list of the inbox while an ask appears decides nothing, old or new", async () => {
  const { server, page } = await at("/inbox");
  await page.locator("a[aria-current=true]").focus();
  await sleep(100);
  const typing = burst(page, "zz yfn yfn yfn yfn ", FAST);
  await sleep(300);
  appears(server, consent("late", "rm -rf /"));
  await typing;
  assert.deepEqual(decisions(server), []);
});

test("a letter in the list decides once the ask has been there to be read", async () => {
  const { server, page } = await at("/inbox/ledger/consent/c1");
  await page.locator("a[aria-current=true]").focus();
  await armed(page);
  await page.keyboard.press("y");
  await until(() => decisions(server), (list) => list.length === 1, "Y allows");
  assert.deepEqual(decisions(server)[0], { do: "allow", consent: "c1", action: "hash-c1", for_the_flow: false });
});

test("a key that is held down decides at most once", async () => {
  const { server, page } = await at("/inbox/ledger/consent/c1");
  await page.locator("a[aria-current=true]").focus();
  await armed(page);
  await page.keyboard.down("n");
  for (let n = 0; n < 8; n += 1) { await page.keyboard.down("n"); await sleep(60); }
  await sleep(700);
  await page.keyboard.down("n");
  await page.keyboard.up("n");
  assert.equal(decisions(server).length, 1);
});

test("in a text field a letter is text, and only Alt with it decides", async () => {
  const { server, page } = await at(FLOW);
  await page.waitForSelector("[data-ask]");
  await page.locator("textarea").focus();
  await armed(page);
  await page.keyboard.press("y");
  assert.equal(await page.locator("textarea").inputValue(), "y");
  assert.deepEqual(decisions(server), []);
  await sleep(GRACE);
  await page.keyboard.press("Alt+n");
  await until(() => decisions(server), (list) => list.length === 1, "Alt N denies");
  assert.equal(decisions(server)[0].do, "deny");
  assert.equal(await page.locator("textarea").inputValue(), "y");
});

test("outside the list and the bar a letter answers nothing", async () => {
  const { server, page } = await at(FLOW);
  await page.waitForSelector("[data-ask]");
  await page.locator("[role=log]").focus();
  await armed(page);
  for (const key of ["y", "f", "n"]) { await page.keyboard.press(key); await sleep(GRACE); }
  assert.deepEqual(decisions(server), []);
});

test("an ask that appears takes no focus, no text and no place in the feed", async () => {
  const data = quiet();
  const feed = data.flows["orchard/ledger"].feeds;
  feed.backend = Array.from({ length: 120 }, (_, n) => item(3000 + n, "assistant", `Line ${n}. ${"word ".repeat(n % 40)}`));
  const { server, page } = await at(FLOW, { data });
  await page.locator("textarea").fill("half a sentence");
  await page.locator("textarea").focus();
  await page.locator("[role=log]").hover();
  await page.mouse.wheel(0, -900);
  await settled(page, LONG_REST_MS);
  const before = { focus: await focused(page), top: await page.locator("[role=log]").evaluate((node) => node.scrollTop) };
  appears(server, consent("late", "ls"));
  await page.waitForSelector("[data-ask]");
  await settled(page);
  assert.deepEqual({ focus: await focused(page), top: await page.locator("[role=log]").evaluate((node) => node.scrollTop) }, before);
  assert.equal(await page.locator("textarea").inputValue(), "half a sentence");
});

test("a click on a button that has only just come under the pointer decides nothing", async () => {
  const { server, page } = await at(FLOW, { data: quiet() });
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
  appears(server, consent("late", "ls"));
  await page.waitForSelector("body[data-pressed=yes]", { state: "attached" });
  const button = page.getByRole("button", { name: "Allow once" });
  assert.deepEqual(decisions(server), []);
  await armed(page);
  await button.click();
  await until(() => decisions(server), (list) => list.length === 1, "a later click allows");
});

for (const [size, width, height] of [["a desk", 1440, 900], ["a phone", 390, 844]]) {
  test(`the whole of a long command can be read and its buttons are in view on ${size}`, async () => {
    const command = Array.from({ length: 60 }, (_, n) => `step ${n} --with ${"x".repeat(n)}`).join("\n");
    const data = quiet();
    const ask = consent("long", command);
    data.inbox.asks = { [ask.id]: ask };
    data.flows["orchard/ledger"].state.asks = { [ask.id]: ask };
    const { page } = await at(FLOW, { data, width, height });
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
  const command = Array.from({ length: 60 }, (_, n) => `step ${n}`).join("\n");
  const data = quiet();
  const ask = consent("long", command);
  data.inbox.asks = { [ask.id]: ask };
  data.flows["orchard/ledger"].state.asks = { [ask.id]: ask };
  const { server, page } = await at(FLOW, { data });
  await page.getByText("52 more lines", { exact: true }).waitFor();
  await armed(page);
  const allow = page.getByRole("button", { name: /^Allow once/ });
  await allow.click({ force: true });
  await page.keyboard.press("Alt+y");
  await page.getByText("It can be allowed once all of it was shown: 52 more lines.").waitFor();
  assert.deepEqual(decisions(server), []);
  await page.getByRole("group", { name: "What would be done" }).evaluate((node) => node.scrollTo(0, node.scrollHeight));
  await page.getByText("The end", { exact: true }).waitFor();
  await allow.click();
  await until(() => decisions(server), (list) => list.length === 1, "it is allowed");
});

test("the call of a tool of a server shows the same facts beside a feed as in the inbox", async () => {
  const facts = [{ label: "Server", value: "memo runs /usr/bin/node memo.js in /srv/memo", warn: false }, { label: "Environment", value: "TOKEN = the secret memo", warn: false }, { label: "Tool", value: "note, as defined by 0123456789ab", warn: false }, { label: "Network", value: "The server's program decides", warn: true }];
  const data = quiet();
  const ask = consent("memo", 'mcp__memo__note {"text": "hello"}');
  ask.kind = { ...ask.kind, tool: "mcp__memo__note", facts };
  data.inbox.asks = { [ask.id]: ask };
  data.flows["orchard/ledger"].state.asks = { [ask.id]: ask };
  const { server, page } = await at(FLOW, { data });
  const shown = async () => (await page.locator("dl.facts").allInnerTexts()).join();
  await page.locator("[data-ask] dl.facts").waitFor();
  const beside = await shown();
  for (const { label, value } of facts) assert.ok(beside.includes(label) && beside.includes(value), `${label} is shown`);
  await page.goto(`${server.address}/inbox/${ask.id}`);
  await page.locator("dl.facts").waitFor();
  assert.equal(await shown(), beside);
});

test("what cannot be seen in a command is written out", async () => {
  const data = quiet();
  const ask = consent("odd", "cat a\u202etxt.exe \u200b\x1b[2K; rm \u00a0x");
  data.inbox.asks = { [ask.id]: ask };
  const { page } = await at("/inbox", { data });
  assert.equal(await page.locator(".command pre").textContent(), "cat a\\u{202e}txt.exe \\u{200b}\\x1b[2K; rm \\xa0x");
});

test("the scope of an allowance for the flow stands there before it is pressed", async () => {
  const { page } = await at(FLOW);
  await page.waitForSelector("[data-ask]");
  await says(page.locator("[data-ask]"), /This exact command, in this folder and sandbox, for any role in this flow/);
});

test("an answer without a connection waits visibly and is given once", async () => {
  const { server, page } = await at("/inbox/ledger/consent/c1");
  await armed(page);
  server.drop(true);
  await page.waitForSelector("[data-line=lost]");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("sent as soon as the connection is back").first().waitFor();
  assert.deepEqual(decisions(server), []);
  server.refusing = false;
  await until(() => decisions(server), (list) => list.length === 1, "it is sent");
  await page.waitForSelector("[data-line=open]");
  assert.equal(decisions(server).length, 1);
});

test("of two windows the first answers, and the ask leaves both", async () => {
  const { server, page, another } = await at("/inbox/ledger/consent/c1");
  const other = await another("/inbox/ledger/consent/c1");
  for (const window of [page, other.page]) await armed(window);
  await page.getByRole("button", { name: "Deny", exact: false }).first().click();
  for (const window of [page, other.page]) await until(() => window.locator("a[href='/inbox/ledger/consent/c1']").count(), (n) => n === 0, "the ask is gone");
  assert.equal(decisions(server).length, 1);
  await other.close();
});

test("requests that are the same in everything can be allowed together, others not", async () => {
  const data = quiet();
  for (const id of ["a", "b", "c"]) data.inbox.asks[`ledger/consent/${id}`] = consent(id, "cargo test");
  data.inbox.asks["ledger/consent/d"] = consent("d", "cargo test --release");
  const { server, page } = await at("/inbox/ledger/consent/a", { data });
  await armed(page);
  await page.getByRole("button", { name: "Allow all 3 identical" }).click();
  await until(() => decisions(server), (list) => list.length === 3, "three are allowed");
  assert.deepEqual(decisions(server).map((command) => command.consent).sort(), ["a", "b", "c"]);
});

test("single letters can be switched off", async () => {
  const { server, page } = await at("/inbox/ledger/consent/c1");
  await page.evaluate(() => localStorage.setItem("a-society.look", JSON.stringify({ singleKeys: false })));
  await page.reload();
  await page.locator("a[aria-current=true]").focus();
  await armed(page);
  await page.keyboard.press("y");
  await sleep(200);
  assert.deepEqual(decisions(server), []);
});
