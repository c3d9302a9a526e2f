// One browser for a file of tests, and a stand-in server with a page on it for each test, one after another.
import { after, afterEach, before } from "node:test";
import { launch, open } from "./browser.mjs";
import { StandIn } from "./stand-in.mjs";
import { world } from "./world.mjs";

export function stage() {
  let browser;
  const held = [];
  before(async () => { browser = await launch(); });
  // A page that stays open goes on painting what turns on it, and all that comes later waits for that.
  const ends = async () => { for (const end of held.splice(0).reverse()) await end(); };
  afterEach(ends);
  after(() => browser.close());
  return async (path, { data = world(), serve, ...look } = {}) => {
    await ends();
    const server = await new StandIn(data).listen();
    // What it is to do from the first request on.
    serve?.(server);
    const opened = await open(browser, server.address + path, look);
    held.push(() => server.close(), opened.close);
    return { server, ...opened, another: (where) => open(browser, server.address + where, look) };
  };
}
/** What decides something, of all that the page sent. */
export const decisions = (server) => server.commands.filter((up) => !["steer"].includes(up.command.do)).map((up) => up.command);
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
/** A little longer than an ask must be visible before it can be answered, and than keys have to rest before a letter answers. */
export const GRACE = 450;
/** A page is at rest when nothing moved for so long. */
const REST_MS = 120;
/** Longer, where the page itself waits for a rest before it does the next thing. */
export const LONG_REST_MS = 250;
/** As long as a busy machine may take, and as playwright waits; when all is well, nothing of it is waited for. */
const PATIENCE = 30_000;
/** Waits until something holds, and says what it was when it never does. */
export async function until(read, holds, what) {
  const end = Date.now() + PATIENCE;
  let last;
  do {
    last = await read();
    if (holds(last)) return last;
    await sleep(50);
  } while (Date.now() < end);
  throw new Error(`${what}; it was ${JSON.stringify(last)}`);
}
/**
 * Types letters and spaces that follow one another by `gap` milliseconds in the page's own reckoning, however slow the machine is: a
 * gap that a busy machine makes longer would be a rest, after which a letter answers.
 */
export async function burst(page, text, gap) {
  const keyboard = await page.context().newCDPSession(page);
  let at = Date.now();
  for (const letter of text) {
    const [code, windowsVirtualKeyCode] = letter === " " ? ["Space", 32] : [`Key${letter.toUpperCase()}`, letter.toUpperCase().charCodeAt(0)];
    const key = { key: letter, code, windowsVirtualKeyCode, timestamp: at / 1000 };
    await keyboard.send("Input.dispatchKeyEvent", { type: "keyDown", text: letter, ...key });
    await keyboard.send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
    at += gap;
    await sleep(Math.max(0, at - Date.now()));
  }
  await keyboard.detach();
}
/** Waits until all that a page asks can be answered: by the page's own word and clock, since a busy one paints late. */
export async function armed(page) {
  const is = await page.evaluate(async ([grace, patience]) => {
    const begun = performance.now();
    for (let since = null; performance.now() - begun < patience;) {
      await new Promise((done) => requestAnimationFrame(done));
      const asked = [...document.querySelectorAll("[data-armed]")];
      if (asked.length === 0 || asked.some((one) => one.dataset.armed !== "true")) since = null;
      else since ??= performance.now();
      if (since !== null && performance.now() - since >= grace) return true;
    }
    return false;
  }, [GRACE, PATIENCE]);
  if (!is) throw new Error("what is asked cannot be answered");
}
/** Waits until a page is at rest: its letters are there, nothing is on its way to an end, and nothing moved for a while. */
export async function settled(page, rest = REST_MS) {
  const rests = await page.evaluate(async ([rest, patience]) => {
    await document.fonts.ready;
    const stand = () => {
      const running = document.getAnimations().filter((one) => one.playState === "running" || one.pending);
      const endless = running.filter((one) => one.effect?.getComputedTiming().endTime === Infinity);
      if (endless.length < running.length) return null;
      // What turns for ever is elsewhere in each frame, with all that is in it.
      const turning = endless.map((one) => one.effect.target);
      const boxes = [...document.querySelectorAll("body *")].filter((one) => !turning.some((node) => node?.contains(one))).map((one) => one.getBoundingClientRect());
      return boxes.map((box) => [box.x, box.y, box.width, box.height].join()).join(" ");
    };
    const begun = performance.now();
    for (let [last, since] = [null, begun]; performance.now() - begun < patience;) {
      const now = await new Promise((done) => requestAnimationFrame(() => done(stand())));
      if (now === null || now !== last) [last, since] = [now, performance.now()];
      else if (performance.now() - since >= rest) return true;
    }
    return false;
  }, [rest, PATIENCE]);
  if (!rests) throw new Error("the page does not come to rest");
}
/** Waits until a part of the page shows these words. */
export const says = (part, words, what = "it says") => until(() => part.innerText(), (text) => words.test(text), `${what}: ${words}`);
/** Waits until there are so many of something. */
export const counts = (part, many, what = "how many") => until(() => part.count(), (n) => n === many, `${what}: ${many}`);
/**
 * Presses until that has its effect. A row that moves between the two halves of a press is not the one that was pressed, and on a busy
 * machine a feed that rested a moment ago may still move; a hand presses again.
 */
export async function presses(part, holds, what = "it has its effect") {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    await part.click();
    for (const late = Date.now() + 2_000; Date.now() < late;) {
      if (await holds()) return;
      await sleep(50);
    }
  }
  throw new Error(what);
}
/** Waits until nothing more is asked of a server for a while; a busy page asks late. */
export async function rests(asked, ms = 600) {
  for (let had = -1; had !== asked.length;) {
    had = asked.length;
    await sleep(ms);
  }
}
