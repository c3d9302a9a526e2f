// Every state that a screen can be in: how the real program comes to it, and where it is looked at. The tests of the states
// and the pictures (`node tests/shots.mjs`) both begin here.
import { CLOSES, handsOver } from "./model.mjs";
import { armed } from "./stage.mjs";

/** A flow's page, further down; `name` is that of the played stage, or the title of a flow that is played for it. */
export const within = (name, more = "") => (scene) => scene.path(name, more);
export const FLOW = within("ledger");
export const FEED = within("ledger", "/r/backend");
export const TRANSCRIPT = within("ledger", "/r/backend/transcript");
/** What a flow asks, in the inbox. */
const asked = (name) => async (scene) => `/inbox/${(await scene.asked(name)).id}`;
/** The same after a flow was played that is there from then on. */
const played = (play, path) => async (scene) => path(await scene.once(play.name, () => play(scene)))(scene);

const writes = (path, content) => [["write_file", { path, content }]];
export const REFUSED = "this key may send 40 requests a minute";
export const limited = (seconds) => ({ refuse: 429, headers: { "retry-after": String(seconds) }, message: REFUSED });
/** A role of which the operator denied what it wanted to do. */
async function oldBuilds(scene) {
  const title = "Old builds";
  await scene.begins(title);
  await scene.says(title, { text: "The old folder is in the way.", calls: [["run_command", { command: "rm -rf build" }]] });
  await scene.asked(title);
  scene.run("deny", scene.flows[title]);
  return title;
}
/** A role whose provider has a limit of its own, which holds back no other flow. */
export async function reminders(scene, title = "Reminders", seconds = 40) {
  await scene.begins(title, { file: scene.apart() });
  await scene.says(title, limited(seconds));
  return title;
}
/** A flow that is over but for its report: its session was compacted once, and its role looked back. */
export async function yearBook(scene) {
  const title = "Year book";
  const says = (answer) => scene.says(title, answer, "analyst");
  const path = "record/findings/analyst-findings.md";
  await scene.begins(title, { file: "flows/archive.yaml", role: "analyst", improve: "graph-based" });
  await says({ text: "I read what there is.", calls: ["store", "frame"].map((name) => ["read_file", { path: `crates/ledger/src/${name}.rs` }]), used: { input: 31_000, output: 400 } });
  await says({ text: "I count the pages first.", calls: writes("record/count.md", "# Count\n\n212 pages.\n"), cached: 31_000, used: { input: 40_000, output: 400 } });
  // This answer fills the window: the conversation becomes a summary.
  await says({ text: "Now the pictures.", calls: writes("record/pictures.md", "# Pictures\n\n48 of them.\n"), cached: 70_000, used: { input: 90_000, output: 8_000 } });
  await scene.provider.give("a summary", { text: "212 pages and 48 pictures were counted.", used: { input: 2_000, output: 400 } });
  await says({ text: handsOver("close", "record/count.md") });
  await says({ text: CLOSES });
  await says({ calls: writes(path, "# What analyst found\n\nThe task did not say what a picture is.\n") });
  await says({ text: `What I found is short.\n\n\`\`\`handoff\ntype: meta-analysis-complete\nfindings_path: ${path}\n\`\`\`\n` });
  await scene.asked(title);
  return title;
}

const notice = (page) => page.getByText(/Connection lost/).filter({ visible: true }).first();
export const lose = async (page, { line }) => { line.cut(); await notice(page).waitFor(); };
/** A role asks while the page is open. */
export async function late(scene, title) {
  await scene.begins(title);
  await scene.asksFor(title, `ls ${title}`);
}
const behind = async (page, { line, scene }) => {
  line.mute("feed ");
  line.drop();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.waitForFunction(() => document.querySelector("[data-line]")?.getAttribute("data-line") === "open");
  scene.run("steer", scene.flows.ledger, "backend", "Say what is left when you are done.");
  // A bar that comes and goes within a moment is not shown.
  await page.waitForFunction(() => { const bar = document.querySelector(".behind"); return bar !== null && getComputedStyle(bar).opacity === "1"; });
};
/** The first message of a session is not there yet at this event. */
const UNSAID = 7;

