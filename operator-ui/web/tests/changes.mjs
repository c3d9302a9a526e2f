// Pictures of what changed on the page, before and after: one sheet for each change, in three sizes and both themes. Both
// programs play the same stage (`played/stage.mjs`), so that all texts are those of a program. An older program has to know `serve`, `mode` and the routes that the stage uses.
//
//   A_SOCIETY_OLDER=1 A_SOCIETY_BINARY=<older program> node tests/changes.mjs take BEFORE
//   node tests/changes.mjs take AFTER
//   node tests/changes.mjs sheets BEFORE AFTER ../../docs/pictures/changes
//
// The second asks for a built program of today. Names behind the folders are the sheets that are wanted, without any all.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { begins, older } from "./played/older.mjs";
import { NOW, raise } from "./played/stage.mjs";
import { Place } from "./program.mjs";
import { settled } from "./stage.mjs";

const SIZES = [[1440, 900], [1024, 768], [390, 844]];
const THEMES = ["light", "dark"];
/** How much smaller a screen is on a sheet, and the quality of its picture. */
const SCALE = 0.48;
const QUALITY = 0.66;

const within = (name, more = "") => ({ path }) => path(name) + more;
const asked = (name) => ({ ask }) => ask(name);
const item = (name) => async (page) => {
  await page.getByRole("button", { name: "Flow actions" }).click();
  await page.getByRole("menuitem", { name }).click();
};
const press = (...keys) => async (page) => { for (const key of keys) await page.keyboard.press(key); };
/** A flow whose request the provider refuses for a while. */
async function retried({ place, provider, flows, moment }) {
  const { flow } = await begins(place, { from: { file: "flows/tour.yaml" }, title: "Letters, once more", improve: "none" });
  const refused = provider.give("Letters, once more/writer", { refuse: 429, headers: { "retry-after": "50" }, message: "this key may send 40 requests a minute" });
  // In the older one the limit of another flow holds this one back, and it sends nothing.
  if (older) await Promise.race([refused.catch(() => undefined), new Promise((done) => setTimeout(done, 3_000))]);
  else await refused;
  flows.retried = flow;
  moment.set(NOW.getTime());
}
/** By sheet its title and its screens: where, and what is done there. What the older program lacks is not done in it. */
const CHANGES = {
  "01-paths": ["Paths of the record, cut in the middle", { at: ({ path, then }) => `${path("ledger")}/r/backend?at=${then.working}` }],
  "02-person": ["A person's turn as a form", { at: asked("offers") }],
  "03-approval": ["The text inside an approval", { at: asked("billing") }],
  "04-real": ["A flow of the real program", { at: within("ledger", "?node=api&role=backend") }],
  "05-words": ["The words of a consent", { at: asked("ledger") }],
  "06-retrying": ["A request that is made again, soon and when a limit resets", { before: retried, at: within("retried") }, { at: within("letters") }],
  "07-failures": ["A failure as a failure", { at: asked("tour") }],
  "08-rail": ["One list in the rail, by need", { at: within("wizard") }],
  "09-feed": ["Room beside the feed", { at: within("ledger", "/events") }, { at: within("ledger", "/files") }],
  "10-costs": ["Costs, and columns in the list of flows", { at: within("ledger"), then: item("Costs") }, { at: () => "/flows" }],
  "11-files": ["Files by role and turn", { at: within("ledger", "/files"), then: async (page) => { await page.getByText("journal.rs").first().click(); } }],
  "12-transcript": ["Rows of a transcript", { at: within("ledger", "/r/backend/transcript?msg=2") }],
  "13-search": ["Grouped search, and two runs compared", { at: () => "/inbox", then: async (page) => { await page.keyboard.press("Control+k"); await page.keyboard.type("frame"); await page.waitForTimeout(900); } }, { at: ({ path, flows }) => `${path("ranking")}/compare/orchard/${flows.fork}` }],
  "14-focus": ["The focus in a dialog, and the keys", { at: () => "/flows", then: async (page) => { await page.getByRole("button", { name: /^Start/ }).first().click(); } }, { at: asked("archive"), then: press("?") }],
  "15-first-run": ["The first run, a damaged flow, signing in", { empty: true, at: () => "/" }, { at: within("damaged") }, { out: true, at: () => "/inbox" }],
  "16-policies": ["Policies in Settings", { at: () => "/settings/permissions" }],
};
const fileOf = (folder, name, screen, [width], theme) => join(folder, `${name}-${screen}-${width}-${theme}.png`);

async function signIn(browser, place) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(await place.link());
  await page.waitForFunction(() => !location.href.includes("token") && document.querySelector("[data-line=open]") !== null);
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

