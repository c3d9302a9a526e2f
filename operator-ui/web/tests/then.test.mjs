// The states of the page that only a real journal has: any event of the past, and an end that a newer version wrote.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { launch } from "./browser.mjs";
import { newer } from "./played/scenes.mjs";
import { missing, Place } from "./program.mjs";
import { counts, says, until } from "./stage.mjs";

const skip = missing("the past and the versions of real journals on the page");

/** A workspace with the walk of an example that is over, and a page on its server. */
async function walked(change, look) {
  const place = new Place();
  const browser = await launch();
  try {
    place.copy("examples/review-loop", "loop");
    place.run("run", "loop/flow.yaml", "--json");
    const { flows: [{ project, flow }] } = JSON.parse(place.run("ls", "--all", "--json").out);
    change?.(join(place.folder, place.state(flow), "journal"));
    const printed = await place.serve();
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    await page.goto(printed);
    await until(() => page.url(), (url) => !url.includes("token"), "the token leaves the address");
    await look({ page, place, flow: `/p/${project}/f/${flow}`, api: `/api/flow/${project}/${flow}` });
  } finally {
    await browser.close();
    await place.end();
  }
}

test("at any event the line above a role's feed, its feed and its transcript are those of then", { skip }, async () => {
  await walked(null, async ({ page, place, flow, api }) => {
    const { flow: { seq: head } } = await place.ask("GET", `${api}/state`);
    const live = (await place.ask("GET", `${api}/role/writer/transcript`)).total;
    let last = -1;
    for (const at of [12, 25, 41, 60, head - 1]) {
      const then = (await place.ask("GET", `${api}/state?at=${at}`)).roles.writer;
      const { items } = await place.ask("GET", `${api}/items?role=writer&at=${at}`);
      await page.goto(`${place.origin}${flow}/r/writer?at=${at}`);
      const line = then.turn !== null ? `${then.node}, turn ${then.turn}` : then.turns === 0 ? "no turn yet" : `${then.turns} turn${then.turns === 1 ? "" : "s"}`;
      await until(() => page.locator(".sub").innerText(), (text) => text.startsWith(line), `the line of event ${at}`);
      const newest = items.at(-1);
      const shown = () => page.getByRole("log").locator("[data-seq]").last().getAttribute("data-seq");
      if (newest !== undefined) await until(shown, (seq) => Number(seq) <= at && Number(seq) > 0, `the feed of event ${at}`);
      else await page.getByText("Nothing had happened here yet.").waitFor();
      await page.goto(`${place.origin}${flow}/r/writer/transcript?at=${at}`);
      await page.getByRole("region", { name: "Past" }).getByText(`${head - at} event`).waitFor();
      const total = then.turns === 0 ? 0 : (await place.ask("GET", `${api}/role/writer/transcript?at=${at}`)).total;
      await until(() => page.locator("[data-messages]").getAttribute("data-messages"), (n) => n === String(total), `the transcript of event ${at}`);
      assert.ok(total >= last && total <= live, `${total} messages at ${at}`);
      last = total;
    }
    assert.equal(last, live);
  });
});

test("of a flow that a newer version wrote on, what this one wrote is shown and only read, and it is listed", { skip }, async () => {
  await walked((journal) => newer(journal, 40), async ({ page, place, flow }) => {
    await page.goto(`${place.origin}/flows`);
    await page.getByText("Written by a newer version").first().waitFor();
    await page.goto(`${place.origin}${flow}/r/writer`);
    await says(page.getByRole("region", { name: "What cannot be read" }), /Events after 40 are unreadable\. The rest is shown, read-only/);
    await page.getByRole("log").getByText("notes.md").first().waitFor();
    await counts(page.locator("form.composer textarea"), 0);
  });
  await walked((journal) => newer(journal, 0), async ({ page, place, flow }) => {
    await page.goto(`${place.origin}/flows`);
    await page.getByRole("row").getByText("Written by a newer version").waitFor();
    await page.goto(place.origin + flow);
    await page.getByRole("heading", { name: "Written by a newer version" }).waitFor();
  });
});
