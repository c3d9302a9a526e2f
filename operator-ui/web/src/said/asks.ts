// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const RUN_A_RETROSPECTIVE = "run a retrospective?";
export const WRITE_A_REPORT = "write a feedback report?";
export const FORWARD_WORK_IS_DONE = "the forward work is done";
export const FINDINGS_ARE_WRITTEN = "the findings are written";
export const FLOW_IS_PAUSED = "the flow is paused";
export const NOTHING_CAN_RUN = "nothing can run, and the work is not done";
export const REOPEN_OR_REVISE = "reopen a node or revise the graph";
export const NOBODY_DRIVES_THIS = "nobody drives this flow";
export const YOUR_ANSWER = "your answer";
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
  "message": "your next message",
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
