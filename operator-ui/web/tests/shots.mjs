// Pictures of every state of every screen, to be looked at: `node tests/shots.mjs FOLDER [the beginning of a name]`.
import { mkdirSync } from "node:fs";
import { launch, open } from "./browser.mjs";
import { StandIn } from "./stand-in.mjs";
import { DIFF, STATES } from "./states.mjs";
import { world } from "./world.mjs";

const [folder = "shots", only = ""] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const LOOKS = [["desktop", "dark", 1440, 900], ["desktop", "light", 1440, 900], ["phone", "dark", 390, 844]];
const browser = await launch();
for (const [name, state] of Object.entries(STATES)) {
  if (!name.startsWith(only)) continue;
  for (const [size, theme, width, height] of LOOKS) {
    const server = await new StandIn(state.data?.() ?? world()).listen();
    server.bodies.set("f3120", { text: "ok", total_bytes: 2, next: null, parts: { diff: DIFF } });
    state.serve?.(server);
    const { page, complaints, close } = await open(browser, server.address + state.path, { theme, width, height, touch: size === "phone", blank: state.blank });
    await page.waitForTimeout(700);
    await state.then?.(page, server);
    await page.screenshot({ path: `${folder}/${name}-${size}-${theme}.png` });
    const told = complaints.filter((text) => !/WebSocket|404|ERR_CONNECTION/.test(text));
    if (told.length > 0) console.log(name, size, theme, told.slice(0, 4));
    await close();
    await server.close();
  }
}
await browser.close();
