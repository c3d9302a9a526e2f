// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

// status.rs
export const WORKING = "working";
export const CORRECTING = "correcting";
export const RETRYING = "retrying";
export const LIMITED = "limited";
export const LIMIT_RESETS = "limit resets";
export const COMPACTING = "compacting";
export const WAITING_FOR_YOU = "waiting for you";
export const YOUR_TURN = "your turn";
export const WAITING_FOR_HANDOFF = "waiting for a handoff";
export const PAUSED = "paused";
export const STOPPED = "stopped";
export const NOBODY_DRIVES_IT = "stopped: nobody drives it";
export const DAMAGED = "damaged";
export const READY = "ready";
export const NOT_REACHED = "not reached";
export const DONE = "done";
export const COMPLETED = "completed";
export const CANCELLED = "cancelled";
export const WAITING = "waiting";
export const FAILED = "failed";
export const retryingIn = (time: string): string => `retrying in ${time}`;
export const limitResetsIn = (time: string): string => `limit resets in ${time}`;
export const waitingFor = (nodes: string): string => `waiting for ${nodes}`;

// asks.rs
export const RUN_A_RETROSPECTIVE = "run a retrospective?";
export const WRITE_A_REPORT = "write a feedback report?";
export const FORWARD_WORK_IS_DONE = "the forward work is done";
export const FINDINGS_ARE_WRITTEN = "the findings are written";
export const FLOW_IS_PAUSED = "the flow is paused";
export const NOTHING_CAN_RUN = "nothing can run, and the work is not done";
export const REOPEN_OR_REVISE = "reopen a node or revise the graph";
export const NOBODY_DRIVES_THIS = "nobody drives this flow";
export const END_YOUR_TURN = "hand over, send back or wait";
export const CHOOSE_A_MODEL = "choose a model";
export const RAISE_ITS_BUDGET = "raise its budget";
export const LARGER_BUDGET = "a larger budget";
export const WANTS_TO_HAND_OVER = "wants to hand over";
export const BUDGET_USED_UP = "a budget is used up";
export const WANTS_TO_CALL = "wants to call a tool";
export const yourTurnAs = (role: string): string => `your turn as ${role}`;
export const turnFailed = (role: string): string => `${role}'s turn failed`;
export const wasCutOff = (role: string): string => `${role} was cut off in its turn`;
export const needs = (role: string, what: string): string => `${role} needs ${what}`;
export const noValidOutcome = (why: string): string => `no valid outcome: ${why}`;
export const yourChoice = (question: string): string => `your choice: ${question}`;
export const WAIT = {
  "prompt_human": "your answer",
  "autonomous_abort": "you to retry its turn, or to say what to do",
  "consent": "your consent to a call",
  "consent_denied": "your guidance after a denial",
  "role_configuration": "a model",
  "handoff_approval": "your approval of a handoff",
  "repair_limit": "your guidance: it gave no valid outcome",
  "budget": "a larger budget",
  "provider": "help with its provider",
} as const;
export const TROUBLE = {
  "key": "a key that its provider accepts",
  "credit": "credit at its provider",
  "model": "a model that its provider has",
  "limit": "its provider's limit to reset",
  "window": "a model with a larger window",
  "unreachable": "its provider to answer",
  "refused": "help: its provider refuses the request",
  "tool_server": "an MCP server that works",
  "configuration": "its configuration to be corrected",
} as const;
export const PAUSE = {
  "operator": "you to continue it",
  "disk_full": "room on the disk",
  "budget": "a larger budget",
  "irreversible": "you to check a call whose outcome is unknown",
} as const;

// choices.rs
export const ALLOWED_ONCE = "allowed once";
export const ALLOWED_FOR_FLOW = "allowed for this flow";
export const BUDGET_RAISED = "budget raised";
export const ONCE = "once";
export const FOR_THIS_FLOW = "for this flow";
export const WITH_A_REASON = "with a reason";
export const LATER = "later";
export const ANSWER = "answer";
export const ANSWERED = "answered";
export const raiseTo = (amount: string): string => `raise to ${amount}`;
export const CHOICE = {
  "allow": "allow once",
  "allow-flow": "allow for this flow",
  "deny": "deny",
  "deny-reason": "deny with a reason",
  "approve": "approve",
  "decline": "send back",
  "decline-reason": "send back with a reason",
  "retry": "retry turn",
  "retry-note": "say what to do instead",
  "raise": "raise",
  "amount": "another amount",
  "continue": "continue",
  "resume": "resume",
  "resume-note": "continue with a note",
  "grant": "write the report",
  "refuse": "no report",
} as const;
export const CHOSEN = {
  "allow": "allowed once",
  "allow-flow": "allowed for this flow",
  "deny": "denied",
  "deny-reason": "denied with a reason",
  "approve": "approved",
  "decline": "sent back",
  "decline-reason": "sent back with a reason",
  "retry": "retrying",
  "retry-note": "told what to do instead",
  "raise": "budget raised",
  "amount": "budget raised",
  "continue": "continued",
  "resume": "resumed",
  "resume-note": "continued with a note",
  "grant": "report allowed",
  "refuse": "report declined",
} as const;

