// One browser for a file of tests, and a stand-in server with a page on it for each test.
import { after, afterEach, before } from "node:test";
import { launch, open } from "./browser.mjs";
import { StandIn } from "./stand-in.mjs";
import { world } from "./world.mjs";

export function stage() {
  let browser;
  const held = [];
  before(async () => { browser = await launch(); });
  // A page that stays open goes on painting what turns on it, and every later test waits for that.
  afterEach(async () => { for (const end of held.splice(0).reverse()) await end(); });
  after(() => browser.close());
  return async (path, { data = world(), serve, ...look } = {}) => {
    const server = await new StandIn(data).listen();
    // What it is to do from the first request on.
    serve?.(server);
    const opened = await open(browser, server.address + path, look);
    held.push(() => server.close(), opened.close);
    return { server, ...opened, another: (where) => open(browser, server.address + where, look) };
  };
}
/** What decides something, of all that the page said. */
export const decisions = (server) => server.commands.filter((up) => !["steer"].includes(up.command.do)).map((up) => up.command);
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
/** Longer than an ask has to stand before it can be answered, also when a busy browser begins to count late. */
export const GRACE = 900;
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
/** Waits until what stands in a part of the page is said so. */
export const says = (part, words, what = "it says") => until(() => part.innerText(), (text) => words.test(text), `${what}: ${words}`);
/** Waits until there are so many of something. */
export const counts = (part, many, what = "how many") => until(() => part.count(), (n) => n === many, `${what}: ${many}`);
/** Waits until nothing more is asked of a server for a while; a busy page asks late. */
export async function rests(asked, ms = 600) {
  for (let had = -1; had !== asked.length;) {
    had = asked.length;
    await sleep(ms);
  }
}
