// The screens as they were last looked at: 22 pictures, kept beside this file. The browser that made them compares them
// pixel by pixel. Another one draws edges and letters a little otherwise, so that it compares what small squares of the
// screen come to: what is there, how large, where and in which colour.
//
// `npm run pictures` makes them anew, after somebody has looked at what changed. Without the page's fonts every line is of
// another width; a machine that lacks them says so and compares nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { serve } from "./ledger/server.mjs";
import { SCREENS, stage as ledger } from "./ledger/told.mjs";
import { StandIn } from "./stand-in.mjs";

/** The moment that all pictures show. */
const NOW = new Date("2026-03-03T14:11:52Z");
process.env.A_SOCIETY_NOW = String(NOW.getTime());
const { DIFF, world } = await import("./world.mjs");
const FOLDER = new URL("pictures/", import.meta.url).pathname;
const MADE_WITH = join(FOLDER, "made-with.json");
const UPDATE = process.env.A_SOCIETY_UPDATE === "1";
/** Of all pixels, as many may differ: what a glyph's edge does when a library below is renewed. */
const SHARE = 0.001;
/** A channel may differ by so much before a pixel does. */
const TOLERANCE = 6;
/** The side of a square, by how much its mean may differ, and how many squares may differ by more. */
const SQUARE = { side: 12, tolerance: 36, share: 0.01 };
const FONTS = ["Inter", "JetBrains Mono"];
const SIZES = { desktop: { width: 1280, height: 800 }, mobile: { width: 390, height: 844 } };
const BOTH = ["desktop", "mobile"];
const DESK = ["desktop"];

/** The pictures: at which stage, at which address, in which sizes, and what is done before. */
const PICTURES = {
  inbox: { at: "/inbox/ledger/consent/c1", sizes: BOTH },
  palette: { at: "/p/orchard/f/ledger", sizes: DESK, then: async (page) => { await page.keyboard.press("Control+k"); await page.keyboard.type("com"); } },
  offline: { at: "/p/orchard/f/ledger", sizes: DESK, then: async (page, server) => { server.drop(true); await page.getByRole("button", { name: "Try now" }).waitFor(); } },
  feed: { at: "/p/orchard/f/ledger/r/backend", sizes: ["mobile"] },
  flow: { at: SCREENS.graph, sizes: DESK, ledger: true },
  outline: { at: SCREENS.outline, sizes: ["mobile"], ledger: true },
  past: { at: SCREENS.past, sizes: DESK, ledger: true },
  closed: { at: SCREENS.improve, sizes: DESK, ledger: true },
  transcript: { at: SCREENS.transcript.replace("msg=17", "msg=2"), sizes: BOTH, ledger: true },
};

const found = (font) => spawnSync("fc-list", [font], { encoding: "utf8" }).stdout?.trim() !== "";
const lacking = FONTS.filter((font) => !found(font));
let browser, server, stand, judge, exact = true, skip = lacking.length > 0 ? `NOT MEASURED: the pictures of the screens, because ${lacking.join(" and ")} are not installed` : false;

before(async () => {
  browser = await launch();
  const version = browser.version().split(".")[0];
  if (UPDATE) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(MADE_WITH, `${JSON.stringify({ chromium: version, fonts: FONTS })}\n`);
  } else {
    exact = JSON.parse(readFileSync(MADE_WITH, "utf8")).chromium === version;
  }
  if (skip !== false) console.log(skip);
  server = await serve(ledger());
  judge = await (await browser.newContext()).newPage();
});
after(async () => {
  await browser.close();
  await server.close();
  await stand?.close();
});

/** How many of the pixels, or of the squares, of two pictures differ; all of them when they are not of one size. */
async function differing(one, other) {
  return judge.evaluate(async ([a, b, tolerance, square]) => {
    const pixels = async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return { width: image.width, height: image.height, data: context.getImageData(0, 0, image.width, image.height).data };
    };
    const [left, right] = [await pixels(a), await pixels(b)];
    const all = left.width * left.height;
    if (left.width !== right.width || left.height !== right.height) return { count: all, all };
    let count = 0;
    if (square !== null) {
      const { side } = square;
      const [wide, high] = [Math.floor(left.width / side), Math.floor(left.height / side)];
      const mean = (picture, column, row, channel) => {
        let sum = 0;
        for (let y = row * side; y < (row + 1) * side; y += 1) for (let x = column * side; x < (column + 1) * side; x += 1) sum += picture.data[4 * (y * picture.width + x) + channel];
        return sum / (side * side);
      };
      for (let row = 0; row < high; row += 1) for (let column = 0; column < wide; column += 1) {
        if ([0, 1, 2].some((channel) => Math.abs(mean(left, column, row, channel) - mean(right, column, row, channel)) > square.tolerance)) count += 1;
      }
      return { count, all: wide * high };
    }
    for (let at = 0; at < left.data.length; at += 4) {
      if ([0, 1, 2].some((channel) => Math.abs(left.data[at + channel] - right.data[at + channel]) > tolerance)) count += 1;
    }
    return { count, all };
  }, [one.toString("base64"), other.toString("base64"), TOLERANCE, exact ? null : SQUARE]);
}

for (const [name, picture] of Object.entries(PICTURES)) {
  for (const size of picture.sizes) for (const theme of ["light", "dark"]) {
    test(`the screen "${name}" looks as it did, ${size}, ${theme}`, async (t) => {
      if (skip !== false && !UPDATE) return t.skip(skip);
      let address = server.url;
      if (picture.ledger !== true) {
        await stand?.close();
        stand = await new StandIn(world()).listen();
        stand.bodies.set("f3120", { text: "ok", total_bytes: 2, next: null, parts: { diff: DIFF } });
        address = stand.address;
      }
      const context = await browser.newContext({ viewport: SIZES[size], colorScheme: theme, reducedMotion: "reduce", timezoneId: "UTC", locale: "en-GB", hasTouch: size === "mobile", isMobile: size === "mobile" });
      const page = await context.newPage();
      await page.clock.setFixedTime(NOW);
      await page.addInitScript(() => { Math.random = () => 0.5; });
      await page.goto(address + picture.at);
      await page.waitForFunction(() => Number(document.querySelector("[data-seq]")?.getAttribute("data-seq") ?? 0) > 0);
      await page.waitForLoadState("networkidle");
      await picture.then?.(page, stand);
      // Two pictures that are the same are a screen at rest.
      let taken = await page.screenshot({ animations: "disabled", caret: "hide" });
      for (let tries = 0; tries < 20; tries += 1) {
        await new Promise((done) => setTimeout(done, 250));
        const next = await page.screenshot({ animations: "disabled", caret: "hide" });
        if (next.equals(taken)) break;
        taken = next;
      }
      await context.close();
      const kept = join(FOLDER, `${name}-${size}-${theme}.png`);
      if (UPDATE) {
        writeFileSync(kept, taken);
        return;
      }
      const { count, all } = await differing(taken, readFileSync(kept));
      const now = join(tmpdir(), `a-society-${name}-${size}-${theme}.png`);
      const share = exact ? SHARE : SQUARE.share;
      if (count > all * share) writeFileSync(now, taken);
      else rmSync(now, { force: true });
      const what = exact ? "pixels" : "squares";
      assert.ok(count <= all * share, `${count} of ${all} ${what} differ (${((100 * count) / all).toFixed(2)} %, allowed ${100 * share} %): look at ${now} beside ${kept}, and if it is meant, run npm run pictures`);
    });
  }
}
