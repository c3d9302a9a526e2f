// What roles ask and why they stop, on the page of the real program: answers that a role offers, reasons with names in them,
// a provider that fails, a turn that the operator stops, and flows of one title.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, handsOver, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { armed, counts, says, until } from "./stage.mjs";

const skip = missing("what roles ask");
const SOLO = `workflow:
  name: Nightly notes
  nodes:
    - { id: write, role: owner, work: [ Write the notes. ] }
  edges: []
roles:
  owner: { instructions: "You write notes." }
`;
const TWO = `workflow:
  name: Two steps
  nodes:
    - { id: first, role: owner, work: [ Begin. ] }
    - { id: middle, role: helper, work: [ Help. ] }
    - { id: last, role: owner, work: [ End. ] }
  edges:
    - { from: first, to: middle }
    - { from: middle, to: last }
roles:
  owner: { instructions: "You work." }
  helper: { instructions: "You help." }
`;
/** Roles that begin together, so that a provider fails for all of them at once. */
const WIDE = `workflow:
  name: Five at once
  nodes:
    - { id: start, role: keeper, work: [ Hand it on. ] }
    - { id: end, role: keeper, work: [ Close it. ] }
${[1, 2, 3, 4, 5].map((n) => `    - { id: part${n}, role: part_${n}, work: [ Do part ${n}. ] }`).join("\n")}
  edges:
${[1, 2, 3, 4, 5].map((n) => `    - { from: start, to: part${n} }\n    - { from: part${n}, to: end }`).join("\n")}
roles:
  keeper: { instructions: "You keep the parts." }
  part: { instructions: "You do one part." }
`;

/** Runs a test in a place whose model says these answers; begins a flow, and opens the page. */
async function at(files, model, run, { lacks = 0 } = {}) {
  const place = new Place(files);
  place.put("config.yaml", model.config);
  const before = process.env.A_SOCIETY_CONFIG;
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  const browser = await launch();
  try {
    await place.serve();
    const { page, complaints } = await open(browser, place.printed);
    const begin = async () => place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none" });
    await run({ place, page, browser, begin, to: ({ project, flow }, rest = "") => `${place.origin}/p/${project}/f/${flow}${rest}` });
    // A browser notes each answer that something is not there.
    const noted = complaints.filter((one) => !one.includes("status of 404"));
    assert.deepEqual([noted, complaints.length - noted.length], [[], lacks]);
  } finally {
    if (before === undefined) delete process.env.A_SOCIETY_CONFIG;
    else process.env.A_SOCIETY_CONFIG = before;
    await browser.close();
    model.close();
    await place.end();
  }
}
const seen = (page) => page.locator("body").innerText();

test("an answer that a role offers is one press, its role gets it in its words, and another text is possible", { skip }, async () => {
  const asks = (question) => ({ calls: [["ask_operator", { question, choices: ["One file", "A server `with` a lock"] }]] });
  const model = await new Model(asks("Where do the notes go?"), asks("Really?"), { text: CLOSES }).listen();
  await at({ "demo/flow.yaml": SOLO }, model, async ({ page, begin, place }) => {
    const { flow } = await begin();
    const second = page.getByRole("button", { name: "A server `with` a lock" });
    await second.waitFor();
    // The list is not there twice.
    await counts(page.locator(".detail").getByText("One file"), 1);
    await says(page.locator("footer.keys"), /1–2\s*an offered answer/);
    await armed(page);
    await second.click();
    await until(() => model.heard.length, (n) => n === 2, "the role goes on");
    assert.match(model.heard[1].body, /Choice 2: A server `with` a lock\./);
    // In words of one's own.
    const field = page.locator(".detail textarea");
    await page.getByText("Really?").first().waitFor();
    await field.fill("Neither: on paper.");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await until(() => model.heard.length, (n) => n === 3, "it goes on again");
    assert.match(model.heard[2].body, /Neither: on paper\./);
    await until(() => place.log(flow).map((one) => one.fact), (facts) => facts.includes("forward_pass_closed"), "the flow is done");
  });
});

