// A flow as one file, written by the real program and opened from a disk: it looks like the page, requests nothing
// and holds nothing that is secret. What roles said in it is as hostile as it gets.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { inflateSync } from "node:zlib";
import { launch } from "./browser.mjs";
import { faultsIn } from "./checker.mjs";
import { binary } from "./program.mjs";
import { until } from "./stage.mjs";

const missing = existsSync(binary) ? false : `NOT MEASURED: a flow as one file, because ${binary} is not built`;

/** One of each kind of secret; put together here, so that no file of ours contains anything that looks like one. */
const CANARIES = {
  "a provider's key": `sk-ant-api03-${"CANARYcanary0"}${"1".repeat(8)}`,
  "a cloud's key": `AKIA${"CANARY7".repeat(3).slice(0, 16)}`,
  "a forge's token": `ghp_${"CANARYcanary12".repeat(3)}`,
  "a signed token": `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJ${"jYW5hcnkiOiJjYW5hcnkifQ"}.CANARY${"x".repeat(37)}`,
  "a private key": `-----BEGIN RSA ${"PRIVATE KEY"}-----\nCANARY+${"abc/".repeat(12)}\n-----END RSA ${"PRIVATE KEY"}-----`,
  "an address with a password": `postgres://canary:${"CANARYs3cret"}@db.example/x`,
};
const HOSTILE = "</script><script>window.broken=1</script><!-- <img src=x onerror=\"window.broken=2\"> ![a picture](https://elsewhere.example/x.png) [a link](javascript:window.broken=3) \u202eright to left";