// calls.rs
export const CUT_OFF = "cut off";
export const DISCARDED = "discarded";
export const NO_ANSWER = "the model did not answer";
export const WITHOUT_SERVER = "works without the MCP server";
export const COMPACTING_CONTEXT = "compacting the context";
export const rateLimitedBy = (provider: string): string => `rate limited by ${provider}`;
export const contextCompacted = (tokens: string): string => `context compacted from ${tokens} tokens`;
export const CALL_END = {
  "done": "done",
  "failed": "failed",
  "denied": "denied",
  "stopped": "stopped by you",
  "timed_out": "timed out",
  "not_run": "did not run",
  "unknown": "outcome unknown: check it",
  "recovered": "found done after a crash",
} as const;
export const TURN_END = {
  "outcome": "turn finished",
  "waiting": "turn paused",
  "stopped": "turn stopped",
  "failed": "turn failed",
  "turn_limit": "turn reached its limit of requests",
} as const;
export const FAILURE = {
  "cut_off": "the model's answer was cut off",
  "stalled": "the model stopped in the middle of its answer",
  "timeout": "the model did not answer in time",
  "network": "the model's provider was not reached",
  "tls": "no secure connection to the model's provider",
  "garbled": "the model's answer could not be read",
  "not_a_provider": "nothing at the provider's address answers as a model",
  "rate_limit": "the provider's limit was reached",
  "overloaded": "the model's provider is overloaded",
  "server": "the model's provider failed",
  "spend_limit": "the provider's account has no money left",
  "key": "the provider does not accept the key",
  "forbidden": "the provider does not allow this request",
  "not_found": "the provider does not have this model",
  "too_large": "the request is too large for the provider",
  "window_full": "the session no longer fits the model's window",
  "policy": "the provider refused the content",
  "bad_request": "the provider did not understand the request",
  "circuit_open": "the provider failed too often to be asked again now",
} as const;

// handoffs.rs
export const HAND_OVER = "hand over";
export const HANDED_OVER = "handed over";
export const SEND_BACK = "send back";
export const SENT_BACK = "sent back";
export const WAIT_FOR_MORE = "wait for more";
export const CLOSE_THE_FLOW = "close the flow";
export const FINISH = "finish";
export const WORK_ENDS_HERE = "the work ends here; nothing is handed over";
export const HANDOFF_APPROVED = "handoff approved";
export const HANDOFF_SENT_BACK = "handoff sent back";
export const WAITING_FOR_APPROVAL = "waiting for your approval";
export const handOverTo = (nodes: string): string => `hand over to ${nodes}`;
export const sendBackTo = (nodes: string): string => `send back to ${nodes}`;
export const sentThisBack = (node: string, role: string): string => `${node} sent this back to ${role}`;

// permissions.rs
export const NEVER_RUNS = "never runs";
export const RUNS_WITHOUT_ASKING = "runs without asking";
export const allowedBy = (who: string): string => `allowed by ${who}`;
export const allowedForFlowBy = (who: string): string => `allowed by ${who} for this flow`;
export const deniedBy = (who: string): string => `denied by ${who}`;
export const MODE = {
  "no-access": "asks every time",
  "partial-access": "partial access",
  "full-access": "full access",
} as const;
export const MODE_MEANS = {
  "no-access": "always asks, even for what you allowed before",
  "partial-access": "previously allowed actions no longer ask",
  "full-access": "never asks",
} as const;
export const SCOPE = {
  "sandboxed": "project and record folder only",
  "project": "project and record folder, and the folders you named, to read",
  "full": "full: everything, with commands unsandboxed",
} as const;
export const DECIDED = {
  "allow_once": "allowed once",
  "allow_flow": "allowed for this flow",
  "deny": "denied",
  "withdrawn": "withdrawn",
} as const;

// retrospective.rs
export const RETROSPECTIVE = "retrospective";
export const LOOKS_BACK = "looks back on its work";
export const WROTE_ITS_FINDINGS = "wrote its findings";
export const FEEDBACK_REPORT = "feedback report";
export const WRITES_THE_REPORT = "writes the feedback report";
export const WROTE_THE_REPORT = "wrote the feedback report";
export const ORDER = {
  "graph-based": "in graph order",
  "parallel": "all at once",
  "none": "no retrospective",
} as const;

// runs.rs
export const TIME_OF_TURNS = "time of turns";
export const TOKENS_IN = "tokens in";
export const OF_THOSE_CACHED = "of those cached";
export const TOKENS_OUT = "tokens out";
export const NEITHER_HANDED_OVER = "neither run handed anything over";
