// What a page shows of a feed and of a transcript, row by row, and what it should show.
import { until } from "./stage.mjs";

/** Waits until a feed has so many rows, with those that are fetched by scrolling up. */
export async function has(page, count, what) {
  const log = page.getByRole("log");
  await log.focus();
  const counted = async () => {
    await page.keyboard.press("Home");
    return Number(await log.getAttribute("data-rows"));
  };
  await until(counted, (n) => n >= count, what);
}

/** Every row of a feed: which record began it, and its text. */
export async function rowsOf(page) {
  await page.getByRole("log").focus();
  await page.keyboard.press("Home");
  return page.getByRole("log").evaluate(async (log) => {
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const rows = new Map();
    let last = -1;
    // Two looks at the end: what is measured there may still grow.
    for (let rests = 0; rests < 2; ) {
      await drawn();
      for (const row of log.querySelectorAll("[data-at]")) {
        const said = row.querySelector(".say > .md");
        rows.set(Number(row.dataset.at), { seq: Number(row.dataset.seq), text: said === null ? null : said.textContent, pending: row.querySelector(".caret") !== null });
      }
      rests = log.scrollTop === last ? rests + 1 : 0;
      last = log.scrollTop;
      log.scrollTop += log.clientHeight * 0.8;
    }
    return [...rows].toSorted(([one], [other]) => one - other).map(([, row]) => row);
  });
}

/** The rows of a feed that is folded from the journal. These tests have no calls that are shown as one row. */
export function expected(feed) {
  const shown = feed.filter((item) => item.event !== "turn.ended");
  return shown.map((item) => ({ seq: Number(item.id.slice(1)), text: item.type === "assistant" ? item.text : null, pending: item.pending === true }));
}
/** Rows as they are compared: without the marks that are drawn, and without how a handoff is written. */
export const plain = (rows) => rows.map((row) => ({ ...row, text: row.text?.includes("target_node_id") === true || row.text?.includes("type:") === true ? "a handoff" : (row.text?.replaceAll(/\s+/g, " ").trim() ?? null) }));

/** Every line of a transcript: its number, and how its content begins. */
export async function messagesOf(page) {
  await until(() => page.getByRole("listbox", { name: "Messages" }).locator("[role=option]").count(), (n) => n > 0, "messages are there");
  return page.getByRole("listbox", { name: "Messages" }).evaluate(async (list) => {
    const drawn = () => new Promise((done) => setTimeout(done, 60));
    const rows = new Map();
    let last = -1;
    for (list.scrollTop = 0, await drawn(); list.scrollTop !== last; ) {
      last = list.scrollTop;
      for (let tries = 0; tries < 50; tries += 1) {
        const blank = [...list.querySelectorAll("[role=option]")].some((row) => row.children[1].textContent === "");
        if (!blank) break;
        await drawn();
      }
      for (const row of list.querySelectorAll("[role=option]")) rows.set(Number(row.children[0].textContent.replaceAll(",", "")), row.children[2].textContent);
      list.scrollTop += list.clientHeight * 0.6;
      await drawn();
    }
    return [...rows].toSorted(([one], [other]) => one - other).map(([, text]) => text);
  });
}
