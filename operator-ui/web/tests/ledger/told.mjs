// The stage of most tests: one flow in the middle of a correction, and the flows around it.
const DAY = "2026-03-03T";
const ms = (time) => Date.parse(`${DAY}${time}Z`);
export const HEAD = 4812;
const clock = [[1, "13:29:40"], [300, "13:34:05"], [900, "13:45:00"], [1000, "13:45:10"], [1600, "13:53:00"], [2200, "13:57:40"], [2600, "13:58:30"], [3204, "14:00:18"], [3500, "14:02:00"], [3900, "14:04:30"], [4500, "14:09:30"], [HEAD, "14:11:52"]].map(([s, t]) => [s, ms(t)]);
const art = (path, bytes = 4210) => ({ path, hash: `b3-${path.replaceAll(/\W/g, "")}`, bytes });
const passed = (path, seq, time, superseded = null) => ({ artifact: art(path), seq, at: `${DAY}${time}Z`, superseded_at: superseded && `${DAY}${superseded}Z`, read: true });

const node = (id, role, state, rank, more = {}) => ({ id, role, work: [], human_colab: false, await_all: true, state, words: "", live: null, again: null, since: null, took_ms: null, turn: null, attempt: null, correction: false, rank, seq: 1, ...more });
const edge = (from, to, forward = [], more = {}) => ({ from, to, optional: false, state: forward.length === 0 ? "not-yet" : "delivered", forward, backward: [], open_correction: false, ...more });
const role = (instance, state, more = {}) => ({ instance, base: instance, state, node: null, turn: null, executor: "sonnet-4.5", settings: {}, context_tokens: 36_000, window_tokens: 200_000, tokens: 120_000, cost_micros: 310_000, turns: 3, limits: {}, archives: [], items: 12, last_seq: HEAD, queued: [], tasks: [], mcp: [], reach: null, unread_hint: 0, ...more });

export const row = (flow, title, more = {}) => ({
  project: "orchard", flow, title, status: "running", phase: "forward", waits: 0, running: 1, nodes_done: 1, nodes: 6, roles: 6, created_at: `${DAY}13:29:40Z`, updated_at: `${DAY}14:11:52Z`,
  seq: HEAD, tokens: 1_240_000, cost_micros: 2_870_000, parent: null, damage: [], driven_by: "server", over: false, stopped: false, standing: "working", again: null, workflow: title, ...more,
});
const flowRow = row("ledger", "Ledger journal", { status: "waiting for you", waits: 1, running: 1, nodes_done: 3, nodes: 8 });
const ask = {
  id: "ledger/consent/c1", flow: { project: "orchard", flow: "ledger" }, title: "Ledger journal", role: "backend", node: "api", since: `${DAY}14:09:50Z`, seq: 4790, blocking: true,
  headline: "backend wants to run a command", short: "Run cargo install", waiting_behind: ["review", "acceptance", "close"], said_before: "Tests pass. I want a fuzz target over truncated files before I hand off.", earlier: [],
  kind: { kind: "consent", consent: "c1", action: "a1", tool: "run_command", shown: "cargo install cargo-fuzz --locked", facts: [{ label: "Directory", value: "crates/ledger", warn: false }, { label: "Network", value: "Yes", warn: true }], for_the_flow: "This exact command, in this folder and sandbox, for any role in this flow", diff: null },
};

