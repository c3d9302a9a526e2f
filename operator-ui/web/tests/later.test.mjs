// Parts of the page that are fetched later, while the real program is away: they come when it is back, with their styles, and
// nothing is loaded anew.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open } from "./browser.mjs";
import { missing, Place } from "./program.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("parts of the page that are fetched while the program is away");
const FLOW = "workflow:\n  name: Waits\n  nodes: [ { id: ask, role: owner } ]\n  edges: []\nroles: { owner: { executor: human } }\n";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** A page of the program, which says when it is loaded anew. */
async function stage() {
  const place = new Place({ "demo/flow.yaml": FLOW });
  const seen = await open(browser, await place.serve());
  await seen.page.locator(".shell[data-line=open]").waitFor();
  await seen.page.evaluate(() => { window.stayed = true; });
  const back = async () => {
    await place.serve();
    const beside = await seen.page.context().newPage();
    await beside.goto(await place.link());
    await beside.locator(".shell[data-line=open]").waitFor();
    await seen.page.bringToFront();
  };
  return { place, back, ...seen, end: async () => { await seen.close(); await place.end(); } };
}
const stayed = (page) => page.evaluate(() => window.stayed === true);
/** The browser's own words when nothing answers, and when the next program does not know it yet. */
const away = (line) => /net::ERR_CONNECTION|WebSocket connection to|401/.test(line);

test("a screen and a dialog that are opened while the program is away come when it is back, as they look otherwise", { skip }, async () => {
  const { place, back, page, complaints, end } = await stage();
  try {
    const width = () => page.locator("main nav").first().evaluate((nav) => getComputedStyle(nav).display);
    await place.kill();
    await until(() => page.locator(".shell").getAttribute("data-line"), (line) => line === "lost", "the line is lost");
    await page.getByRole("link", { name: "Settings" }).click();
    await says(page.locator("main"), /This part could not be loaded: .*It comes when the server is back\./s);
    await page.keyboard.press("Shift+N");
    await says(page.locator("p.over"), /could not be loaded/);
    await back();
    await page.getByRole("dialog", { name: "Start a flow" }).waitFor();
    // The style of a dialog that was fetched late.
    assert.equal(await page.getByRole("dialog").evaluate((dialog) => getComputedStyle(dialog).borderRadius), "14px");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    assert.equal(await page.getByText("could not be loaded").count(), 0);
    const late = await width();
    assert.equal(await stayed(page), true, "nothing was loaded anew");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    assert.equal(late, await width(), "it looks as one that is there from the start");
    assert.deepEqual(complaints.filter((line) => !away(line) && !/Failed to (load resource|fetch)/.test(line)), []);
  } finally {
    await end();
  }
});

test("who is signed out by a program of another build signs in where the page stands", { skip }, async () => {
  const place = new Place({ "demo/flow.yaml": FLOW });
  await place.serve();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  try {
    await page.clock.install();
    const ahead = page.waitForResponse(/signed-out\.js/);
    await page.goto(await place.link());
    await page.locator(".shell[data-line=open]").waitFor();
    await page.clock.fastForward(20_000);
    await ahead;
    // What the next program brings is called the same and is something else.
    await page.route(/signed-out\.js/, (route) => route.fulfill({ contentType: "text/javascript", body: "throw new TypeError('of another build')" }));
    await place.kill();
    await place.serve();
    const field = page.getByRole("textbox", { name: /address/i });
    await until(async () => { await page.clock.fastForward(1_000); return field.count(); }, (n) => n === 1, "it asks for the address");
    await field.fill(await place.link());
    await field.press("Enter");
    await until(() => page.locator(".shell").getAttribute("data-line"), (line) => line === "open", "it is signed in");
  } finally {
    await context.close();
    await place.end();
  }
});

test("a graph that is opened while the program is away is laid out when it is back", { skip }, async () => {
  const { place, back, page, end } = await stage();
  try {
    const { flow, project } = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none" });
    await page.locator("a[data-flow], nav a").filter({ hasText: "Waits" }).first().waitFor();
    await place.kill();
    await until(() => page.locator(".shell").getAttribute("data-line"), (line) => line === "lost", "the line is lost");
    await page.locator("a").filter({ hasText: "Waits" }).first().click();
    await until(() => page.url(), (url) => url.includes(`/p/${project}/f/${flow}`), "the flow is opened");
    await says(page.locator("main"), /could not be loaded/);
    await back();
    await page.locator("[data-card]").first().waitFor();
    await page.getByRole("log").waitFor();
    assert.equal(await stayed(page), true);
  } finally {
    await end();
  }
});
