// Pictures of every state of every screen, to be looked at: `node tests/shots.mjs FOLDER [the beginning of a name]`.
import { mkdirSync } from "node:fs";
import { launch } from "./browser.mjs";
import { scenes } from "./played/scenes.mjs";
import { openReal } from "./real.mjs";
import { settled } from "./stage.mjs";
import { STATES } from "./states.mjs";

const [folder = "shots", only = ""] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const LOOKS = [["desktop", "dark", 1440, 900], ["desktop", "light", 1440, 900], ["phone", "dark", 390, 844]];
const all = await scenes();
if (all.why) throw new Error(all.why);
const browser = await launch();
for (const [name, state] of Object.entries(STATES)) {
  if (!name.startsWith(only)) continue;
  for (const [size, theme, width, height] of LOOKS) {
    const { page, complaints, close, line, scene } = await openReal(browser, await all.of(state.scene ?? "played"), state.path, { theme, width, height, touch: size === "phone", blank: state.blank, line: state.line });
    await settled(page);
    await state.then?.(page, { line, scene });
    await page.screenshot({ path: `${folder}/${name}-${size}-${theme}.png` });
    const told = complaints.filter((text) => !/WebSocket|404|ERR_(CONNECTION|FAILED)/.test(text));
    if (told.length > 0) console.log(name, size, theme, told.slice(0, 4));
    await close();
  }
}
await browser.close();
await all.end();
