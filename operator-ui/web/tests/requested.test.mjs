// A request as it left for a model, in the inspector and in a file that shows the flow: the real program, and a small
// model on loopback that remembers every byte it was sent.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { inflateSync } from "node:zlib";
import { launch, open } from "./browser.mjs";
import { Model } from "./model.mjs";
import { Place, missing } from "./program.mjs";
import { says } from "./stage.mjs";

const skip = missing("what the inspector shows of a request");
const FLOW = `workflow:
  name: By a model
  nodes:
    - { id: do, role: owner, work: [ Say one line ] }
  edges: []
roles:
  owner: { instructions: "You say \\u2028 <b>one</b> line." }
`;
const WORDS = "One line.\n\n```handoff\ntype: forward-pass-closed\n```\n";

let browser;
let model;
before(async () => {
  if (skip !== false) return;
  browser = await launch();
  model = await new Model().listen();
  model.answers = () => ({ text: WORDS });
});
after(async () => {
  await browser?.close();
  model?.close();
});

const config = (more, usual) => `providers:\n  p: { wire: anthropic, base-url: "${model.address}" }\nmodels:\n  m: { provider: p, id: m, window: 100000 }\n${more}model: ${usual}\n`;

/** Walks a flow with the model in a place of its own. */
async function walked(text, then) {
  const place = new Place({ "demo/flow.yaml": text });
  place.put("config.yaml", config("", "m"));
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  model.heard.length = 0;
  try {
    const ran = await new Promise((done) => place.begin(["run", "demo/flow.yaml", "--improve", "none", "--json"]).on("exit", done));
    assert.equal(ran, 0);
    const [flow] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    await then(place, flow);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await place.end();
  }
}

test("a request is shown as it left, to the byte, also when the role would be asked elsewhere now", { skip }, async () => {
  await walked(FLOW, async (place, flow) => {
    assert.equal(model.heard.length, 1);
    await place.serve();
    const { page, complaints, close } = await open(browser, place.printed);
    try {
      await page.goto(`${place.origin}/p/${flow.project}/f/${flow.flow}/r/owner/transcript?seg=requests&msg=1`);
      await page.getByRole("button", { name: "Show what was sent" }).click();
      await page.getByText("that were sent, byte for byte").waitFor();
      const shown = page.getByRole("region", { name: "What was sent" }).first();
      await says(shown, /"max_tokens"[\s\S]*Say one line/);
      const { seq } = place.log(flow.flow).find((fact) => fact.fact === "model_requested");
      const told = await place.ask("GET", `/api/flow/${flow.project}/${flow.flow}/request/${seq}`);
      assert.equal(told.body, model.heard[0].body);
      place.put("config.yaml", config("  other: { provider: p, id: o, window: 100000 }\n", "other"));
      await page.reload();
      await page.getByRole("button", { name: "Show what was sent" }).click();
      await page.getByText("that were sent, byte for byte").waitFor();
      const again = await place.ask("GET", `/api/flow/${flow.project}/${flow.flow}/request/${seq}`);
      assert.equal(again.body, model.heard[0].body);
      assert.equal(model.heard.length, 1, "nobody was asked for that");
      assert.deepEqual(complaints, []);
    } finally {
      await close();
    }
  });
});

test("what is typed into the start dialog stands whole in the first request, however much it is", { skip }, async () => {
  const place = new Place({ "demo/flow.yaml": FLOW });
  // The whole input is far longer than a usual window, and would be asked about before it is sent.
  place.put("config.yaml", config("", "m").replace("window: 100000 ", "window: 1000000 "));
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  model.heard.length = 0;
  const input = `Kestrels, \u6f22\u5b57, "quoted".\n${"and more of it, ".repeat(80_000)}\nThe end.`;
  try {
    await place.serve();
    const { page, complaints, close } = await open(browser, place.printed);
    try {
      await page.getByLabel("Start a flow").click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("File").fill("demo/flow.yaml");
      await dialog.getByLabel("Input").fill(input);
      await dialog.getByLabel("When the work is done").selectOption({ label: "No retrospective" });
      await dialog.getByRole("button", { name: "Start flow" }).click();
      await page.getByText("Completed").first().waitFor();
      assert.equal(model.heard.length, 1);
      const packet = JSON.parse(model.heard[0].body).messages[0].content.map((block) => block.text).join("");
      assert.ok(packet.includes(`<input>\n${input}\n</input>`), packet.slice(0, 500));
      const [flow] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
      assert.equal(place.read(`.a-society/state/${flow.project}/${flow.flow}/record/input.md`), input);
      assert.deepEqual(complaints, []);
    } finally {
      await close();
    }
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await place.end();
  }
});

