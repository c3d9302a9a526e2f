// One browser for a file of tests, and a stand-in server with a page on it for each test.
import { after, before } from "node:test";
import { launch, open } from "./browser.mjs";
import { StandIn } from "./stand-in.mjs";
import { world } from "./world.mjs";

export function stage() {
  let browser;
  const held = [];
  before(async () => { browser = await launch(); });
  after(async () => {
    for (const end of held.reverse()) await end();
    await browser.close();
  });
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
/** Longer than an ask has to stand before it can be answered. */
export const GRACE = 550;
/** Waits until something holds, and says what it was when it never does. */
export async function until(read, holds, what) {
  let last;
  for (let tries = 0; tries < 100; tries += 1) {
    last = await read();
    if (holds(last)) return last;
    await sleep(50);
  }
  throw new Error(`${what}; it was ${JSON.stringify(last)}`);
}
