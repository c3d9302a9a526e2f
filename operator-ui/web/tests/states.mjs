// Every state that a screen can be in: how it comes about, and where it is looked at. The tests of the states and the
// pictures (`node tests/shots.mjs`) both begin here.
import { armed } from "./stage.mjs";
import { ask, consent, DIFF, item, world } from "./world.mjs";

const LEDGER = "orchard/ledger";
export const FLOW = "/p/orchard/f/ledger";
export const FEED = `${FLOW}/r/backend`;
export const TRANSCRIPT = `${FEED}/transcript`;
const now = () => new Date().toISOString();

/** A world in which this flow is the one that is changed. */
export function changed(change) {
  const data = world();
  change(data, data.flows[LEDGER].state, data.flows[LEDGER].feeds);
  return data;
}
/** Nothing is asked. */
export function quiet(data, state) {
  data.inbox.asks = {};
  state.asks = {};
}
/** Only this is asked, in the inbox and in its flow. */
export function only(data, state, ...asks) {
  quiet(data, state);
  for (const one of asks) {
    data.inbox.asks[one.id] = one;
    if (one.flow.flow === "ledger") state.asks[one.id] = one;
  }
}

const said = (n, kind, content, more = {}) => ({ kind, content, seq: 3000 + n * 10, tokens: 40 + content.length, ...more });
/** A session with an archive, its prompt, its tools, and what was sent. */
export const session = () => ({
  live: { words: "What the model sees now", messages: [said(1, "user", "api continues. Inputs: architecture.md, brief.md"), said(2, "assistant", "I will move readers first, then the writer."), ...Array.from({ length: 12 }, (_, n) => said(3 + n, n % 2 === 0 ? "assistant_tool_calls" : "tool_result", n % 2 === 0 ? "" : "ok, 18 lines added, 4 removed", n % 2 === 0 ? { raw: { role: "assistant_tool_calls", calls: [{ id: `c${n}`, name: "edit_file", input: { path: "crates/ledger/src/journal.rs" } }] } } : {})), said(17, "assistant", "Tests pass. I want a fuzz target over truncated files before I hand off.")] },
  "archive-1": { kind: "compaction", words: "Archived at 13:57", messages: Array.from({ length: 6 }, (_, n) => said(n, n % 2 === 0 ? "user" : "assistant", `Earlier words ${n}`, { seq: 1000 + n })) },
  system: { words: "System prompt", messages: [{ kind: "system", content: "You are backend. You keep the journal.", tokens: 9, seq: null }] },
  tools: { words: "Tools", messages: [{ kind: "tool", content: "edit_file: called 6 times", tokens: 6, seq: null }] },
  requests: { words: "Requests", messages: [1, 2, 3].map((n) => ({ kind: "request", content: `Request ${n} of turn 14 to sonnet-4.5`, tokens: 9, seq: 3000 + n * 50, raw: { turn: 14, request: n, model: "sonnet-4.5" } })) },
});
const withSession = (change = () => {}) => changed((data, state, feeds) => { data.flows[LEDGER].transcripts = { backend: session() }; change(data, state, feeds); });

