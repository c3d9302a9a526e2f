// One workspace for the tests: a flow in the middle of its work, asks of every kind, and feeds with every kind of item.
// Pictures have a clock of their own.
const NOW = Number(process.env.A_SOCIETY_NOW ?? Date.now());
const ago = (minutes) => new Date(NOW - minutes * 60_000).toISOString();
export const flowOf = (flow) => ({ project: "orchard", flow });

export function row(flow, title, more = {}) {
  return { project: "orchard", flow, title, status: "running", phase: "forward", waits: 0, running: 1, nodes_done: 3, nodes: 8, roles: 6, created_at: ago(41), updated_at: ago(1), seq: 4812, tokens: 1_240_000, cost_micros: 2_870_000, parent: null, damage: [], driven_by: "server", over: false, stopped: false, standing: "working", again: null, workflow: title, ...more };
}
export function ask(id, kind, more = {}) {
  return { id, flow: flowOf("ledger"), title: "Ledger journal", role: "backend", node: "api", since: ago(2), seq: 4800, blocking: true, headline: "backend wants to run a command", short: "Run cargo install cargo-fuzz", kind, waiting_behind: ["review", "acceptance", "close"], said_before: null, earlier: [], ...more };
}
export function consent(id, shown, more = {}) {
  return ask(`ledger/consent/${id}`, { kind: "consent", consent: id, action: `hash-${id}`, tool: "run_command", shown, facts: [{ label: "Directory", value: "crates/ledger", warn: false }, { label: "Network", value: "Yes", warn: true }, { label: "Writes", value: "Outside the workspace, ~/.cargo/bin", warn: true }, { label: "Existing permission", value: "None", warn: false }], for_the_flow: "This exact command, in this folder and sandbox, for any role in this flow", diff: null }, more);
}
export function item(seq, type, text, more = {}) {
  return { id: `f${seq}`, first: seq, seq, at: ago(30 - seq / 200), type, event: null, label: type === "assistant" ? "backend" : type, text, full_bytes: null, node: "api", turn: 14, call_id: null, tool: null, pending: false, interrupted: false, discarded: false, took_ms: null, added: null, removed: null, exit: null, outcome: null, ...more };
}
const node = (id, role, state, words, rank, more = {}) => ({ id, role, work: [], human_colab: false, await_all: true, state, words, live: null, since: ago(3), took_ms: null, turn: null, attempt: 1, again: null, correction: false, rank, seq: 100, ...more });
const passed = (path, more = {}) => ({ artifact: { path, hash: `h-${path}`, bytes: 2100 }, seq: 200, at: ago(20), superseded_at: null, read: true, ...more });
const edge = (from, to, state, forward = [], backward = [], open = false) => [`${from}/${to}`, { from, to, optional: false, state, forward, backward, open_correction: open }];
const role = (instance, state, node, more = {}) => [instance, { instance, base: instance, state, node, turn: 14, executor: "sonnet-4.5", settings: {}, context_tokens: 122_000, window_tokens: 200_000, tokens: 400_000, cost_micros: 900_000, turns: 14, limits: {}, archives: ["archive-1"], items: 10, last_seq: 4812, queued: [], tasks: [], mcp: [], reach: null, retry_at: null, unread_hint: 0, ...more }];

