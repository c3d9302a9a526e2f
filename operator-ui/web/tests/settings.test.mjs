// The operator's configuration, changed on the page of the real program: what the file says then, and what left because of it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { sound } from "./sound.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("settings that are changed");
const FLOW = `workflow:
  name: Kitchen
  nodes: [ { id: order, role: owner, work: [ Order it ] } ]
  edges: []
roles: { owner: { instructions: "You order." } }
`;
const KEY = ["sk", "ant", "api03", "CANARYCANARYCANARYCANARY"].join("-");

/** A workspace without a configuration, its page, and what has to be ended. */
async function stage(files, model) {
  const place = new Place(files);
  process.env.A_SOCIETY_CONFIG = `${place.folder}/settings/config.yaml`;
  const browser = await launch();
  const seen = await open(browser, await place.serve());
  const end = async () => {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    model?.close();
    await place.end();
  };
  return { place, ...seen, end };
}

test("a first model is added, tried, made the default and removed on the page, and a flow that waited for one goes on with it", { skip }, async () => {
  const model = await new Model({ text: "ready" }, { text: CLOSES }).listen();
  process.env.KITCHEN_KEY = KEY;
  const { place, page, complaints, end } = await stage({ "demo/flow.yaml": FLOW }, model);
  const config = () => place.read("settings/config.yaml");
  try {
    // The first screen leads there.
    await page.goto(`${place.origin}/flows`);
    await page.getByRole("link", { name: "Add a model" }).waitFor();
    await sound(page, "first");
    // A flow that was begun before there is any model.
    const begun = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
    await until(() => place.log(begun.flow).map((line) => line.fact), (facts) => facts.includes("node_suspended"), "it waits for a model");
    await page.goto(`${place.origin}/settings/models`);
    await sound(page, "models-none");
    await page.getByRole("button", { name: "Add a model" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a model" });
    const sent = [];
    page.on("request", (request) => { if (request.method() === "POST" && (request.postData() ?? "").includes("CANARY")) sent.push(request.url()); });
    await dialog.getByLabel("Model, by its provider").fill("m-one");
    await dialog.getByLabel("Name here").fill("cook");
    await dialog.getByLabel("How it is spoken to").selectOption("anthropic");
    await dialog.getByLabel("Address").fill(model.address);
    await dialog.getByLabel("Window, in tokens").fill("100000");
    await dialog.getByRole("textbox", { name: "Name of the variable" }).fill(KEY);
    await dialog.getByRole("button", { name: "Add model" }).click();
    await says(dialog.getByRole("alert"), /looks like a key/);
    assert.equal((await page.content()).includes("CANARY"), false, "a key is not kept");
    assert.deepEqual(sent, [], "a key does not leave the page");
    const { version } = await place.ask("GET", "/api/settings/models");
    for (const key of [{ from: "env", name: KEY }, { from: "file", name: KEY }, { from: "keyring", name: KEY }, { from: "env", name: "my key" }]) {
      const change = { add_model: { name: "cook", wire: "anthropic", base_url: model.address, window: 9000, key } };
      await assert.rejects(place.ask("POST", "/api/settings", { version, change }), (error) => /400[^]*(looks like a key|is not valid)/.test(error.message) && !error.message.includes("CANARY"), "nor does the server take one from anybody else");
    }
    await sound(page, "models-add-refused");
    assert.equal(existsSync(`${place.folder}/settings/config.yaml`), false, "nothing was written");
    await dialog.getByRole("textbox", { name: "Name of the variable" }).fill("KITCHEN_KEY");
    await dialog.getByRole("button", { name: "Add model" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.match(config(), /cook:\n\s+provider: local\n\s+id: "m-one"\n\s+window: 100000/);
    assert.match(config(), /key: \{ env: "KITCHEN_KEY" \}/);
    assert.equal(config().includes("CANARY"), false);
    await says(page.getByRole("list", { name: "Models" }), /cook\s*default[^]*m-one[^]*Found in the variable KITCHEN_KEY[^]*roles that name no model/i);
    // One small request, with the key that the server has and the page never saw.
    await page.getByRole("button", { name: "Test cook" }).click();
    await says(page.getByRole("list", { name: "Models" }), /Works\. cook answers: ready/);
    assert.equal(JSON.parse(model.heard[0].body).model, "m-one");
    assert.equal(model.heard[0].headers["x-api-key"], KEY);
    await sound(page, "models-tested");
    // The flow that waited is offered the model and goes on with it, in the same server.
    await page.goto(`${place.origin}/inbox`);
    await page.getByRole("combobox", { name: "Model" }).selectOption("cook");
    await page.getByRole("button", { name: "Use this" }).click();
    await until(() => model.heard.length, (count) => count >= 2, "the turn asks the new model");
    assert.equal(JSON.parse(model.heard[1].body).model, "m-one");
    // Another one, changed in the file by its line only; then it is the default, and the first one goes.
    await page.goto(`${place.origin}/settings/models`);
    await page.getByRole("button", { name: "Add a model" }).click();
    await dialog.getByLabel("Model, by its provider").fill("m-two");
    await dialog.getByLabel("Window, in tokens").fill("9000");
    await dialog.getByRole("button", { name: "Add model" }).click();
    await dialog.waitFor({ state: "detached" });
    place.put("settings/config.yaml", `# mine\n${config()}`);
    await page.getByRole("button", { name: "Make m-two the default" }).click();
    await says(page.getByRole("alert"), /changed by another editor in the meantime/);
    assert.match(config(), /\nmodel: cook\n/);
    await page.getByRole("button", { name: "Make m-two the default" }).click();
    await until(config, (text) => /\nmodel: m-two\n/.test(text), "the default is another");
    await page.getByRole("button", { name: "Edit m-two" }).click();
    const edit = page.getByRole("dialog", { name: "Edit m-two" });
    await edit.getByLabel("Window, in tokens").fill("12000");
    await sound(page, "models-edit");
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.waitFor({ state: "detached" });
    assert.match(config(), /^# mine\n[^]*id: "m-two"\n\s+window: 12000\n/);
    await sound(page, "models-two");
    await page.getByRole("button", { name: "Remove m-two" }).click();
    const remove = page.getByRole("dialog", { name: "Remove m-two" });
    await sound(page, "models-remove");
    await remove.getByRole("button", { name: "Remove" }).click();
    await remove.waitFor({ state: "detached" });
    assert.equal(config().includes("m-two"), false);
    assert.match(config(), /\nmodel: cook\n/);
    assert.deepEqual(complaints.filter((text) => !/40[09]/.test(text)), []);
  } finally {
    delete process.env.KITCHEN_KEY;
    await end();
  }
});

const SERVER = `#!/bin/sh
echo "started with $API_TOKEN $MODE" >> "$1"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"list","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"add","description":"Adds a word.","inputSchema":{"type":"object","properties":{"word":{"type":"string"}}}}]}}' ;;
  esac
done
`;

test("a server of tools is shown before it is saved, started to try it out with its secret, changed and removed on the page", { skip }, async () => {
  process.env.PANTRY = "a-secret-of-the-pantry";
  const { place, page, complaints, end } = await stage({ "server.sh": SERVER });
  const config = () => place.read("settings/config.yaml");
  try {
    place.put("settings/config.yaml", "# mine\nlimits: { answers: 9 }   # few\n");
    await page.goto(`${place.origin}/settings/mcp`);
    await page.getByRole("button", { name: "Add a server" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("pantry");
    await dialog.getByLabel("Command").fill("/bin/sh");
    await dialog.getByLabel("Arguments").fill(`${place.folder}/server.sh\n${place.folder}/started.txt`);
    await dialog.getByRole("button", { name: "Add a variable" }).click();
    await dialog.getByLabel("Name of variable 1").fill("API_TOKEN");
    await dialog.getByLabel("From where 1").selectOption("text");
    await dialog.getByLabel("Text 1").fill("short");
    await dialog.getByRole("button", { name: "Review" }).click();
    await says(dialog.getByRole("alert"), /what API_TOKEN holds looks like a key/i);
    await dialog.getByLabel("From where 1").selectOption("env");
    await dialog.getByLabel("Name of the variable 1").fill("PANTRY");
    await sound(page, "mcp-add");
    await dialog.getByRole("button", { name: "Review" }).click();
    // What would run is read first; until then nothing is written.
    await says(dialog.getByLabel("Definition"), /pantry runs `?\/bin\/sh`?[^]*server\.sh[^]*API_TOKEN = the secret/);
    assert.equal(config().includes("pantry"), false);
    await sound(page, "mcp-review");
    await dialog.getByRole("button", { name: "Save server" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.match(config(), /^# mine\nlimits: \{ answers: 9 \} {3}# few\nsecrets:\n\s+"pantry-api_token": \{ env: "PANTRY" \}\nmcp-servers:\n\s+pantry:\n\s+command: "\/bin\/sh"/);
    assert.equal(existsSync(`${place.folder}/started.txt`), false, "saving starts nothing");
    await page.getByRole("button", { name: "Test pantry" }).click();
    const list = page.getByRole("list", { name: "MCP servers" });
    await says(list, /Works\. pantry started and offers one tool[^]*add/);
    assert.match(place.read("started.txt"), /started with a-secret-of-the-pantry \n/);
    await sound(page, "mcp-tested");
    await page.getByRole("button", { name: "Edit pantry" }).click();
    await dialog.getByRole("button", { name: "Add a variable" }).click();
    await dialog.getByLabel("Name of variable 2").fill("MODE");
    await dialog.getByLabel("From where 2").selectOption("text");
    await dialog.getByLabel("Text 2").fill("fast");
    await dialog.getByRole("button", { name: "Review" }).click();
    await says(dialog, /MODE = [^]*fast[^]*wait for you to approve/);
    await dialog.getByRole("button", { name: "Save server" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Test pantry" }).click();
    await says(list, /Works\./);
    assert.match(place.read("started.txt"), /started with a-secret-of-the-pantry fast\n/);
    // A server that was not tested is not saved, and nothing is saved without the token or from another origin.
    const { version } = await place.ask("GET", "/api/settings/mcp");
    const wish = { name: "other", command: "/bin/true", arguments: [], private: false, inherits: [], values: [], reads: [] };
    await assert.rejects(place.ask("POST", "/api/settings", { version, change: { add_server: wish } }), /409[^]*not what would be saved/);
    const body = JSON.stringify({ version, change: { add_server: { ...wish, definition: (await place.ask("POST", "/api/settings", { version, look: true, change: { add_server: wish } })).definition } } });
    const json = { "content-type": "application/json" };
    for (const [headers, status] of [[json, 401], [{ ...json, authorization: `Bearer ${place.token}`, origin: "http://evil.example" }, 403], [{ authorization: `Bearer ${place.token}`, "content-type": "text/plain" }, 415]]) {
      assert.equal((await fetch(`${place.origin}/api/settings`, { method: "POST", headers, body })).status, status);
    }
    assert.equal(config().includes("other"), false);
    // One that cannot start says why.
    place.put("server.sh", "echo no pantry here >&2\nexit 3\n");
    await page.getByRole("button", { name: "Test pantry" }).click();
    await says(list, /Does not work\./);
    await sound(page, "mcp-broken");
    await page.getByRole("button", { name: "Remove pantry" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await until(config, (text) => text === "# mine\nlimits: { answers: 9 }   # few\n", "it is taken out with its secret");
    assert.deepEqual(complaints.filter((text) => !/40[09]/.test(text)), []);
  } finally {
    delete process.env.PANTRY;
    await end();
  }
});

test("rules are said beforehand on the page for all flows and for one, and calls run or do not because of them", { skip }, async () => {
  const model = await new Model(
    { calls: [["run_command", { command: "touch asked.txt" }]] },
    { calls: [["run_command", { command: "touch never.txt" }]] },
    { calls: [["write_file", { path: "free.md", content: "free\n" }]] },
    { text: CLOSES },
    { calls: [["write_file", { path: "later.md", content: "later\n" }]] },
  ).listen();
  const { place, page, complaints, end } = await stage({ "demo/flow.yaml": FLOW, ".a-society/config.yaml": "consent: { deny: ['git push *'] }\n" }, model);
  const config = () => place.read("settings/config.yaml");
  try {
    place.put("settings/config.yaml", `# mine\n${model.config}tools: { scope: sandboxed }\n`);
    await page.goto(`${place.origin}/settings/permissions`);
    const form = page.getByRole("form", { name: "A new rule" });
    const list = page.getByRole("list", { name: "Rules for all flows" });
    await says(list, /Never runs[^]*git push \*[^]*this workspace/);
    await form.getByLabel("Which").fill("env *");
    await form.getByRole("button", { name: "Add rule" }).click();
    await says(page.getByRole("alert"), /env runs/);
    await form.getByLabel("Which").fill("touch asked.txt");
    await form.getByRole("button", { name: "Add rule" }).click();
    await says(list, /Runs without asking[^]*touch asked\.txt[^]*your configuration/);
    await form.getByLabel("What happens").selectOption("deny");
    await form.getByLabel("Which").fill("touch never.txt");
    await form.getByRole("button", { name: "Add rule" }).click();
    await says(list, /Never runs[^]*touch never\.txt/);
    assert.match(config(), /^# mine\n[^]*consent:\n {2}deny: \["touch never\.txt"\]\n {2}allow: \["touch asked\.txt"\]\n/);
    await sound(page, "rules");
    // One flow is given rules of its own where it is started.
    await page.goto(`${place.origin}/flows`);
    await page.getByRole("button", { name: "Start a flow" }).last().click();
    const start = page.getByRole("dialog", { name: "Start a flow" });
    // The keyboard goes into what was found and back, and takes the only file that is left of it.
    const file = start.getByLabel("File", { exact: true });
    await file.fill("demo/fl");
    await start.getByRole("button", { name: "demo/flow.yaml" }).waitFor();
    await file.press("ArrowDown");
    assert.equal(await start.getByRole("button", { name: "demo/flow.yaml" }).evaluate((one) => one === document.activeElement), true);
    await page.keyboard.press("ArrowUp");
    await file.press("Enter");
    assert.equal(await file.inputValue(), "demo/flow.yaml");
    assert.equal(await start.isVisible(), true, "nothing was started");
    await start.getByText("What it may do without asking").click();
    await start.getByLabel("Runs without asking").fill("edits");
    await start.getByLabel("When the work is done").selectOption("none");
    await sound(page, "start-rules");
    await start.getByRole("button", { name: "Start flow" }).click();
    await until(() => model.heard.length, (count) => count >= 4, "the role goes on by itself");
    const [{ flow }] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    const made = (name) => existsSync(`${place.folder}/demo/${name}`) || existsSync(`${place.folder}/${name}`);
    assert.ok(made("asked.txt"), "what all flows allow ran");
    assert.ok(made("free.md"), "what the flow allows ran");
    assert.equal(made("never.txt"), false, "what all flows deny did not");
    assert.match(model.heard[2].body, /touch never\.txt/);
    assert.match(model.heard[2].body, /denie/);
    // Taken back in the terminal, it is asked about again.
    assert.deepEqual(JSON.parse(place.run("rules", "ls", flow, "--json").out).allow, ["edits"]);
    assert.equal(place.run("rules", "rm", flow, "--allow", "edits").code, 0);
    assert.deepEqual(JSON.parse(place.run("rules", "ls", flow, "--json").out).allow, []);
    const again = place.run("rules", "rm", flow, "--allow", "edits");
    assert.equal(again.code, 6);
    assert.match(again.err, /the flow has no rule edits under allow; there is none/);
    // Taken back on the page, it is gone from the file.
    await page.goto(`${place.origin}/settings/permissions`);
    await page.getByRole("button", { name: "Remove allow touch asked.txt" }).click();
    await until(config, (text) => !text.includes("asked"), "the rule is taken back");
    // The page has read the file again before another editor changes it.
    await page.getByRole("button", { name: "Remove allow touch asked.txt" }).waitFor({ state: "detached" });
    assert.equal(place.run("rules", "add", "--deny", "web").code, 0);
    await page.getByRole("button", { name: "Remove deny touch never.txt" }).click();
    await says(page.getByRole("alert"), /changed by another editor/);
    assert.equal(place.run("rules", "rm", "--deny", "web,touch never.txt").code, 0);
    assert.equal(config(), `# mine\n${model.config}tools: { scope: sandboxed }\n`);
    assert.deepEqual(complaints.filter((text) => !/40[09]/.test(text)), []);
  } finally {
    await end();
  }
});

test("web search is set up by the place of its key, tried with one search and taken away on the page", { skip }, async () => {
  const key = ["tvly", "canary", "0123456789abcdef"].join("-");
  process.env.PANTRY_SEARCH = key;
  const heard = [];
  let answers = () => [200, { results: [{ title: "Tides", url: "https://tides.example/", content: "They come." }] }];
  const service = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      heard.push({ ...request.headers, method: request.method, path: request.url, body: JSON.parse(Buffer.concat(pieces).toString()) });
      const [status, body] = answers();
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise((done) => service.listen(0, "127.0.0.1", done));
  const endpoint = `http://127.0.0.1:${service.address().port}/search`;
  const { place, page, complaints, end } = await stage({});
  const config = () => place.read("settings/config.yaml");
  try {
    place.put("settings/config.yaml", "# mine\nlimits: { answers: 9 }   # few\n");
    await page.goto(`${place.origin}/settings/models`);
    const search = page.getByRole("region", { name: "Web search" });
    await search.getByRole("button", { name: "Set up web search" }).click();
    const field = search.getByRole("textbox", { name: "Name of the variable" });
    await field.fill(KEY);
    await search.getByRole("button", { name: "Save web search" }).click();
    await says(search.getByRole("alert"), /looks like a key/);
    await field.fill("PANTRY_SEARCH");
    await search.getByLabel("Address").fill(endpoint);
    await sound(page, "search");
    await search.getByRole("button", { name: "Save web search" }).click();
    await says(search, /On, at http:\/\/127\.0\.0\.1:\d+\/search\. Key found in the variable PANTRY_SEARCH/);
    assert.equal(config(), `# mine\nlimits: { answers: 9 }   # few\nsearch:\n  key: { env: "PANTRY_SEARCH" }\n  endpoint: "${endpoint}"\n`);
    assert.equal(JSON.parse(place.run("models", "ls", "--json").out).search, endpoint);
    // One real search leaves, with the key that the page never sees; the page shows the result or the error.
    assert.equal(heard.length, 0);
    const came = [];
    page.on("response", (response) => void response.text().then((text) => came.push(text), () => {}));
    await search.getByRole("button", { name: "Test web search" }).click();
    await says(search, /Works: it found https:\/\/tides\.example\//);
    assert.deepEqual([heard.length, heard[0].method, heard[0].path, heard[0].authorization, heard[0].body], [1, "POST", "/search", `Bearer ${key}`, { query: "web search", max_results: 1 }]);
    await sound(page, "search-tested");
    answers = () => [401, { detail: `no such key ${key}` }];
    await search.getByRole("button", { name: "Test web search" }).click();
    await says(search, /Does not work\. The search service said 401: [^]*no such key \[secret withheld\]/);
    assert.equal(came.join("").includes(key), false, "the key stays where it is");
    answers = () => [200, { results: [] }];
    const tried = await Promise.all([new Promise((done) => place.begin(["models", "test", "--search"]).stdout.once("data", (bytes) => done(String(bytes))))]);
    assert.match(tried[0], /web_search works: it answers, and found nothing/);
    assert.equal(heard.length, 3);
    await search.getByRole("button", { name: "Remove web search" }).click();
    await until(config, (text) => text === "# mine\nlimits: { answers: 9 }   # few\n", "it is taken out");
    await says(search, /Off: roles have no web_search/);
    assert.deepEqual(complaints, []);
  } finally {
    delete process.env.PANTRY_SEARCH;
    service.closeAllConnections();
    service.close();
    await end();
  }
});

test("what holds for all flows is reviewed, saved and tried on the page, and the next call is decided by it", { skip }, async () => {
  const model = await new Model({ calls: [["run_command", { command: "touch made.txt" }]] }, { text: CLOSES }).listen();
  const { place, page, complaints, end } = await stage({ "demo/flow.yaml": FLOW, "books/one.md": "One.\n", ".a-society/config.yaml": "consent: { deny: ['git push *'] }\n" }, model);
  const config = () => place.read("settings/config.yaml");
  const edit = async (title) => {
    await page.getByRole("button", { name: `Edit: ${title}` }).click();
    return page.getByRole("form", { name: title });
  };
  const save = async (form, shown) => {
    await form.getByRole("button", { name: "Review" }).click();
    await says(form, shown);
    const before = config();
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    return before;
  };
  try {
    const mine = `# mine\n${model.config}consent:\n  # never\n  deny: [web]   # none of it\ntools:\n  irreversible: [make ship]   # no way back\n`;
    place.put("settings/config.yaml", mine);
    await page.goto(`${place.origin}/settings/permissions`);
    const attempt = page.getByRole("form", { name: "Try a call" });
    const tries = async (kind, what, told) => {
      await attempt.getByLabel("What it does").selectOption({ label: kind });
      await attempt.getByLabel("The call").fill(what);
      await attempt.getByRole("button", { name: "Try it" }).click();
      await says(page.locator(".told"), told);
    };
    // The rule that decides is named, with where it is written; where none does, the mode decides.
    await tries("Run a command", "git push origin", /^Never runs\. Denied by deny: 'git push \*' of the workspace\.$/);
    await tries("Read from the web", "docs.rs", /^Never runs\. Denied by deny: web of the configuration\.$/);
    await tries("Run a command", "touch made.txt", /^You are asked\. No rule covers it, and flows ask every time unless/);
    await tries("Change a file", "src/a.py", /^You are asked\. No rule covers it/);
    await tries("Change a file", "record/plan.md", /^Runs without asking\. It is never asked about/);
    await tries("Change a file", ".vscode/tasks.json", /^You are asked\. Programs trust or run this file later/);
    await tries("Change a file", "../elsewhere.md", /^Never runs\./);
    await sound(page, "tried");
    assert.equal(config(), mine, "trying writes nothing");
    assert.equal(existsSync(`${place.folder}/made.txt`), false, "and runs nothing");
    // What will be written is shown before it is, and everything else stays as it was.
    const mode = await edit("What a flow may do without asking");
    await mode.getByLabel("Mode of flows that choose none").selectOption("full-access");
    assert.equal(await save(mode, /The file will say:[^]*consent:[^]*mode: full-access[^]*# never[^]*deny: \[web\] {3}# none of it/), mine, "looking at it writes nothing");
    assert.equal(config(), mine.replace("consent:\n", "consent:\n  mode: full-access\n"));
    await tries("Run a command", "touch made.txt", /^Runs without asking\. No rule covers it, and flows never ask/);
    // A value that means nothing is refused in words with its place, and the form keeps what was typed.
    const reach = await edit("How far tools reach at most");
    await reach.getByLabel("Scope").selectOption("project");
    await reach.getByLabel("Folders to read").fill("books");
    await reach.getByRole("button", { name: "Review" }).click();
    await says(reach.getByRole("alert"), /a folder must be an absolute path/i);
    await reach.getByLabel("Folders to read").fill(`${place.folder}/none`);
    await reach.getByRole("button", { name: "Review" }).click();
    await says(reach.getByRole("alert"), /folders: [^]*none is no folder/);
    await sound(page, "reach-refused");
    await reach.getByLabel("Folders to read").fill(`${place.folder}/books`);
    await reach.getByLabel("Commands may use the network").check();
    await save(reach, /scope: project[^]*folders: \[".*books"\][^]*network: true[^]*irreversible/);
    const { permissions } = { permissions: await place.ask("GET", "/api/settings/permissions") };
    assert.deepEqual([permissions.tools.scope, permissions.tools.folders, permissions.tools.network], ["project", [`${place.folder}/books`], true], "it is what roles reach from then on");
    assert.match(config(), /irreversible: \[make ship\] {3}# no way back/);
    const limits = await edit("What stops a flow that makes no progress");
    await limits.getByLabel("Answers of a model in one turn").fill("0");
    await limits.getByRole("button", { name: "Review" }).click();
    await says(limits.getByRole("alert"), /answers/);
    await limits.getByLabel("Answers of a model in one turn").fill("50");
    await limits.getByLabel("Tokens of a flow").fill("1,500,000");
    await save(limits, /limits:\s+tokens: 1500000\s+answers: 50/);
    const notify = await edit("A command that is notified");
    await notify.getByLabel("Command").fill(`/bin/sh\n-c\ncat > "${place.folder}/told.json"`);
    await notify.getByLabel("A flow waits for you").uncheck();
    await notify.getByLabel("A role failed").uncheck();
    await notify.getByLabel("A budget is used up").uncheck();
    await save(notify, /notify:\s+command: \["\/bin\/sh", "-c", [^]*on: \["done"\]/);
    await sound(page, "policies");
    // The next flow runs the command without asking, has the budget, and tells when it is done.
    const begun = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
    await until(() => place.log(begun.flow).map((line) => line.fact), (facts) => facts.includes("flow_completed") || facts.includes("forward_closed"), "it goes on by itself");
    assert.ok(existsSync(`${place.folder}/made.txt`) || existsSync(`${place.folder}/demo/made.txt`), "the command ran, and nobody was asked");
    assert.equal(place.log(begun.flow).some((line) => line.fact === "consent_requested"), false);
    await until(() => existsSync(`${place.folder}/told.json`) ? place.read("told.json") : "", (text) => text.includes(begun.flow), "the command was notified");
    // Taken out again, the file says what it said before.
    const none = await edit("A command that is notified");
    await none.getByLabel("Command").fill("");
    await none.getByRole("button", { name: "Review" }).click();
    await says(none, /will not mention it/);
    await none.getByRole("button", { name: "Save" }).click();
    await none.waitFor({ state: "detached" });
    assert.doesNotMatch(config(), /notify/);
    // Nothing is written over a concurrent change.
    const late = await edit("What a flow may do without asking");
    place.put("settings/config.yaml", `${config()}# theirs\n`);
    await late.getByLabel("Mode of flows that choose none").selectOption("");
    await late.getByRole("button", { name: "Review" }).click();
    await says(late.getByRole("alert"), /changed by another editor/);
    assert.match(config(), /mode: full-access[^]*# theirs\n$/);
    assert.deepEqual(complaints.filter((text) => !/40[09]/.test(text)), []);
  } finally {
    await end();
  }
});
