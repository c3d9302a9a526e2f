// The page inside the real program: one flow is answered from a browser until a person's own turn.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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

test("a role's finding becomes a change of the project on the page of the program, and a fork hears a first message", { skip: missing }, async () => {
  const workspace = mkdtempSync(join(tmpdir(), "a-society-page-"));
  mkdirSync(join(workspace, ".a-society"));
  cpSync(join(root, "examples/release-notes"), join(workspace, "notes"), { recursive: true });
  const ran = spawnSync(binary, ["run", "notes", "--improve", "graph", "--feedback", "yes", "--json"], { cwd: workspace, encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stderr);
  const serving = spawn(binary, ["serve", "--port", "0"], { cwd: workspace });
  const browser = await launch();
  try {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    const complaints = [];
    page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") complaints.push(message.text()); });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(await address(serving));
    await until(() => page.url(), (url) => !url.includes("token"), "the token leaves the address");
    await page.getByRole("link", { name: "Findings" }).click();
    await page.getByRole("button", { name: /^writer/ }).click();
    await page.getByRole("button", { name: "Propose a change" }).click();
    const field = page.getByLabel("What the file would say");
    await field.waitFor();
    const style = join(workspace, "notes/a-docs/style.md");
    const before = readFileSync(style, "utf8");
    assert.equal(await field.inputValue(), before);
    await field.fill(`${before}What breaks comes first.\n`);
    await page.getByRole("button", { name: "Propose this change" }).click();
    await page.getByRole("button", { name: /^a-docs\/style\.md/ }).click();
    await page.getByRole("button", { name: "Apply", exact: true }).waitFor();
    assert.equal(readFileSync(style, "utf8"), before, "nothing is written before it is applied");
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.locator(".card").getByText("Applied").waitFor();
    assert.equal(readFileSync(style, "utf8"), `${before}What breaks comes first.\n`);
    await page.getByRole("link", { name: /writer found at event/ }).click();
    await page.waitForSelector("[role=log] .row");
    await page.goto(`${page.url().split("/r/")[0]}?at=40`);
    await page.getByRole("region", { name: "Timeline" }).getByRole("button", { name: /Fork/ }).click();
    await page.getByLabel(/First message to/).fill("Mind what breaks.");
    await page.getByRole("button", { name: "Fork and open" }).click();
    await page.getByText("Mind what breaks.").first().waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    serving.kill("SIGINT");
    rmSync(workspace, { recursive: true, force: true });
  }
});