/** name: where, in which scene (`played` if none is named), what the line does from the beginning, and what happens then. */
export const STATES = {
  "inbox-empty": { scene: "bare", path: "/inbox" },
  "inbox-loading": { path: "/inbox", line: (line) => line.mute("inbox"), blank: true },
  "inbox-live": { path: "/inbox", then: async (page, { scene }) => { const title = await scene.once("late", async () => { await late(scene, "Loose ends"); return "Loose ends"; }); await page.getByText(`Run ls ${title}`).first().waitFor({ state: "attached" }); } },
  "inbox-lost": { path: "/inbox", then: lose },
  "inbox-queued": { path: asked("ledger"), then: async (page, given) => { await armed(page); await lose(page, given); await page.getByRole("button", { name: "Allow once" }).first().click(); await page.getByText("Allowed once, not sent yet").first().waitFor(); } },
  "inbox-error": { path: asked("tour") },
  "inbox-interrupted": { scene: "left", path: asked("Release notes") },
  "inbox-denied": { path: played(oldBuilds, asked) },
  "inbox-closed": { path: asked("wizard") },
  "inbox-feedback": { path: played(yearBook, asked) },
  "inbox-many": { scene: "many", path: "/inbox" },
  "flows-lost": { path: "/flows", then: lose },
  "flow-loading": { path: FLOW, line: (line) => line.mute("flow ", "feed ", "/track"), blank: true },
  "flow-loading-again": { path: FLOW, then: async (page, { line }) => { line.mute("flow ", "feed ", "/track", "inbox"); await page.reload(); await page.locator("[data-loading]").first().waitFor({ state: "attached" }); } },
  "flow-live": { path: within("Release notes", "/r/writer") },
  "flow-lost": { path: FLOW, then: lose },
  "flow-queued": { path: FEED, then: async (page, given) => { await armed(page); await lose(page, given); await page.getByRole("button", { name: "Allow once" }).first().click(); await page.locator("textarea").fill("Keep the old file format readable."); await page.getByText("Allowed once, sent as soon as the connection is back").waitFor(); } },
  "flow-behind": { path: FEED, then: behind },
  "flow-asks": { path: FEED },
  "flow-error": { path: within("tour", "/r/writer") },
  "flow-retrying": { path: played(reminders, (title) => within(title, "/r/writer")) },
  "flow-interrupted": { scene: "left", path: within("Release notes", "/r/writer") },
  "flow-denied": { path: played(oldBuilds, (title) => within(title, "/r/writer")) },
  "flow-past": { path: (scene) => `${FEED(scene)}?at=${scene.then.handed}` },
  "flow-closed": { path: within("wizard", "/r/owner") },
  "flow-improving": { path: within("catalogue", "/improve?role=owner") },
  "flow-feedback": { path: played(yearBook, (title) => within(title, "/improve?role=analyst")) },
  "flows-newer": { scene: "left", path: "/flows" },
  "flow-newer": { scene: "left", path: within("ranking", "/r/analyst") },
  "flow-unreadable": { scene: "left", path: within("archive"), blank: true },
  "transcript-newer": { scene: "left", path: within("ranking", "/r/analyst/transcript") },
  "flow-gone": { path: within("20260303T080000000Z-zzzzzz"), blank: true },
  "transcript-empty": { path: within("Release notes", `/r/writer/transcript?at=${UNSAID}`) },
  "transcript-loading": { path: TRANSCRIPT, line: (line) => line.mute("/transcript"), blank: true },
  "transcript-live": { path: TRANSCRIPT },
  "transcript-lost": { path: TRANSCRIPT, then: lose },
  "transcript-past": { path: (scene) => `${TRANSCRIPT(scene)}?at=${scene.then.handed}` },
  "transcript-error": { path: within("letters", "/r/writer/transcript?seg=requests&msg=1") },
  "transcript-cut": { scene: "left", path: within("Release notes", "/r/writer/transcript") },
  "transcript-none": { path: within("ledger", "/r/qa/transcript") },
};
/** States that a picture shows as well (`pictures.test.mjs`): there they are compared and checked as the program says them. */
export const PLAYED = {
  "inbox-error": "failure", "inbox-closed": "retrospective", "flow-lost": "offline", "flow-asks": "flow", "flow-past": "past", "flow-improving": "closed", "transcript-live": "transcript",
};
