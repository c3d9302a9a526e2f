// The messages between the page and the server. The server's Rust types decide them.
export type FlowRef = { project: string; flow: string };
export type Topic =
  | { topic: "inbox" }
  | { topic: "flow"; flow: FlowRef }
  | { topic: "feed"; flow: FlowRef; role: string };

export type Up =
  | { t: "sub"; id: number; topic: Topic; since: number | null; epoch: string | null; window?: number }
  | { t: "unsub"; id: number }
  | { t: "do"; cmd: string; flow: FlowRef; command: Command }
  | { t: "live"; on: boolean }
  | { t: "ping"; n: number };

export type Put = Record<string, Part | null> | Item[];
export type Part = FlowRow | Ask | FlowHead | NodeView | EdgeView | RoleView | ImprovementView | ChangeView;
export type Down =
  | { t: "hello"; proto: 1; build: string; epoch: string; workspace: string; now: string; mode: "live" | "replay" | "file" }
  | { t: "snap"; id: number; seq: number; epoch: string; state: InboxState | FlowState | FeedState }
  | { t: "ev"; id: number; from: number; to: number; at: string; put?: Put }
  | { t: "caught_up"; id: number; seq: number; head: number }
  | { t: "delta"; id: number; item: string; offset: number; text: string }
  | { t: "ack"; cmd: string; ok: true; seq: number; facts: number }
  | { t: "ack"; cmd: string; ok: false; error: Fault }
  | { t: "gone"; id: number; why: string }
  | { t: "pong"; n: number };
export type Fault = { code: string; what: string; why: string; try: string };

export type Phase = "forward" | "improvement_choice" | "improving" | "feedback_consent" | "feedback" | "completed" | "cancelled";
export type InboxState = { flows: Record<string, FlowRow>; asks: Record<string, Ask>; decided: Decided[] };
export type FlowRow = {
  project: string; flow: string; title: string; status: string; phase: Phase; waits: number; running: number;
  nodes_done: number; nodes: number; roles: number; created_at: string; updated_at: string; seq: number;
  tokens: number; cost_micros: number; parent: { flow: string; at_seq: number } | null; damage: string[];
  driven_by: "server" | "other" | null; over: boolean; stopped: boolean;
};
export type Decided = { at: string; flow: FlowRef; role: string | null; words: string; detail: string };

export type Ask = {
  id: string; flow: FlowRef; title: string; role: string | null; node: string | null; since: string; seq: number;
  blocking: boolean; headline: string; short: string; kind: AskKind; waiting_behind: string[];
  said_before: string | null; earlier: Decided[];
};
export type AskKind =
  | { kind: "text"; reason: WaitReason; question: string; may_retry: boolean }
  | { kind: "consent"; consent: string; action: string; tool: string; shown: string; facts: Fact[]; for_the_flow: string | null; diff: Diff | null }
  | { kind: "approval"; approval: string; targets: { to: string; artifact: ArtifactRef }[] }
  | { kind: "configuration"; question: string; models: ModelChoice[]; efforts: string[]; current: Record<string, string> }
  | { kind: "improvement"; modes: ("graph_based" | "parallel" | "none")[]; roles: number }
  | { kind: "feedback"; path: string }
  | { kind: "unpause"; reason: string; detail: string | null }
  | { kind: "stalled" }
  | { kind: "stopped" };
export type Fact = { label: string; value: string; warn: boolean };
export type WaitReason = "prompt-human" | "autonomous-abort" | "consent" | "consent-denied" | "role-configuration" | "handoff-approval" | "repair-limit" | "budget" | "provider";
export type ModelChoice = { name: string; words: string };
export type ArtifactRef = { path: string; hash: string; bytes: number };

