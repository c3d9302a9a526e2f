// The page inside the real program: one flow is answered from a browser until a person's own turn.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CSP } from "./door.mjs";
import { missing, Place, root } from "./program.mjs";
import { armed, until } from "./stage.mjs";

const skip = missing("the page in the program");

/** A workspace as `prepare` leaves it, the program that serves it, and its page. */
async function served(prepare, walk) {
  const place = new Place();
  const browser = await launch();
  try {
    prepare(place);
    const { page, complaints } = await open(browser, await place.serve());
    await until(() => page.url(), (url) => !url.includes("token"), "the token leaves the address");
    await walk(page, place);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    await place.end();
  }
}

test("a flow is answered from the page of the program, up to the turn that a person takes", { skip }, async () => {
  const asks = (place) => place.run("run", join(root, "examples/human-gate/flow.yaml"));
  await served(asks, async (page) => {
    await page.getByRole("heading", { name: "planner needs your answer" }).waitFor();
    await page.getByLabel("Your answer").fill("Twelve people, inside.");
    await page.getByLabel("Your answer").press("Enter");
    const approve = page.getByRole("button", { name: /^Approve/ });
    await approve.waitFor();
    await armed(page);
    await approve.click();
    await until(() => page.locator("main").innerText(), (text) => /\blead\b/.test(text), "the next turn is a person's");
    await page.getByRole("link", { name: "Open in flow" }).click();
    await page.waitForSelector("[role=log] .row");
    await page.getByRole("link", { name: "Outline", exact: true }).click();
    await until(() => page.locator("main").innerText(), (text) => text.includes("propose-to-sign"), "what was handed over stands on its edge");
    // A file has an address of its own, which is good when it is opened anew.
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("navigation", { name: "Files of this flow" }).getByText("wish.md").first().click();
    const wish = page.getByText("A day for the team, this year.").first();
    await wish.waitFor();
    assert.match(new URL(page.url()).pathname, /\/files\/.*wish\.md$/);
    const again = await page.reload();
    assert.equal(again.headers()["content-security-policy"], CSP, "the policy of the stand-ins is the program's");
    await wish.waitFor();
  });
});

test("a role's finding becomes a change of the project on the page of the program, and a fork hears a first message", { skip }, async () => {
  const improved = (place) => {
    place.copy("examples/release-notes", "notes");
    const ran = place.run("run", "notes", "--improve", "graph", "--feedback", "yes", "--json");
    assert.equal(ran.code, 0, ran.err);
  };
  await served(improved, async (page, place) => {
    await page.getByRole("link", { name: "Findings" }).click();
    await page.getByRole("button", { name: /^writer/ }).click();
    await page.getByRole("button", { name: "Propose a change" }).click();
    const field = page.getByLabel("What the file would say");
    await field.waitFor();
    const style = () => place.read("notes/a-docs/style.md");
    const before = style();
    assert.equal(await field.inputValue(), before);
    await field.fill(`${before}What breaks comes first.\n`);
    await page.getByRole("button", { name: "Propose this change" }).click();
    await page.getByRole("button", { name: /^a-docs\/style\.md/ }).click();
    await page.getByRole("button", { name: "Apply", exact: true }).waitFor();
    assert.equal(style(), before, "nothing is written before it is applied");
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.locator(".card").getByText("Applied").waitFor();
    assert.equal(style(), `${before}What breaks comes first.\n`);
    await page.getByRole("link", { name: /writer found at event/ }).click();
    await page.waitForSelector("[role=log] .row");
    await page.goto(`${page.url().split("/r/")[0]}?at=40`);
    await page.getByRole("region", { name: "Timeline" }).getByRole("button", { name: /Fork/ }).click();
    await page.getByLabel(/First message to/).fill("Mind what breaks.");
    await page.getByRole("button", { name: "Fork and open" }).click();
    await page.getByText("Mind what breaks.").first().waitFor();
  });
});
