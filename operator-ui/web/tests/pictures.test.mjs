// The screens as they were last looked at, kept beside this file: one workspace in which the real program has played every
// flow (`played/stage.mjs`), so that all texts on them come from the program. The browser that made them compares them
// pixel by pixel. Another one draws edges and letters a little otherwise, so that it compares averages of small squares of the
// screen: what is there, how large, where and in which colour.
//
// `npm run pictures` makes them anew, after a review of the changes. Without the page's fonts every line is of
// another width, and without the walls around commands an ask has another text; a machine that lacks them reports it and
// compares nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { faultsOf } from "./checker.mjs";
import { Line } from "./line.mjs";
import { NOW, raise } from "./played/stage.mjs";
import { LONG_REST_MS, settled } from "./stage.mjs";

const FOLDER = new URL("pictures/", import.meta.url).pathname;
const MADE_WITH = join(FOLDER, "made-with.json");
/** Where a screen that differs is kept, to be looked at. */
const DIFFERS = new URL("shots/", import.meta.url).pathname;
const UPDATE = process.env.A_SOCIETY_UPDATE === "1";
/** Of all pixels, as many may differ: what a glyph's edge does when a library below is renewed. */
const SHARE = 0.001;
/** A channel may differ by so much before a pixel does. */
const TOLERANCE = 6;
/** The side of a square, by how much its mean may differ, and how many squares may differ by more. */
const SQUARE = { side: 12, tolerance: 36, share: 0.01 };
const FONTS = ["Inter", "JetBrains Mono"];
const SIZES = { desktop: { width: 1280, height: 800 }, mobile: { width: 390, height: 844 } };
const [DESK, PHONE] = [["desktop"], ["mobile"]];
const BOTH = [...DESK, ...PHONE];

/** A flow's page, further down. */
const within = (name, more = "") => ({ path }) => path(name) + more;
const dialog = (name) => async (page) => {
  await page.getByRole("button", { name: "Flow actions" }).click();
  await page.getByRole("menuitem", { name }).click();
  await page.getByRole("dialog", { name }).waitFor();
};
/** The pictures: where, in which sizes, what is done before, and what is hidden: names that are drawn by lot, where a
 * workspace of this run is, and how long a command really took. What comes after the first eleven is seen light on a
 * desk and dark on a phone. */