export const ledger = {
  order: ["intake", "design", "api", "ui", "docs", "review", "acceptance", "close"],
  flow: { ...flowRow, input: "Make the ledger append-only.", origin: "flows/ledger.yaml", draft: false, mode: "partial-access", grants: [], paused: null, limits: { cost_micros: 10_000_000 }, cached_tokens: 880_000, owner: "owner", closing: "close", pid: null,  },
  nodes: Object.fromEntries([
    node("intake", "owner", "done", 0, { took_ms: 240_000, turn: 2 }), node("design", "architect", "done", 1, { took_ms: 660_000, turn: 3 }),
    node("api", "backend", "needs-you", 2, { words: "Wants to run cargo install cargo-fuzz", live: null, turn: 14, correction: true }), node("ui", "frontend", "running", 2, { words: "Working", live: "edit ui/src/LedgerTable.tsx, 1 place", turn: 9 }), node("docs", "writer", "done", 2, { took_ms: 540_000, turn: 2 }),
    node("review", "reviewer", "suspended", 3, { words: "Waiting for api", turn: 3 }), node("acceptance", "qa", "not-reached", 4), node("close", "owner", "not-reached", 5, { human_colab: true }),
  ].map((n) => [n.id, n])),
  edges: Object.fromEntries([
    edge("intake", "design", [passed("brief.md", 300, "13:34:05")]), ...["api", "ui", "docs"].map((to) => edge("design", to, [passed("architecture.md", 900, "13:45:00")])),
    edge("api", "review", [passed("api-report.md", 3204, "14:00:18", "14:04:00")], { state: "stale", backward: [passed("replay-gap.md", 3890, "14:04:00")], open_correction: true }),
    edge("ui", "review"), edge("docs", "review", [passed("guide.md", 1700, "13:54:20")]), edge("review", "acceptance"), edge("acceptance", "close"),
  ].map((e) => [`${e.from}/${e.to}`, e])),
  roles: Object.fromEntries([
    role("owner", "idle", { node: "intake" }), role("architect", "done", { node: "design" }), role("backend", "needs-you", { node: "api", turn: 14, turns: 14, context_tokens: 122_000, archives: ["archive-1", "archive-2"] }),
    role("frontend", "running", { node: "ui", turn: 9 }), role("writer", "done", { node: "docs" }), role("reviewer", "awaiting-handoff", { node: "review", turn: 3 }), role("qa", "idle", { turns: 0 }),
  ].map((r) => [r.instance, r])),
  asks: { [ask.id]: ask }, improvement: null, changes: {},
};

const turn = (role_, node_, n, from, to, kind = "turn") => ({ role: role_, node: node_, turn: n, from, to, kind });
export const track = {
  head: HEAD, at: clock,
  nodes: {
    intake: [[1, "ready", false], [2, "running", false], [120, "needs-you", false], [180, "running", false], [300, "done", false]], design: [[300, "ready", false], [310, "running", false], [900, "done", false]],
    api: [[900, "ready", false], [910, "running", false], [1500, "needs-you", false], [1900, "running", false], [3204, "done", false], [3890, "running", true], [4600, "needs-you", true]],
    ui: [[900, "ready", false], [912, "running", false]], docs: [[900, "ready", false], [914, "running", false], [1700, "done", false]], review: [[3204, "ready", false], [3210, "running", false], [3890, "suspended", false]],
  },
  turns: [
    turn("owner", "intake", 1, 2, 120), turn("owner", "intake", null, 120, 180, "waiting"), turn("owner", "intake", 2, 180, 300),
    turn("architect", "design", 1, 310, 480), turn("architect", "design", 2, 490, 680), turn("architect", "design", 3, 690, 900),
    turn("backend", "api", 1, 910, 1200), turn("backend", "api", 2, 1210, 1500), turn("backend", "api", null, 1500, 1900, "waiting"), turn("backend", "api", 3, 1900, 2150), turn("backend", "api", 11, 2300, 3204), turn("backend", "api", 12, 3890, 4200, "correction"), turn("backend", "api", 13, 4210, 4600, "correction"), turn("backend", "api", null, 4600, null, "waiting"),
    turn("frontend", "ui", 1, 912, 1500), turn("frontend", "ui", 2, 1510, 2100), turn("frontend", "ui", 6, 2120, 3300), turn("frontend", "ui", 7, 3310, 3880), turn("frontend", "ui", 8, 3890, 4400), turn("frontend", "ui", 9, 4410, null),
    turn("writer", "docs", 1, 914, 1150), turn("writer", "docs", 2, 1160, 1700), turn("reviewer", "review", 1, 3210, 3890), turn("reviewer", "review", null, 3890, null, "suspended"),
  ],
  hops: [
    { seq: 300, from_role: "owner", to_role: "architect", backward: false, path: "brief.md" }, { seq: 900, from_role: "architect", to_role: "backend", backward: false, path: "architecture.md" }, { seq: 901, from_role: "architect", to_role: "writer", backward: false, path: "architecture.md" },
    { seq: 1700, from_role: "writer", to_role: "reviewer", backward: false, path: "guide.md" }, { seq: 3204, from_role: "backend", to_role: "reviewer", backward: false, path: "api-report.md" }, { seq: 3890, from_role: "reviewer", to_role: "backend", backward: true, path: "replay-gap.md" },
  ],
  marks: [{ seq: 2250, role: "backend", kind: "compaction" }],
};

