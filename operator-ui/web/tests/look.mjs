// Takes pictures of screens for people to look at: `node tests/look.mjs <folder> [name…]`.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { serve } from "./stage/server.mjs";
import { stage } from "./stage/ledger.mjs";

const [folder = "shots", ...only] = process.argv.slice(2);
const SCREENS = {
  graph: "/p/orchard/f/ledger?node=api&role=backend", past: "/p/orchard/f/ledger?at=3204", outline: "/p/orchard/f/ledger/outline", files: "/p/orchard/f/ledger/files", artifact: "/p/orchard/f/ledger/files/record/api-report.md",
  events: "/p/orchard/f/ledger/events#e3204", transcript: "/p/orchard/f/ledger/r/backend/transcript?msg=17", flows: "/flows", improve: "/p/orchard/f/closed/improve", big: "/p/orchard/f/big", wide: "/p/orchard/f/wide",
  roles: "/roles", models: "/settings/models", keys: "/settings/keys", look: "/settings/look",
};
mkdirSync(folder, { recursive: true });
const server = await serve(stage());
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [name, path] of Object.entries(SCREENS)) {
  if (only.length > 0 && !only.includes(name)) continue;
  for (const scheme of ["light", "dark"]) for (const [size, viewport] of [["desktop", { width: 1440, height: 900 }], ["mobile", { width: 390, height: 844 }]]) {
    const page = await browser.newPage({ viewport, colorScheme: scheme, timezoneId: "UTC", reducedMotion: "reduce" });
    page.on("console", (m) => { if (m.type() === "error" && !m.text().includes("404")) console.log(name, size, m.text()); });
    page.on("pageerror", (e) => console.log(name, size, "page error:", e.message));
    await page.clock.setFixedTime(new Date("2026-03-03T14:11:52Z"));
    await page.goto(server.url + path);
    await page.waitForTimeout(900);
    await page.screenshot({ path: `${folder}/${name}-${size}-${scheme}.png` });
    await page.close();
  }
}
await browser.close();
await server.close();