export type FlowState = {
  flow: FlowHead; nodes: Record<string, NodeView>; edges: Record<string, EdgeView>; roles: Record<string, RoleView>;
  asks: Record<string, Ask>; improvement: ImprovementView | null;
};
export type FlowHead = FlowRow & {
  input: string | null; origin: string | null; draft: boolean; mode: "no-access" | "partial-access" | "full-access";
  grants: string[]; paused: { reason: string; detail: string | null } | null; limits: Record<string, number>;
  cached_tokens: number | null; owner: string | null; closing: string | null; pid: string | null; order: string[];
};
export type NodeState = "not-reached" | "ready" | "running" | "needs-you" | "suspended" | "done" | "failed" | "interrupted";
export type NodeView = {
  id: string; role: string; work: string[]; human_colab: boolean; await_all: boolean; state: NodeState; words: string;
  live: string | null; since: string | null; took_ms: number | null; turn: number | null; attempt: number | null;
  correction: boolean; rank: number; seq: number;
};
export type EdgeView = { from: string; to: string; optional: boolean; state: "not-yet" | "delivered" | "stale"; forward: Passed[]; backward: Passed[]; open_correction: boolean };
export type Passed = { artifact: ArtifactRef; seq: number; at: string; superseded_at: string | null; read: boolean };
export type RoleView = {
  instance: string; base: string; state: "idle" | "running" | "needs-you" | "awaiting-handoff" | "reflecting" | "done";
  node: string | null; turn: number | null; executor: string; settings: Record<string, string>; context_tokens: number;
  window_tokens: number | null; tokens: number; cost_micros: number; turns: number; limits: Record<string, number>;
  archives: string[]; items: number; last_seq: number; queued: string[]; mcp: string[]; unread_hint: number;
};
export type ImprovementView = {
  mode: string;
  roles: Record<string, { state: "waiting" | "reflecting" | "needs-you" | "done"; depends_on: string[]; findings: ArtifactRef | null }>;
  feedback: { state: "undecided" | "declined" | "writing" | "done"; path: string | null };
  changes: ChangeView[];
};
export type ChangeView = { id: string; file: string; state: "proposed" | "applied" | "declined"; from_role: string };

export type FeedState = { items: Item[]; total: number; before: number | null };
export type ItemType = "assistant" | "user" | "event" | "error" | "handoff" | "resume" | "repair" | "reasoning" | "tool" | "tool-success" | "tool-error" | "activation";
export type Item = {
  id: string; first: number; seq: number; at: string; type: ItemType; event: string | null; label: string; text: string;
  full_bytes: number | null; node: string | null; turn: number | null; call_id: string | null; tool: string | null;
  pending: boolean; interrupted: boolean; discarded: boolean; took_ms: number | null; added: number | null;
  removed: number | null; exit: number | null;
};

export type Whom = { node: string } | { role: string } | "only";
export type Command =
  | { do: "reply"; to: Whom; text: string }
  | { do: "approve"; approval: string }
  | { do: "decline"; approval: string }
  | { do: "allow"; consent: string; action: string; for_the_flow: boolean }
  | { do: "deny"; consent: string; action: string; reason?: string }
  | { do: "mode"; mode: string }
  | { do: "configure"; role: string; settings: Record<string, string> }
  | { do: "budget"; role: string | null; measure: string; limit: number | null }
  | { do: "steer"; role: string; text: string; when: "next_turn" | "now" }
  | { do: "stop"; scope: { node: string } | { role: string } | "all" }
  | { do: "pause" } | { do: "unpause" } | { do: "cancel"; why?: string }
  | { do: "retry"; to: Whom } | { do: "reopen"; node: string; note?: string }
  | { do: "improve"; mode: string } | { do: "feedback"; granted: boolean } | { do: "compact"; role: string }
  | { do: "resume" } | { do: "fork"; at: number; name?: string; first_message?: string };

export type Diff = { path: string; old: string | null; new: string; hunks: Hunk[]; truncated: boolean };
export type Hunk = { old_start: number; new_start: number; lines: { op: " " | "+" | "-"; text: string }[] };
export type Body = { text: string; total_bytes: number; next: number | null; parts?: { arguments?: unknown; result?: string; diff?: Diff } };
