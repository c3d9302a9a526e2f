// What a flow delivered, named where a reader looks when it is over, and its text one press away.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { missing, Place } from "./program.mjs";
import { counts, says, sleep, stage, until } from "./stage.mjs";
import { changed, FLOW } from "./world.mjs";

const at = stage();
const LEDGER = "orchard/ledger";
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, touch: true };
const TEXT = "# Report\n\nThe ledger is append-only, <b>as asked</b>.\n";
const closed = () => changed((data) => {
  const flow = data.flows[LEDGER];
  flow.state.flow = { ...flow.state.flow, phase: "completed", over: true, standing: "completed", running: 0, waits: 0 };
  flow.files = { files: [], delivered: { node: "close", path: "record/report.md", hash: "h-report", bytes: 49 } };
  flow.blobs = { "h-report": TEXT };
});

for (const [size, look] of Object.entries({ "a desk": DESK, "a phone": PHONE })) {
  test(`a flow that is over names what it delivered, with its size, and leads to its text, on ${size}`, async () => {
    const { page } = await at(FLOW, { data: closed(), ...look });
    const link = page.locator("[data-delivered]").filter({ visible: true });
    await says(link, /Delivered\s*record\/report\.md\s*\(49 B\)/);
    const box = await link.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= look.width && box.height >= (look === PHONE ? 44 : 24), JSON.stringify(box));
    await link.click();
    assert.match(new URL(page.url()).pathname, /\/files\/record\/report\.md$/);
    await page.getByText("The ledger is append-only").waitFor();
    // What is in the file is text.
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await says(page.getByRole("region", { name: "record/report.md, text" }), /<b>as asked<\/b>/);
    await says(page.locator(".versions"), /Delivered\s*by close\s*49 B/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  });
}

test("in a narrow head the word stays whole and leads to the text, where no more than a letter of the path would be left, and however much was used", async () => {
  const used = closed();
  const state = used.flows[LEDGER].state;
  state.flow = { ...state.flow, tokens: 12_345_678, limits: { cost_micros: 10_000_000, tokens: 20_000_000, turns: 400 } };
  for (const [width, data] of [[900, closed()], [1024, closed()], [1180, closed()], [1280, used], [1366, used], [1440, used]]) {
    const { page } = await at(FLOW, { data, width, height: 800 });
    const link = page.locator("[data-delivered]").filter({ visible: true });
    await says(link, /^Delivered/);
    const [box, head] = [await link.boundingBox(), await page.locator(".meta").first().boundingBox()];
    assert.ok(box.x + box.width <= head.x + head.width + 1 && box.y + box.height <= head.y + head.height + 1, `at ${width}: ${JSON.stringify([box, head])}`);
    const path = link.locator("code").filter({ visible: true });
    assert.ok((await path.count()) === 0 || (await path.boundingBox()).width >= 70, `at ${width} the path can be read`);
    await link.click();
    await page.getByText("The ledger is append-only").waitFor();
  }
});

test("before its forward work is closed a flow names nothing that it delivered", async () => {
  const data = closed();
  data.flows[LEDGER].state.flow = { ...data.flows[LEDGER].state.flow, phase: "forward", over: false, standing: "working" };
  const { page } = await at(FLOW, { data });
  await page.locator("[data-card]").first().waitFor();
  await sleep(600);
  await counts(page.locator("[data-delivered]"), 0);
});

test("the file that the closing node wrote is named and read on the page of the program, as `show` names it", { skip: missing("what a flow delivered, on the page of the program") }, async () => {
  const place = new Place();
  const browser = await launch();
  try {
    place.copy("examples/hello", "hello");
    const script = place.read("hello/script.yaml");
    place.put("hello/script.yaml", script.replace("      - That is what I wanted. Thank you.\n", '      - write: { path: kept.md, text: "Hello to all who come.\\n" }\n      - That is what I wanted. Thank you.\n'));
    const ran = place.run("run", "hello/flow.yaml", "--improve", "none", "--json");
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.out, /"path":"record\/kept\.md"/);
    const { page } = await open(browser, await place.serve(), DESK);
    const [project] = readdirSync(join(place.folder, ".a-society/state"));
    const [flow] = readdirSync(join(place.folder, ".a-society/state", project)).filter((name) => /^\d{8}T/.test(name));
    await page.goto(`${place.origin}/p/${encodeURIComponent(project)}/f/${flow}`);
    const link = page.locator("[data-delivered]");
    await says(link, /Delivered\s*record\/kept\.md\s*\(23 B\)/);
    await link.click();
    // The feed tells of the write as well, once it is there.
    await page.getByRole("region", { name: "Files" }).getByText("Hello to all who come.").waitFor();
    await until(() => page.locator(".versions").innerText(), (text) => /Delivered/.test(text) && /by receive/.test(text), "it says who delivered it");
  } finally {
    await browser.close();
    await place.end();
  }
});
