// The operator's configuration, changed on the page of the real program: what the file says then, and what left because of it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("settings that are changed");
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const SHOTS = process.env.A_SOCIETY_SHOTS;
const FLOW = `workflow:
  name: Kitchen
  nodes: [ { id: order, role: owner, work: [ Order it ] } ]
  edges: []
roles: { owner: { instructions: "You order." } }
`;
const KEY = ["sk", "ant", "api03", "CANARYCANARYCANARYCANARY"].join("-");

/** Nothing on the page is out of reach, at any of the widths. With A_SOCIETY_SHOTS it is looked at, too. */
async function sound(page, name) {
  for (const [width, height] of [[1440, 900], [1024, 768], [390, 844]]) for (const theme of ["light", "dark"]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${width}-${theme}.png` });
    if (width === 1024) continue;
    const session = await page.context().newCDPSession(page);
    await session.send("Runtime.evaluate", { expression: axe });
    await session.detach();
    const found = await page.evaluate(async () => {
      const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] });
      return result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
    });
    assert.deepEqual(found, [], `${name} at ${width} in ${theme}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false, `${name} fits ${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

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
      await assert.rejects(place.ask("POST", "/api/settings", { version, change }), (error) => /400[^]*(looks like a key|is none)/.test(error.message) && !error.message.includes("CANARY"), "nor does the server take one from anybody else");
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
