// The busy flow of the stage: eight nodes, seven roles. Work was sent back, a session was compacted, one role waits for
// a consent, one is in the middle of a sentence.
import { handsOver } from "../model.mjs";
import { asksFrom, begins } from "./older.mjs";
import { SUMMARY } from "./provider.mjs";

export const LEDGER = "Ledger journal";
const FLOW = `workflow:
  name: ${LEDGER}
  nodes:
    - { id: intake, role: owner, work: [Say what the ledger has to do.] }
    - { id: design, role: architect, work: [Design the journal.] }
    - { id: api, role: backend, work: [Move the store onto the journal.] }
    - { id: ui, role: frontend, work: [Read the table from the journal.] }
    - { id: docs, role: writer, work: [Write the guide.] }
    - { id: review, role: reviewer, work: [Look for what is missing or wrong.] }
    - { id: acceptance, role: qa, human-colab: true, work: [Compare it with the brief.] }
    - { id: close, role: owner, work: [Close the flow.] }
  edges:
    - { from: intake, to: design }
    - { from: design, to: api }
    - { from: design, to: ui }
    - { from: design, to: docs }
    - { from: api, to: review }
    - { from: ui, to: review }
    - { from: docs, to: review }
    - { from: review, to: acceptance }
    - { from: acceptance, to: close }
roles:
  owner: { instructions: You answer for the ledger. }
  architect: { instructions: You design. }
  backend: { instructions: You keep the journal. }
  frontend: { instructions: You make the table. }
  writer: { instructions: You write for people who keep books., model: small }
  reviewer: { instructions: You find what is missing or wrong. }
  qa: { instructions: You compare what was made with what was asked for., model: small }
`;
const JOURNAL = `use std::io;

pub fn replay(&self, from: Seq) -> Frames {
    let end = self.file.len();
    Frames::new(&self.file, from, end)
}

fn recover_tail(&self) -> io::Result<u64> {
    todo!()
}
`;
const lines = (what, n) => Array.from({ length: n }, (_, at) => `// ${what}, line ${at + 1}`).join("\n");
/** The files of the workspace. `check` prints what a run of tests prints. */
export const FILES = {
  "ledger.yaml": FLOW,
  "crates/ledger/src/journal.rs": JOURNAL,
  "crates/ledger/src/store.rs": `${lines("the store", 38)}\n`,
  "crates/ledger/src/frame.rs": `${lines("a frame", 120)}\n`,
  "crates/ledger/src/seq.rs": `${lines("a number", 64)}\n`,
  "ui/src/LedgerTable.tsx": "export function LedgerTable({ rows }: Props) {\n  const total = rows.reduce((a, r) => a + r.amount, 0);\n  return <table>{rows.map(Row)}</table>;\n}\n",
  check: `#!/bin/sh
case "$1" in
  ledger) echo "running 44 tests"; echo "test result: ok. 44 passed; 0 failed; 0 ignored";;
  lints) echo "error: this loop never ends" >&2; echo "  --> crates/ledger/src/journal.rs:9" >&2; exit 101;;
  *) echo "running 12 tests"; echo "test result: ok. 12 passed; 0 failed; 0 ignored";;
esac
`,
};
const BRIEF = "# Brief\n\nThe ledger is only appended to. A torn write loses nothing that was acknowledged.\n";
const DESIGN = "# Architecture\n\nOne writer per flow, dense sequence numbers.\n\n1. The journal is written before the snapshot.\n2. Readers move first, then the writer.\n";
const REPORT = "# API report\n\nThe journal is in place: one writer, dense sequence numbers, readers moved over.\n\nKnown limit: recovery after a torn write is untested.\n";
const GAP = "# Replay gap\n\nReplay stops at a torn last frame but never truncates it.\n";
const EDITS = [
  { old_string: "    let end = self.file.len();", new_string: "    let end = self.recover_tail()?;\n    // a short last frame is a torn write" },
  { old_string: "    todo!()", new_string: "    self.frames().last_whole()" },
];
const GUIDE = "# Guide\n\nNothing is changed in a ledger: what was wrong is booked back.\n";

