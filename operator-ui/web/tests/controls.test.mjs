// What an operator changes on a flow that goes on: what it may spend, the graph it walks.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launch } from "./browser.mjs";
import { faultsIn } from "./checker.mjs";
import { binary } from "./program.mjs";
import { armed, says, sleep, stage, until } from "./stage.mjs";
import { ask, world } from "./world.mjs";

const at = stage();
const FLOW = "/p/orchard/f/ledger";
const SHORT = { role: null, measure: "cost_micros", limit: 5_000_000, spent: 4_970_000, least: 5_180_000, raise_to: 7_500_000 };
const given = (server, what) => server.commands.map((up) => up.command).filter((command) => command.do === what);

test("the header says how much of a budget is spent, and says it louder at 80 and at 95 percent", async () => {
  const { server, page, complaints } = await at(FLOW);
  const meter = page.locator("header .meter");
  await until(() => meter.innerText(), (text) => text.trim() === "$2.87 of $10.00", "figures alone");
  const flow = server.world.flows["orchard/ledger"].state.flow;
  for (const [spent, said, level] of [[7_990_000, "$7.99 of $10.00", "some"], [8_000_000, "$8.00 of $10.0080%", "near"], [9_500_000, "$9.50 of $10.0095%", "last"], [10_000_000, "$10.00 of $10.00used up", "full"]]) {
    server.put("flow orchard/ledger", { flow: { ...flow, cost_micros: spent } });
    await until(() => meter.innerText(), (text) => text.replaceAll("\n", "").trim() === said, `${spent}`);
    assert.match(await meter.getAttribute("class"), new RegExp(`\\b${level}\\b`));
  }
  server.put("flow orchard/ledger", { flow: { ...flow, cost_micros: 0, limits: { tokens: 2_000_000, turns: 200 } } });
  await until(() => meter.allInnerTexts(), (texts) => texts.map((text) => text.trim()).join("; ") === "1.24M of 2.00M tokens; 84 of 200 turns", "each budget has a meter");
  assert.deepEqual(complaints, []);
});

test("a budget is raised, set and lifted in a dialog that leaves the page to be read and used", async () => {
  const { server, page, complaints } = await at(FLOW);
  await page.locator("header .meter").click();
  const dialog = page.getByRole("dialog", { name: "Budget" });
  await dialog.waitFor();
  const set = dialog.getByRole("button", { name: "Set the budget" });
  assert.equal(await dialog.getByLabel("Money").inputValue(), "10.00");
  assert.equal(await set.isDisabled(), true, "nothing is changed yet");
  await dialog.getByLabel("Money").fill("ten");
  await dialog.getByText("That is no limit: a number, such as 5 or 0.50.").waitFor();
  assert.equal(await set.isDisabled(), true);
  await dialog.getByLabel("Money").fill("2");
  await dialog.getByText("At most $2.00, now $10.00. This much is already spent: no further request will be sent.").waitFor();
  await dialog.getByLabel("Money").fill("");
  await dialog.getByText("No limit from now on, now $10.00.").waitFor();
  await dialog.getByLabel("Tokens").fill("2M");
  await dialog.getByText("At most 2,000,000 tokens.").waitFor();
  // What is typed stays while the flow goes on, and the page beside it is read and answered.
  server.put("flow orchard/ledger", { flow: { ...server.world.flows["orchard/ledger"].state.flow, cost_micros: 3_000_000 } });
  await dialog.getByText("$3.00 spent").waitFor();
  assert.equal(await dialog.getByLabel("Tokens").inputValue(), "2M");
  // Not while the operator types, nor before the ask can have been read.
  await armed(page);
  await page.getByRole("button", { name: /^Allow once/ }).click();
  await until(() => given(server, "allow"), (list) => list.length === 1, "an ask is answered beside it");
  assert.deepEqual(await faultsIn(page), []);
  await page.setViewportSize({ width: 1440, height: 900 });
  await set.click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(given(server, "budget"), [{ do: "budget", role: null, measure: "cost_micros", limit: null }, { do: "budget", role: null, measure: "tokens", limit: 2_000_000 }]);
  // One role's own, by keys alone; Escape closes it and changes nothing.
  await page.getByRole("button", { name: "Flow actions" }).first().click();
  await page.getByRole("menuitem", { name: "Budget" }).click();
  await dialog.getByLabel("For").selectOption("backend");
  await dialog.getByText("$0.90 spent").waitFor();
  await dialog.getByLabel("Turns").fill("20");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.locator("header .meter").first().click();
  await dialog.getByLabel("For").selectOption("backend");
  await dialog.getByLabel("Turns").fill("20");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(given(server, "budget").at(-1), { do: "budget", role: "backend", measure: "turns", limit: 20 });
  assert.deepEqual(complaints, []);
});