async function take(folder, wanted) {
  mkdirSync(folder, { recursive: true });
  const browser = await launch();
  const stage = await raise();
  if (stage.why) throw new Error(stage.why);
  const empty = new Place({}, { name: "meadow", environment: stage.moment.environment });
  await empty.serve();
  const cookies = [await signIn(browser, stage.place), await signIn(browser, empty)];
  const one = async (name, n, screen, size, theme) => {
    const phone = size[0] < 720;
    const context = await browser.newContext({ viewport: { width: size[0], height: size[1] }, colorScheme: theme, reducedMotion: "reduce", timezoneId: "UTC", locale: "en-GB", hasTouch: phone, isMobile: phone });
    if (screen.out !== true) await context.addCookies(cookies[screen.empty === true ? 1 : 0]);
    const page = await context.newPage();
    page.setDefaultTimeout(older ? 2_500 : 15_000);
    await page.clock.setFixedTime(NOW);
    await page.goto((screen.empty === true ? empty : stage.place).origin + screen.at(stage));
    await page.waitForFunction(() => document.querySelector("main") !== null && document.querySelector("[data-loading], [data-quiet]") === null).catch((error) => { if (!older) throw error; });
    await settled(page, 400);
    try {
      await screen.then?.(page);
    } catch (error) {
      if (!older) throw error;
    }
    await settled(page, 400);
    await page.screenshot({ path: fileOf(folder, name, n, size, theme), animations: "disabled", caret: "hide" });
    await context.close();
  };
  for (const [name, [, ...screens]] of Object.entries(CHANGES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    for (const [n, screen] of screens.entries()) {
      await screen.before?.(stage);
      for (const size of SIZES) for (const theme of THEMES) await one(name, n, screen, size, theme);
    }
    console.log(name);
  }
  await browser.close();
  await empty.end();
  await stage.end();
}

/** Draws a sheet: a row for each screen and theme, before and after side by side in each size. */
async function sheets(before, after, to, wanted) {
  mkdirSync(to, { recursive: true });
  const browser = await launch();
  const page = await (await browser.newContext()).newPage();
  const picture = (file) => (existsSync(file) ? readFileSync(file).toString("base64") : null);
  for (const [name, [title, ...screens]] of Object.entries(CHANGES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const rows = screens.flatMap((_, n) => THEMES.map((theme) => SIZES.map((size) => ({ size, pair: [before, after].map((folder) => picture(fileOf(folder, name, n, size, theme))) }))));
    const sheet = await page.evaluate(async ([title, rows, scale, quality]) => {
      const [gap, head] = [12, 58];
      const wide = rows[0].reduce((sum, { size }) => sum + 2 * (size[0] * scale + gap), gap);
      const tall = Math.max(...rows[0].map(({ size }) => size[1])) * scale + gap;
      const canvas = new OffscreenCanvas(Math.ceil(wide), Math.ceil(head + rows.length * tall));
      const context = canvas.getContext("2d");
      context.fillStyle = "#dcdcd8";
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.fillStyle = "#1b1b18";
      context.font = "600 18px Inter, sans-serif";
      context.fillText(title, gap, 26);
      context.font = "12px Inter, sans-serif";
      context.imageSmoothingQuality = "high";
      for (const [y, row] of rows.entries()) {
        let x = gap;
        for (const { size: [width, height], pair } of row) for (const [n, base64] of pair.entries()) {
          if (y === 0) context.fillText(`${width} px, ${n === 0 ? "before" : "after"}`, x, head - 10);
          const [w, h] = [width * scale, height * scale];
          if (base64 !== null) {
            const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
            const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }), { resizeWidth: Math.round(w), resizeHeight: Math.round(h), resizeQuality: "high" });
            context.drawImage(image, x, head + y * tall);
          }
          x += w + gap;
        }
      }
      const blob = await canvas.convertToBlob({ type: "image/webp", quality });
      const bytes = new Uint8Array(await blob.arrayBuffer());
      let binary = "";
      for (let at = 0; at < bytes.length; at += 8_192) binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
      return btoa(binary);
    }, [title, rows, SCALE, QUALITY]);
    writeFileSync(join(to, `${name}.webp`), Buffer.from(sheet, "base64"));
  }
  await browser.close();
}

const [what, ...rest] = process.argv.slice(2);
if (what === "take" && rest.length > 0) await take(rest[0], rest.slice(1));
else if (what === "sheets" && rest.length > 2) await sheets(rest[0], rest[1], rest[2], rest.slice(3));
else {
  console.error("take FOLDER [NAME…], or sheets BEFORE AFTER TO [NAME…]");
  process.exitCode = 2;
}
