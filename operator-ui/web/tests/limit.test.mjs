// A provider's limit, on the page of the real program: the countdown, and "Retry now" while the limit holds and once it does not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("a provider's limit");
const FLOW = `workflow:
  name: Limited
  nodes:
    - { id: do, role: owner, work: [ Say one line ] }
  edges: []
roles:
  owner: { instructions: "You say one line." }
`;
/** A short wait is one of the request, a long one of the flow. */
const WAITS = { "a short limit": { seconds: 50, words: /Retrying in (4|5)\d s/ }, "an hour-long limit": { seconds: 3_000, words: /Limit resets in (49|50) min/ } };

for (const [what, { seconds, words }] of Object.entries(WAITS)) {
  test(`the countdown of ${what} is on the page; "Retry now" waits again while it holds and completes the flow once it does not`, { skip }, async () => {
    const refusal = () => ({ refuse: 429, headers: { "retry-after": String(seconds) } });
    const model = await new Model(refusal(), refusal(), { text: CLOSES }).listen();
    const place = new Place({ "demo/flow.yaml": FLOW });
    place.put("config.yaml", model.config);
    process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
    const browser = await launch();
    try {
      await place.serve();
      const { page, complaints } = await open(browser, place.printed);
      const { flow, project } = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none" });
      await page.goto(`${place.origin}/p/${project}/f/${flow}/r/owner`);
      const now = page.getByRole("button", { name: "Retry now" });
      await now.waitFor();
      await until(() => page.locator("body").innerText(), (text) => words.test(text), `it counts down: ${words}`);
      // It counts: what is left gets less by itself.
      if (seconds < 60) {
        const left = async () => Number(/Retrying in (\d+) s/.exec(await page.locator("body").innerText())?.[1] ?? NaN);
        const first = await left();
        await until(left, (next) => next < first, "the countdown goes on");
      }
      assert.equal(model.heard.length, 1);
      await now.click();
      await until(() => model.heard.length, (n) => n === 2, "it is tried at once");
      // The limit still holds: it waits again, and the flow has not failed.
      await now.waitFor();
      await until(() => page.locator("body").innerText(), (text) => words.test(text), "it waits again");
      assert.doesNotMatch(await page.locator("body").innerText(), /\bFailed\b|turn failed/);
      await until(() => now.isEnabled(), (is) => is, "and can be tried again");
      await now.click();
      await until(() => model.heard.length, (n) => n === 3, "it is tried once more");
      await until(() => place.log(flow).map((one) => one.fact), (facts) => facts.includes("forward_pass_closed"), "without the limit the flow is completed");
      await says(page.locator(".wide-head"), /Completed/);
      assert.deepEqual(complaints, []);
    } finally {
      delete process.env.A_SOCIETY_CONFIG;
      await browser.close();
      model.close();
      await place.end();
    }
  });
}
