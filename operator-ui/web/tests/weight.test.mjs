// What the page of the real program weighs when it is opened for the first time. Sizes, and no times: a busy machine
// measures the same. With A_SOCIETY_TEST_LIST=1 it lists what was loaded, and when it was asked for.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { handsOver, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { until } from "./stage.mjs";
import { weigh } from "./weigh.mjs";

const skip = missing("what the page weighs");
/** Bytes on the wire, the headers of the answers counted. */
const INBOX_BYTES_MAX = 90_000;
const FLOW_BYTES_MAX = 150_000;

/** Some nodes, the last of them a person's: its turn comes with a text in Markdown. */
const PERSON = `workflow:
  name: Signed plan
  nodes:
    - { id: start, role: owner, work: [Say what is to be planned.] }
    - { id: propose, role: planner, work: [Write the plan.] }
    - { id: sign, role: lead, work: [Read the plan.] }
    - { id: file, role: owner, work: [File the plan.] }
  edges:
    - { from: start, to: propose }
    - { from: propose, to: sign }
    - { from: sign, to: file }
roles:
  owner: { executor: scripted, instructions: You keep the plans. }
  planner: { executor: scripted, instructions: You plan. }
  lead: { executor: human }
`;
const SCRIPT = `default: forward
script:
  - node: propose
    say:
      - "I write it **in two parts**: what is wanted, and \`how\`."
      - write: { path: plan.md, text: "# The plan\\n\\n1. Ask for **two** offers.\\n2. Decide.\\n" }
      - handoff: { to: sign, artifact: plan.md }
`;
/** A role that wants to run a command. */
const CONSENT = `workflow:
  name: Build it
  nodes:
    - { id: start, role: owner }
    - { id: build, role: builder, work: [Build it.] }
    - { id: end, role: owner }
  edges:
    - { from: start, to: build }
    - { from: build, to: end }
roles:
  owner: { executor: model, instructions: You own it. }
  builder: { executor: model, instructions: You build. }
`;

const LIST = process.env.A_SOCIETY_TEST_LIST === "1";

let browser;
before(async () => { if (!skip) browser = await launch(); });
after(() => browser?.close());

/** The first loads of the inbox and of the flow, of a program whose only flow waits for the operator. */
async function loads(files, { model, waits, shown }) {
  const place = new Place({ ...files, "config.yaml": model?.config ?? "" });
  const before = process.env.A_SOCIETY_CONFIG;
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  try {
    await place.serve();
    const flow = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" } });
    await until(() => place.log(flow.flow), (log) => log.some((fact) => fact.fact === waits), "the flow waits for the operator");
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const inbox = await weigh(context, await place.link(), (page) => page.getByText(shown).first().waitFor());
    await inbox.page.close();
    const whole = await weigh(context, `${place.origin}/p/${flow.project}/f/${flow.flow}`, async (page) => {
      for (const part of ["[data-card]", "section.strip", "[role=log] .row"]) await page.locator(part).first().waitFor();
      await page.getByText(shown).first().waitFor();
    });
    assert.deepEqual([...inbox.complaints, ...whole.complaints], []);
    await context.close();
    return { inbox, flow: whole };
  } finally {
    if (before === undefined) delete process.env.A_SOCIETY_CONFIG;
    else process.env.A_SOCIETY_CONFIG = before;
    await place.end();
  }
}

/** Says what was loaded, and that it is no more than it may be. */
function within({ parts, bytes, told }, most, what) {
  const list = parts.map((one) => `${String(one.from).padStart(6)} ms ${String(one.bytes).padStart(7)}  ${one.path}`).join("\n");
  const sum = `${what}: ${bytes.toLocaleString("en")} bytes of ${most.toLocaleString("en")} in ${parts.length} answers, and ${told.toLocaleString("en")} of the socket`;
  console.log(LIST ? `${sum}\n${list}` : sum);
  assert.ok(bytes <= most, `${sum}\n${list}`);
}

test("the inbox and the flow of a turn that waits for a person are small when they are loaded first", { skip }, async () => {
  const { inbox, flow } = await loads({ "demo/flow.yaml": PERSON, "demo/script.yaml": SCRIPT }, { waits: "node_suspended", shown: "Ask for two offers" });
  within(inbox, INBOX_BYTES_MAX, "inbox with a person's turn");
  within(flow, FLOW_BYTES_MAX, "flow with a person's turn");
});

test("the inbox and the flow of a command that waits for consent are small when they are loaded first", { skip }, async () => {
  const model = await new Model({ calls: [["write_file", { path: "record/order.md", content: "Build it.\n" }]] }, { text: handsOver("build", "record/order.md") }, { text: "I build it **now**, with `make`.", calls: [["run_command", { command: "make all" }]] }).listen();
  try {
    const { inbox, flow } = await loads({ "demo/flow.yaml": CONSENT }, { model, waits: "consent_requested", shown: "make all" });
    within(inbox, INBOX_BYTES_MAX, "inbox with a consent");
    within(flow, FLOW_BYTES_MAX, "flow with a consent");
  } finally {
    model.close();
  }
});
