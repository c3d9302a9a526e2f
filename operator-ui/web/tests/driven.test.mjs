// A flow of the real program, said to on the page: what runs because of it, and the next request that leaves.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, Model } from "./model.mjs";
import { killed, missing, Place } from "./program.mjs";
import { sound } from "./sound.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("a flow that is driven from the page");
const FLOW = `workflow:
  name: Kitchen
  nodes: [ { id: order, role: owner, work: [ Order it ] } ]
  edges: []
roles: { owner: { instructions: "You order." } }
`;

const ASKS = "Which?\n\n```handoff\ntype: prompt-human\n```\n";

/** A workspace whose roles ask this model, its page, and what has to be ended. */
async function stage(model) {
  const place = new Place({ "demo/flow.yaml": FLOW });
  process.env.A_SOCIETY_CONFIG = `${place.folder}/settings/config.yaml`;
  place.put("settings/config.yaml", `${model.config}tools: { scope: sandboxed }\n`);
  const browser = await launch();
  const seen = await open(browser, await place.serve());
  const end = async () => {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    model.close();
    await place.end();
  };
  return { place, browser, ...seen, end };
}

test("a rule that a flow is given on the page answers what it asks and lets the next call run, and is asked about again once it is taken back", { skip }, async () => {
  let goOn;
  const held = new Promise((done) => { goOn = done; });
  const run = (name) => ({ calls: [["run_command", { command: `touch ${name}.txt` }]] });
  const model = await new Model(run("one"), run("two"), { text: ASKS, hold: held }, run("three"), { text: CLOSES }).listen();
  const { place, page, complaints, end } = await stage(model);
  const made = (name) => existsSync(`${place.folder}/demo/${name}.txt`) || existsSync(`${place.folder}/${name}.txt`);
  try {
    const { flow, project } = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
    const facts = () => place.log(flow).map((line) => line.fact);
    await until(facts, (all) => all.includes("consent_requested"), "the first command is asked about");
    assert.equal(made("one"), false);
    await page.goto(`${place.origin}/p/${project}/f/${flow}`);
    await page.getByRole("button", { name: "Flow actions" }).click();
    await page.getByRole("menuitem", { name: "Permissions" }).click();
    const dialog = page.getByRole("dialog", { name: "Permissions of this flow" });
    const form = dialog.getByRole("form", { name: "A new rule" });
    await form.getByLabel("Which").fill("env *");
    await form.getByRole("button", { name: "Add rule" }).click();
    await says(dialog.getByRole("alert"), /env runs/);
    await form.getByLabel("Which").fill("touch *");
    await form.getByRole("button", { name: "Add rule" }).click();
    // What was asked is answered by it, and what comes next is not asked about.
    await until(() => made("one") && made("two"), (both) => both, "both commands ran");
    assert.equal(facts().filter((fact) => fact === "consent_requested").length, 1);
    await until(() => model.heard.length, (count) => count >= 3, "the model goes on");
    await says(dialog.getByRole("list", { name: "Rules of this flow" }), /Runs without asking\s*touch \*/);
    await sound(page, "flow-rules");
    await dialog.getByRole("button", { name: "Remove allow touch *" }).click();
    await says(dialog, /None\. The rules for all flows/);
    assert.deepEqual(JSON.parse(place.run("rules", "ls", flow, "--json").out).allow, []);
    // In the turn that begins afterwards a command like those that ran is asked about.
    goOn();
    const question = page.getByRole("textbox", { name: /Answer owner|Your answer/ });
    await question.first().fill("Go on.");
    await question.first().press("Enter");
    await until(facts, (all) => all.filter((fact) => fact === "consent_requested").length === 2, "it asks again");
    assert.deepEqual([model.heard.length, made("three")], [4, false]);
    // The mode is here, too, and lets it run.
    await dialog.getByLabel("Where no rule applies").selectOption("full-access");
    await until(() => made("three"), (is) => is, "nothing is asked any more");
    assert.equal(JSON.parse(place.run("rules", "ls", flow, "--json").out).mode, "full-access");
    assert.deepEqual(complaints, []);
  } finally {
    goOn();
    await end();
  }
});

test("a flow that nobody drives is resumed on the page, and its next request leaves with what was said before", { skip }, async () => {
  let never;
  const hold = new Promise((done) => { never = done; });
  const model = await new Model({ text: "I look first.", calls: [["list_directory", { path: "." }]] }, { text: "Lost.", hold }, { text: CLOSES }).listen();
  const { place, page, complaints, end } = await stage(model);
  try {
    // Another process drives it, and is gone in the middle of a turn.
    const driver = place.begin(["run", "demo/flow.yaml", "--improve", "none"]);
    await until(() => model.heard.length, (count) => count === 2, "the second request is out");
    await killed(driver);
    const [{ flow, project }] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    await page.goto(`${place.origin}/p/${project}/f/${flow}`);
    await page.getByRole("button", { name: "Flow actions" }).click();
    const item = page.getByRole("menuitem", { name: "Resume" });
    await item.waitFor();
    assert.equal(model.heard.length, 2, "looking drives nothing");
    await item.click();
    await until(() => model.heard.length, (count) => count === 3, "the next request leaves");
    const [, lost, next] = model.heard.map((one) => JSON.parse(one.body).messages);
    const text = JSON.stringify(next);
    assert.match(text, /I look first\./);
    assert.match(text, /settings\//, "what the call gave is there");
    assert.deepEqual(next.slice(0, lost.length - 1), lost.slice(0, -1), "nothing of what was said before is lost");
    await until(() => place.log(flow).map((line) => line.fact), (facts) => facts.includes("flow_completed") || facts.includes("forward_pass_closed"), "it comes to its end");
    assert.deepEqual(complaints, []);
  } finally {
    never();
    await end();
  }
});

test("what is written to a role that works is in its next request, and how much is asked about and an end of its turn are said beside it", { skip }, async () => {
  let goOn;
  const first = new Promise((done) => { goOn = done; });
  let never;
  const hold = new Promise((done) => { never = done; });
  const model = await new Model({ calls: [["list_directory", { path: "." }]], hold: first }, { text: "Lost.", hold }).listen();
  const { place, page, complaints, end } = await stage(model);
  try {
    const { flow, project } = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
    await until(() => model.heard.length, (count) => count === 1, "it works");
    await page.goto(`${place.origin}/p/${project}/f/${flow}`);
    const field = page.getByRole("textbox", { name: "Message owner, read with its next request" });
    await field.fill("Mind the stairs.");
    await field.press("Enter");
    // The field is empty as soon as it is sent; it takes effect once it is recorded.
    await until(() => place.log(flow).map((line) => line.fact), (facts) => facts.includes("operator_steered"), "it is recorded");
    assert.equal(await field.inputValue(), "");
    goOn();
    await until(() => model.heard.length, (count) => count === 2, "the next request leaves");
    assert.match(JSON.stringify(JSON.parse(model.heard[1].body).messages), /Mind the stairs\./);
    await page.getByRole("combobox", { name: "How much is allowed without asking" }).selectOption("full-access");
    await until(() => JSON.parse(place.run("rules", "ls", flow, "--json").out).mode, (mode) => mode === "full-access", "the mode is the flow's");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("button", { name: "Again to stop" }).click();
    await until(() => place.log(flow).map((line) => line.fact), (facts) => facts.some((fact) => fact.includes("stop")), "its turn is stopped");
    assert.equal(await page.getByRole("region", { name: "Errors" }).innerText(), "");
    assert.deepEqual(complaints, []);
  } finally {
    goOn();
    never();
    await end();
  }
});
