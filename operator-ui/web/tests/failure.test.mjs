// What went wrong, on the page of the real program: a turn that failed, a journal that is damaged, and a file of a flow that
// was not over when it was written.
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { missing, Place, root } from "./program.mjs";
import { armed, counts, says, until } from "./stage.mjs";

const skip = missing("what went wrong");
const idIn = (text) => text.match(/\d{8}T\d{9}Z-[0-9a-z]+/)[0];

test("a turn that failed is a failure with its retry first, its reason and its request one press away", { skip }, async () => {
  const place = new Place();
  const browser = await launch();
  try {
    place.run("run", join(root, "examples/interrupted/flow.yaml"));
    const { page, complaints } = await open(browser, await place.serve());
    await page.getByRole("heading", { name: "writer's turn failed" }).waitFor();
    const main = page.locator("main");
    await says(main, /The model's answer was cut off\./);
    await says(page.getByRole("list", { name: "Blocking a role" }), /^The model's answer was cut off/);
    assert.equal(await page.getByText("stream_cut").first().isVisible(), false, "the program's word for it is not the first thing that is read");
    await counts(main.getByRole("textbox"), 0, "nobody asks for words");
    assert.deepEqual(await main.locator(".controls .button").allInnerTexts().then((all) => all.map((one) => one.split("\n")[0])), ["Retry turn", "Say what to do instead"]);
    await page.getByText("Reason", { exact: true }).click();
    await says(main, /the stream broke off before the answer was whole/);
    // As one file it says when it was, and lives no longer.
    const flow = idIn(place.run("ls", "--json").out);
    const file = join(place.folder, "flow.html");
    assert.equal(place.run("export", "--html", flow, "--output", file).code, 0);
    const kept = await browser.newPage();
    await kept.goto(`file://${file}`);
    const strip = kept.getByRole("region", { name: "Timeline" });
    await says(strip, /As of \d\d:\d\d:\d\d/);
    await says(kept.getByLabel("This file"), /Written .*, after \d+ events/);
    assert.doesNotMatch(await kept.locator("body").innerText(), /\bLive\b|Waiting for you/);
    // The request, and back to the turn.
    await page.getByRole("link", { name: "Request", exact: true }).click();
    await until(() => new URL(page.url()).searchParams.get("seg"), (seg) => seg === "requests", "the requests of the role");
    await page.goBack();
    await page.getByRole("button", { name: "Retry turn" }).waitFor();
    await armed(page);
    await page.getByRole("button", { name: "Retry turn" }).click();
    await until(() => place.log(flow).map((one) => one.fact), (facts) => facts.includes("forward_pass_closed"), "the turn is tried again");
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    await place.end();
  }
});

test("a damaged flow offers its repair to be copied and nothing else", { skip }, async () => {
  const place = new Place();
  const browser = await launch();
  try {
    const flow = idIn(place.run("run", join(root, "examples/interrupted/flow.yaml"), "--json").out);
    const folder = join(place.folder, place.state(flow), "journal");
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl")));
    const lines = readFileSync(file, "utf8").split("\n");
    const wound = openSync(file, "r+");
    writeSync(wound, "XXXX", lines.slice(0, 8).join("\n").length + 60);
    closeSync(wound);
    const { page } = await open(browser, await place.serve());
    await page.goto(`${place.origin}/p/${place.state(flow).split("/").at(-2)}/f/${flow}`);
    const banner = page.getByRole("region", { name: "What cannot be read" });
    await says(banner, new RegExp(`Events after 8 are unreadable\\. The rest is shown, read-only\\. Repair it in a terminal: a-society repair ${flow}`));
    await says(page.locator(".wide-head"), /Damaged/);
    await page.getByRole("log").waitFor();
    const whole = page.locator(".flow").first();
    for (const name of [/Continue/, /Resume/, /Fork/, /Flow actions/, /Retry/]) await counts(page.getByRole("button", { name }), 0, String(name));
    assert.doesNotMatch(await whole.innerText(), /was cut off in its turn|R\d+\)|byte/);
    await banner.getByRole("button", { name: "Copy command" }).click();
    await banner.getByRole("button", { name: "Copied" }).waitFor();
    await page.goto(`${place.origin}/inbox`);
    await says(page.getByRole("navigation").first(), /damaged/);
  } finally {
    await browser.close();
    await place.end();
  }
});