export function backendFeed() {
  return [
    item(3000, "activation", "backend begins api.", { event: "role.active", label: "Active" }),
    item(3010, "assistant", "The design asks for one writer per flow and dense sequence numbers. `Store::save` rewrites the whole snapshot today, so I will add the journal beside it and move readers first."),
    ...[3020, 3021, 3022, 3023, 3024, 3025, 3026].map((seq) => item(seq, "tool-success", `read crates/ledger/src/part${seq}.rs\n214 lines`, { tool: "read_file", label: "read_file", call_id: `c${seq}`, took_ms: 900 })),
    ...[3030, 3031, 3032].map((seq) => item(seq, "tool-success", `search "fn save" in crates\n3 hits`, { tool: "search_files", label: "search_files", call_id: `c${seq}`, took_ms: 1500 })),
    item(3040, "reasoning", "The journal has to be written before the snapshot, or a crash between the two loses a fact.", { event: "provider.reasoning_trace", label: "Reasoning", took_ms: 4000 }),
    item(3050, "tool-success", "edit crates/ledger/src/store.rs\nok", { tool: "edit_file", label: "edit_file", call_id: "c3050", added: 212, removed: 38, took_ms: 120 }),
    item(3060, "event", "", { event: "session.compacted", label: "Context compacted from 148k tokens", call_id: "archive-1" }),
    item(3100, "activation", "review sent this back to backend.", { event: "role.sent_back", label: "Active again" }),
    item(3110, "assistant", "Agreed. The reader already detects the short frame, so recovery belongs in one place: `recover_tail()` finds the last whole frame, truncates, and returns its end.\n\n- one place\n- one test"),
    item(3120, "tool-success", "edit crates/ledger/src/journal.rs\nok", { tool: "edit_file", label: "edit_file", call_id: "c3120", added: 18, removed: 4, took_ms: 80 }),
    item(3130, "tool-success", "run cargo test -p ledger\n44 passed", { tool: "run_command", label: "run_command", call_id: "c3130", exit: 0, outcome: { words: "44 passed", failed: false }, took_ms: 6200 }),
    item(3140, "tool-error", "run cargo clippy\nerror: this could be simplified\n  --> src/lib.rs:4", { tool: "run_command", label: "run_command", call_id: "c3140", exit: 101, took_ms: 9800 }),
    item(3150, "user", "Please keep the old file format readable.", { event: "human.steered", label: "You, for its next request" }),
    item(3160, "repair", "The handoff names api-report.md, which is not on disk. (repair 1 in a row)", { event: "repair.requested", label: "Asked to mend the outcome" }),
    item(3170, "assistant", "Tests pass. I want a fuzz target over truncated files before I hand off, because hand-picked offsets miss frame headers."),
  ];
}
export const DIFF = { path: "crates/ledger/src/journal.rs", old: "a", new: "b", truncated: false, hunks: [{ old_start: 61, new_start: 61, lines: [{ op: " ", text: "pub fn replay(&self, from: Seq) -> Frames {" }, { op: "-", text: "    let end = self.file.len();" }, { op: "+", text: "    let end = self.recover_tail()?;" }, { op: "+", text: "    // a short last frame is a torn write" }, { op: " ", text: "    Frames::new(&self.file, from, end)" }, { op: " ", text: "}" }] }] };

