// What is made and removed from the page of the real program: an example and a project in an empty workspace, which lie on the disk
// and run, and a flow that is deleted after its plan was shown.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { missing, Place } from "./program.mjs";
import { faultsOf } from "./checker.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("what is made and removed from the page");

test("an empty workspace offers an example and a project, which are written, shown by their paths and run", { skip }, async () => {
  const place = new Place({ "ledger/main.c": "int main;\n" });
  const browser = await launch();
  try {
    const { page, complaints } = await open(browser, await place.serve());
    await page.getByRole("heading", { name: "No flow yet" }).waitFor();
    await page.getByRole("button", { name: "Run an example" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Make example" }).click();
    const written = dialog.getByRole("list", { name: "Files that were written" });
    await says(written, /review-loop\/flow\.yaml[^]*review-loop\/script\.yaml/);
    assert.ok(existsSync(join(place.folder, "review-loop/flow.yaml")));
    assert.deepEqual(await faultsOf(page), []);
    await dialog.getByRole("button", { name: "Run it" }).click();
    await page.waitForURL(/\/p\/[^/]+\/f\//);
    await page.getByRole("heading", { name: /Review loop/ }).first().waitFor();
    const flow = new URL(page.url()).pathname.split("/").at(-1);
    await until(() => place.run("status", flow, "--json").out, (said) => /"record\/|awaiting_improvement|completed/.test(said) && /publish/.test(said), "the example ran");
    // A project of a folder that holds work: it stays, and a second time nothing is replaced.
    for (const again of [false, true]) {
      await page.goto(`${place.origin}/flows`);
      await page.getByRole("button", { name: "New project" }).click();
      const name = dialog.getByRole("combobox", { name: "Name" });
      await until(() => name.evaluate((field) => field === document.activeElement), (is) => is, "the name is typed at once");
      await page.keyboard.type("ledger");
      if (!again) await says(dialog, /ledger exists/);
      await dialog.getByRole("button", { name: "Make project" }).click();
      if (again) await says(dialog.getByRole("alert"), /is there already[^]*nothing was written/);
      else await says(written, /ledger\/a-docs\/roles\/owner\/main\.md/);
      assert.deepEqual(await faultsOf(page), []);
    }
    assert.equal(place.read("ledger/main.c"), "int main;\n");
    await page.goto(`${place.origin}/flows`);
    // The project and the flow files are offered where a flow is started.
    await page.keyboard.press("Shift+N");
    await dialog.getByRole("group", { name: "Found in this workspace" }).getByRole("button", { name: "review-loop/flow.yaml" }).click();
    assert.equal(await dialog.getByRole("textbox", { name: "File", exact: true }).inputValue(), "review-loop/flow.yaml");
    assert.deepEqual(await faultsOf(page), []);
    await dialog.getByRole("button", { name: "Project", exact: true }).click();
    await dialog.getByRole("combobox", { name: "Project" }).selectOption("ledger");
    await dialog.getByRole("button", { name: "Start flow" }).click();
    await page.waitForURL(/\/p\/ledger\/f\//);
    const begun = new URL(page.url()).pathname.split("/").at(-1);
    await until(() => place.run("show", begun, "--json").code, (code) => code === 0, "its flow is there");
    assert.deepEqual(complaints, ["Failed to load resource: the server responded with a status of 409 (Conflict)"]);
  } finally {
    await browser.close();
    await place.end();
  }
});

test("a flow is deleted after its plan was read, and one that is open stays and says why", { skip }, async () => {
  const place = new Place();
  const browser = await launch();
  try {
    place.copy("examples/review-loop", "loop");
    place.copy("examples/human-gate", "gate");
    const run = (file, ...more) => new Promise((done) => place.begin(["run", file, "--json", "--until-waiting", ...more]).on("exit", done));
    await run("loop/flow.yaml", "--improve", "none");
    const { page, complaints } = await open(browser, await place.serve());
    page.on("response", (answer) => { if (answer.status() >= 400) complaints.push(answer.url()); });
    const [{ flow, project }] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    const folder = join(place.folder, place.state(flow));
    const remove = async () => {
      await page.getByRole("button", { name: "Flow actions" }).filter({ visible: true }).click();
      await page.getByRole("menuitem", { name: "Delete the flow" }).click();
      return page.getByRole("dialog", { name: "Delete the flow" });
    };
    // One that waits is not over.
    await run("gate/flow.yaml", "--title", "It waits");
    const waits = JSON.parse(place.run("ls", "--all", "--json").out).flows.find((one) => one.title === "It waits");
    await page.goto(`${place.origin}/p/${project}/f/${waits.flow}`);
    let dialog = await remove();
    await says(dialog.getByRole("alert"), /it is not over/);
    assert.ok(await dialog.getByRole("button", { name: "Delete permanently" }).isDisabled());
    assert.deepEqual(await faultsOf(page), []);
    // One that is over has a plan; keeping it changes nothing.
    await page.goto(`${place.origin}/p/${project}/f/${flow}`);
    dialog = await remove();
    await says(dialog, /journal[^]*All\s*\d+ files[^]*\.a-society\/state\//);
    await dialog.getByRole("button", { name: "Keep it" }).click();
    assert.ok(existsSync(folder));
    dialog = await remove();
    await dialog.getByRole("button", { name: "Delete permanently" }).click();
    await page.waitForURL(/\/flows$/);
    await until(() => existsSync(folder), (there) => !there, "its folder is gone");
    const rows = page.getByRole("table", { name: "Flows" });
    await says(rows, /It waits/);
    await until(() => rows.locator(`[data-flow="${project}/${flow}"]`).count(), (n) => n === 0, "it is no longer listed");
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    await place.end();
  }
});