const draft = () => changed((data, state, feeds) => {
  quiet(data, state);
  Object.assign(state.flow, { title: "Untitled", status: "waiting for you", draft: true, input: null, nodes: 1, nodes_done: 0, running: 0, waits: 0, tokens: 0, cost_micros: 0, cached_tokens: null, owner: "owner", closing: null, seq: 2, limits: {} });
  Object.assign(data.inbox.flows[LEDGER], { title: "Untitled", status: "waiting for you", nodes: 1, nodes_done: 0, running: 0, waits: 0, tokens: 0, cost_micros: 0 });
  state.order = ["open"];
  state.nodes = { open: { ...state.nodes.intake, id: "open", role: "owner", state: "ready", words: "Ready", took_ms: null, since: null, human_colab: true } };
  state.edges = {};
  state.roles = { owner: { ...state.roles.owner, state: "idle", turn: null, turns: 0, context_tokens: 0, archives: [], items: 0 } };
  feeds.owner = [];
});
/** The model of a role does not answer; who drives the flow tries again, or has given up. */
const failing = (given) => changed((data, state, feeds) => {
  const text = "429 Too Many Requests: this key may send 40 requests a minute (limit).";
  const at = now();
  const again = given ? {} : { again_at: new Date(Date.parse(at) + 40_000).toISOString() };
  feeds.backend.push(item(4700, "error", text, { event: "provider.failed", label: "The model did not answer", at, ...again }));
  if (!given) {
    state.roles.backend.retry_at = again.again_at;
    quiet(data, state);
    Object.assign(state.nodes.api, { state: "running", words: "Working", live: null });
    state.roles.backend.state = "running";
    return;
  }
  const one = ask("ledger/text/api", { kind: "text", reason: "provider", question: "429 Too Many Requests: this key may send 40 requests a minute.", may_retry: true }, { headline: "backend needs its provider to answer", short: "429 Too Many Requests: this key may send 40 requests a minute." });
  only(data, state, one);
  Object.assign(state.nodes.api, { state: "failed", words: "Needs its provider to answer", live: null });
});
const interrupted = () => changed((data, state, feeds) => {
  const one = ask("ledger/stopped", { kind: "stopped" }, { headline: "backend was cut off in its turn", short: "Cut off in its turn. Continue?", said_before: "Writer done. `Journal::append` takes the lock once per batch and assigns sequence" });
  only(data, state, one);
  Object.assign(state.flow, { stopped: true, standing: "stopped", running: 0, waits: 1, driven_by: null });
  Object.assign(data.inbox.flows[LEDGER], { stopped: true, standing: "stopped", running: 0, waits: 1, driven_by: null });
  Object.assign(state.nodes.api, { state: "interrupted", words: "Stopped", live: null });
  Object.assign(state.nodes.ui, { state: "interrupted", words: "Stopped", live: null });
  feeds.backend.push(item(4700, "assistant", "Writer done. `Journal::append` takes the lock once per batch and assigns sequence", { interrupted: true }));
});
const denied = () => changed((data, state, feeds) => {
  const one = ask("ledger/text/api", { kind: "text", reason: "consent_denied", question: "", may_retry: true, denied: "rm -rf build" }, { headline: "backend needs your guidance after a denial", short: "Say what to do instead", earlier: [{ at: now(), flow: { project: "orchard", flow: "ledger" }, role: "backend", words: "Denied", detail: "rm -rf build" }] });
  only(data, state, one);
  state.nodes.api.live = null;
  feeds.backend.push(item(4700, "event", "run_command: rm -rf build\nNo.", { event: "consent.resolved", label: "Denied", consent: { tool: "run_command", about: "rm -rf build", answer: "deny" } }));
});
const closed = () => changed((data, state, feeds) => {
  const one = ask("ledger/improvement/flow", { kind: "improvement", modes: ["graph-based", "parallel", "none"], roles: 5, estimates: [{ mode: "graph-based", roles: 5, ms: 720_000, cost_micros: 1_400_000 }, { mode: "parallel", roles: 5, ms: 240_000, cost_micros: null }] }, { role: null, node: null, blocking: false, headline: "The forward work is done", short: "Run a retrospective?" });
  only(data, state, one);
  Object.assign(state.flow, { phase: "improvement_choice", standing: "waiting", status: "waiting for you", running: 0, nodes_done: 8, waits: 1 });
  for (const node of Object.values(state.nodes)) Object.assign(node, { state: "done", words: "Done", live: null, correction: false, took_ms: node.took_ms ?? 300_000 });
  for (const edge of Object.values(state.edges)) Object.assign(edge, { state: "delivered", open_correction: false, forward: edge.forward.length > 0 ? edge.forward.map((one) => ({ ...one, superseded_at: null })) : [{ artifact: { path: `${edge.from}.md`, hash: `h-${edge.from}`, bytes: 900 }, seq: 4400, at: now(), superseded_at: null, read: true }] });
  for (const role of Object.values(state.roles)) role.state = "done";
  feeds.owner = [item(4600, "assistant", "Every surface in the brief is accounted for."), item(4700, "event", "", { event: "flow.closed", label: "Forward pass closed" })];
});
const improving = (consents) => changed((data, state) => {
  Object.assign(data.flows[LEDGER], closed().flows[LEDGER]);
  const then = data.flows[LEDGER].state;
  Object.assign(then.flow, { phase: consents ? "feedback_consent" : "improving", standing: consents ? "waiting" : "working", status: "improving" });
  const found = (role) => ({ path: `improvement/${role}.md`, hash: `h-${role}`, bytes: 1200 });
  then.improvement = { mode: "graph-based", roles: Object.fromEntries([["reviewer", "done", []], ["backend", consents ? "done" : "reflecting", ["reviewer"]], ["frontend", consents ? "done" : "reflecting", ["reviewer"]], ["writer", "done", ["reviewer"]], ["architect", consents ? "done" : "waiting", ["backend", "frontend", "writer"]], ["owner", consents ? "done" : "waiting", ["architect"]]].map(([role, stands, depends_on]) => [role, { state: stands, depends_on, findings: stands === "done" ? found(role) : null, seq: stands === "done" ? 4700 : null }])), feedback: { state: "undecided", path: null } };
  const one = ask("ledger/feedback", { kind: "feedback", path: "/orchard/.a-society/feedback/20260303T141152Z-ledger.md" }, { role: null, node: null, blocking: false, headline: "The findings are written", short: "Write a feedback report?" });
  quiet(data, then);
  if (consents) only(data, then, one);
});
/** One flow of which a newer version wrote the end, and one that it wrote from the beginning. */
const newer = () => withSession((data, state) => {
  quiet(data, state);
  const harm = (record) => [`the journal is damaged (R12): it was written by a newer version of this program, at record ${record}, segment 1, byte 20138 (it was written by a newer version (v9))`];
  Object.assign(data.inbox.flows[LEDGER], { damage: harm(4813), stopped: true, standing: "damaged", running: 0, driven_by: null });
  Object.assign(state.flow, { stopped: true, standing: "damaged", running: 0, driven_by: null });
  data.inbox.flows["orchard/unread"] = { ...data.inbox.flows[LEDGER], flow: "unread", title: "", created_at: "", updated_at: "", damage: harm(1), nodes: 0, nodes_done: 0, tokens: 0, cost_micros: 0, seq: 0 };
});
const many = () => changed((data) => {
  for (let n = 0; n < 400; n += 1) {
    const one = consent(`m${n}`, n % 50 === 0 ? "cargo fmt" : `cargo test -p part-${n}`, { short: n % 50 === 0 ? "Run cargo fmt" : `Run cargo test -p part-${n}`, since: new Date(Date.now() - 90 * 60_000 - n * 1000).toISOString() });
    data.inbox.asks[one.id] = one;
  }
});