/** Opens the requests of the owner in a file of the flow, and gives what it says of the first of them. */
async function inFile(place, flow, verdict) {
  const told = place.run("export", "--html", flow.flow, "--json");
  assert.equal(told.code, 0, told.err);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB", timezoneId: "UTC" });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith("file:")) complaints.push(request.url()); });
  await page.goto(`file://${place.folder}/${flow.flow}.html#/p/${flow.project}/f/${flow.flow}/r/owner/transcript?seg=requests&msg=1`);
  await page.getByRole("button", { name: "Show what was sent" }).press("Enter");
  await page.getByText(verdict).waitFor();
  const shown = await page.getByRole("region", { name: "What was sent" }).first().innerText();
  assert.deepEqual(complaints, []);
  await context.close();
  const data = inflateSync(Buffer.from(/id="flow">([^<]*)</.exec(place.read(`${flow.flow}.html`))[1], "base64")).toString();
  return { shown, data };
}

/** What a control lets the browser keep: its name, and its text. */
async function kept(page, control) {
  const [download] = await Promise.all([page.waitForEvent("download"), control.press("Enter")]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

test("a transcript is taken along with the keyboard, as the terminal prints it, now and as it was, also from a file and on a phone", { skip }, async () => {
  const canary = `ghp_${"CANARYcanary34".repeat(3)}`;
  await walked(FLOW.replace("Say one line ", `Say one line with ${canary} `), async (place, flow) => {
    await place.serve();
    const { page, complaints, close } = await open(browser, place.printed);
    try {
      const at = place.log(flow.flow).find((fact) => fact.fact === "model_requested").seq;
      for (const [query, words, name] of [["", [], ""], [`?at=${at}`, ["--at", String(at)], `-at-${at}`]]) {
        await page.goto(`${place.origin}/p/${flow.project}/f/${flow.flow}/r/owner/transcript${query}`);
        const told = await kept(page, page.getByRole("link", { name: "Export this transcript as JSON" }));
        assert.equal(told.name, `${flow.flow}-owner${name}-transcript.json`);
        const printed = place.run("session", "export", flow.flow, "owner", ...words).out;
        assert.ok(printed.includes(canary));
        assert.equal(told.text, printed.replaceAll(canary, "[secret withheld]"));
      }
      await page.setViewportSize({ width: 390, height: 844 });
      const shown = page.getByRole("link", { name: "Export this transcript as JSON" });
      const box = await shown.boundingBox();
      assert.ok(box.width >= 44 && box.height >= 44 && box.x + box.width <= 390, JSON.stringify(box));
      assert.deepEqual(complaints, []);
    } finally {
      await close();
    }
    assert.equal(place.run("export", "--html", flow.flow).code, 0);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const file = await context.newPage();
    const faults = [];
    file.on("console", (message) => faults.push(message.text()));
    file.on("pageerror", (error) => faults.push(String(error)));
    await file.goto(`file://${place.folder}/${flow.flow}.html#/p/${flow.project}/f/${flow.flow}/r/owner/transcript`);
    const told = await kept(file, file.getByRole("button", { name: "Export this transcript as JSON" }));
    assert.equal(told.name, `${flow.flow}-owner-transcript.json`);
    const printed = JSON.parse(place.run("session", "export", flow.flow, "owner").out.replaceAll(canary, "[secret withheld]"));
    assert.deepEqual(JSON.parse(told.text).transcriptHistory, printed.transcriptHistory);
    assert.equal(JSON.parse(told.text).systemPrompt, printed.systemPrompt);
    assert.deepEqual(faults, []);
    await context.close();
  });
});

test("a file shows a request as it left in the same words, and says so when secrets were taken out of it", { skip }, async () => {
  await walked(FLOW, async (place, flow) => {
    const { shown, data } = await inFile(place, flow, "that were sent, byte for byte");
    assert.match(shown, /"max_tokens"[\s\S]*Say one line/);
    const { pieces, sent } = JSON.parse(data).requests;
    const [only] = Object.values(sent);
    assert.equal(only.pieces.map((n) => pieces[n]).join(""), model.heard[0].body);
    assert.equal(only.total_bytes, Buffer.byteLength(model.heard[0].body));
  });
  const canary = `ghp_${"CANARYcanary12".repeat(3)}`;
  await walked(FLOW.replace("Say one line ", `Say one line with ${canary} `), async (place, flow) => {
    assert.ok(model.heard[0].body.includes(canary), "the model was told");
    const { shown, data } = await inFile(place, flow, "not byte for byte what was sent: secrets were taken out of it for this file, and before that its hash was the recorded one.");
    assert.match(shown, /Say one line with \[secret withheld\]/);
    assert.ok(!data.includes("CANARY"));
  });
});