const KINDS = [
  ["summary", "You are backend at node api. Goal: append-only journal with dense sequence numbers.", 9012], ["user", "api continues. Inputs: architecture.md, brief.md", 1204], ["assistant", "I will move readers first, then the writer.", 218],
  ["tool_call", "read_file ledger/src/store.rs", 64], ["tool_result", "use std::{fs::File, io}; use crate::frame::Header;", 6870], ["tool_call", "edit_file ledger/src/journal.rs", 1390], ["tool_result", "ok, 42 lines added, 6 removed", 31],
  ["tool_call", "run_command cargo test -p ledger", 58], ["tool_result", "error[E0502]: cannot borrow as mutable", 2411], ["assistant", "The frame iterator holds the borrow. I will clone the header first.", 176],
];
export const LONG = 100_000;
const message = (n) => {
  const [kind, content, tokens] = KINDS[n % KINDS.length];
  return { n, kind, content, tokens, at: `${DAY}14:05:12Z`, seq: 100 + n, raw: { role: kind, text: content, calls: [{ id: `call_${n}`, name: "edit_file", input: { path: "crates/ledger/src/journal.rs", old: "    let end = self.file.len();\n", new: "    let end = self.recover_tail()?;\n" } }], usage: { input_tokens: 118402, output_tokens: 1355 } } };
};
const transcript = (long) => (query) => {
  const seg = query.get("seg") ?? "live";
  const from = Number(query.get("from") ?? 0);
  const limit = Number(query.get("limit") ?? 200);
  const total = long ? LONG : seg === "live" ? 61 : seg === "system" || seg === "tools" ? 1 : seg === "requests" ? 27 : 84;
  return {
    segments: [{ id: "live", kind: "live", words: "Live", messages: long ? LONG : 61, tokens: 97_700 }, { id: "archive-1", kind: "archive", words: "Archive 1", messages: 52, tokens: 96_000 }, { id: "archive-2", kind: "archive", words: "Archive 2", messages: 84, tokens: 148_000 }, { id: "system", kind: "system", words: "System prompt", messages: 1, tokens: 18_200 }, { id: "tools", kind: "tools", words: "Tools", messages: 14, tokens: 6_100 }, { id: "requests", kind: "requests", words: "As sent to the model", messages: 27, tokens: 0 }],
    messages: Array.from({ length: Math.max(0, Math.min(limit, total - from)) }, (_, i) => message(from + i)), total,
  };
};

const diff = {
  path: "ledger/src/journal.rs", old: "h-old", new: "h-new", truncated: false,
  hunks: [{ old_start: 61, new_start: 61, lines: [{ op: " ", text: "pub fn replay(&self, from: Seq) -> Frames {" }, { op: "-", text: "    let end = self.file.len();" }, { op: "+", text: "    let end = self.recover_tail()?;" }, { op: "+", text: "    // a short last frame is a torn write" }, { op: " ", text: "    Frames::new(&self.file, from, end)" }, { op: " ", text: "}" }] },
    { old_start: 120, new_start: 121, lines: [{ op: " ", text: "fn recover_tail(&self) -> io::Result<u64> {" }, { op: "-", text: "    todo!()" }, { op: "+", text: "    self.frames().last_whole()" }, { op: " ", text: "}" }] }],
};
const other = { path: "ui/src/LedgerTable.tsx", old: "h2-old", new: "h2-new", truncated: false, hunks: [{ old_start: 8, new_start: 8, lines: [{ op: " ", text: "export function LedgerTable({ rows }: Props) {" }, { op: "-", text: "  const total = rows.reduce((a, r) => a + r.amount, 0);" }, { op: "+", text: "  const total = sum(rows, (r) => r.amount);" }, { op: " ", text: "  return <table>" }] }] };
const FACTS = ["flow_started", "turn_started", "call_finished", "handed_off", "turn_finished", "consent_asked"];
const event = (seq) => ({ seq, at: `${DAY}14:00:18Z`, fact: FACTS[seq % FACTS.length], line: JSON.stringify({ seq, at: `${DAY}14:00:18Z`, fact: { [FACTS[seq % FACTS.length]]: { node: "api", role: "backend", turn: seq % 14, text: "Reading the design first, then the store it replaces." } } }) });
const version = (path, seq, from, to, superseded = false) => ({ seq, hash: art(path).hash + seq, bytes: 4210, from, to, superseded });

