// A screen of the real program, looked at: within reach at every width, in both themes, and sound for who does not see it.
import assert from "node:assert/strict";
import { faultsIn } from "./checker.mjs";

const SHOTS = process.env.A_SOCIETY_SHOTS;
const THEMES = ["light", "dark"];

/** Nothing on the page is out of reach, at any of the widths. With A_SOCIETY_SHOTS it is looked at, too. */
export async function sound(page, name) {
  for (const [width, height] of SHOTS ? [[1440, 900], [1024, 768], [390, 844]] : []) for (const theme of THEMES) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.screenshot({ path: `${SHOTS}/${name}-${width}-${theme}.png` });
  }
  const wider = async () => ((await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) ? ["it is wider than the window"] : []);
  const looks = [[1440, 900], [390, 844]].flatMap((size) => THEMES.map((theme) => [theme, ...size]));
  assert.deepEqual(await faultsIn(page, looks, wider), [], name);
  await page.setViewportSize({ width: 1440, height: 900 });
}
