// What can be pressed is large enough, on a desk, in windows between and on a phone; and the feed is as wide as was chosen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, stage, until } from "./stage.mjs";
import { world } from "./world.mjs";

const at = stage();
const FLOW = "/p/orchard/f/ledger";
const SCREENS = {
  inbox: "/inbox", question: "/inbox/archive/text/analyst", "choice of improvement": "/inbox/wizard/improvement/flow", graph: FLOW, outline: `${FLOW}/outline`, files: `${FLOW}/files`,
  events: `${FLOW}/events`, feed: `${FLOW}/r/backend`, past: `${FLOW}?at=3100`, transcript: `${FLOW}/r/backend/transcript`, flows: "/flows", findings: "/findings", roles: "/roles", look: "/settings/look", keys: "/settings/keys",
};
/** Windows: wide, four between, a phone; and how high and wide a target is at least. */
const WINDOWS = [[1440, 900, 24], [1180, 800, 24], [1024, 768, 24], [860, 700, 24], [720, 700, 24], [390, 844, 44]];

/** The windows that are looked at again in wide letters: where there is least room. */
const WIDE_LETTERS = [WINDOWS.at(-1), WINDOWS.at(-3)];

/** What is too small to press, as it is hit and not as it is drawn. A link within a sentence is as high as its line. */
function tooSmall(least) {
  const seen = (one) => { const box = one.getBoundingClientRect(); return box.width > 0 && box.height > 0 && one.checkVisibility({ opacityProperty: true, visibilityProperty: true }); };
  const inSentence = (one) => one.matches("a") && getComputedStyle(one).display === "inline" && (one.parentElement?.textContent ?? "").trim().length > (one.textContent ?? "").trim().length;
  const hits = (one, x, y) => {
    const found = document.elementFromPoint(x, y);
    return found !== null && (one === found || one.contains(found) || (one.labels !== undefined && [...(one.labels ?? [])].some((label) => label.contains(found))));
  };
  const faults = [];
  for (const one of document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=option], [role=slider], [role=tab]")) {
    if (!seen(one) || one.disabled || inSentence(one)) continue;
    // What is labelled is pressed on its label as well.
    const box = (one.closest("label") ?? one).getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    // Only what is in view can be hit; what is cut by its scroller is not judged.
    if (x < 0 || y < 0 || x > innerWidth || y > innerHeight || !hits(one, x, y)) continue;
    const reach = (least - 1) / 2;
    const far = (dx, dy) => { const [px, py] = [x + dx, y + dy]; return px <= 1 || py <= 1 || px >= innerWidth - 1 || py >= innerHeight - 1 || hits(one, px, py); };
    const wide = box.width >= least - 0.6 || (far(-reach, 0) && far(reach, 0));
    const high = box.height >= least - 0.6 || (far(0, -reach) && far(0, reach));
    if (!wide || !high) faults.push(`${Math.round(box.width)} by ${Math.round(box.height)}: ${one.outerHTML.replace(/ class="[^"]*"/, "").slice(0, 110)}`);
  }
  return [...new Set(faults)];
}

for (const [name, path] of Object.entries(SCREENS)) {
  test(`everything on the screen "${name}" that can be pressed is large enough, and nothing is wider than the window`, async () => {
    const { page } = await at(path);
    for (const [width, height, least] of WINDOWS) {
      await page.setViewportSize({ width, height });
      await settled(page);
      // A busy page lays out late: the final layout counts.
      await until(() => page.evaluate(tooSmall, least), (faults) => faults.length === 0, `${width} wide: all is large enough`);
      await until(() => page.evaluate(() => document.documentElement.scrollWidth > innerWidth), (wider) => !wider, `${width} wide: nothing is wider`);
    }
    // A machine that has not the page's own letters may have wider ones.
    await page.evaluate(() => document.documentElement.style.setProperty("--sans", "monospace"));
    for (const [width, height, least] of WIDE_LETTERS) {
      await page.setViewportSize({ width, height });
      await settled(page);
      await until(() => page.evaluate(tooSmall, least), (faults) => faults.length === 0, `${width} wide, wide letters: all is large enough`);
      await until(() => page.evaluate(() => document.documentElement.scrollWidth > innerWidth), (wider) => !wider, `${width} wide, wide letters: nothing is wider`);
    }
  });
}