export const item = (n, more) => ({ id: `i${n}`, first: n, seq: n, at: `${DAY}14:00:18Z`, type: "assistant", event: null, label: "backend", text: "", full_bytes: null, node: "api", turn: 11, call_id: null, tool: null, pending: false, interrupted: false, discarded: false, took_ms: null, added: null, removed: null, exit: null, outcome: null, ...more });
const feed = [
  item(910, { type: "activation", event: "role.active", label: "Active", text: "backend begins api." }), item(940, { text: "The design asks for one writer per flow and dense sequence numbers. `Store::save` rewrites the whole snapshot today, so I will add the journal beside it and move readers first." }),
  item(2250, { type: "event", event: "session.compacted", label: "Context compacted from 148k tokens" }), item(3204, { type: "handoff", event: "handoff.applied", label: "Handed over", text: "api-report.md → review", deliveries: [{ path: "api-report.md", to: "review", back: false }] }),
  item(3890, { type: "activation", event: "role.sent_back", label: "Active again", text: "review sent this back to backend." }), item(4300, { text: "Agreed. The reader already detects the short frame, so recovery belongs in one place." }),
];

const FLOW = "/p/orchard/f/ledger";
/** The screens of this part of the page. */
export const SCREENS = {
  graph: `${FLOW}?node=api&role=backend`, past: `${FLOW}?at=3204`, outline: `${FLOW}/outline`, files: `${FLOW}/files`, artifact: `${FLOW}/files/record/api-report.md`, events: `${FLOW}/events#e3204`,
  transcript: `${FLOW}/r/backend/transcript?msg=17`, flows: "/flows", improve: "/p/orchard/f/closed/improve", big: "/p/orchard/f/big", findings: "/findings", roles: "/roles", models: "/settings/models", keys: "/settings/keys", look: "/settings/look", wide: "/p/orchard/f/wide",
};

/** The flow as the server tells it for one moment: what the tests look at is 14:00:18. */
const past = (seq) => ({
  ...ledger, asks: {}, flow: { ...ledger.flow, seq, updated_at: `${DAY}14:00:18Z`, cached_tokens: 559_000, tokens: 810_000, cost_micros: 1_940_000, waits: 0 },
  nodes: { ...ledger.nodes, api: node("api", "backend", "done", 2, { took_ms: 900_000, turn: 11 }), ui: node("ui", "frontend", "running", 2, { words: "Working", live: "read ui/src/ledger.ts", turn: 6 }), review: node("review", "reviewer", "running", 3, { words: "Working", live: "read record/api-report.md", turn: 1 }) },
  edges: { ...ledger.edges, "api/review": edge("api", "review", [passed("api-report.md", 3204, "14:00:18")]) },
});

/** A graph of `n` nodes in layers of `wide`. */
export function big(n, wide) {
  const nodes = {};
  const edges = {};
  const order = [];
  for (let i = 0; i < n; i++) {
    const rank = i === 0 ? 0 : 1 + Math.floor((i - 1) / wide);
    const id = `step-${String(i).padStart(3, "0")}`;
    order.push(id);
    nodes[id] = node(id, ["backend", "frontend", "writer", "qa"][i % 4], i < n / 2 ? "done" : i < n / 2 + 6 ? "running" : "not-reached", rank, i < n / 2 ? { took_ms: 60_000 } : {});
    if (i === 0) continue;
    const from = rank === 1 ? 0 : i - wide;
    const e = edge(order[from], id, i < n / 2 ? [passed(`out-${from}.md`, i + 1, "13:45:00")] : []);
    edges[`${e.from}/${e.to}`] = e;
  }
  return { ...ledger, flow: { ...ledger.flow, flow: "big", title: `${n} nodes`, nodes: n, nodes_done: Math.floor(n / 2), waits: 0 }, order, nodes, edges, asks: {} };
}

const improving = {
  ...ledger, flow: { ...ledger.flow, flow: "closed", title: "Import wizard", phase: "improving", status: "improving", nodes_done: 8, waits: 0 },
  nodes: Object.fromEntries(Object.values(ledger.nodes).map((n) => [n.id, { ...n, state: "done", live: null, words: "", took_ms: n.took_ms ?? 300_000 }])), asks: {},
  improvement: {
    mode: "graph-based",
    roles: { qa: { state: "done", depends_on: [], findings: art("improvement/qa.md"), seq: 4600 }, reviewer: { state: "done", depends_on: ["qa"], findings: art("improvement/reviewer.md"), seq: 4610 }, backend: { state: "reflecting", depends_on: ["reviewer"], findings: null, seq: null }, frontend: { state: "reflecting", depends_on: ["reviewer"], findings: null, seq: null }, architect: { state: "waiting", depends_on: ["backend", "frontend"], findings: null, seq: null }, owner: { state: "waiting", depends_on: ["architect"], findings: null, seq: null } },
    feedback: { state: "undecided", path: null },
  },
  changes: { c1: { id: "c1", file: "roles/reviewer/checks.md", state: "proposed", from_role: "reviewer", finding: 4610 }, c2: { id: "c2", file: "roles/qa/acceptance.md", state: "applied", from_role: "qa", finding: 4600 } },
};

