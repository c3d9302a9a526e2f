// The page inside the real program: one flow is answered from a browser until a person's own turn.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launch } from "./browser.mjs";
import { binary, root } from "./program.mjs";
import { sleep, until } from "./stage.mjs";

const missing = existsSync(binary) ? false : `NOT MEASURED: the page in the program, because ${binary} is not built`;

/** The address that `serve` prints, token and all. */
function address(serving) {
  return new Promise((found, failed) => {
    let said = "";
    const hear = (bytes) => {
      said += bytes;
      const line = /http:\/\/\S+#token=\S+/.exec(said);
      if (line !== null) found(line[0]);
    };
    serving.stdout.on("data", hear);
    serving.stderr.on("data", hear);
    serving.on("exit", (code) => failed(new Error(`serve ended with ${code}: ${said}`)));
  });
}

test("a flow is answered from the page of the program, up to the turn that a person takes", { skip: missing }, async () => {
  const workspace = mkdtempSync(join(tmpdir(), "a-society-page-"));
  mkdirSync(join(workspace, ".a-society"));
  spawnSync(binary, ["run", join(root, "examples/human-gate/flow.yaml")], { cwd: workspace, stdio: ["ignore", "ignore", "ignore"] });
  const serving = spawn(binary, ["serve", "--port", "0"], { cwd: workspace });
  const browser = await launch();
  try {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    const complaints = [];
    page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") complaints.push(message.text()); });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(await address(serving));
    await until(() => page.url(), (url) => !url.includes("token"), "the token leaves the address");
    await page.getByRole("heading", { name: "planner asks you" }).waitFor();
    await page.getByLabel("Your answer").fill("Twelve people, inside.");
    await page.getByLabel("Your answer").press("Enter");
    const approve = page.getByRole("button", { name: "Approve hand-off" });
    await approve.waitFor();
    await sleep(600);
    await approve.click();
    await until(() => page.locator("main").innerText(), (text) => /\blead\b/.test(text), "the next turn is a person's");
    await page.getByRole("link", { name: "Open in flow" }).click();
    await page.waitForSelector("[role=log] .row");
    await page.getByRole("link", { name: "Outline", exact: true }).click();
    await until(() => page.locator("main").innerText(), (text) => text.includes("propose-to-sign"), "what was handed over stands on its edge");
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    serving.kill("SIGINT");
    rmSync(workspace, { recursive: true, force: true });
  }
});
