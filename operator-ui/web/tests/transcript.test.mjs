// What a transcript says of a session of the real program: found words, tools, times and tokens, and code in its colours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { sound } from "./sound.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("what a transcript says");
const FLOW = `workflow:
  name: Kitchen
  nodes: [ { id: order, role: owner, work: [ Order it ] } ]
  edges: []
roles: { owner: { instructions: "You order." } }
`;
const CODE = "I write it.\n\n```rust\n// the order\nfn order() -> u32 { 12 }\n```\n";

test("a transcript finds words as they are typed, names the tool of a result, and its tokens add up to the model's own count", { skip }, async () => {
  const model = await new Model(
    { text: CODE, calls: [["read_file", { path: "demo/list.md" }]], cached: 60, used: { input: 4000, output: 40 } },
    { text: `The list has torn bread. ${CLOSES}`, cached: 3900, used: { input: 500, output: 30 } },
  ).listen();
  const place = new Place({ "demo/flow.yaml": FLOW, "demo/list.md": "torn bread\nsalt\n", "config.yaml": model.config });
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  const browser = await launch();
  try {
    const { page, complaints } = await open(browser, await place.serve());
    const begun = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
    await until(() => place.log(begun.flow).map((line) => line.fact), (facts) => facts.includes("forward_closed") || facts.includes("flow_completed"), "it is done");
    const role = place.log(begun.flow).find((line) => line.fact === "model_answered").role;
    const told = await place.ask("GET", `/api/flow/${begun.project}/${begun.flow}/role/${role}/transcript`);
    await page.goto(`${place.origin}/p/${begun.project}/f/${begun.flow}/r/${role}/transcript`);
    await page.getByRole("option").first().waitFor();
    // The result names its tool, and the answer its time and its tokens.
    const result = page.getByRole("option").filter({ hasText: "Result" });
    await says(result, /read_file.*torn bread/);
    await page.getByRole("option").filter({ hasText: "Tool call" }).click();
    const head = page.locator(".insp dl");
    await says(head, /Took\s*\d.*Read\s*4\.0k.*Cached\s*60.*Wrote\s*40/s);
    // Code has its colours; its text is as it was.
    await until(() => page.evaluate(() => ["word", "number", "note"].map((kind) => CSS.highlights.get(`code-${kind}`)?.size ?? 0)), (sizes) => sizes.every((size) => size > 0), "the code is coloured");
    assert.equal(await page.locator(".insp pre code").first().innerHTML(), "// the order\nfn order() -&gt; u32 { 12 }");
    // The parts are as much as the whole, which is the model's own count.
    const legend = await page.locator(".legend").innerText();
    const view = await page.locator("section.map").getAttribute("aria-label");
    assert.match(view, /^Context window, 4\.4k of/, `what the last request filled: ${legend}`);
    assert.match(legend, /Tools\s+\d/);
    const number = (text) => (text.endsWith("k") ? 1_000 * Number.parseFloat(text) : Number.parseFloat(text));
    const sizes = await page.locator("nav.segs .seg:not(:has-text('Requests')) .n").allInnerTexts();
    assert.ok(Math.abs(sizes.map(number).reduce((a, b) => a + b, 0) - 4_430) < 200, `${sizes} are ${view}`);
    // What was sent with every turn is named, called or not.
    const tools = told.segments.find((one) => one.id === "tools");
    assert.ok(tools.messages > 5 && tools.tokens > 500, JSON.stringify(tools));
    await page.getByRole("button", { name: /^Tools/ }).click();
    await says(page.getByRole("listbox"), /read_file: called once[^]*run_command: not called/);
    await page.getByRole("option").filter({ hasText: "run_command" }).click();
    await says(page.locator(".insp .about"), /./);
    await page.getByRole("button", { name: /^Live/ }).click();
    // Words are found while they are typed: how many, which, and where.
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("torn", { delay: 20 });
    const field = page.getByRole("search");
    await says(field.getByRole("status"), /^2$/);
    await until(() => page.evaluate(() => CSS.highlights.get("found")?.size ?? 0), (size) => size >= 2, "they are marked");
    await page.keyboard.press("Enter");
    await says(field.getByRole("status"), /^1 of 2$/);
    await says(page.getByRole("option", { selected: true }), /Result/);
    await field.getByRole("button", { name: "Next match" }).click();
    await says(field.getByRole("status"), /^2 of 2$/);
    await field.getByRole("button", { name: "Previous match" }).click();
    await says(field.getByRole("status"), /^1 of 2$/);
    await sound(page, "transcript-found");
    await page.getByLabel(/Find in transcript/).fill("nowhere");
    await says(field.getByRole("status"), /^None$/);
    await page.getByLabel(/Find in transcript/).fill("1");
    await page.keyboard.press("Enter");
    await says(page.locator(".hd2"), /^1/);
    assert.deepEqual(complaints, []);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    model.close();
    await place.end();
  }
});
