// Generated from state/facts/src/verb.rs by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_has`. Do not edit.

export type Verb = { "do": "reply",
/**
 * Whom.
 */
to: Whom,
/**
 * What it says.
 */
text: string,
/**
 * The `since` of the question that this answers, and nothing that is asked later.
 */
asked?: At, } | { "do": "approve",
/**
 * Which; the only one if absent.
 */
approval?: ApprovalId, } | { "do": "decline",
/**
 * Which; the only one if absent.
 */
approval?: ApprovalId,
/**
 * What to do instead; the role goes on with it and does not wait.
 */
reason?: string, } | { "do": "allow",
/**
 * Which request; the only one if absent.
 */
consent?: ConsentId,
/**
 * The hash of what was shown; an answer to anything else is refused.
 */
action?: Hash,
/**
 * Whether the like is allowed for the rest of the flow.
 */
for_the_flow: boolean, } | { "do": "deny",
/**
 * Which request; the only one if absent.
 */
consent?: ConsentId,
/**
 * The hash of what was shown; an answer to anything else is refused.
 */
action?: Hash,
/**
 * What to do instead; the role goes on with it and does not wait.
 */
reason?: string, } | { "do": "mode",
/**
 * How much.
 */
mode: ConsentMode, } | { "do": "rules",
/**
 * The rules.
 */
rules: ConsentRules,
/**
 * Whether these are taken back.
 */
back: boolean, } | { "do": "configure",
/**
 * The role instance.
 */
role: RoleInstance,
/**
 * Its settings.
 */
settings: { [key in string]: string }, } | { "do": "budget",
/**
 * Whose; the whole flow's if absent.
 */
role: RoleInstance | null,
/**
 * Of what.
 */
measure: Measure,
/**
 * The limit; none if absent.
 */
limit: number | null, } | { "do": "steer",
/**
 * The role instance.
 */
role: RoleInstance,
/**
 * What it says.
 */
text: string,
/**
 * When the role gets it.
 */
when: SteerWhen, } | { "do": "compact",
/**
 * The role instance.
 */
role: RoleInstance,
/**
 * How; a model summarises the present node, and its summary replaces everything, if absent.
 */
how?: CompactionWish, } | { "do": "title",
/**
 * What it is called.
 */
title: string, } | { "do": "close",
/**
 * The role instance.
 */
role: RoleInstance,
/**
 * Whether a turn that is open is stopped.
 */
force: boolean, } | { "do": "open",
/**
 * The role instance.
 */
role: RoleInstance, } | { "do": "inject",
/**
 * The role instance.
 */
role: RoleInstance,
/**
 * Whose the message is.
 */
speaker: Speaker,
/**
 * The message.
 */
text: string, } | { "do": "trim",
/**
 * The role instance.
 */
role: RoleInstance,
/**
 * How many of the last messages stay at least.
 */
keep: number, } | { "do": "reset",
/**
 * The role instance.
 */
role: RoleInstance, } | { "do": "restore",
/**
 * The role instance.
 */
role: RoleInstance,
/**
 * The archive.
 */
archive: string, } | { "do": "stop",
/**
 * Which.
 */
scope: StopScope, } | { "do": "pause", } | { "do": "unpause", } | { "do": "cancel",
/**
 * Why.
 */
why?: string, } | { "do": "retry",
/**
 * Whose.
 */
to: Whom, } | { "do": "retry_now",
/**
 * Whose.
 */
to: Whom, } | { "do": "reopen",
/**
 * The node.
 */
node: NodeId,
/**
 * A note about it.
 */
note?: string, } | { "do": "revise",
/**
 * The flow file, byte for byte.
 */
source: string, } | { "do": "improve",
/**
 * How.
 */
mode: ImprovementMode, } | { "do": "propose",
/**
 * Whose finding.
 */
role: RoleInstance,
/**
 * The file, from the project's folder.
 */
path: string,
/**
 * The file as it would be.
 */
text: string, } | { "do": "change",
/**
 * Which; the only one if absent.
 */
change?: string,
/**
 * Whether it is applied.
 */
applied: boolean, } | { "do": "feedback",
/**
 * Whether.
 */
granted: boolean, };

export type Whom = { "node": NodeId } | { "role": RoleInstance } | "only";

export type NodeId = string;

export type RoleInstance = string;

export type ApprovalId = string;

export type ConsentId = string;

export type Hash = string;

export type At = string;

export type Measure = "tokens" | "cost_micros" | "turns" | "wall_ms";

export type SteerWhen = "queue" | "interrupt";

export type Speaker = "user" | "assistant" | "system";

export type Strategy = "node_summary" | "llm" | "truncate" | "observation_mask" | "custom";

export type CompactionWish = {
/**
 * How.
 */
strategy: Strategy,
/**
 * How many of the first messages stay at least.
 */
keep_first: number,
/**
 * How many of the last messages stay at least.
 */
keep_last?: number,
/**
 * How many tokens the session has to fill; it stays as it is while it fills fewer.
 */
token_threshold?: number,
/**
 * How much of each result of a tool goes into what replaces it, in characters.
 */
tool_output_max_chars?: number,
/**
 * How many tokens the session may fill afterwards: what replaces its history is cut off there.
 */
hard_limit_tokens?: number, };

export type StopScope = { "node": NodeId } | { "role": RoleInstance } | "all";

export type ConsentMode = "no-access" | "partial-access" | "full-access";

export type ConsentAnswer = "allow_once" | "allow_flow" | "deny" | "withdrawn";

export type CallEnd = "done" | "failed" | "denied" | "stopped" | "timed_out" | "not_run" | "unknown" | "recovered";

export type ConsentRules = {
/**
 * What may run without asking.
 */
allow?: Array<string>,
/**
 * What never runs.
 */
deny?: Array<string>, };

export type ImprovementMode = "graph-based" | "parallel" | "none";

export type WaitReason = "prompt_human" | "autonomous_abort" | "consent" | "consent_denied" | "role_configuration" | "handoff_approval" | "repair_limit" | "budget" | "provider" | "message";
