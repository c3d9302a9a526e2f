// What a checker of accessibility finds on a screen. It comes from outside: the page's own policy would rightly refuse it.
import { readFileSync } from "node:fs";
import { settled } from "./stage.mjs";

const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];
/** Every screen in both themes, on a desk and on a phone; one size after the other. */
export const LOOKS = [["light", 1440, 900], ["dark", 1440, 900], ["dark", 390, 844], ["light", 390, 844]];

/** Every fault of what a page shows now. */
export async function faultsOf(page) {
  if (!(await page.evaluate(() => "axe" in window))) {
    const session = await page.context().newCDPSession(page);
    await session.send("Runtime.evaluate", { expression: AXE });
    await session.detach();
  }
  return page.evaluate(async (runOnly) => {
    // Nothing is loaded for it: no rule of these reads style sheets, and the page plays nothing.
    const { violations } = await window.axe.run(document, { runOnly, resultTypes: ["violations"], selectors: false, preload: false });
    return violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any.map((check) => check.message).join(" ").slice(0, 160)}`).join(" | ")}`);
  }, RULES);
}

/** The faults in several looks, each with its look. What else a look is to show is asked of `also`. */
export async function faultsIn(page, looks = LOOKS, also = async () => []) {
  const found = [];
  for (const [theme, width, height] of looks) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height });
    await settled(page);
    const faults = [...(await faultsOf(page)), ...(await also(theme, width))];
    found.push(...faults.map((fault) => `${theme}, ${width} wide: ${fault}`));
  }
  return found;
}
