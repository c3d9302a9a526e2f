// Every screen, in both themes and on a phone: what a checker of accessibility finds, and what the browser complains of.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { settled, stage } from "./stage.mjs";
import { world } from "./world.mjs";

const at = stage();
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const ROUTES = {
  inbox: "/inbox", "an empty inbox": "/inbox", question: "/inbox/archive/text/analyst", "choice of improvement": "/inbox/wizard/improvement/flow",
  graph: "/p/orchard/f/ledger", outline: "/p/orchard/f/ledger/outline", files: "/p/orchard/f/ledger/files", events: "/p/orchard/f/ledger/events",
  feed: "/p/orchard/f/ledger/r/backend", past: "/p/orchard/f/ledger?at=3100", transcript: "/p/orchard/f/ledger/r/backend/transcript", flows: "/flows", findings: "/findings", roles: "/roles", look: "/settings/look", keys: "/settings/keys", nowhere: "/nowhere",
};
const ALL = [["light", 1440, 900], ["dark", 1440, 900], ["dark", 390, 844], ["light", 390, 844]];
/** A slice looks at each screen once: another look for each, and other ones with the next commit. */
const looks = (n) => (process.env.A_SOCIETY_TEST_BROWSER_SLICE === "1" ? [ALL[(n + Number(process.env.A_SOCIETY_TEST_SEED ?? 0)) % ALL.length]] : ALL);

for (const [n, [name, path]] of Object.entries(ROUTES).entries()) {
  test(`the screen "${name}" has no fault that a checker finds, and the browser complains of nothing`, async () => {
    const data = world();
    if (name === "an empty inbox") data.inbox.asks = {};
    const { page, complaints } = await at(path, { data });
    const session = await page.context().newCDPSession(page);
    // The checker is a program of the test; the page's own policy would rightly refuse to write it in.
    await session.send("Runtime.evaluate", { expression: axe });
    for (const [theme, width, height] of looks(n)) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height });
      await settled(page);
      const found = await page.evaluate(async () => {
        const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] });
        return result.violations.map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any.map((check) => check.message).join(" ").slice(0, 160)}`).join(" | ")}`);
      });
      assert.deepEqual(found, [], `${theme}, ${width} wide`);
    }
    assert.deepEqual(complaints.filter((text) => !/\b404\b/.test(text)), []);
  });
}
