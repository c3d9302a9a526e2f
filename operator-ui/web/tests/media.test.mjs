// What a reader's system asks for: colours of its own, and no motion.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf } from "./checker.mjs";
import { settled, stage, until } from "./stage.mjs";

const at = stage();
const ROUTES = { inbox: "/inbox", graph: "/p/orchard/f/ledger", outline: "/p/orchard/f/ledger/outline", feed: "/p/orchard/f/ledger/r/backend", past: "/p/orchard/f/ledger?at=3100", transcript: "/p/orchard/f/ledger/r/backend/transcript", flows: "/flows" };

for (const [name, path] of Object.entries(ROUTES)) {
  test(`in colours of the reader's system the screen "${name}" has no fault, and every state is still told by its shape`, async () => {
    const { page, complaints } = await at(path);
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ forcedColors: "active", colorScheme: theme, reducedMotion: "reduce" });
      await settled(page);
      assert.equal(await page.evaluate(() => matchMedia("(forced-colors: active)").matches), true);
      assert.deepEqual(await faultsOf(page), [], theme);
      // A glyph that is painted in the colour of what is behind it is not there for the reader.
      const hidden = await page.evaluate(() => {
        const seen = (element) => { const box = element.getBoundingClientRect(); return box.width > 0 && box.bottom > 0 && box.top < innerHeight && getComputedStyle(element).visibility === "visible"; };
        const behind = (element) => { for (let at = element; at !== null; at = at.parentElement) { const colour = getComputedStyle(at).backgroundColor; if (!/rgba\(.*, 0\)|transparent/.test(colour)) return colour; } return "rgb(255, 255, 255)"; };
        return [...document.querySelectorAll("svg.glyph, svg.icon")].filter(seen).filter((svg) => getComputedStyle(svg).color === behind(svg)).map((svg) => svg.outerHTML.slice(0, 120));
      });
      assert.deepEqual(hidden, [], theme);
    }
    assert.deepEqual(complaints.filter((text) => !/\b404\b/.test(text)), []);
  });
}

test("nothing moves for a reader who asked for no motion, and something does for others", async () => {
  const { page } = await at("/p/orchard/f/ledger");
  const moving = () => page.evaluate(() => document.getAnimations().filter((one) => one.playState === "running" && one.effect?.getComputedTiming().duration > 1).length);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await settled(page);
  assert.ok((await moving()) > 0, "a node that runs turns");
  await page.emulateMedia({ reducedMotion: "reduce" });
  await settled(page);
  assert.equal(await moving(), 0);
  await page.keyboard.press("Control+k");
  assert.equal(await moving(), 0, "nothing slides in");
});

test("what a node does is shown for half a second at least, and then the newest of it", async () => {
  const { page, server } = await at("/inbox");
  await page.clock.install();
  await page.goto(`${server.address}/p/orchard/f/ledger`);
  const line = page.locator('[data-card="ui"] .line');
  await line.waitFor();
  const { ui } = server.world.flows["orchard/ledger"].state.nodes;
  // Time is held from here on; messages arrive all the same.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 5_000));
  const told = async (text) => {
    server.put("flow orchard/ledger", { "node/ui": { ...ui, live: text } });
    await until(() => page.locator('[data-card="ui"]').getAttribute("aria-label"), (label) => label.includes(text), `the card says "${text}"`);
  };
  await told("reading one");
  await page.clock.runFor(500);
  assert.equal(await line.innerText(), "reading one");
  await told("reading two");
  await told("reading three");
  assert.equal(await line.innerText(), "reading one");
  await page.clock.runFor(500);
  assert.equal(await line.innerText(), "reading three");
});
