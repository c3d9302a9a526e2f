// Files that a person hands over on the page of the real program without writing them there: one of the project, and one that is
// no text. What is kept of them, and what the next role is sent.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, handsOver, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { says, until } from "./stage.mjs";
import { sound } from "./sound.mjs";

const skip = missing("files that a person hands over as they are");
const FLOW = `workflow:
  name: Taken in
  nodes:
    - { id: ask, role: owner, work: [Ask for the files.] }
    - { id: bring, role: clerk, work: [Bring the drawing.] }
    - { id: add, role: clerk, work: [Bring the contract.] }
    - { id: file, role: owner, work: [File what came in.] }
  edges:
    - { from: ask, to: bring }
    - { from: bring, to: add }
    - { from: add, to: file }
roles:
  clerk: { executor: human }
  owner: { instructions: You keep files. }
`;
/** Bytes that are no text: every byte there is, more than once. */
const DRAWING = Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 7) % 256));
const sha = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("a person uploads a file that is no text and hands over one of the project, byte for byte, and the next role is told of it", { skip }, async () => {
  const model = await new Model({ text: handsOver("bring", "demo/docs/notes.md") }, { text: CLOSES }).listen();
  const place = new Place({ "demo/flow.yaml": FLOW, "demo/docs/notes.md": "notes", "config.yaml": model.config });
  const contract = Buffer.concat([Buffer.from("%PDF-1.7\n"), DRAWING]);
  writeFileSync(`${place.folder}/demo/docs/Contract.pdf`, contract);
  symlinkSync("/etc/passwd", `${place.folder}/demo/docs/link.pdf`);
  process.env.A_SOCIETY_CONFIG = `${place.folder}/config.yaml`;
  const browser = await launch();
  try {
    const { page, complaints } = await open(browser, await place.serve());
    const begun = await place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
    await page.goto(`${place.origin}/inbox`);
    await page.getByRole("heading", { name: "Your turn as clerk" }).waitFor();
    const form = page.getByRole("form", { name: "End your turn" });
    await says(form, /at most 16\.0 MB/, "the bound is said before");
    const upload = form.getByLabel("Upload");
    const huge = `${place.folder}/film.mp4`;
    writeFileSync(huge, Buffer.alloc((16 << 20) + 1));
    await upload.setInputFiles(huge);
    await says(form.getByRole("alert"), /film\.mp4 has 16\.0 MB; at most 16\.0 MB/, "what is too large is refused by the bound");
    const record = `${place.folder}/${place.state(begun.flow)}/record`;
    const api = `/api/flow/${begun.project}/${begun.flow}`;
    // The server does not depend on what the page refuses.
    const post = (path, body, kind = "application/octet-stream") => fetch(`${place.origin}${api}/upload?path=${encodeURIComponent(path)}`, { method: "POST", headers: { authorization: `Bearer ${place.token}`, "content-type": kind }, body });
    const large = await post("record/film.mp4", readFileSync(huge));
    assert.equal(large.status, 413);
    assert.match(await large.text(), /larger than 16 MB/);
    for (const path of ["../x.bin", "record/../../x.bin", "/tmp/x.bin", "record/workflow.yaml"]) assert.equal((await post(path, "x")).status, 409, path);
    assert.equal((await post("record/x.bin", "x", "text/plain")).status, 415, "a form cannot bring a file");
    // What is no text is not edited, and arrives as it is.
    await upload.setInputFiles({ name: "drawing.png", mimeType: "image/png", buffer: DRAWING });
    await says(form, /drawing\.png\s*4\.9 KB, handed over as it is/);
    assert.equal(await form.getByLabel("Name", { exact: true }).inputValue(), "record/drawing.png");
    await sound(page, "upload");
    await form.getByRole("button", { name: "Hand over to add" }).click();
    await until(() => place.log(begun.flow).filter((one) => one.fact === "handoff_applied").length, (n) => n === 2, "it is handed over");
    assert.equal(sha(readFileSync(`${record}/drawing.png`)), sha(DRAWING));
    await says(form.locator("xpath=ancestor::main"), /record\/drawing\.png[^]*This is not text\. Save it/, "bytes are not drawn as a text");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Save it" }).click()]);
    assert.equal(sha(readFileSync(await saved.path())), sha(DRAWING));
    // A file of the project is found by words of its path; links are not offered.
    await form.getByRole("button", { name: "Hand over to file" }).waitFor();
    await form.getByRole("button", { name: "From the project" }).click();
    const found = form.getByRole("list", { name: "Files of the project" });
    await says(found, /docs\/notes\.md/);
    assert.equal((await found.innerText()).includes("link.pdf"), false);
    await form.getByLabel("Words of its path").fill("pdf docs");
    await until(() => found.getByRole("listitem").count(), (n) => n === 1, "one file has these words");
    await sound(page, "project-files");
    // The form is drawn anew where the page is no wider than a phone.
    await form.getByRole("button", { name: "From the project" }).click();
    await form.getByLabel("Words of its path").fill("contract");
    await until(() => found.getByRole("listitem").count(), (n) => n === 1, "one file has this word");
    await form.getByLabel("Words of its path").press("Enter");
    await says(form, /demo\/docs\/Contract\.pdf\s*4\.9 KB, handed over as it is in the project/);
    await form.getByRole("button", { name: "Hand over to file" }).click();
    await until(() => place.log(begun.flow).map((one) => one.fact), (facts) => facts.includes("forward_pass_closed"), "the flow goes on to its end");
    const handed = place.log(begun.flow).filter((one) => one.fact === "handoff_applied").flatMap((one) => one.deliveries.map((it) => it.artifact));
    assert.deepEqual(handed.map((one) => one.path), ["demo/docs/notes.md", "record/drawing.png", "demo/docs/Contract.pdf"]);
    const kept = await fetch(`${place.origin}${api}/blob/${handed[2].hash}`, { headers: { authorization: `Bearer ${place.token}` } });
    assert.equal(sha(Buffer.from(await kept.arrayBuffer())), sha(contract), "what was handed over is kept to the byte");
    assert.match(model.heard[1].body, /demo\/docs\/Contract\.pdf/, "the next role's request names it");
    assert.deepEqual(complaints, []);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    model.close();
    await place.end();
  }
});
