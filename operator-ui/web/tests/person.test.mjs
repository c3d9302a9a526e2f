// What a person decides and hands over, on the page of the real program: the text inside an approval, and a turn of their own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { missing, Place } from "./program.mjs";
import { armed, says, until } from "./stage.mjs";

const skip = missing("what a person decides and hands over");

/** Longer than what an approval shows at first. */
const LONG = Array.from({ length: 600 }, (_, n) => `${n + 1}. Ask for offer number ${n + 1}.`).join("\n");
const FLOW = `workflow:
  name: Signed plan
  nodes:
    - { id: start, role: owner, work: [Say what is to be planned.] }
    - { id: propose, role: planner, human-colab: true, work: [Write the plan.] }
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
const plan = (turn, file, text) => `  - node: propose
${turn}    say:
      - write: { path: ${file}, text: ${JSON.stringify(text)} }
      - handoff: { to: sign, artifact: ${file} }
`;
const SCRIPT = `default: forward
script:
${plan("    turn: 1\n", "plan.md", "# The plan\n\n1. Ask for two offers.\n2. Decide.")}
${plan("", "plan-2.md", `# The plan\n\n1. Ask for three offers.\n2. Decide.\n\n${LONG}`)}
  - node: file
    say:
      - The plan is signed.
      - signal: forward-pass-closed
`;

test("an approval shows the text and then what changed in it, and a turn of one's own is sent back and handed over on the page", { skip }, async () => {
  const place = new Place({ "flow.yaml": FLOW, "script.yaml": SCRIPT });
  const browser = await launch();
  try {
    const ran = place.run("run", "flow.yaml");
    assert.equal(ran.code, 8, ran.err);
    const { page, complaints } = await open(browser, await place.serve());
    const flow = place.run("ls", "--json").out.match(/\d{8}T\d{9}Z-[0-9a-z]+/)[0];
    // The card holds the text to decide about, and the keyboard decides.
    const read = (file) => page.getByRole("region", { name: `record/${file}`, exact: true });
    let card = read("plan.md");
    await says(card, /Ask for two offers/, "the text of the handoff is in the approval");
    await armed(page);
    await page.keyboard.press("y");
    // The turn of one's own begins with what came in.
    await page.getByRole("heading", { name: "Your turn as lead" }).waitFor();
    await says(card, /from propose[^]*Ask for two offers/, "what came in is read where the turn is ended");
    await page.getByRole("button", { name: "Send back", exact: true }).click();
    const back = page.getByRole("button", { name: "Send back to propose" });
    assert.equal(await back.isDisabled(), true, "nothing is sent back without a reason");
    await page.getByLabel("What has to change").fill("Three offers, please.");
    // A phone that is turned draws the form anew: it ends as it was chosen to, and not in the usual way.
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await back.waitFor();
      assert.equal(await page.getByLabel("What has to change").inputValue(), "Three offers, please.", `${width} wide`);
    }
    await back.click();
    // The second version is a difference first, and then a text of which the rest is one press away.
    await page.getByRole("button", { name: /^Approve/ }).waitFor();
    card = read("plan-2.md");
    await says(card, /instead of record\/plan\.md[^]*Ask for two offers[^]*Ask for three offers/, "what changed since the version before");
    await card.getByRole("button", { name: "Text", exact: true }).click();
    await says(card, /KB of [\d.]+ KB not shown/, "how much is missing");
    assert.equal((await card.innerText()).includes("offer number 600."), false);
    await card.getByRole("button", { name: "Show all of it" }).click();
    await says(card, /offer number 600\./, "all of it");
    // It is approved only once its end was seen.
    const approve = page.getByRole("button", { name: /^Approve/ });
    assert.equal(await approve.getAttribute("aria-disabled"), "true");
    await says(page.getByRole("group", { name: "Answer" }), /approved once all of it was shown: [\d,]+ more lines/);
    await page.keyboard.press("y");
    assert.equal(await approve.getAttribute("aria-disabled"), "true", "nor by its key");
    await card.locator(".box").evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await until(() => approve.getAttribute("aria-disabled"), (held) => held === "false", "its end was seen");
    await armed(page);
    await approve.click();
    // A file is uploaded, edited and handed over.
    await page.getByRole("heading", { name: "Your turn as lead" }).waitFor();
    await page.getByLabel("Upload").setInputFiles({ name: "signed.md", mimeType: "text/markdown", buffer: Buffer.from("Signed.\n") });
    const field = page.getByLabel("What you hand over");
    await until(() => field.inputValue(), (text) => text === "Signed.\n", "what was uploaded is there to be edited");
    await field.fill("Signed, with thanks.\n");
    await field.press("Control+Enter");
    await until(() => place.log(flow).map((one) => one.fact), (facts) => facts.includes("forward_pass_closed"), "the flow goes on to its end");
    assert.equal(place.read(`${place.state(flow)}/record/signed.md`), "Signed, with thanks.\n");
    const facts = place.log(flow);
    const handed = facts.filter((one) => one.fact === "handoff_applied").flatMap((one) => one.deliveries.map((it) => [it.from, it.to, it.way, it.artifact.path]));
    assert.deepEqual(handed.slice(2), [["propose", "sign", "backward", "record/lead-reason.md"], ["propose", "sign", "forward", "record/plan-2.md"], ["sign", "file", "forward", "record/signed.md"]]);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    await place.end();
  }
});