test("a role whose budget is used up says its figures, and one press raises it", async () => {
  const data = world();
  const one = ask("ledger/text/api", { kind: "text", reason: "budget", question: "the next request may take 210000 millionths of cost, and the flow has 30000 left", may_retry: true, budget: SHORT }, { headline: "backend has used up its budget", short: "Raise its budget" });
  data.inbox.asks = { [one.id]: one };
  data.flows["orchard/ledger"].state.asks = { [one.id]: one };
  const { server, page, complaints } = await at(`${FLOW}/r/backend`, { data });
  await page.getByText("This flow spent $4.97 of $5.00. The next request may take up to $0.21, and $0.03 is left.").waitFor();
  await armed(page);
  assert.deepEqual(await faultsIn(page), []);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("button", { name: "Another amount" }).click();
  const dialog = page.getByRole("dialog", { name: "Budget" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  assert.deepEqual(given(server, "budget"), [], "looking changes nothing");
  await page.getByRole("button", { name: "Raise to $7.50" }).click();
  await until(() => given(server, "budget"), (list) => list.length === 1, "it is raised");
  assert.deepEqual(given(server, "budget"), [{ do: "budget", role: null, measure: "cost_micros", limit: 7_500_000 }]);
  assert.deepEqual(complaints, []);
});

const GRAPH = "workflow:\n  name: Notes\n  nodes:\n    - { id: plan, role: owner }\n  edges: []\n";
/** A graph as a server would judge it: two words decide. */
function judge(source) {
  if (source.includes("ghost")) return { findings: [{ is_error: true, line: 4, words: "error[G012]: there is no node `ghost`\n --> workflow.yaml:4:7\n  |\n4 |     - { id: plan, role: owner } # ghost\n  |       ^^^^^" }], changes: [], refused: { code: "flow-file-unfit", what: "the file is not a flow file", why: "", try: "" }, reasons: [] };
  if (source.includes("gone")) return { findings: [], changes: ["the node `plan` of `owner` is gone"], refused: { code: "command-refused", what: "the flow does not take this now", why: "", try: "" }, reasons: ["the node `plan` must stay: it is running"] };
  return { findings: [{ is_error: false, line: 0, words: "warning[G021]: the role `editor` is defined and no node has it" }], changes: ["the node `plan` has other work"], refused: null, reasons: [] };
}

test("another graph is judged before it counts, and what was typed stays whatever becomes of it", async () => {
  const { server, page, complaints } = await at(FLOW, { data: { ...world(), graph: GRAPH, judge } });
  await page.getByRole("button", { name: "Flow actions" }).first().click();
  await page.getByRole("menuitem", { name: "Revise the graph" }).click();
  const dialog = page.getByRole("dialog", { name: "Revise the graph" });
  const field = dialog.getByLabel("Flow file");
  const walk = dialog.getByRole("button", { name: "Apply graph" });
  await dialog.getByText("This is the current graph.").waitFor();
  assert.equal(await field.inputValue(), GRAPH);
  assert.equal(await walk.isDisabled(), true);
  await field.fill(GRAPH.replace("owner }", "owner } # ghost"));
  await dialog.getByText("1 error. It cannot be walked.").waitFor();
  await says(dialog.locator("pre"), /error\[G012\]: there is no node `ghost`\n --> workflow\.yaml:4:7/);
  assert.equal(await walk.isDisabled(), true);
  await dialog.getByRole("button", { name: "Line 4" }).click();
  assert.equal(await field.evaluate((node) => node.value.slice(node.selectionStart, node.selectionEnd)), "    - { id: plan, role: owner } # ghost");
  // Closed, left and loaded anew: what was typed is there.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("button", { name: "Flow actions" }).first().waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type(">revise");
  await page.getByRole("option", { name: "Revise the graph" }).click();
  assert.match(await field.inputValue(), /# ghost/);
  await field.fill(`${GRAPH}# gone`);
  await dialog.getByText("the node `plan` must stay: it is running").waitFor();
  assert.equal(await walk.isDisabled(), true);
  await field.fill("");
  await sleep(100);
  assert.equal(await field.inputValue(), "", "an emptied field stays empty, to be pasted into");
  await dialog.getByLabel("Choose a file…").setInputFiles({ name: "flow.yaml", mimeType: "text/yaml", buffer: Buffer.from(`${GRAPH}# from a file\n`) });
  await dialog.getByText("It fits. 1 change:").waitFor();
  await dialog.getByText("the node `plan` has other work").waitFor();
  await dialog.getByText("warning[G021]: the role `editor` is defined and no node has it").waitFor();
  assert.deepEqual(await faultsIn(page), []);
  await page.setViewportSize({ width: 1440, height: 900 });
  // What is typed after the judgement is not what was judged.
  await field.press("End");
  await field.pressSequentially("#");
  assert.equal(await walk.isDisabled(), true);
  await until(() => walk.isDisabled(), (off) => !off, "it is judged again");
  await walk.click();
  await dialog.waitFor({ state: "detached" });
  const [said] = given(server, "revise");
  assert.match(said.source, /# from a file/);
  assert.deepEqual(complaints, []);
});

test("a role is given another model while it works, and a node that is done runs again with a word", async () => {
  const data = { ...world(), models: [{ name: "small", words: "", window_tokens: 32_000 }, { name: "large", words: "slow", window_tokens: 200_000 }] };
  Object.assign(data.flows["orchard/ledger"].state.roles.backend, { reach: "scope project, network on", mcp: ["ledger"], settings: { model: "small" } });
  const { server, page, complaints } = await at(`${FLOW}/r/backend`, { data });
  await page.getByRole("button", { name: "Configure backend" }).click();
  const dialog = page.getByRole("dialog", { name: "Configure backend" });
  await dialog.getByText(/^Now scope project, network on\./).waitFor();
  await dialog.locator("option[value=large]").waitFor({ state: "attached" });
  assert.equal(await dialog.getByLabel("Model").inputValue(), "small");
  assert.equal(await dialog.getByRole("button", { name: "Use this" }).isDisabled(), true, "nothing is chosen yet");
  await dialog.getByLabel("Model").selectOption("large");
  await dialog.getByLabel("How far its tools reach").selectOption("sandboxed");
  await dialog.getByLabel("MCP servers").fill("none");
  assert.deepEqual(await faultsIn(page), []);
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog.getByRole("button", { name: "Use this" }).click();
  await dialog.waitFor({ state: "detached" });
  // Only the choices are sent.
  assert.deepEqual(given(server, "configure"), [{ do: "configure", role: "backend", settings: { model: "large", scope: "sandboxed", "mcp-servers": "none" } }]);
  await page.getByRole("button", { name: "Flow actions" }).first().click();
  await page.getByRole("menuitem", { name: "Run a node again" }).click();
  const again = page.getByRole("dialog", { name: "Run a node again" });
  await again.getByLabel("Node").selectOption("design");
  await again.getByLabel("What should it do differently?").fill("Mind the readers.");
  await again.getByRole("button", { name: "Run design again" }).click();
  await again.waitFor({ state: "detached" });
  assert.deepEqual(given(server, "reopen"), [{ do: "reopen", node: "design", note: "Mind the readers." }]);
  await page.keyboard.press("Control+k");
  await page.keyboard.type(">archive-1 back");
  await page.getByRole("option", { name: /Put backend archive archive-1 back/ }).click();
  await until(() => given(server, "restore"), (list) => list.length === 1, "an archive is put back");
  assert.deepEqual(given(server, "restore"), [{ do: "restore", role: "backend", archive: "archive-1" }]);
  assert.deepEqual(complaints, []);
});

test("a flow is cancelled with a reason or without one, never by one press, and what was typed stays until it counts", async () => {
  for (const why of ["The release was called off.", ""]) {
    const { server, page, complaints } = await at("/p/orchard/f/ledger");
    const menu = async () => {
      await page.getByRole("button", { name: "Flow actions" }).first().click();
      await page.getByRole("menuitem", { name: "Cancel the flow" }).click();
      return page.getByRole("dialog", { name: "Cancel the flow" });
    };
    let dialog = await menu();
    const field = dialog.getByLabel("Reason, kept in the record");
    await until(() => field.evaluate((node) => node === document.activeElement), (has) => has, "the reason is where one writes");
    await field.fill(why);
    await dialog.getByRole("button", { name: "Keep running" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(given(server, "cancel"), []);
    dialog = await menu();
    assert.equal(await dialog.getByLabel("Reason, kept in the record").inputValue(), why);
    await dialog.getByLabel("Reason, kept in the record").press("End");
    await dialog.getByRole("button", { name: "Cancel the flow" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(given(server, "cancel"), [why === "" ? { do: "cancel" } : { do: "cancel", why }]);
    dialog = await menu();
    assert.equal(await dialog.getByLabel("Reason, kept in the record").inputValue(), "", "it was said");
    assert.deepEqual(complaints, []);
  }
});

const missing = existsSync(binary) ? false : `NOT MEASURED: the page in the program, because ${binary} is not built`;
/** The real program, in a workspace with one project, with a browser in it. */
async function program(files, use) {
  const workspace = mkdtempSync(join(tmpdir(), "a-society-controls-"));
  const env = { ...process.env, A_SOCIETY_CONFIG: join(workspace, "config.yaml") };
  mkdirSync(join(workspace, ".a-society"));
  assert.equal(spawnSync(binary, ["init", "demo"], { cwd: workspace, env }).status, 0);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(workspace, path), text);
  const serving = spawn(binary, ["serve", "--port", "0"], { cwd: workspace, env });
  const told = new Promise((found, failed) => {
    let said = "";
    const hear = (bytes) => { said += bytes; const line = /http:\/\/\S+#token=\S+/.exec(said); if (line !== null) found(line[0]); };
    serving.stdout.on("data", hear);
    serving.stderr.on("data", hear);
    serving.on("exit", (code) => failed(new Error(`serve ended with ${code}: ${said}`)));
  });
  const browser = await launch();
  try {
    const address = await told;
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    const complaints = [];
    page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") complaints.push(message.text()); });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(address);
    // The token leaves the address before it is exchanged; who leaves in between is without the cookie.
    await until(() => page.url(), (url) => !url.includes("token"), "the token leaves the address");
    await page.locator(".shell[data-line=open]").waitFor();
    await use(page, new URL(page.url()).origin);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    serving.kill("SIGINT");
    rmSync(workspace, { recursive: true, force: true });
  }
}

test("the settings of the program say what may run, how far it reaches and whom it waits for", { skip: missing }, async () => {
  const files = {
    "config.yaml": "providers:\n  local: { wire: openai-chat, base-url: 'http://127.0.0.1:9/v1' }\nmodels:\n  small: { provider: local, id: small-1, window: 32000 }\nmodel: small\ntools: { scope: project, folders: [/usr/share/doc], network: true }\nmcp-servers:\n  ledger: { command: /bin/true }\n",
    ".mcp.json": '{"mcpServers":{"tickets":{"command":"/bin/true","args":["tickets"]}}}',
    "demo/a-docs/roles/writer/role.yaml": "mcp-servers: [ledger, books]\npermissions: { scope: sandboxed, network: false }\n",
  };
  await program(files, async (page, origin) => {
    const main = page.locator("main");
    const shows = async (path, ...words) => {
      await page.goto(origin + path);
      for (const one of words) await until(() => main.innerText(), (text) => text.includes(one), `${path} says ${one}`);
      assert.deepEqual(await faultsIn(page), [], path);
      await page.setViewportSize({ width: 1440, height: 900 });
    };
    await shows("/settings/mcp", "ledger", "Named by demo/writer.", "Wanted by the workspace: it waits for you", "a-society mcp approve tickets ", "Missing: it is not configured");
    await shows("/settings/permissions", "Project and record folder, and the folders you named, to read", "/usr/share/doc", "Asks every time");
    await shows("/settings/models", "small-1", "default");
    await shows("/settings/skills", "No skill is installed");
    await shows("/roles", "scope project, network on", "scope sandboxed, network off");
  });
});
