// Takes pictures of screens for people to look at: `node tests/look.mjs <folder> [name…]`.
import { mkdirSync } from "node:fs";
import { launch } from "./browser.mjs";
import { serve } from "./ledger/server.mjs";
import { SCREENS, stage } from "./ledger/told.mjs";

const [folder = "shots", ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = await serve(stage());
const browser = await launch();
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