const PICTURES = {
  inbox: { at: ({ ask }) => ask("ledger"), sizes: BOTH },
  palette: { at: within("ledger"), sizes: DESK, then: async (page) => { await page.keyboard.press("Control+k"); await page.keyboard.type("frame"); await page.getByRole("listbox", { name: "Results" }).getByText(/a torn frame/).first().waitFor(); } },
  offline: { at: within("ledger"), sizes: DESK, then: async (page, line) => { line.cut(); await page.getByRole("button", { name: "Try now" }).waitFor(); } },
  feed: { at: within("ledger", "/r/backend"), sizes: PHONE },
  flow: { at: within("ledger", "?node=api&role=backend"), sizes: DESK },
  outline: { at: within("ledger", "/outline"), sizes: PHONE },
  past: { at: ({ path, then }) => `${path("ledger")}?at=${then.handed}`, sizes: DESK },
  closed: { at: within("catalogue", "/improve"), sizes: DESK },
  transcript: { at: within("ledger", "/r/backend/transcript?msg=2"), sizes: BOTH, hidden: (page) => page.getByRole("option").getByText(/^\[exit \d+, /) },
  failure: { at: ({ ask }) => ask("tour"), few: true },
  limit: { at: within("letters", "/r/writer"), few: true },
  approval: { at: ({ ask }) => ask("billing"), few: true },
  question: { at: ({ ask }) => ask("archive"), few: true },
  person: { at: ({ ask }) => ask("offers"), few: true },
  stopped: { at: ({ ask }) => ask("fork"), few: true },
  retrospective: { at: ({ ask }) => ask("wizard"), few: true },
  damaged: { at: within("damaged"), few: true, hidden: (page) => page.getByText(/a-society repair/).locator("visible=true").last() },
  flows: { at: () => "/flows", few: true },
  costs: { at: within("ledger"), few: true, then: dialog("Costs") },
  files: { at: within("ledger", "/files"), few: true },
  compare: { at: ({ path, flows }) => `${path("ranking")}/compare/orchard/${flows.fork}`, few: true },
  settings: { at: () => "/settings/models", few: true, hidden: (page) => page.getByText(/^http:\/\/127\.0\.0\.1|a-society-page-/) },
};

const found = (font) => spawnSync("fc-list", [font], { encoding: "utf8" }).stdout?.trim() !== "";
const lacking = FONTS.filter((font) => !found(font));
let browser, stage, judge, cookies, exact = true, skip = lacking.length > 0 ? `NOT MEASURED: the pictures of the screens, because ${lacking.join(" and ")} are not installed` : false;

before(async () => {
  browser = await launch();
  const version = browser.version().split(".")[0];
  if (skip === false) {
    stage = await raise();
    skip = stage.why ?? false;
  }
  if (skip !== false) return console.log(skip);
  if (UPDATE) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(MADE_WITH, `${JSON.stringify({ chromium: version, fonts: FONTS })}\n`);
  } else {
    exact = JSON.parse(readFileSync(MADE_WITH, "utf8")).chromium === version;
  }
  judge = await (await browser.newContext()).newPage();
  // One window signs in; what the others have of it is its cookie.
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(await stage.place.link());
  await page.waitForFunction(() => !location.href.includes("token") && document.querySelector("[data-line=open]") !== null);
  cookies = await first.cookies();
  await first.close();
});
after(async () => {
  await leave();
  await browser.close();
  await stage?.end();
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

const LOOKS = (picture) => (picture.few === true ? [["desktop", "light"], ["mobile", "dark"]] : picture.sizes.flatMap((size) => [[size, "light"], [size, "dark"]]));
/** The screen that was looked at last: one that is seen in both themes is loaded once. */
let shown = null;
async function leave() {
  await shown?.context.close();
  shown = null;
}
async function screen(name, size, theme) {
  if (shown?.name === name && shown.size === size) {
    await shown.page.emulateMedia({ colorScheme: theme });
    return shown;
  }
  await leave();
  const picture = PICTURES[name];
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme: theme, reducedMotion: "reduce", timezoneId: "UTC", locale: "en-GB", hasTouch: size === "mobile", isMobile: size === "mobile" });
  await context.addCookies(cookies);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  shown = { name, size, context, page, complaints };
  await page.clock.setFixedTime(NOW);
  await page.addInitScript(() => { Math.random = () => 0.5; });
  const line = picture.then === undefined ? null : await Line.of(page);
  await page.goto(stage.place.origin + picture.at(stage));
  await page.waitForFunction(() => Number(document.querySelector("[data-seq]")?.getAttribute("data-seq") ?? 0) > 0);
  await page.waitForFunction(() => document.querySelector("main") !== null && document.querySelector("[data-loading], [data-quiet]") === null);
  await picture.then?.(page, line);
  return shown;
}
for (const [name, picture] of Object.entries(PICTURES)) {
  for (const [size, theme] of LOOKS(picture)) {
    test(`the screen "${name}" looks as it did and has no fault that a checker finds, ${size}, ${theme}`, async (t) => {
      if (skip !== false) return t.skip(skip);
      const { page, complaints } = await screen(name, size, theme);
      await settled(page, LONG_REST_MS);
      const kept = join(FOLDER, `${name}-${size}-${theme}.png`);
      const wanted = UPDATE ? null : readFileSync(kept);
      const mask = picture.hidden === undefined ? [] : [picture.hidden(page)];
      const take = () => page.screenshot({ animations: "disabled", caret: "hide", mask, maskColor: "#888888" });
      // Two pictures that are the same are a screen at rest, and so is one that is the kept one to the byte.
      let taken = await take();
      for (let tries = 0; tries < 20 && !(wanted?.equals(taken)); tries += 1) {
        await new Promise((done) => setTimeout(done, 150));
        const next = await take();
        if (next.equals(taken)) break;
        taken = next;
      }
      const faults = await faultsOf(page);
      // The line that is cut on purpose is complained about by the browser.
      assert.deepEqual([faults, picture === PICTURES.offline ? [] : complaints], [[], []]);
      if (wanted === null) {
        writeFileSync(kept, taken);
        return;
      }
      const { count, all } = wanted.equals(taken) ? { count: 0, all: 1 } : await differing(taken, wanted);
      const now = join(DIFFERS, `${name}-${size}-${theme}.png`);
      const share = exact ? SHARE : SQUARE.share;
      rmSync(now, { force: true });
      if (count > all * share) {
        mkdirSync(DIFFERS, { recursive: true });
        writeFileSync(now, taken);
      }
      const what = exact ? "pixels" : "squares";
      assert.ok(count <= all * share, `${count} of ${all} ${what} differ (${((100 * count) / all).toFixed(2)} %, allowed ${100 * share} %): look at ${now} beside ${kept}, and if it is meant, run npm run pictures`);
    });
  }
}
