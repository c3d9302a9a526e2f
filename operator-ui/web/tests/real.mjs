// One browser for a file of tests, and the scenes of the real program (`played/scenes.mjs`); a page on one of them for each test, behind a
// line that can be cut (`line.mjs`). A machine on which the scenes cannot be what they are elsewhere reports it and tests nothing.
import { after, afterEach, before } from "node:test";
import { launch, open } from "./browser.mjs";
import { Line } from "./line.mjs";
import { scenes } from "./played/scenes.mjs";

/** Sets a page's time to that of its scene, and lets it go on. */
function shift(by) {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) {
      if (given.length === 0) super(Real.now() + by);
      else super(...given);
    }
    static now() {
      return Real.now() + by;
    }
  };
}
/** One window signs in; what the others have of it is its cookie. */
async function signedIn(browser, scene) {
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(await scene.place.link());
  await page.waitForFunction(() => !location.href.includes("token") && document.querySelector("[data-line=open]") !== null);
  const cookies = await first.cookies();
  await first.close();
  return cookies;
}
/** Opens a page of a scene: `path` is an address or makes one of the scene, `line` says what the line does from the beginning. */
export async function openReal(browser, scene, path, { line: begin, ...look } = {}) {
  scene.cookies ??= await signedIn(browser, scene);
  const where = typeof path === "function" ? await path(scene) : path;
  let line;
  const opened = await open(browser, scene.place.origin + where, { ...look, before: async (page, context) => {
    await context.addCookies(scene.cookies);
    await page.addInitScript(shift, scene.moment.now - scene.moment.began);
    line = await Line.of(page);
    begin?.(line, scene);
  } });
  return { ...opened, line, scene, another: (path, more) => openReal(browser, scene, path, more) };
}

/** `make` makes the scenes. `at(path, { scene, line, ...look })` opens a page; `work` that is given to `or` is passed over where there are no scenes. */
export function real(make = scenes) {
  let browser, all;
  const held = [];
  const ends = async () => { for (const end of held.splice(0).reverse()) await end(); };
  before(async () => {
    [browser, all] = await Promise.all([launch(), make()]);
    if (all.why) console.log(all.why);
  });
  afterEach(ends);
  after(async () => {
    await browser?.close();
    await all?.end();
  });
  const at = async (path, { scene = "played", ...look } = {}) => {
    await ends();
    const opened = await openReal(browser, await all.of(scene), path, look);
    held.push(opened.close);
    return opened;
  };
  return { at, or: (work) => async (t) => (all.why ? t.skip(all.why) : work(t)) };
}
