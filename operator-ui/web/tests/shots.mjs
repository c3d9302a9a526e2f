// Pictures of the screens, to be looked at: `node tests/shots.mjs [folder]`.
import { mkdirSync } from "node:fs";
import { launch, open } from "./browser.mjs";
import { StandIn } from "./stand-in.mjs";
import { DIFF, world } from "./world.mjs";

const folder = process.argv[2] ?? new URL("shots/", import.meta.url).pathname;
const only = process.argv[3];
mkdirSync(folder, { recursive: true });
const SHOTS = { inbox: "/inbox", flow: "/p/orchard/f/ledger", feed: "/p/orchard/f/ledger/r/backend", empty: "/inbox", choice: "/inbox/wizard/improvement/flow", question: "/inbox/archive/text/analyst", approval: "/inbox/billing/approval/a1", palette: "/p/orchard/f/ledger", offline: "/p/orchard/f/ledger" };
const browser = await launch();
for (const [name, path] of Object.entries(SHOTS)) {
  if (only !== undefined && !name.startsWith(only)) continue;
  for (const theme of ["light", "dark"]) for (const [size, width, height] of [["desktop", 1440, 900], ["mobile", 390, 844]]) {
    const data = world();
    if (name === "empty") data.inbox.asks = {};
    const server = await new StandIn(data).listen();
    server.bodies.set("f3120", { text: "ok", total_bytes: 2, next: null, parts: { diff: DIFF } });
    const { page, complaints, close } = await open(browser, server.address + path, { theme, width, height, touch: size === "mobile" });
    await page.waitForTimeout(700);
    if (name === "palette") { await page.keyboard.press("Control+k"); await page.keyboard.type("com"); await page.waitForTimeout(400); }
    if (name === "offline") { server.drop(true); await page.waitForTimeout(2_600); }
    await page.screenshot({ path: `${folder}/${name}-${size}-${theme}.png` });
    if (complaints.length > 0) console.log(name, size, theme, complaints.slice(0, 4));
    await close();
    await server.close();
  }
}
await browser.close();
