// What surprised operators on the page of the real program: each is looked at where it is seen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { handsOver, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("what surprised");
const FLOW = `workflow:
  name: Build it
  nodes:
    - { id: start, role: owner }
    - { id: build, role: builder, work: [Build it.] }
    - { id: end, role: owner }
  edges:
    - { from: start, to: build }
    - { from: build, to: end }
roles:
  owner: { executor: model, instructions: You own it. }
  builder: { executor: model, instructions: You build. }
`;

async function stage(model, then) {
  const place = new Place({ "demo/flow.yaml": FLOW, "config.yaml": model.config });
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  const browser = await launch();
  try {
    const { page, complaints } = await open(browser, await place.serve());
    const begun = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
    await then({ place, page, begun, at: `${place.origin}/p/${begun.project}/f/${begun.flow}` });
    assert.deepEqual(complaints, []);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    model.close();
    await place.end();
  }
}
const focused = (page) => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");

test("a node names the call that it wants, the keys open at their beginning, and deleting keeps by default", { skip }, async () => {
  const model = await new Model({ calls: [["write_file", { path: "record/order.md", content: "Build it.\n" }]] }, { text: handsOver("build", "record/order.md") }, { calls: [["run_command", { command: "make all" }]] }).listen();
  await stage(model, async ({ place, page, begun, at }) => {
    await until(() => place.log(begun.flow).map((line) => line.fact), (facts) => facts.includes("consent_requested"), "it asks");
    await page.goto(at);
    await says(page.locator("[data-card]").filter({ hasText: "build" }).first(), /wants to run make all/i);
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys" });
    await keys.waitFor();
    assert.equal(await keys.evaluate((one) => one.scrollTop), 0);
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });
    await page.goto(`${place.origin}/settings/models`);
    await page.getByRole("button", { name: "Remove m", exact: true }).click();
    await until(() => focused(page), (words) => words === "Cancel", "what keeps it has the focus");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.match(place.read("config.yaml"), /models:\n {2}m:/, "Enter removes nothing");
  });
});

test("a turn without a valid outcome is a failure that names its role, and is tried again first", { skip }, async () => {
  const model = await new Model(() => ({ text: "I am not sure." })).listen();
  await stage(model, async ({ page, place, begun }) => {
    await until(() => place.log(begun.flow).filter((line) => line.fact === "node_suspended").length, (count) => count > 0, "it waits");
    await page.goto(`${place.origin}/inbox`);
    await says(page.locator("section.detail"), /owner's turn failed/);
    await says(page.locator("section.detail"), /No valid outcome:/);
    const first = page.locator("section.detail .controls button").first();
    assert.match(await first.innerText(), /Retry turn/);
    assert.equal(await page.locator("section.detail textarea").count(), 0, "nothing is asked that has to be written");
  });
});