/** Plays it up to the moment that the pictures show. `then` holds events of the past, by name. */
export async function play({ place, provider, at, rests }) {
  const who = (role) => `${LEDGER}/${role}`;
  const says = async (role, answer, { cached = 0, input = 4_000, output = 300 } = {}) => {
    await provider.give(who(role), { ...answer, cached, used: { input, output } });
  };
  const writes = (path, content) => [["write_file", { path, content }]];
  const then = {};
  const seq = async (flow) => (await place.ask("GET", `/api/flow/orchard/${flow}/state`)).flow.seq;

  at("13:29:40");
  const { flow } = await begins(place, { from: { file: "ledger.yaml" }, input: "Make the ledger append-only.", allow: ["edits", "./check *"] });
  await provider.asked(who("owner"));
  at("13:31:10");
  await says("owner", { text: "The brief fits on a page.", calls: writes("record/brief.md", BRIEF) });
  await provider.asked(who("owner"));
  at("13:34:05");
  await says("owner", { text: handsOver("design", "record/brief.md") }, { cached: 3_800 });

  await provider.asked(who("architect"));
  at("13:38:00");
  await says("architect", { text: "I read what there is before I design.", calls: [["read_file", { path: "record/brief.md" }], ["read_file", { path: "crates/ledger/src/store.rs" }]] }, { input: 9_000 });
  await provider.asked(who("architect"));
  at("13:43:30");
  await says("architect", { calls: writes("record/architecture.md", DESIGN) }, { input: 11_000, cached: 9_000, output: 900 });
  await provider.asked(who("architect"));
  at("13:45:00");
  await says("architect", { text: "The design is whole.", calls: [["handoff", { targets: ["api", "ui", "docs"].map((to) => ({ target_node_id: to, artifact_path: "record/architecture.md" })) }]] }, { input: 2_000, cached: 20_000 });

  for (const role of ["backend", "frontend", "writer"]) await provider.asked(who(role));
  at("13:47:20");
  await says("backend", { text: "The design asks for one writer per flow and dense sequence numbers. `Store::save` rewrites the whole snapshot today, so I will add the journal beside it and move readers first.", calls: ["journal", "store", "frame", "seq"].map((name) => ["read_file", { path: `crates/ledger/src/${name}.rs` }]) }, { input: 31_000, output: 420 });
  await provider.asked(who("backend"));
  at("13:48:30");
  await says("writer", { text: "I write the guide from the design.", calls: writes("record/guide.md", GUIDE) }, { input: 8_000, output: 600 });
  await provider.asked(who("writer"));
  at("13:49:10");
  await says("frontend", { text: "The table sums rows itself. I look at what it is given.", calls: [["read_file", { path: "ui/src/LedgerTable.tsx" }]] }, { input: 12_000 });
  await provider.asked(who("frontend"));
  at("13:50:40");
  await says("backend", { calls: [["grep", { pattern: "the store", path: "crates" }], ["run_command", { command: "./check ledger" }]] }, { input: 40_000, cached: 31_000, output: 200 });
  await provider.asked(who("backend"));
  at("13:53:00");
  // This answer fills the window: the conversation becomes a summary.
  await says("backend", { text: "Every reader goes through `Frames` now. The writer takes the lock once per batch.", calls: writes("crates/ledger/src/store.rs", `${lines("the store on its journal", 212)}\n`) }, { input: 90_000, cached: 70_000, output: 8_000 });
  await provider.asked(SUMMARY);
  at("13:57:40");
  await provider.give(SUMMARY, { text: "Readers are moved over. The writer takes the lock once per batch. Left: the report.", cached: 150_000, used: { input: 2_000, output: 1_100 } });
  await provider.asked(who("backend"));
  at("13:59:00");
  await says("backend", { calls: writes("record/api-report.md", REPORT) }, { input: 9_000, output: 500 });
  await provider.asked(who("backend"));
  await rests(flow);
  then.working = await seq(flow);
  at("14:00:18");
  await says("backend", { text: handsOver("review", "record/api-report.md") }, { input: 1_000, cached: 9_000 });
  await provider.asked(who("reviewer"));
  await rests(flow);
  then.handed = await seq(flow);

  // The writer is still at work; with a second input the reviewer would begin anew, and wait for nothing.
  at("14:02:00");
  await says("reviewer", { calls: [["read_file", { path: "record/api-report.md" }], ["read_file", { path: "crates/ledger/src/journal.rs" }]] }, { input: 14_000 });
  await provider.asked(who("reviewer"));
  at("14:03:20");
  await says("reviewer", { text: "Replay meets a torn frame and stops there. Nothing cuts it off.", calls: writes("record/replay-gap.md", GAP) }, { input: 2_000, cached: 14_000 });
  await provider.asked(who("reviewer"));
  at("14:04:00");
  await says("reviewer", { text: handsOver("api", "record/replay-gap.md") }, { cached: 16_000 });
  await provider.asked(who("backend"));
  await rests(flow);
  then.back = await seq(flow);
  at("14:06:30");
  await says("backend", { text: "Agreed. The reader already detects the short frame, so recovery belongs in one place: `recover_tail()` finds the last whole frame, truncates, and returns its end.\n\n- one place\n- one test", calls: [["edit_file", { path: "crates/ledger/src/journal.rs", edits: EDITS }]] }, { input: 12_000, cached: 9_000, output: 700 });
  await provider.asked(who("backend"));
  at("14:07:40");
  await says("backend", { calls: [["run_command", { command: "./check ledger" }], ["run_command", { command: "./check lints" }]] }, { input: 3_000, cached: 21_000 });
  await provider.asked(who("backend"));
  place.run("steer", flow, "backend", "Please keep the old file format readable.");
  await rests(flow);
  at("14:08:20");
  await says("frontend", { calls: [["edit_file", { path: "ui/src/LedgerTable.tsx", edits: [{ old_string: "rows.reduce((a, r) => a + r.amount, 0)", new_string: "sum(rows, (r) => r.amount)" }] }]] }, { input: 3_000, cached: 12_000 });
  await provider.asked(who("frontend"));
  at("14:09:50");
  asksFrom(place, flow);
  await says("backend", { text: "Tests pass. I want a fuzz target over truncated files before I hand off, because hand-picked offsets miss frame headers.", calls: [["run_command", { command: "cargo install cargo-fuzz --locked" }]] }, { input: 4_000, cached: 24_000, output: 600 });
  await rests(flow);
  at("14:11:20");
  const whole = new Promise((done) => { then.whole = done; });
  await says("frontend", { text: "The table reads from the journal now, so the balance column no longer waits for the", rest: whole }, { input: 2_000, cached: 15_000 });
  // What streams is recorded in pieces, a while after it came; later it would bear another time.
  while (!place.log(flow).some((one) => one.fact === "draft_added" && one.role === "frontend")) await new Promise((done) => setTimeout(done, 100));
  await rests(flow);
  return { flow, then };
}