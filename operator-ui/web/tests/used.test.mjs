// What a flow wrote and used, on the page of the real program with a model on loopback: files by role and turn, costs by role,
// model and node once it is over, and transcripts that name the tool and what it was given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, handsOver, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { counts, says, until } from "./stage.mjs";

const skip = missing("what a flow wrote and used");
const FLOW = `workflow:
  name: Kitchen
  nodes:
    - { id: order, role: owner, work: [ Order it ] }
    - { id: plan, role: planner, work: [ Plan it ] }
    - { id: close, role: owner, work: [ Close it ] }
  edges: [ { from: order, to: plan }, { from: plan, to: close } ]
roles:
  owner: { instructions: "You order." }
  planner: { instructions: "You plan." }
`;
const NAME = "the-plan-of-the-kitchen-and-of-everything-in-it.md";
const LONG = `record/plans/a-folder-with-a-rather-long-name/another-one-below-it/${NAME}`;

test("files say by whom they were written and in which turn, costs are told once a flow is over, and no path is absolute", { skip }, async () => {
  const model = await new Model(
    { calls: [["write_file", { path: "record/order.md", content: "A kitchen.\n" }]] },
    { text: handsOver("plan", "record/order.md") },
    { text: "I **write** it.", calls: [["write_file", { path: LONG, content: "one\n" }]], cached: 50 },
    { calls: [["edit_file", { path: LONG, old: "one", new: "two" }]] },
    { text: handsOver("close", LONG) },
    { text: CLOSES },
  ).listen();
  const place = new Place({ "demo/flow.yaml": FLOW });
  place.put("config.yaml", model.config);
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  const browser = await launch();
  try {
    const ran = await new Promise((done) => place.begin(["run", "demo/flow.yaml", "--improve", "none", "--json"]).on("exit", done));
    assert.equal(ran, 0);
    const [{ flow, project }] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    const { page, complaints } = await open(browser, await place.serve());
    const at = `${place.origin}/p/${project}/f/${flow}`;
    const foreign = async (what, body = page) => assert.equal((await body.locator("body").innerText()).includes(place.folder), false, `no absolute path in ${what}`);
    await page.goto(`${at}/files`);
    const list = page.getByRole("navigation", { name: "Files of this flow" });
    await says(list, /planner, turn 1, handed over/);
    await counts(list.locator(".two"), 2, "a file that was changed and handed over stands once");
    // The name of the file is what stays of a path that is too long.
    const name = list.locator(".two").filter({ hasText: "planner" }).locator(".mid > :last-child");
    assert.equal(await name.getAttribute("data-text"), NAME.slice(-18));
    assert.ok(await list.locator(".two").filter({ hasText: "planner" }).locator(".start").evaluate((one) => one.scrollWidth > one.clientWidth), "its middle is what is cut");
    await page.getByRole("combobox", { name: "Files of" }).selectOption("owner");
    await counts(list.locator(".two"), 1, "the files of one role");
    await says(list, /order\.md[^]*owner, turn 1/);
    await foreign("the files");
    // Costs, of a flow that is over.
    await page.getByRole("button", { name: "Flow actions" }).click();
    await page.getByRole("menuitem", { name: "Costs" }).click();
    const costs = page.getByRole("dialog", { name: "Costs" });
    await says(costs, /owner[^]*planner|planner[^]*owner/);
    const row = async (name) => (await costs.getByRole("row", { name: new RegExp(`^${name}\\b`) }).innerText()).split(/\s+/);
    // Three requests of a hundred tokens and what came from the cache, three answers of twenty.
    assert.deepEqual((await row("planner")).slice(1, 5), ["350", "60", "14%", "1"]);
    await costs.getByRole("button", { name: "Model" }).click();
    await says(costs, /\bm\b\s+650\s+120\s+8%\s+6/);
    await costs.getByRole("button", { name: "Node" }).click();
    await says(costs, /order[^]*All|plan[^]*All/);
    await costs.getByRole("button", { name: "Close" }).click();
    // A row of a transcript names the tool and what it was given.
    await page.goto(`${at}/r/planner/transcript`);
    await says(page.getByRole("listbox", { name: "Messages" }), new RegExp(`Tool call\\s+write_file ${LONG}`));
    await says(page.getByRole("listbox", { name: "Messages" }), new RegExp(`Tool call\\s+edit_file ${LONG}`));
    await foreign("a transcript");
    await page.goto(`${at}/r/planner`);
    await page.getByRole("log").getByText(/the-plan/).first().waitFor();
    await foreign("a feed");
    const file = `${place.folder}/flow.html`;
    assert.equal(place.run("export", "--html", flow, "--output", file).code, 0);
    const kept = await browser.newPage();
    for (const where of ["/r/planner", "/files", "/r/planner/transcript"]) {
      await kept.goto(`file://${file}#/p/${project}/f/${flow}${where}`);
      await until(() => kept.locator("body").innerText(), (text) => text.includes("planner"), "the file shows it");
      await foreign(`the file at ${where}`, kept);
    }
    assert.deepEqual(complaints, []);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    model.close();
    await place.end();
  }
});