let workspace, file, text, data, browser;
before(async () => {
  if (missing) return;
  workspace = mkdtempSync(join(tmpdir(), "a-society-file-"));
  mkdirSync(join(workspace, ".a-society"));
  const flow = {
    workflow: {
      name: `Hostile </title><script>window.broken=4</script> ${CANARIES["a cloud's key"]}`, summary: HOSTILE,
      nodes: [{ id: "write", role: "writer", work: [HOSTILE, CANARIES["a forge's token"]] }, { id: "read", role: "writer", work: ["Read it."] }],
      edges: [{ from: "write", to: "read" }],
    },
    roles: { writer: { executor: "scripted", instructions: `You write. ${CANARIES["a signed token"]}` } },
  };
  const all = Object.values(CANARIES).join("\n");
  const long = `${"long words ".repeat(500)}\n${all}\n${"more ".repeat(20_000)}`;
  const script = { default: "forward", script: [
    { node: "write", say: [HOSTILE, `${HOSTILE} and ${all}`, { write: { path: "notes.md", text: `# Notes\n\n${HOSTILE}\n\n${all}\n` } }, { call: { tool: "read_file", input: { path: CANARIES["an address with a password"] }, output: long } }, long, { handoff: { to: "read", artifact: "notes.md" } }] },
    { node: "read", say: ["It is good.", { signal: "forward-pass-closed" }] },
  ] };
  // JSON is YAML.
  writeFileSync(join(workspace, "flow.yaml"), JSON.stringify(flow));
  writeFileSync(join(workspace, "script.yaml"), JSON.stringify(script));
  const ran = spawnSync(binary, ["run", "flow.yaml"], { cwd: workspace, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  assert.ok(existsSync(join(workspace, ".a-society/state")), ran.stderr + ran.stdout);
  const [project] = readdirSync(join(workspace, ".a-society/state"));
  const [id] = readdirSync(join(workspace, ".a-society/state", project)).filter((name) => /^\d{8}T/.test(name));
  const told = spawnSync(binary, ["export", "--html", id, "--json"], { cwd: workspace, encoding: "utf8" });
  assert.equal(told.status, 0, told.stderr);
  file = join(workspace, `${id}.html`);
  text = readFileSync(file, "utf8");
  data = inflateSync(Buffer.from(/id="flow">([^<]*)</.exec(text)[1], "base64")).toString();
  assert.ok(JSON.parse(told.stdout).withheld > 0, told.stdout);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (workspace !== undefined) rmSync(workspace, { recursive: true, force: true });
});

/** The file in a browser, with what it complained about and whom it asked. */
async function open({ theme = "light", width = 1440, height = 900, hash = "" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", locale: "en-GB", timezoneId: "UTC" });
  const page = await context.newPage();
  const complaints = [];
  const asked = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => { if (request.url() !== `file://${file}`) asked.push(request.url()); });
  await page.goto(`file://${file}${hash}`);
  await page.waitForSelector("[role=log] .row, .messages, main");
  return { page, complaints, asked, close: () => context.close() };
}

test("no secret of six kinds is in any text of the file, however it is written there", { skip: missing }, () => {
  for (const [kind, canary] of Object.entries(CANARIES)) {
    for (const line of canary.split("\n").filter((one) => one.includes("CANARY"))) {
      const password = /CANARY[\w+/]*/.exec(line)[0];
      for (const form of [line, password, JSON.stringify(line).slice(1, -1), encodeURIComponent(line)]) {
        assert.ok(!data.includes(form), `${kind} is in the data: …${data.slice(Math.max(0, data.indexOf(form) - 80), data.indexOf(form) + 40)}…`);
        assert.ok(!text.includes(form), `${kind} is in the document`);
      }
    }
  }
  assert.ok(data.includes("[secret withheld]"));
  const told = JSON.parse(data);
  assert.ok(told.events.every((event) => { JSON.parse(event.line); return true; }), "the lines of the journal are still JSON");
});

test("the file shows the flow at any event, with every view, and asks nobody for anything", { skip: missing }, async () => {
  const { page, complaints, asked, close } = await open();
  await page.waitForSelector(".card, [data-node]", { timeout: 5_000 }).catch(() => undefined);
  const shown = () => page.locator("body").innerText();
  await until(shown, (said) => said.includes("Read only") && said.includes("notes.md"), "the graph with what was handed over");
  assert.equal(await page.getByRole("textbox").count(), 0, "there is nothing to write into");
  const head = JSON.parse(data).seq;
  // Back by events, with keys and with the address.
  await page.keyboard.press("Comma");
  await until(() => page.url(), (url) => url.includes(`at=${head - 1}`), "the event before the last");
  for (const at of [5, Math.floor(head / 2), head]) {
    await page.goto(`file://${file}#/p/${JSON.parse(data).flow.project}/f/${JSON.parse(data).flow.flow}?at=${at}`);
    await until(shown, (said) => said.includes("You are looking at the past."), `the flow at event ${at}`);
    assert.equal(await page.locator("[data-seq]").nth(1).getAttribute("data-seq"), String(at));
  }
  await page.keyboard.press("Escape");
  await until(shown, (said) => !said.includes("You are looking at the past."), "back to the end");
  for (const [view, holds] of [["Outline", "write"], ["Files", "notes.md"], ["Events", "handoff_applied"], ["Graph", "notes.md"]]) {
    await page.getByRole("link", { name: view, exact: true }).first().click();
    await until(shown, (said) => said.includes(holds), `${view} holds ${holds}`);
  }
  await page.goBack();
  await until(() => page.url(), (url) => url.includes("/events"), "the back button goes back");
  await page.getByRole("tab", { name: /^writer/ }).click();
  await until(shown, (said) => said.includes("window.broken=1"), "what the writer said, as text");
  await page.getByRole("link", { name: "Open transcript" }).click();
  await until(shown, (said) => said.includes("System prompt") && said.includes("Assistant"), "the transcript");
  await page.getByRole("button", { name: "Search or jump to" }).click();
  await page.keyboard.type("right to left");
  await until(shown, (said) => /found in this flow/i.test(said), "words of the feed are found");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => window.broken), undefined, "nothing that was said ran");
  assert.deepEqual(asked, []);
  assert.deepEqual(complaints, []);
  await close();
});

test("whole texts and arguments are in the file, and what was cut says so", { skip: missing }, async () => {
  const { flow, bodies } = JSON.parse(data);
  const whole = Object.values(bodies).find((body) => body.total_bytes > 64 * 1024);
  assert.match(whole.text, /\[cut here in this file: \d+ bytes in all\]$/);
  const { page, complaints, close } = await open({ hash: `#/p/${flow.project}/f/${flow.flow}/r/writer` });
  await page.getByRole("log").focus();
  await page.keyboard.press("Home");
  // What the edit wrote.
  await page.locator(".row", { hasText: "notes.md" }).filter({ hasText: "# Notes" }).first().waitFor();
  assert.deepEqual(complaints, []);
  await close();
});

for (const [name, place] of Object.entries({ graph: "", outline: "/outline", files: "/files", events: "/events", past: "?at=7", feed: "/r/writer", transcript: "/r/writer/transcript" })) {
  test(`the file has no fault that a checker finds, in both themes, on a desk and on a phone, at its ${name}`, { skip: missing }, async () => {
    const { flow } = JSON.parse(data);
    const { page, complaints, asked, close } = await open({ hash: `#/p/${flow.project}/f/${flow.flow}${place}` });
    assert.deepEqual(await faultsIn(page), []);
    assert.deepEqual([complaints, asked], [[], []]);
    await close();
  });
}
