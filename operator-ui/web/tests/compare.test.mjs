// Two runs of the real program beside each other on its page: which is offered, what each took at a node, and where their texts differ.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { missing, Place } from "./program.mjs";
import { faultsOf } from "./checker.mjs";
import { says } from "./stage.mjs";

const skip = missing("two runs beside each other");

test("a flow is compared with a fork, its parent first, and with another run of its file: nodes, totals and texts of both", { skip }, async () => {
  const place = new Place();
  const browser = await launch();
  try {
    place.copy("examples/review-loop", "loop");
    const run = (...more) => new Promise((done) => place.begin(["run", "loop/flow.yaml", "--improve", "none", "--json", ...more]).on("exit", done));
    await run("--title", "The first");
    place.put("loop/script.yaml", place.read("loop/script.yaml").replaceAll("Release 2.1", "Release 3.0"));
    await run("--title", "The second");
    const flows = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    const of = (title) => flows.find((one) => one.title === title);
    const [first, second] = [of("The first"), of("The second")];
    // The brief was handed over by then, and nothing after it.
    const cut = place.log(first.flow).find((fact) => fact.fact === "handoff_applied").seq;
    const forked = place.run("fork", first.flow, "--at", String(cut), "--name", "The fork", "--json");
    assert.equal(forked.code, 0, forked.err);
    const fork = JSON.parse(place.run("ls", "--all", "--json").out).flows.find((one) => one.title === "The fork");
    const { page, complaints } = await open(browser, await place.serve());
    const project = first.project;
    await page.goto(`${place.origin}/p/${project}/f/${fork.flow}`);
    await page.getByRole("button", { name: "Flow actions" }).click();
    await page.getByRole("menuitem", { name: "Compare with…" }).click();
    const main = page.getByRole("main");
    await says(main, /Forked from\s+The first[^]*Same graph\s+The second/);
    await page.getByRole("link", { name: /The first/ }).last().click();
    await page.locator("[data-compared=true]").waitFor();
    const row = (name) => main.getByRole("region", { name: "Nodes of both runs" }).getByRole("row", { name: new RegExp(`^${name}`) });
    await says(row("review"), /Not reached\s+Done\s+2\s+\+2/);
    await says(row("brief"), /Done\s+Done\s+1\s+1/);
    await says(main.getByRole("region", { name: "Totals of both runs" }), /Turns\s+1\s+6\s+\+5/);
    assert.deepEqual(await faultsOf(page), []);
    // Another run, chosen in the head: one text differs.
    await page.goto(`${place.origin}/p/${project}/f/${first.flow}/compare/${project}/${second.flow}`);
    await page.locator("[data-compared=true]").waitFor();
    await says(main, /all went the same way/);
    const files = main.getByRole("region", { name: "Artifacts" });
    await says(files, /1 of \d+ differ/);
    await files.getByRole("button", { name: /brief\.md/ }).click();
    await says(files.getByRole("group", { name: /brief\.md: from A to B/ }), /−\s*Release 2\.1[^]*\+\s*Release 3\.0/);
    assert.deepEqual(await faultsOf(page), []);
    await page.getByRole("link", { name: "Swap A and B" }).click();
    await page.locator("[data-compared=true]").waitFor();
    await files.getByRole("button", { name: /brief\.md/ }).click();
    await says(files.getByRole("group", { name: /brief\.md: from A to B/ }), /−\s*Release 3\.0[^]*\+\s*Release 2\.1/);
    await page.getByRole("combobox", { name: "Compare with" }).selectOption(`${project}/${fork.flow}`);
    await page.waitForURL(new RegExp(`/f/${second.flow}/compare/${project}/${fork.flow}$`));
    await page.setViewportSize({ width: 390, height: 844 });
    await says(row("review"), /Done\s+Not reached/);
    assert.deepEqual(await faultsOf(page), []);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    await place.end();
  }
});