const lose = async (page, server) => { server.drop(true); await page.getByText(/Connection lost/).filter({ visible: true }).first().waitFor(); };
const behind = (key) => async (page, server) => {
  server.behind = [key];
  server.drop();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.waitForFunction(() => document.querySelector("[data-line]")?.getAttribute("data-line") === "open");
  for (const one of server.sockets) for (const [id, topic] of one.subs) if (topic === key) one.say({ t: "caught_up", id, seq: server.seq(key), head: server.seq(key) });
  await page.waitForTimeout(400);
};

/** name: where, in which world, what the server does, and what happens then. */
export const STATES = {
  "inbox-empty": { path: "/inbox", data: () => changed(quiet) },
  "inbox-loading": { path: "/inbox", serve: (server) => { server.mute = ["inbox"]; }, blank: true },
  "inbox-live": { path: "/inbox", then: async (page, server) => { const late = consent("late", "ls -la target", { since: now(), short: "Run ls -la target" }); server.put("inbox", { [`ask/${late.id}`]: late }); await page.waitForTimeout(300); } },
  "inbox-lost": { path: "/inbox", then: lose },
  "inbox-queued": { path: "/inbox/ledger/consent/c1", then: async (page, server) => { await armed(page); await lose(page, server); await page.getByRole("button", { name: "Allow once" }).first().click(); await page.waitForTimeout(200); } },
  "inbox-error": { path: "/inbox", data: () => failing(true) },
  "inbox-interrupted": { path: "/inbox", data: interrupted },
  "inbox-denied": { path: "/inbox", data: denied },
  "inbox-closed": { path: "/inbox", data: closed },
  "inbox-feedback": { path: "/inbox", data: () => improving(true) },
  "inbox-many": { path: "/inbox", data: many },
  "flows-lost": { path: "/flows", then: lose },
  "flow-draft": { path: `${FLOW}/r/owner`, data: draft },
  "flow-loading": { path: FLOW, serve: (server) => { server.mute = ["flow ", "feed ", "/track"]; }, blank: true },
  "flow-loading-again": { path: FLOW, then: async (page, server) => { server.mute = ["flow ", "feed ", "/track", "inbox"]; await page.reload(); await page.waitForTimeout(900); } },
  "flow-live": { path: `${FLOW}/r/frontend`, data: () => changed((data, state, feeds) => { feeds.frontend = [item(4600, "activation", "frontend begins ui.", { event: "role.active", label: "Active" }), item(4700, "assistant", "The table reads from the journal now, so the balance column no longer waits for the", { pending: true })]; }) },
  "flow-lost": { path: FLOW, then: lose },
  "flow-queued": { path: FEED, then: async (page, server) => { await armed(page); await lose(page, server); await page.getByRole("button", { name: "Allow once" }).first().click(); await page.locator("textarea").fill("Keep the old file format readable."); await page.waitForTimeout(200); } },
  "flow-behind": { path: FEED, then: behind("flow orchard/ledger") },
  "flow-asks": { path: FEED },
  "flow-error": { path: FEED, data: () => failing(true) },
  "flow-retrying": { path: FEED, data: () => failing(false) },
  "flow-interrupted": { path: FEED, data: interrupted },
  "flow-denied": { path: FEED, data: denied },
  "flow-past": { path: `${FEED}?at=3100` },
  "flow-closed": { path: `${FLOW}/r/owner`, data: closed },
  "flow-improving": { path: `${FLOW}/improve?role=owner`, data: () => improving(false) },
  "flow-feedback": { path: `${FLOW}/improve?role=owner`, data: () => improving(true) },
  "flows-newer": { path: "/flows", data: () => newer() },
  "flow-newer": { path: FEED, data: () => newer() },
  "flow-unreadable": { path: "/p/orchard/f/unread", data: () => newer(), blank: true },
  "transcript-newer": { path: TRANSCRIPT, data: () => newer() },
  "flow-gone": { path: "/p/orchard/f/nowhere", blank: true },
  "transcript-empty": { path: TRANSCRIPT, data: () => withSession((data) => { data.flows[LEDGER].transcripts.backend.live.messages = []; data.flows[LEDGER].transcripts.backend.requests.messages = []; delete data.flows[LEDGER].transcripts.backend["archive-1"]; }) },
  "transcript-loading": { path: TRANSCRIPT, data: () => withSession(), serve: (server) => { server.mute = ["/transcript"]; }, blank: true },
  "transcript-live": { path: TRANSCRIPT, data: () => withSession() },
  "transcript-lost": { path: TRANSCRIPT, data: () => withSession(), then: lose },
  "transcript-past": { path: `${TRANSCRIPT}?at=3100`, data: () => withSession() },
  "transcript-error": { path: `${TRANSCRIPT}?seg=requests&msg=3`, data: () => withSession((data) => { const last = data.flows[LEDGER].transcripts.backend.requests.messages.at(-1); last.content += ", failed: limit"; last.raw = { ...last.raw, failed: { class: "limit", error: "429 Too Many Requests: this key may send 40 requests a minute", retry_in_ms: 40_000 } }; }) },
  "transcript-cut": { path: TRANSCRIPT, data: () => withSession((data, state) => { only(data, state, ask("ledger/stopped", { kind: "stopped" })); data.flows[LEDGER].transcripts.backend.live.messages.push({ ...said(18, "assistant", "Writer done. Journal::append takes the lock once per batch and assigns sequence"), raw: { role: "assistant", text: "Writer done. Journal::append takes the lock once per batch and assigns sequence", interrupted: true } }); }) },
  "transcript-none": { path: TRANSCRIPT },
};
/** States that the real program is brought to as well, by the picture that shows them (`pictures.test.mjs`): there they are
 * compared and checked as it says them. The others need what no real program can be brought to in the time of a test: a
 * line that falls silent between two messages, a server that has not answered yet or answers late, a newer version's
 * journal, 400 asks, a sentence that grows by one word; or a session with nothing in it. */
export const PLAYED = {
  "inbox-error": "failure", "inbox-interrupted": "stopped", "inbox-closed": "retrospective", "flow-lost": "offline", "flow-asks": "flow", "flow-error": "failure", "flow-retrying": "limit",
  "flow-past": "past", "flow-improving": "closed", "transcript-live": "transcript",
};
export { DIFF };