export function world() {
  const asks = [
    consent("c1", "cargo install cargo-fuzz --locked", { said_before: "Tests pass. I want a fuzz target over truncated files before I hand off, because hand-picked offsets miss frame headers.", earlier: [{ at: ago(20), flow: flowOf("ledger"), role: "backend", words: "Allowed for this flow", detail: "all edits" }, { at: ago(27), flow: flowOf("ledger"), role: "backend", words: "Allowed for this flow", detail: "cargo test -p ledger" }, { at: ago(40), flow: flowOf("ledger"), role: "owner", words: "Allowed once", detail: "git log --oneline -20" }] }),
    consent("c2", "rm -rf target/fuzz", { since: ago(1), short: "Run rm -rf target/fuzz" }),
    ask("billing/approval/a1", { kind: "approval", approval: "a1", targets: [{ to: "close", artifact: { path: "record/export-report.md", hash: "h1", bytes: 4100 } }] }, { flow: flowOf("billing"), title: "Billing export", role: "owner", node: "acceptance", since: ago(6), headline: "owner wants to hand over", short: "Hand over to close" }),
    ask("archive/text/analyst", { kind: "text", reason: "prompt_human", question: "Should archived accounts keep their **balance history**?\n\nIt doubles the size of the table.", may_retry: false }, { flow: flowOf("archive"), title: "Account archive", role: "analyst", node: "analysis", since: ago(14), headline: "analyst needs an answer", short: "Should archived accounts keep their balance history?" }),
    ask("tour/stopped/flow", { kind: "stopped" }, { flow: flowOf("tour"), title: "Onboarding tour", role: null, node: null, since: ago(38), headline: "writer was cut off in its turn", short: "Cut off in its turn. Continue?" }),
    ask("wizard/improvement/flow", { kind: "improvement", modes: ["graph-based", "parallel", "none"], roles: 5, estimates: [{ mode: "graph-based", roles: 5, ms: 720_000, cost_micros: 1_400_000 }, { mode: "parallel", roles: 5, ms: 240_000, cost_micros: null }] }, { flow: flowOf("wizard"), title: "Import wizard", role: "owner", node: null, since: ago(60), blocking: false, headline: "The forward work is done", short: "Run a retrospective?" }),
  ];
  const mine = Object.fromEntries(asks.filter((one) => one.flow.flow === "ledger").map((one) => [one.id, one]));
  const rows = [row("ledger", "Ledger journal", { waits: 2 }), row("billing", "Billing export", { nodes_done: 6, nodes: 7, waits: 1 }), row("archive", "Account archive", { nodes_done: 1, nodes: 6, waits: 1 }), row("tour", "Onboarding tour", { stopped: true, standing: "stopped", status: "stopped", running: 0 }), row("wizard", "Import wizard", { phase: "improvement_choice", standing: "waiting", status: "waiting for you", running: 0, nodes_done: 5, nodes: 5, waits: 1 }), row("ranking", "Search ranking fix", { over: true, standing: "completed", phase: "completed", status: "completed", running: 0, nodes_done: 4, nodes: 4, updated_at: ago(190) })];
  const state = {
    flow: { ...rows[0], input: "Make the ledger append-only", origin: "flow.yaml", draft: false, mode: "partial-access", grants: [], paused: null, limits: { cost_micros: 10_000_000 }, cached_tokens: 880_000, owner: "owner", closing: "close", pid: "this server" },
    order: ["intake", "design", "api", "ui", "docs", "review", "acceptance", "close"],
    nodes: Object.fromEntries([node("intake", "owner", "done", "Done", 0, { took_ms: 240_000 }), node("design", "architect", "done", "Done", 1, { took_ms: 660_000 }), node("api", "backend", "needs-you", "Wants to run cargo install cargo-fuzz", 2, { turn: 14, correction: true }), node("ui", "frontend", "running", "Working", 2, { turn: 9, live: "edit ui/src/LedgerTable.tsx, 1 place" }), node("docs", "writer", "done", "Done", 2, { took_ms: 540_000 }), node("review", "reviewer", "suspended", "Waiting for api", 3, { turn: 3 }), node("acceptance", "qa", "not-reached", "Not reached", 4), node("close", "owner", "not-reached", "Not reached", 5, { human_colab: true })].map((one) => [one.id, one])),
    edges: Object.fromEntries([edge("intake", "design", "delivered", [passed("brief.md")]), edge("design", "api", "delivered", [passed("architecture.md")]), edge("design", "ui", "delivered", [passed("architecture.md")]), edge("design", "docs", "delivered", [passed("architecture.md")]), edge("api", "review", "stale", [passed("api-report.md", { superseded_at: ago(5) })], [passed("replay-gap.md")], true), edge("ui", "review", "not-yet"), edge("docs", "review", "delivered", [passed("guide.md")]), edge("review", "acceptance", "not-yet"), edge("acceptance", "close", "not-yet")]),
    roles: Object.fromEntries([role("owner", "done", null, { context_tokens: 36_000 }), role("architect", "done", null), role("backend", "needs-you", "api"), role("frontend", "running", "ui", { turn: 9 }), role("writer", "done", null), role("reviewer", "awaiting-handoff", "review", { turn: 3 })]),
    asks: mine, improvement: null, changes: {},
  };
  const decided = [{ at: ago(20), flow: flowOf("ledger"), role: "backend", words: "Allowed all edits for this flow", detail: "" }, { at: ago(53), flow: flowOf("billing"), role: "owner", words: "Answered", detail: "use UTC in exports" }, { at: ago(150), flow: flowOf("ranking"), role: "frontend", words: "Denied", detail: "git push --force" }];
  return {
    inbox: { flows: Object.fromEntries(rows.map((one) => [`orchard/${one.flow}`, one])), asks: Object.fromEntries(asks.map((one) => [one.id, one])), decided },
    flows: { "orchard/ledger": { state, feeds: { backend: backendFeed(), owner: [], frontend: [], architect: [], writer: [], reviewer: [] } } },
  };
}

export const FLOW = "/p/orchard/f/ledger";
export const FEED = `${FLOW}/r/backend`;
/** A world in which the busy flow is changed. */
export function changed(change) {
  const data = world();
  const flow = data.flows["orchard/ledger"];
  change(data, flow.state, flow.feeds);
  return data;
}
