// What a model does with its tools, by the real program and on its page: a task list, and a patch of several files.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { Place, missing } from "./program.mjs";
import { says } from "./stage.mjs";

const skip = missing("a task list and a patch of several files, on the page of the program");
const FLOW = `workflow:
  name: By a model
  nodes:
    - { id: do, role: owner, work: [ Mend the notes ] }
  edges: []
roles:
  owner: { instructions: "You mend notes." }
`;
const PATCH = "*** Begin Patch\n*** Update File: first.md\n@@\n-one\n+uno\n*** Add File: second.md\n+due\n*** Delete File: third.md\n*** End Patch\n";
const tasks = (...states) => ({ items: states.map((status, n) => ({ text: ["Read <b>them</b>", "Mend them"][n], status })) });
/** What the model answers, one request after another. */
const ANSWERS = [
  [["todo", tasks("in_progress", "pending")], ["read_file", { path: "first.md" }], ["read_file", { path: "third.md" }]],
  [["apply_patch", { input: PATCH }], ["todo", tasks("completed", "completed")]],
  "Mended.\n\n```handoff\ntype: forward-pass-closed\n```\n",
];

test("a model's task list and its patch of several files stand on the page as lists, and its changes file by file", { skip }, async () => {
  let asked = 0;
  const model = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const say = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
      const answer = ANSWERS[Math.min(asked, ANSWERS.length - 1)];
      asked += 1;
      say("message_start", { message: { id: `msg_${asked}`, type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 100, output_tokens: 1 } } });
      const blocks = typeof answer === "string" ? [[{ type: "text", text: "" }, { type: "text_delta", text: answer }]] : answer.map(([name, input], n) => [{ type: "tool_use", id: `call_${asked}_${n}`, name, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(input) }]);
      for (const [index, [content_block, delta]] of blocks.entries()) {
        say("content_block_start", { index, content_block });
        say("content_block_delta", { index, delta });
        say("content_block_stop", { index });
      }
      say("message_delta", { delta: { stop_reason: typeof answer === "string" ? "end_turn" : "tool_use" }, usage: { output_tokens: 20 } });
      say("message_stop", {});
      response.end();
    });
  });
  await new Promise((done) => model.listen(0, "127.0.0.1", done));
  const place = new Place({ "demo/flow.yaml": FLOW, "first.md": "one\n", "third.md": "three\n" });
  place.put("config.yaml", `providers:\n  p: { wire: anthropic, base-url: "http://127.0.0.1:${model.address().port}" }\nmodels:\n  m: { provider: p, id: m, window: 100000 }\nmodel: m\n`);
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  const browser = await launch();
  try {
    const ends = (...words) => new Promise((done) => place.begin(words).on("exit", done));
    // It waits with its patch until an operator allows it.
    await ends("run", "demo/flow.yaml", "--improve", "none", "--until-waiting", "--json");
    const [flow] = JSON.parse(place.run("ls", "--all", "--json").out).flows;
    const allowed = place.run("allow", flow.flow, "--json");
    assert.equal(allowed.code, 0, allowed.err);
    assert.equal(await ends("resume", flow.flow, "--json"), 0);
    assert.equal(place.read("first.md"), "uno\n");
    assert.equal(place.read("second.md"), "due\n");
    assert.equal(existsSync(join(place.folder, "third.md")), false);
    const { page, complaints } = await open(browser, await place.serve());
    await page.goto(`${place.origin}/p/${flow.project}/f/${flow.flow}/r/owner`);
    const log = page.getByRole("log");
    await says(log, /0 of 2 tasks done, now: Read <b>them<\/b>/);
    await says(log.getByRole("list", { name: "Tasks" }), /Read <b>them<\/b>\s*done\s*Mend them\s*done/);
    await page.getByRole("button", { name: "2 of 2 tasks done", exact: true }).click();
    await says(page.getByRole("region", { name: "Tasks of owner" }), /Read <b>them<\/b>\s*done\s*Mend them\s*done/);
    const files = log.getByRole("list", { name: "Files of the patch" });
    await says(files, /first\.md\s*\+1 −1[\s\S]*second\.md\s*\+1\s[\s\S]*third\.md\s*removed/);
    await says(files, /one[\s\S]*uno[\s\S]*due/);
    assert.deepEqual(complaints, []);
    await page.goto(`${place.origin}/p/${flow.project}/f/${flow.flow}/files`);
    for (const name of ["first.md", "second.md", "third.md"]) await page.getByRole("link", { name, exact: true }).first().waitFor();
    await says(page.getByRole("region", { name: "second.md" }), /due/);
    // What a tool removed is shown as it was.
    await says(page.getByRole("region", { name: "third.md" }), /−\s*three/);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    await place.end();
    model.close();
  }
});