test("a feed is 456 pixels wide or what was chosen, never less than 380, and leaves the graph its room", async () => {
  const { page } = await at(FLOW);
  const pane = page.getByRole("region", { name: "Feed", exact: true });
  const width = async () => Math.round((await pane.boundingBox()).width);
  for (const [window, wide] of [[1440, 456], [1180, 456], [1024, 456], [860, 388]]) {
    await page.setViewportSize({ width: window, height: 800 });
    await until(width, (pixels) => pixels === wide, `in a window of ${window}`);
  }
  await page.setViewportSize({ width: 1440, height: 800 });
  const grip = page.getByRole("separator", { name: "Width of the feed" });
  const box = await grip.boundingBox();
  await page.mouse.move(box.x + 4, 300);
  await page.mouse.down();
  await page.mouse.move(box.x - 140, 300, { steps: 6 });
  await page.mouse.up();
  await until(width, (pixels) => pixels > 590 && pixels < 610, "it was dragged wider");
  const chosen = await width();
  await page.reload();
  await until(width, (pixels) => pixels === chosen, "it is remembered");
  assert.equal(Number(await grip.getAttribute("aria-valuenow")), chosen);
  await grip.focus();
  await page.keyboard.press("End");
  await until(width, (pixels) => pixels === 720, "the most");
  // A step begins at the width that the separator has measured.
  await until(() => grip.getAttribute("aria-valuenow"), (measured) => Number(measured) === 720, "the most, as the separator says");
  await page.keyboard.press("ArrowRight");
  await until(width, (pixels) => pixels === 704, "a step narrower");
  await page.keyboard.press("Home");
  await until(width, (pixels) => pixels === 380, "the least");
});

test("an artifact on the graph can be pressed at any size that can be read", async () => {
  const { page } = await at(FLOW, { width: 900, height: 560 });
  await page.locator(".chip").first().waitFor();
  const zoom = Number.parseInt(await page.locator(".zoom .num").innerText(), 10);
  assert.ok(zoom < 90, `the graph is drawn at ${zoom} %`);
  await until(() => page.evaluate(tooSmall, 24), (faults) => faults.length === 0, "all is large enough");
});

test("what a node waits for is whole on its card, however long its name is, on a desk, in a smaller window and on a phone", async () => {
  const data = world();
  const { state } = data.flows["orchard/ledger"];
  const long = { api: "documentation-and-release", ui: "release-notes" };
  const named = (id) => long[id] ?? id;
  state.order = state.order.map(named);
  state.nodes = Object.fromEntries(Object.values(state.nodes).map((node) => [named(node.id), { ...node, id: named(node.id), state: "needs-you", words: "Needs your word", role: "documentation-owner" }]));
  state.edges = Object.fromEntries(Object.values(state.edges).map((edge) => [`${named(edge.from)}/${named(edge.to)}`, { ...edge, from: named(edge.from), to: named(edge.to) }]));
  const { page } = await at(FLOW, { data });
  const cut = () => page.locator("[data-card] .side.you").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1 || !one.innerText.startsWith("Waiting for you")).map((one) => `${one.innerText}: ${one.clientWidth} of ${one.scrollWidth}`));
  for (const letters of ["", "monospace"]) for (const [width, height] of [[1440, 900], [1024, 768], [390, 844]]) {
    await page.evaluate((face) => document.documentElement.style.setProperty("--sans", face), letters);
    await page.setViewportSize({ width, height });
    await settled(page);
    await until(cut, (faults) => faults.length === 0, `${width} wide, in ${letters || "its own letters"}`);
  }
});