test("a reason with names in it has no marks on any screen, nor in the file of a flow", { skip }, async () => {
  const wrong = { text: handsOver("second", "record/x.md") };
  const model = await new Model(() => wrong).listen();
  model.answers = (body) => (body.includes("record/x.md") ? wrong : { calls: [["write_file", { path: "record/x.md", content: "x\n" }]] });
  await at({ "demo/flow.yaml": TWO }, model, async ({ page, browser, begin, place, to }) => {
    const flow = await begin();
    await page.getByText(/second/).first().waitFor();
    await page.getByRole("heading", { name: /turn failed/ }).waitFor();
    const clean = async (where) => {
      const text = await seen(page);
      assert.match(text, /second/, where);
      assert.doesNotMatch(text, /`/, where);
    };
    await page.getByText("Reason", { exact: true }).click().catch(() => undefined);
    await clean("the inbox");
    for (const [rest, part] of [["", "[data-card]"], ["/r/owner", "[role=log] .row"], ["/outline", "main"]]) {
      await page.goto(to(flow, rest));
      await page.locator(part).first().waitFor();
      await page.getByRole("heading", { name: /turn failed/ }).first().waitFor();
      await clean(rest);
    }
    const file = join(place.folder, "flow.html");
    assert.equal(place.run("export", "--html", flow.flow, "--output", file).code, 0);
    const kept = await browser.newPage();
    await kept.goto(`file://${file}`);
    await kept.locator("[role=log] .row").first().waitFor();
    assert.doesNotMatch(await seen(kept), /`/);
  });
});

test("while a provider that fails is left alone, node, strip, header and rail say for what they wait and how long", { skip }, async () => {
  const model = await new Model().listen();
  const handsOn = `Done.\n\n\`\`\`handoff\n${[1, 2, 3, 4, 5].map((n) => `- target_node_id: part${n}\n  artifact_path: record/go.md`).join("\n")}\n\`\`\`\n`;
  model.answers = (body) => (!body.includes("You keep the parts.") ? { refuse: 529, kind: "overloaded_error", message: "overloaded" }
    : body.includes("record/go.md") ? { text: handsOn } : { calls: [["write_file", { path: "record/go.md", content: "Go.\n" }]] });
  await at({ "demo/flow.yaml": WIDE }, model, async ({ page, begin, to }) => {
    const flow = await begin();
    await page.goto(to(flow));
    const words = /Waiting for p to recover, \d+ s/;
    await says(page.locator("[data-card]").filter({ hasText: "part5" }), words, "a node");
    await says(page.locator(".wide-head"), words, "the header");
    await says(page.locator("section.strip"), words, "the strip");
    await says(page.getByRole("navigation", { name: "Workspace" }), /Waiting for p to recover/, "the rail");
    await says(page.getByRole("navigation", { name: "Workspace" }), /\b\d+ s\b/, "the rail's time");
    await page.goto(to(flow, "/r/part_5"));
    await says(page.getByRole("log"), /Waiting for p to recover/, "the feed");
  });
});

test("a turn that was stopped offers to retry it, and a node of a cancelled flow says that", { skip }, async () => {
  let free;
  const hold = new Promise((done) => { free = done; });
  const model = await new Model({ text: "I begin.", hold }).listen();
  await at({ "demo/flow.yaml": TWO }, model, async ({ page, begin, place, to }) => {
    const flow = await begin();
    await until(() => model.heard.length, (n) => n === 1, "the model is asked");
    assert.equal(place.run("stop", flow.flow, "--all").code, 0);
    free();
    await says(page.getByRole("list", { name: "Blocking a role" }), /^Retry turn/);
    const main = page.locator(".detail");
    await counts(main.getByRole("textbox"), 0, "no words are needed");
    assert.deepEqual(await main.locator(".controls .button").allInnerTexts().then((all) => all.map((one) => one.split("\n")[0])), ["Retry turn", "Say what to do instead"]);
    assert.equal(place.run("cancel", flow.flow).code, 0, "it is cancelled");
    await page.goto(to(flow));
    await says(page.locator("[data-card]").filter({ hasText: "first" }), /Cancelled/);
    const last = page.locator("[data-card]").filter({ hasText: "last" });
    await until(() => last.getAttribute("aria-label"), (label) => /not reached|waiting for middle/i.test(label ?? ""), "what was not reached is not cancelled");
    // A part of its session that there is not.
    await page.goto(to(flow, "/r/owner/transcript?seg=nothing"));
    await page.getByText("There is no such part of owner’s transcript.").waitFor();
    await page.getByRole("button", { name: "Show what the model sees now" }).click();
    await until(() => page.locator("main").getAttribute("data-messages"), (n) => Number(n) > 0, "the messages");
    await page.goto(to(flow, "/r/stranger/transcript"));
    await page.getByText("There is no role stranger in this flow.").waitFor();
  }, { lacks: 2 });
});

test("flows of one title are told apart wherever one of several is chosen", { skip }, async () => {
  const model = await new Model(() => ({ text: CLOSES })).listen();
  model.answers = () => ({ calls: [["ask_operator", { question: "Which needle?" }]] });
  await at({ "demo/flow.yaml": SOLO }, model, async ({ page, begin, to }) => {
    const flows = [await begin(), await begin()];
    const tails = flows.map(({ flow }) => flow.split("-").at(-1));
    const both = async (part, what) => { for (const tail of tails) await says(part, new RegExp(tail), what); };
    const rail = page.getByRole("navigation", { name: "Workspace" });
    await both(rail, "the rail");
    await both(page.getByRole("list", { name: "Blocking a role" }), "the inbox");
    await page.goto(to(flows[0]).replace(/\/p\/.*/, "/flows"));
    await both(page.getByRole("table", { name: "Flows" }), "the list");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("needle");
    await both(page.getByRole("listbox", { name: "Results" }), "what is found");
    await page.keyboard.press("Escape");
    await page.goto(to(flows[0], "/compare"));
    await says(page.locator("main"), new RegExp(tails[1]), "the choice of another run");
  });
});

test("what a role was sent is found by its words in any order, and leads to that message", { skip }, async () => {
  const model = await new Model({ calls: [["ask_operator", { question: "How many?" }]] }, { text: CLOSES }).listen();
  await at({ "demo/flow.yaml": SOLO }, model, async ({ page, begin, to }) => {
    const flow = await begin();
    await page.locator(".detail textarea").fill("Eleven pelicans.");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await page.goto(to(flow));
    await says(page.locator(".wide-head"), /Completed/);
    await page.goto(to(flow).replace(/\/p\/.*/, "/flows"));
    await page.keyboard.press("Control+k");
    await page.keyboard.type("pelicans eleven");
    await says(page.getByRole("listbox", { name: "Results" }), /Eleven pelicans[^]*sent to it/);
    await page.keyboard.press("Enter");
    await says(page.locator("[role=option][aria-selected=true]"), /Eleven pelicans/);
  });
});

test("a hidden tab is told that a flow is completed, and the notification leads to it", { skip }, async () => {
  let free;
  const hold = new Promise((done) => { free = done; });
  const model = await new Model({ text: CLOSES, hold }).listen();
  await at({ "demo/flow.yaml": SOLO }, model, async ({ page, begin, place }) => {
    await page.evaluate(() => localStorage.setItem("a-society.look", JSON.stringify({ notify: true })));
    await page.addInitScript(() => {
      window.notes = [];
      window.Notification = class { static permission = "granted"; constructor(title, more) { Object.assign(this, { title, ...more, close: () => undefined }); window.notes.push(this); } };
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    });
    await page.goto(`${place.origin}/flows`);
    const { flow } = await begin();
    await page.getByRole("navigation", { name: "Workspace" }).getByText("Nightly notes").waitFor();
    free();
    const notes = () => page.evaluate(() => window.notes.map((note) => `${note.title}: ${note.body}`));
    await until(notes, (all) => all.length === 1, "it is told");
    assert.deepEqual(await notes(), ["Completed: Nightly notes"]);
    await page.evaluate(() => window.notes[0].onclick());
    await page.waitForURL(`**/f/${flow}`);
  });
});
