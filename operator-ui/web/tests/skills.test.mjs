// Skills, changed on the page of the real program: the file on the disk then, and what the next role's prompt holds and reads.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { launch, open } from "./browser.mjs";
import { CLOSES, Model } from "./model.mjs";
import { missing, Place } from "./program.mjs";
import { sound } from "./sound.mjs";
import { says, until } from "./stage.mjs";

const skip = missing("skills that are changed");
const FLOW = `workflow:
  name: Kitchen
  nodes: [ { id: order, role: owner, work: [ Order it ] } ]
  edges: []
roles: { owner: { instructions: "You order.", skills: [tables, salt] } }
`;
const OF_PROJECT = "---\nname: salt\ndescription: When something is salted.\n---\n\nLess of it.\n";

test("a skill is written, checked, changed and removed on the page, and roles are told of it and read it as it is then", { skip }, async () => {
  const place = new Place({ "demo/flow.yaml": FLOW, "demo/a-docs/skills/salt/SKILL.md": OF_PROJECT });
  process.env.A_SOCIETY_CONFIG = `${place.folder}/settings/config.yaml`;
  const file = () => place.read("settings/skills/tables/SKILL.md");
  const path = `${place.folder}/settings/skills/tables/SKILL.md`;
  const model = await new Model({ calls: [["read_file", { path }]] }, { text: CLOSES }, { text: CLOSES }, { text: CLOSES }).listen();
  place.put("settings/config.yaml", model.config);
  const browser = await launch();
  const begin = () => place.ask("POST", "/api/flows", { from: { file: "demo/flow.yaml" }, improve: "none", feedback: false });
  try {
    const { page, complaints } = await open(browser, await place.serve());
    await page.goto(`${place.origin}/settings/skills`);
    await page.getByRole("button", { name: "Add a skill" }).click();
    const dialog = page.getByRole("dialog");
    const list = page.getByRole("list", { name: "Skills" });
    await dialog.getByLabel("Name").fill("../tables");
    await dialog.getByLabel("When a role uses it").fill("Before a table\nis laid.");
    await dialog.getByLabel("What it says").fill("# Tables\n\nForks on the left.");
    // Faults are shown, and nothing is written until it is saved.
    await dialog.getByRole("button", { name: "Check" }).click();
    await says(dialog.getByRole("alert"), /is no name of a skill: lower-case letters, digits and dashes/);
    await dialog.getByLabel("Name").fill("tables");
    await dialog.getByRole("button", { name: "Check" }).click();
    await says(dialog.getByLabel("What a role is told"), /tables[^]*settings\/skills\/tables\/SKILL\.md[^]*Before a table is laid\./);
    await sound(page, "skills-add");
    assert.equal(existsSync(`${place.folder}/settings/skills`), false);
    await dialog.getByRole("button", { name: "Save skill" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(file(), '---\nname: tables\ndescription: "Before a table is laid."\n---\n\n# Tables\n\nForks on the left.\n');
    await says(list, /tables\s*Yours[^]*Before a table is laid\.[^]*Named by owner in demo\/flow\.yaml/);
    await sound(page, "skills");
    // A role's prompt names it, and the role reads it.
    await begin();
    await until(() => model.heard.length, (count) => count >= 2, "the role reads the skill");
    assert.match(model.heard[0].body, /`tables` \(`[^`]*settings\/skills\/tables\/SKILL\.md`\): Before a table is laid\./);
    assert.equal(model.heard[0].body.includes("Forks on the left"), false, "it reads it when it needs it");
    assert.match(model.heard[1].body, /Forks on the left\./);
    // What another editor wrote meanwhile is not written over.
    await page.getByRole("button", { name: "Edit tables" }).click();
    await dialog.getByLabel("When a role uses it").fill("When guests come.");
    place.put("settings/skills/tables/SKILL.md", file().replace("---\n\n", "license: MIT\n---\n\n").replace("left", "right"));
    await dialog.getByRole("button", { name: "Save skill" }).click();
    await says(dialog.getByRole("alert"), /changed by another editor in the meantime/);
    assert.match(file(), /license: MIT[^]*right/);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Edit tables" }).click();
    await says(dialog, /Edit tables/);
    assert.match(await dialog.getByLabel("What it says").inputValue(), /on the right/);
    await dialog.getByLabel("When a role uses it").fill("When guests come.");
    await dialog.getByRole("button", { name: "Save skill" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(file(), '---\nname: tables\ndescription: "When guests come."\nlicense: MIT\n---\n\n# Tables\n\nForks on the right.\n');
    await begin();
    await until(() => model.heard.length, (count) => count >= 3, "another flow is told");
    assert.match(model.heard[2].body, /`tables` \([^)]*\): When guests come\./);
    // A project's skill is distinguished from the operator's own, shown, and edited in its folder.
    await page.getByRole("button", { name: "Show tables" }).click();
    await says(dialog, /What a role that may use it gets[^]*When guests come\.[^]*Forks on the right[^]*Named by owner in demo\/flow\.yaml/);
    await sound(page, "skills-show");
    await dialog.getByRole("button", { name: "Close" }).click();
    // The files go with it, and only as they were looked at.
    place.put("settings/skills/tables/plan.txt", "x");
    await page.getByRole("button", { name: "Remove tables" }).click();
    await says(dialog, /its 2 files[^]*owner in demo\/flow\.yaml name it, and will work without it[^]*plan\.txt/);
    await sound(page, "skills-remove");
    await dialog.getByRole("button", { name: "Remove", exact: true }).click();
    await until(() => existsSync(`${place.folder}/settings/skills/tables`), (is) => !is, "it is gone with its files");
    await says(page.getByRole("status"), /tables is removed, with 2 files/);
    await begin();
    await until(() => model.heard.length, (count) => count >= 4, "a third flow begins");
    assert.equal(model.heard[3].body.includes("When guests come"), false);
    // A folder that is no skill says why, and is mended here.
    place.put("settings/skills/forks/SKILL.md", "To the left.\n");
    await page.reload();
    await says(list, /forks\s*Not valid: no role can use it[^]*does not begin with a line/);
    await page.getByRole("button", { name: "Edit forks" }).click();
    await dialog.getByLabel("When a role uses it").fill("With forks.");
    await dialog.getByRole("button", { name: "Save skill" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(place.read("settings/skills/forks/SKILL.md"), '---\nname: forks\ndescription: "With forks."\n---\n\nTo the left.\n');
    // Nothing is changed without the token or from another origin.
    const body = JSON.stringify({ version: "", change: { add: { name: "other", description: "x", text: "y" } } });
    const json = { "content-type": "application/json" };
    for (const [headers, status] of [[json, 401], [{ ...json, authorization: `Bearer ${place.token}`, origin: "http://evil.example" }, 403]]) {
      assert.equal((await fetch(`${place.origin}/api/skill`, { method: "POST", headers, body })).status, status);
    }
    await assert.rejects(place.ask("POST", "/api/skill", { version: "", change: { remove: "../.." } }), /404/);
    assert.equal(existsSync(`${place.folder}/settings/skills/other`), false);
    assert.deepEqual(complaints.filter((text) => !/40[09]/.test(text)), []);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    model.close();
    await place.end();
  }
});

test("a skill of a project is listed and shown as its roles are told of it, and one that holds a key is shown to nobody", { skip }, async () => {
  const place = new Place();
  process.env.A_SOCIETY_CONFIG = `${place.folder}/settings/config.yaml`;
  const browser = await launch();
  try {
    assert.equal(place.run("init", "kitchen").code, 0);
    place.put("kitchen/a-docs/skills/salt/SKILL.md", OF_PROJECT);
    const key = ["sk", "ant", "api03", "CANARYCANARYCANARYCANARY"].join("-");
    place.put("settings/skills/safe/SKILL.md", `---\nname: safe\ndescription: For the safe.\n---\n\nIts key is ${key}.\n`);
    const { page, complaints } = await open(browser, await place.serve());
    await page.goto(`${place.origin}/settings/skills`);
    const list = page.getByRole("list", { name: "Skills" });
    await says(list, /salt\s*Of kitchen/);
    await page.getByRole("button", { name: "Show salt" }).click();
    const dialog = page.getByRole("dialog");
    await says(dialog, /`salt` \(`a-docs\/skills\/salt\/SKILL\.md`\): When something is salted\.[^]*Less of it\./);
    await dialog.getByRole("button", { name: "Close" }).click();
    assert.equal(await page.getByRole("button", { name: "Edit salt" }).count(), 0);
    await page.getByRole("button", { name: "Edit safe" }).click();
    await says(dialog, /looks like a key, so it is edited in the file only/);
    assert.equal((await page.content()).includes("CANARY"), false);
    assert.deepEqual(complaints, []);
  } finally {
    delete process.env.A_SOCIETY_CONFIG;
    await browser.close();
    await place.end();
  }
});