/** What is proposed, as a stage holds it: deciding changes it. */
const proposed = () => new Map([
  ["c1", { change: { id: "c1", role: "reviewer", finding: 4610, path: "a-docs/roles/reviewer/checks.md", at: "2026-03-03T14:10:00Z", stands: "open" }, diff: { ...diff, path: "a-docs/roles/reviewer/checks.md" } }],
  ["c2", { change: { id: "c2", role: "qa", finding: 4600, path: "a-docs/roles/qa/acceptance.md", at: "2026-03-03T14:11:00Z", stands: "applied" }, diff: null }],
  ["c3", { change: { id: "c3", role: "qa", finding: 4600, path: "a-docs/style.md", at: "2026-03-03T14:11:30Z", stands: "file-changed" }, diff: { ...diff, path: "a-docs/style.md" } }],
]);

export function stage() {
  const changes = proposed();
  const flows = { "orchard/ledger": ledger, "orchard/closed": improving, "orchard/big": big(200, 20), "orchard/wide": big(55, 9) };
  const rows = [flowRow, row("billing", "Billing export", { nodes_done: 6, nodes: 7, project: "orchard" }), row("archive", "Account archive", { nodes_done: 1 }), row("tour", "Onboarding tour", { stopped: true, standing: "stopped", driven_by: null, status: "stopped", running: 0 }),
    row("closed", "Import wizard", { phase: "improving", nodes_done: 8, nodes: 8 }), row("search", "Search ranking fix", { over: true, standing: "completed", phase: "completed", status: "completed", running: 0, nodes_done: 6 }), row("ledger-2", "Ledger journal, with a fuzz target", { parent: { flow: "ledger", at_seq: 3204 } }),
    row("big", "200 nodes", { nodes: 200, nodes_done: 100, project: "meadow" }), row("wide", "55 nodes", { nodes: 55, nodes_done: 27, project: "meadow" })];
  return {
    workspace: "orchard", flows,
    topic(topic) {
      if (topic.topic === "inbox") return { seq: 7, state: { flows: Object.fromEntries(rows.map((r) => [`${r.project}/${r.flow}`, r])), asks: { [ask.id]: ask }, decided: [] } };
      if (topic.topic === "flow") return { seq: HEAD, state: flows[`orchard/${topic.flow.flow}`] ?? ledger };
      return { seq: HEAD, state: { items: feed, total: feed.length, before: null } };
    },
    done(up) {
      const { command } = up;
      if (command.do === "change") {
        const held = changes.get(command.change);
        changes.set(command.change, { change: { ...held.change, stands: command.applied ? "applied" : "declined" }, diff: null });
      }
      if (command.do === "propose") changes.set("c9", { change: { id: "c9", role: command.role, finding: 4600, path: command.path, at: "2026-03-03T14:11:50Z", stands: "open" }, diff });
      return command.do === "fork" ? { flow: { project: "orchard", flow: "ledger-2" } } : {};
    },
    answer(path, query, method, body) {
      const tail = path.split("/").slice(5).join("/");
      if (path === "/api/session") return {};
      if (path === "/api/projects") return { projects: [{ name: "orchard", ready: true, flows: 7, improve: "parallel", feedback: false }, { name: "meadow", ready: false, flows: 2, improve: null, feedback: null }] };
      if (path === "/api/models") return { models: [{ name: "sonnet-4.5", words: "200k window, reads images" }, { name: "local-small", words: "32k window, on this machine" }] };
      if (path === "/api/flows" && method === "POST") return { project: "orchard", flow: body.from.project ? "billing" : "ledger" };
      if (path === "/api/settings/roles") return { projects: [{ project: "orchard", roles: [{ name: "backend", instructions: "You keep the journal.", executor: "model", model: null, skills: ["rust"], mcp_servers: [], readings: ["index"] }, { name: "owner", instructions: null, executor: "human", model: null, skills: [], mcp_servers: [], readings: [] }] }] };
      if (path === "/api/settings/flow-files") return { files: ["flows/review.yaml", "orchard/flow.yaml"] };
      if (path.startsWith("/api/settings/")) return path.endsWith("models") ? { file: "config.yaml", version: "v1", search: null, providers: [{ name: "local", wire: "openai-chat", address: "http://127.0.0.1:8080", key: "the variable LOCAL_KEY", key_missing: null }], models: [{ name: "local-small", provider: "local", id: "small-8b", window_tokens: 32_000, max_output_tokens: 6_400, images: false, prices: null, named_by: null, effort: null, input_micros: null, output_micros: null, usual: true }, { name: "large", provider: "local", id: "large-70b", window_tokens: 200_000, max_output_tokens: 40_000, images: true, prices: "3,15,3,3", named_by: ["orchard/backend"], effort: "high", input_micros: 3_000_000, output_micros: 15_000_000, usual: false }] } : path.endsWith("mcp") ? { version: "v1", file: "config.yaml", own: { files: { command: "mcp-files", arguments: [], folder: null, inherits: [], values: [], reads: ["read_file"], about: null } }, servers: [{ name: "files", from: null, state: "own", definition: "a3954b442bc8d1", does: "files runs `mcp-files` in `/`", named_by: ["orchard/backend"] }], missing: [], faults: [] } : path.endsWith("skills") ? { skills: [] } : { mode: "partial-access", grants: [] };
      if (path === "/api/search") return { hits: [], truncated: false };
      if (tail === "track") return path.includes("/ledger/") ? track : { ...track, nodes: {}, turns: [], hops: [], marks: [] };
      if (tail === "state") return past(Number(query.get("at")));
      if (tail === "files") return { files: [{ path: "record/brief.md", versions: [version("brief.md", 300, "intake", "design")] }, { path: "record/architecture.md", versions: ["api", "ui", "docs"].map((to) => ({ ...version("architecture.md", 900, "design", to) })) }, { path: "record/api-report.md", versions: [version("api-report.md", 3204, "api", "review", true), version("api-report.md", 4500, "api", "review")] }, { path: "record/guide.md", versions: [version("guide.md", 1700, "docs", "review")] }] };
      if (tail === "changes") return { diffs: [diff, other], truncated: false };
      if (tail === "diff") return diff;
      if (tail.startsWith("change/")) return changes.get(tail.slice(7)) ?? undefined;
      if (tail === "changeable") return { files: ["a-docs/roles/reviewer/checks.md", "a-docs/style.md"], truncated: false, text: query.get("path") === null ? null : query.get("path") === "a-docs/style.md" ? "# Style\n\nShort sentences.\n" : null };
      if (tail === "fork") return { at: Number(query.get("at")), recorded_at: "2026-03-03T14:00:18Z", name: "Ledger journal", carried: ["3,204 records of ledger, shared with it", "sessions as they were then: backend (41 messages)"], not_carried: ["the project's files: both flows work on the same ones, as they are now"], hears: { role: "backend", waits: false } };
      if (path === "/api/findings") return { flows: [{ flow: { project: "orchard", flow: "closed" }, title: "Import wizard", findings: [{ role: "qa", seq: 4600, path: "improvement/qa.md", text: "# Findings of qa\n\nOne line in a-docs/style.md would have helped.\n", truncated: false, is_report: false }], changes: [...changes.values()].map((one) => one.change) }], before: null };
      if (tail.startsWith("blob/")) return "# API report\n\nThe journal is in place: one writer, dense sequence numbers, readers moved over.\n\nKnown limit: recovery after a torn write is untested.\n";
      if (tail === "events") {
        const kind = query.get("kind");
        const before = Number(query.get("before") ?? HEAD + 1);
        const limit = Number(query.get("limit") ?? 200);
        const out = [];
        for (let s = before - 1; s > 0 && out.length < limit; s--) if (kind === null || event(s).fact === kind) out.unshift(event(s));
        return { events: out, before: (out[0]?.seq ?? 1) > 1 ? out[0].seq : null };
      }
      if (tail === "items") { const at = Number(query.get("at") ?? HEAD); return { items: feed.filter((i) => i.first <= at), before: null }; }
      if (/^role\/[^/]+\/transcript$/.test(tail)) return transcript(tail.startsWith("role/frontend/"))(query);
      return undefined;
    },
  };
}
