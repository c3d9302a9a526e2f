// A browser for the tests: the system's Chromium, a fresh profile for each page, and everything it complains about.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

// The one without a window of its own does the same with half the work.
const PLACES = [process.env.A_SOCIETY_CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** The browser of this machine, or null. */
export const browserPath = () => PLACES.find((path) => path !== undefined && path !== "" && existsSync(path)) ?? null;

export async function launch() {
  return chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
}

/** Waits until a page has its data, and shows the screen it was asked for. */
export const here = (page) => page.waitForFunction(() => Number(document.querySelector("[data-seq]")?.getAttribute("data-seq") ?? 0) > 0 && document.querySelector("main") !== null && document.querySelector("[data-loading]") === null);

/**
 * A page at an address, with what it complained about. Nothing turns on it unless `motion` is asked for: what turns is painted sixty
 * times a second, which takes more of the processors than all that a test does.
 */
export async function open(browser, address, { theme = "light", width = 1440, height = 900, touch = false, blank = false, motion = false, before = async () => {} } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: motion ? "no-preference" : "reduce", hasTouch: touch, isMobile: touch, timezoneId: "UTC", locale: "en-GB", permissions: ["clipboard-write"] });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await before(page, context);
  await page.goto(address);
  // Some get no data; then there is nothing to wait for but the page itself.
  if (blank) await page.waitForSelector("[data-line]");
  else await here(page);
  return { page, complaints, close: () => context.close() };
}

// Run by itself it only says whether there is one, and with `--version` which.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const version = process.argv[2] === "--version" && browserPath() !== null ? await launch().then(async (browser) => { const said = browser.version(); await browser.close(); return said; }) : "";
  console.log(`${browserPath() ?? "no browser"} ${version}`.trim());
  process.exit(browserPath() === null ? 1 : 0);
}
