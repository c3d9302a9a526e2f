// A request as it left for a model, in the inspector: the real program, and a small model on loopback that remembers
// every byte it was sent.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { launch, open } from "./browser.mjs";
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

const heard = [];
let browser;
let model;
before(async () => {
  if (skip !== false) return;
  browser = await launch();
  model = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      heard.push(Buffer.concat(pieces).toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      const say = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
      say("message_start", { message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 100, output_tokens: 1 } } });
      say("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      say("content_block_delta", { index: 0, delta: { type: "text_delta", text: WORDS } });
      say("content_block_stop", { index: 0 });
      say("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 20 } });
      say("message_stop", {});
      response.end();
    });
  });
  await new Promise((done) => model.listen(0, "127.0.0.1", done));
});
after(async () => {
  await browser?.close();
  model?.close();
});

test("a request is shown as it left, to the byte, and one that would go elsewhere now says so", { skip }, async () => {
  const place = new Place({ "demo/flow.yaml": FLOW });
  const config = (more, usual) => `providers:\n  p: { wire: anthropic, base-url: "http://127.0.0.1:${model.address().port}" }\nmodels:\n  m: { provider: p, id: m, window: 100000 }\n${more}model: ${usual}\n`;
  place.put("config.yaml", config("", "m"));
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  let close = async () => {};
  try {
    const ran = await new Promise((done) => place.begin(["run", "demo/flow.yaml", "--improve", "none", "--json"]).on("exit", done));
    assert.equal(ran, 0);
    assert.equal(heard.length, 1);
    const [flow] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    await place.serve();
    const opened = await open(browser, place.printed);
    close = opened.close;
    const { page, complaints } = opened;
    await page.goto(`${place.origin}/p/${flow.project}/f/${flow.flow}/r/owner/transcript?seg=requests&msg=1`);
    await page.getByRole("button", { name: "Show what was sent" }).click();
    await page.getByText("that left, to the byte").waitFor();
    const shown = page.getByRole("region", { name: "What was sent" }).first();
    await says(shown, /"max_tokens"[\s\S]*Say one line/);
    const { seq } = place.log(flow.flow).find((fact) => fact.fact === "model_requested");
    const told = await place.ask("GET", `/api/flow/${flow.project}/${flow.flow}/request/${seq}`);
    assert.equal(told.body, heard[0]);
    place.put("config.yaml", config("  other: { provider: p, id: o, window: 100000 }\n", "other"));
    await page.reload();
    await page.getByRole("button", { name: "Show what was sent" }).click();
    await page.getByText("not to the byte what left: it was sent to m, and the role would now ask other").waitFor();
    assert.equal(heard.length, 1, "nobody was asked for that");
    assert.deepEqual(complaints, []);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await close();
    await place.end();
  }
});
