// Generated from operator-ui/src/protocol by `A_SOCIETY_UPDATE=1 cargo test -p a-society-operator-ui --lib the_page_has`. Do not edit.

import type { CallEnd, ConsentAnswer, ConsentMode, ImprovementMode, Measure, Verb, WaitReason } from "./verb";

export * from "./verb";

export const PROTO = 2;
/** The longest message that the server takes, in bytes. */
export const FRAME_BYTES_MAX = 16777216;

export type FlowRef = {
/**
 * The project.
 */
project: string,
/**
 * The flow's id.
 */
flow: string, };

export type FlowRow = {
/**
 * The project.
 */
project: string,
/**
 * The flow's id.
 */
flow: string,
/**
 * How people call it.
 */
title: string,
/**
 * The word for its state.
 */
status: string,
/**
 * Which part of its life it is in.
 */
phase: Phase,
/**
 * How many things wait for the operator.
 */
waits: number,
/**
 * How many nodes, or roles that reflect, are at work.
 */
running: number,
/**
 * How many nodes are done.
 */
nodes_done: number,
/**
 * How many nodes there are.
 */
nodes: number,
/**
 * How many role instances there are.
 */
roles: number,
/**
 * When it was created.
 */
created_at: string,
/**
 * When the last fact was recorded.
 */
updated_at: string,
/**
 * The last record.
 */
seq: number,
/**
 * Tokens spent.
 */
tokens: number,
/**
 * Money spent, in millionths of its unit.
 */
cost_micros: number,
/**
 * The flow it is a fork of.
 */
parent: Parent | null,
/**
 * What was lost or damaged, one sentence each.
 */
damage: Array<string>,
/**
 * Where its journal cannot be read any further; absent where it can be read to its end.
 */
harm?: JournalHarm,
/**
 * Who drives it.
 */
driven_by: DrivenBy | null,
/**
 * Whether nothing of it will run any more.
 */
over: boolean,
/**
 * Whether it is unfinished and has no driver.
 */
stopped: boolean,
/**
 * What it is doing now.
 */
standing: Doing,
/**
 * When it goes on by itself, if nothing of it does before.
 */
again: Again | null,
/**
 * Whether it is a chat.
 */
chat?: boolean,
/**
 * What its graph is called in its file; absent where only the flow's summary is known.
 */
workflow?: string,
/**
 * Servers of tools that did not start, so that roles work without them now.
 */
absent?: Array<AbsentServer>, };

export type JournalHarm = {
/**
 * Whether a newer version of the program wrote it.
 */
newer: boolean,
/**
 * The first record that cannot be read.
 */
record: number, };

export type AbsentServer = {
/**
 * The role.
 */
role: string,
/**
 * The server.
 */
server: string,
/**
 * Why it did not start.
 */
why: string, };

export type Parent = {
/**
 * Its id.
 */
flow: string,
/**
 * Up to which record the two are one.
 */
at_seq: number, };

export type Doing = "working" | "retrying" | "limited" | "compacting" | "waiting" | "your-turn" | "closed" | "paused" | "stopped" | "damaged" | "unreachable" | "completed" | "cancelled";

export type Again = {
/**
 * When.
 */
at: string,
/**
 * Whether a limit of a provider resets then; else a request that failed is sent again.
 */
limit: boolean,
/**
 * The provider that lets the request wait: another role met its limit, or its model fails.
 */
held_by?: string,
/**
 * Whether its model failed too often in a row.
 */
failing?: boolean,
/**
 * Why the request failed that is sent again, in words; absent where it has none.
 */
why?: string, };

export type DrivenBy = "server" | "other";

export type Phase = "forward" | "improvement_choice" | "improving" | "feedback_consent" | "feedback" | "completed" | "cancelled";

export type Decided = {
/**
 * When.
 */
at: string,
/**
 * In which flow.
 */
flow: FlowRef,
/**
 * For which role.
 */
role: string | null,
/**
 * What was decided, in a few words.
 */
words: string,
/**
 * What it was about.
 */
detail: string, };

export type InboxState = {
/**
 * The flows, by `{project}/{flow}`.
 */
flows: { [key in string]: FlowRow },
/**
 * What waits, by its id.
 */
asks: { [key in string]: Ask },
/**
 * The last decisions, newest first.
 */
decided: Array<Decided>, };

export type Ask = {
/**
 * Its id, which stays while it is open.
 */
id: string,
/**
 * The flow.
 */
flow: FlowRef,
/**
 * How people call the flow.
 */
title: string,
/**
 * Who asks.
 */
role: string | null,
/**
 * At which node.
 */
node: string | null,
/**
 * Since when.
 */
since: string,
/**
 * The record at which this was computed last.
 */
seq: number,
/**
 * Whether something cannot continue until it is answered.
 */
blocking: boolean,
/**
 * One sentence: who wants what.
 */
headline: string,
/**
 * A few words.
 */
short: string,
/**
 * What it is.
 */
kind: AskKind,
/**
 * The nodes that cannot begin before.
 */
waiting_behind: Array<string>,
/**
 * The last text of the role.
 */
said_before: string | null,
/**
 * Whether that text was cut off.
 */
said_cut: boolean,
/**
 * Earlier decisions for the same role, newest first.
 */
earlier: Array<Decided>, };

export type AskKind = { "kind": "text",
/**
 * Why it waits.
 */
reason: WaitReason,
/**
 * What it asks. It ends with its choices, each on a numbered line.
 */
question: string,
/**
 * What matters for the decision, in a fixed order, if it is about more than the question.
 */
facts?: Array<Fact>,
/**
 * What may be chosen as the answer, which is sent in these words; a free text answers as well.
 */
choices?: Array<string>,
/**
 * Whether its turn may simply be taken again.
 */
may_retry: boolean,
/**
 * The budget that has to be raised first; absent if it waits for something else.
 */
budget?: ShortBudget,
/**
 * How the turn may end, if it is the operator's own.
 */
turn?: OwnTurn,
/**
 * What went wrong, in plain words, if its turn failed; the whole reason is `question`.
 */
failed?: string,
/**
 * The call that the operator denied, if the role waits for what it should do instead.
 */
denied?: string, } | { "kind": "consent",
/**
 * The request.
 */
consent: string,
/**
 * The hash of what is shown; it is sent back with the answer.
 */
action: string,
/**
 * The tool.
 */
tool: string,
/**
 * What it would do, in full.
 */
shown: string,
/**
 * What matters for the decision, in a fixed order.
 */
facts: Array<Fact>,
/**
 * What else is allowed with it for the rest of the flow; absent if that cannot be.
 */
for_the_flow: string | null,
/**
 * What it would change.
 */
diff: Diff | null, } | { "kind": "approval",
/**
 * The approval.
 */
approval: string,
/**
 * What would go where.
 */
targets: Array<Target>, } | { "kind": "configuration",
/**
 * What is missing.
 */
question: string,
/**
 * The models there are.
 */
models: Array<ModelChoice>,
/**
 * The efforts there are.
 */
efforts: Array<string>,
/**
 * How far its tools may reach, the narrowest first: none is wider than what it has.
 */
scopes: Array<string>,
/**
 * What is set.
 */
current: { [key in string]: string }, } | { "kind": "improvement",
/**
 * What can be chosen.
 */
modes: Array<ImprovementMode>,
/**
 * How many roles there are.
 */
roles: number,
/**
 * What each mode would take, as far as the flow's own turns tell it.
 */
estimates: Array<Estimate>, } | { "kind": "feedback",
/**
 * Where it would be.
 */
path: string, } | { "kind": "unpause",
/**
 * Why.
 */
reason: string,
/**
 * More about it.
 */
detail: string | null, } | { "kind": "stalled", } | { "kind": "stopped", };

export type Fact = {
/**
 * What.
 */
label: string,
/**
 * How it is.
 */
value: string,
/**
 * Whether it deserves a second look.
 */
warn: boolean, };

export type Target = {
/**
 * The node.
 */
to: string,
/**
 * What it would get.
 */
artifact: ArtifactRef, };

export type ArtifactRef = {
/**
 * Its path.
 */
path: string,
/**
 * The hash of its bytes.
 */
hash: string,
/**
 * How many.
 */
bytes: number, };

export type ModelChoice = {
/**
 * Its name.
 */
name: string,
/**
 * What is known of it, in words.
 */
words: string,
/**
 * How many tokens it can have before it.
 */
window_tokens: number, };

export type Diff = {
/**
 * The file.
 */
path: string,
/**
 * The hash of what was there; absent if nothing was, or what was is not known.
 */
old: string | null,
/**
 * The hash of what is there; empty if neither text was kept, so that nothing can be compared.
 */
new: string,
/**
 * Where they differ.
 */
hunks: Array<Hunk>,
/**
 * Whether there is more than is shown.
 */
truncated: boolean,
/**
 * How many bytes the earlier text has, if it was too long to be kept.
 */
unkept_bytes?: number, };

export type Hunk = {
/**
 * The first line in the old text, counted from 1.
 */
old_start: number,
/**
 * The first line in the new text, counted from 1.
 */
new_start: number,
/**
 * The lines.
 */
lines: Array<DiffLine>, };

export type DiffLine = {
/**
 * Whether it stays, comes or goes.
 */
op: Op,
/**
 * The line, without its end.
 */
text: string, };

export type Op = " " | "+" | "-";

export type Estimate = {
/**
 * In which way.
 */
mode: ImprovementMode,
/**
 * How many roles would.
 */
roles: number,
/**
 * How long, if each takes as long as one of its turns so far.
 */
ms: number,
/**
 * What it would cost in millionths; absent if turns cost nothing that is known.
 */
cost_micros: number | null, };

export type ShortBudget = {
/**
 * Whose; the whole flow's if absent.
 */
role: string | null,
/**
 * Of what.
 */
measure: Measure,
/**
 * What may be spent.
 */
limit: number,
/**
 * What was.
 */
spent: number,
/**
 * The least limit with which it may go on.
 */
least: number,
/**
 * A limit that gives it room.
 */
raise_to: number, };

export type OwnTurn = {
/**
 * The nodes that it may hand over to.
 */
forward: Array<string>,
/**
 * The nodes whose work it may send back.
 */
backward: Array<string>,
/**
 * Whether it may wait for more to come in.
 */
waits: boolean,
/**
 * Whether it may close the forward work.
 */
closes: boolean,
/**
 * Why the operator is asked again, where an answer did not end it.
 */
again?: string,
/**
 * The file whose writing ends it, where it looks back or reports.
 */
writes?: OwnFile, };

export type OwnFile = {
/**
 * The word that says so: `findings` or `report`.
 */
word: string,
/**
 * Its path.
 */
path: string, };

export type FlowState = {
/**
 * The flow itself.
 */
flow: FlowHead,
/**
 * Its nodes in the order of the graph.
 */
order: Array<string>,
/**
 * Its nodes.
 */
nodes: { [key in string]: NodeView },
/**
 * Its edges, by `{from}/{to}`.
 */
edges: { [key in string]: EdgeView },
/**
 * Its role instances.
 */
roles: { [key in string]: RoleView },
/**
 * What waits for the operator.
 */
asks: { [key in string]: Ask },
/**
 * The improvement phase, once it is chosen.
 */
improvement: ImprovementView | null,
/**
 * Proposed changes to files of the project.
 */
changes: { [key in string]: ChangeView }, };

export type FlowHead = {
/**
 * What it was started with.
 */
input: string | null,
/**
 * Where its graph came from.
 */
origin: string | null,
/**
 * Whether its graph is still a draft.
 */
draft: boolean,
/**
 * How much may be done without asking.
 */
mode: ConsentMode,
/**
 * What need not be asked again, in words.
 */
grants: Array<string>,
/**
 * The flow's own rules about what runs without asking.
 */
allow?: Array<string>,
/**
 * The flow's own rules about what never runs.
 */
deny?: Array<string>,
/**
 * Why it is paused.
 */
paused: Paused | null,
/**
 * What may be spent, by measure.
 */
limits: { [key in string]: number },
/**
 * How many tokens came from a cache; absent if the providers do not report it.
 */
cached_tokens: number | null,
/**
 * The role of the first node.
 */
owner: string | null,
/**
 * The node that closes the flow.
 */
closing: string | null,
/**
 * Who drives it, in words.
 */
pid: string | null,
/**
 * The project.
 */
project: string,
/**
 * The flow's id.
 */
flow: string,
/**
 * How people call it.
 */
title: string,
/**
 * The word for its state.
 */
status: string,
/**
 * Which part of its life it is in.
 */
phase: Phase,
/**
 * How many things wait for the operator.
 */
waits: number,
/**
 * How many nodes, or roles that reflect, are at work.
 */
running: number,
/**
 * How many nodes are done.
 */
nodes_done: number,
/**
 * How many nodes there are.
 */
nodes: number,
/**
 * How many role instances there are.
 */
roles: number,
/**
 * When it was created.
 */
created_at: string,
/**
 * When the last fact was recorded.
 */
updated_at: string,
/**
 * The last record.
 */
seq: number,
/**
 * Tokens spent.
 */
tokens: number,
/**
 * Money spent, in millionths of its unit.
 */
cost_micros: number,
/**
 * The flow it is a fork of.
 */
parent: Parent | null,
/**
 * What was lost or damaged, one sentence each.
 */
damage: Array<string>,
/**
 * Where its journal cannot be read any further; absent where it can be read to its end.
 */
harm?: JournalHarm,
/**
 * Who drives it.
 */
driven_by: DrivenBy | null,
/**
 * Whether nothing of it will run any more.
 */
over: boolean,
/**
 * Whether it is unfinished and has no driver.
 */
stopped: boolean,
/**
 * What it is doing now.
 */
standing: Doing,
/**
 * When it goes on by itself, if nothing of it does before.
 */
again: Again | null,
/**
 * Whether it is a chat.
 */
chat?: boolean,
/**
 * What its graph is called in its file; absent where only the flow's summary is known.
 */
workflow?: string,
/**
 * Servers of tools that did not start, so that roles work without them now.
 */
absent?: Array<AbsentServer>, };

export type Paused = {
/**
 * The kind of reason.
 */
reason: string,
/**
 * More about it.
 */
detail: string | null, };

export type NodeView = {
/**
 * Its id.
 */
id: string,
/**
 * Whose it is.
 */
role: string,
/**
 * What is to be done at it.
 */
work: Array<string>,
/**
 * Whether its handoffs wait for the operator.
 */
human_colab: boolean,
/**
 * Whether it waits for all of its inputs.
 */
await_all: boolean,
/**
 * Its state.
 */
state: NodeState,
/**
 * The same in words.
 */
words: string,
/**
 * What it does now.
 */
live: string | null,
/**
 * Since when it has this state.
 */
since: string | null,
/**
 * How long its turns took together, once it is over.
 */
took_ms: number | null,
/**
 * Its last turn, counted among those of its role.
 */
turn: number | null,
/**
 * Which try at the turn it is.
 */
attempt: number | null,
/**
 * When it goes on by itself, if it waits for that.
 */
again: Again | null,
/**
 * Whether it mends what came back.
 */
correction: boolean,
/**
 * How far it is from the beginning.
 */
rank: number,
/**
 * The record that changed it last.
 */
seq: number, };

export type NodeState = "not-reached" | "ready" | "running" | "needs-you" | "suspended" | "done" | "failed" | "interrupted";

export type EdgeView = {
/**
 * From which node.
 */
from: string,
/**
 * To which.
 */
to: string,
/**
 * Whether it may stay unused.
 */
optional: boolean,
/**
 * Its state.
 */
state: EdgeState,
/**
 * What went along it, oldest first.
 */
forward: Array<Passed>,
/**
 * What came back along it, oldest first.
 */
backward: Array<Passed>,
/**
 * Whether something that came back is not answered yet.
 */
open_correction: boolean, };

export type EdgeState = "not-yet" | "delivered" | "stale";

export type Passed = {
/**
 * What.
 */
artifact: ArtifactRef,
/**
 * The record.
 */
seq: number,
/**
 * When.
 */
at: string,
/**
 * When something newer took its place.
 */
superseded_at: string | null,
/**
 * Whether its receiver has read it.
 */
read: boolean, };

export type RoleView = {
/**
 * Its name.
 */
instance: string,
/**
 * The role it is an instance of.
 */
base: string,
/**
 * Its state.
 */
state: RoleState,
/**
 * The node it is at.
 */
node: string | null,
/**
 * Its open turn, counted among its own.
 */
turn: number | null,
/**
 * Who takes its turns: a model's name, `script`, `you` or `command`.
 */
executor: string,
/**
 * Its settings.
 */
settings: { [key in string]: string },
/**
 * How much of the window is filled.
 */
context_tokens: number,
/**
 * The window.
 */
window_tokens: number | null,
/**
 * Tokens spent.
 */
tokens: number,
/**
 * Money spent, in millionths of its unit.
 */
cost_micros: number,
/**
 * Turns taken.
 */
turns: number,
/**
 * What it may spend, by measure.
 */
limits: { [key in string]: number },
/**
 * Its archives.
 */
archives: Array<string>,
/**
 * How many items its feed has.
 */
items: number,
/**
 * The record that changed its feed last.
 */
last_seq: number,
/**
 * Messages to it that it has not got yet.
 */
queued: Array<string>,
/**
 * Its task list, as it wrote it last.
 */
tasks: Array<Task>,
/**
 * The servers of tools it uses.
 */
mcp: Array<string>,
/**
 * How far its tools reach, in words; absent if it has none or the operator's own
 * configuration is not known.
 */
reach: string | null,
/**
 * When its last request, which failed, is made again by itself; absent if none waits so.
 */
retry_at: string | null,
/**
 * How many items of its feed ask for attention.
 */
unread_hint: number, };

export type RoleState = "idle" | "running" | "needs-you" | "awaiting-handoff" | "limited" | "reflecting" | "done";

export type ImprovementView = {
/**
 * How roles reflect.
 */
mode: ImprovementMode,
/**
 * The roles.
 */
roles: { [key in string]: ReflectingView },
/**
 * The report.
 */
feedback: FeedbackView, };

export type ReflectingView = {
/**
 * Its state.
 */
state: ReflectingState,
/**
 * Whom it waits for.
 */
depends_on: Array<string>,
/**
 * Its findings.
 */
findings: ArtifactRef | null,
/**
 * The record that says so.
 */
seq: number | null, };

export type ReflectingState = "waiting" | "reflecting" | "needs-you" | "done";

export type FeedbackView = {
/**
 * Its state.
 */
state: FeedbackState,
/**
 * Where it is.
 */
path: string | null, };

export type FeedbackState = "undecided" | "declined" | "writing" | "done";

export type ChangeView = {
/**
 * Its id.
 */
id: string,
/**
 * The file.
 */
file: string,
/**
 * Its state.
 */
state: ChangeState,
/**
 * Who proposed it.
 */
from_role: string,
/**
 * The record of the finding it came from.
 */
finding: number | null, };

export type ChangeState = "proposed" | "applied" | "declined";

export type FeedState = {
/**
 * The items, oldest first.
 */
items: Array<Item>,
/**
 * How many the feed has.
 */
total: number,
/**
 * Where the window begins, if there are older items.
 */
before: number | null, };

export type Item = {
/**
 * Its id, which never changes.
 */
id: string,
/**
 * The record that began it.
 */
first: number,
/**
 * The record that changed it last.
 */
seq: number,
/**
 * When it began.
 */
at: string,
/**
 * What kind of item it is.
 */
type: ItemType,
/**
 * The event it came from.
 */
event: string | null,
/**
 * A few words.
 */
label: string,
/**
 * The rest, or its beginning.
 */
text: string,
/**
 * How long the text is, if this is only its beginning.
 */
full_bytes: number | null,
/**
 * The node it is about.
 */
node: string | null,
/**
 * The turn it is about.
 */
turn: number | null,
/**
 * The call it is about.
 */
call_id: string | null,
/**
 * The tool of the call.
 */
tool: string | null,
/**
 * Whether it is not over.
 */
pending: boolean,
/**
 * Whether it was cut off.
 */
interrupted: boolean,
/**
 * Whether it does not count.
 */
discarded: boolean,
/**
 * How long it took.
 */
took_ms: number | null,
/**
 * Lines that an edit added.
 */
added: number | null,
/**
 * Lines that an edit removed.
 */
removed: number | null,
/**
 * With which code a command ended.
 */
exit: number | null,
/**
 * Which signal ended a command; absent for any other.
 */
signal?: number,
/**
 * Whether the model got less of the call's output than there was.
 */
cut?: boolean,
/**
 * How a call ended that did not do what it was asked; absent for any other.
 */
end?: CallEnd,
/**
 * What the tests that a command ran came to, if that is certain.
 */
outcome: Outcome | null,
/**
 * The files that an edit of several changes, in its order, or that one which was refused names; absent for
 * any other call.
 */
files?: Array<EditedFile>,
/**
 * The request for consent that it tells of; absent if it tells of none.
 */
consent?: ConsentNote,
/**
 * When what failed is tried again; absent if it is not.
 */
again_at?: string,
/**
 * The task list that the call wrote; absent if it wrote none.
 */
tasks?: Array<Task>,
/**
 * What was asked of a tool, in the line with which the text begins; absent where the text is only why the
 * call was refused.
 */
asked?: string,
/**
 * The command that a call runs, in a line; absent for any other call.
 */
command?: string,
/**
 * The only file that an edit changes; absent for any other call.
 */
path?: string,
/**
 * The line at which it changes that, if that is one place.
 */
line?: number,
/**
 * What is handed over; absent for any item but a handoff.
 */
deliveries?: Array<HandedFile>, };

export type ItemType = "assistant" | "user" | "event" | "error" | "handoff" | "resume" | "repair" | "reasoning" | "tool" | "tool-success" | "tool-error" | "activation";

export type Outcome = {
/**
 * In a few words: "44 passed", "1 failed, 43 passed".
 */
words: string,
/**
 * Whether one of them failed.
 */
failed: boolean, };

export type EditedFile = {
/**
 * Its path.
 */
path: string,
/**
 * Lines that come.
 */
added: number | null,
/**
 * Lines that go.
 */
removed: number | null,
/**
 * Whether it is removed.
 */
gone: boolean, };

export type HandedFile = {
/**
 * Its path.
 */
path: string,
/**
 * The node that gets it.
 */
to: string,
/**
 * Whether the work is sent back with it.
 */
back: boolean, };

export type Task = {
/**
 * What is to be done.
 */
text: string,
/**
 * How far it is.
 */
state: TaskState, };

export type TaskState = "open" | "in_progress" | "done";

export type ConsentNote = {
/**
 * The tool.
 */
tool: string,
/**
 * What it is about, in a line.
 */
about: string,
/**
 * The answer; absent while there is none.
 */
answer: ConsentAnswer | null,
/**
 * What gave it: the rule as the operator wrote it, or that the flow never asks. Absent if he was asked.
 */
by?: string, };

export type Command = Verb | ServerVerb;

export type ServerVerb = { "do": "resume",
/**
 * A note for the interrupted role.
 */
note?: string, } | { "do": "fork",
/**
 * The last record they share.
 */
at: number,
/**
 * How the other is called.
 */
name?: string,
/**
 * The first message to it.
 */
first_message?: string, };

export type Up = { "t": "sub",
/**
 * The browser's number for this.
 */
id: number,
/**
 * What.
 */
topic: Topic,
/**
 * The last record it knows, if it knows any.
 */
since: number | null,
/**
 * In which epoch that was.
 */
epoch: string | null,
/**
 * How many of the newest items a feed begins with.
 */
window?: number, } | { "t": "unsub",
/**
 * Its number.
 */
id: number, } | { "t": "do",
/**
 * The browser's name for it; sent twice, it counts once.
 */
cmd: string,
/**
 * To which flow.
 */
flow: FlowRef,
/**
 * What.
 */
command: Command, } | { "t": "live",
/**
 * Whether.
 */
on: boolean, } | { "t": "ping",
/**
 * Sent back.
 */
n: number, };

export type Topic = { "topic": "inbox", } | { "topic": "flow",
/**
 * Which.
 */
flow: FlowRef, } | { "topic": "feed",
/**
 * Of which flow.
 */
flow: FlowRef,
/**
 * Of which role instance.
 */
role: string, };

export type Down = { "t": "hello",
/**
 * The version of the protocol.
 */
proto: number,
/**
 * The version of the program.
 */
build: string,
/**
 * This run of the server. The inbox counts anew with each.
 */
epoch: string,
/**
 * The workspace.
 */
workspace: string,
/**
 * What time it is here.
 */
now: string,
/**
 * Whether what is shown is happening.
 */
mode: Mode, } | { "t": "snap",
/**
 * The subscription.
 */
id: number,
/**
 * Up to which record.
 */
seq: number,
/**
 * The epoch of the topic.
 */
epoch: string,
/**
 * What.
 */
state: State, } | { "t": "ev",
/**
 * The subscription.
 */
id: number,
/**
 * After which record.
 */
from: number,
/**
 * Up to and with which record.
 */
to: number,
/**
 * When the last of them was recorded.
 */
at: string,
/**
 * What.
 */
put?: Put, } | { "t": "caught_up",
/**
 * The subscription.
 */
id: number,
/**
 * Up to which record.
 */
seq: number,
/**
 * The last record there is.
 */
head: number, } | { "t": "delta",
/**
 * The subscription.
 */
id: number,
/**
 * The item it belongs to.
 */
item: string,
/**
 * How many bytes of its text come before.
 */
offset: number,
/**
 * The text.
 */
text: string, } | { "t": "ack" } & Ack | { "t": "gone",
/**
 * Which.
 */
id: number,
/**
 * Why.
 */
why: string, } | { "t": "pong",
/**
 * What was sent.
 */
n: number, };

export type Mode = "live" | "replay" | "file";

export type State = InboxState | FlowState | FeedState;

export type Put = Array<Item> | { [key in string]: Part | null };

export type Part = FlowRow | Ask | FlowHead | Array<string> | NodeView | EdgeView | RoleView | ImprovementView | ChangeView | Array<Decided>;

export type Fault = {
/**
 * The kind.
 */
code: string,
/**
 * What happened.
 */
what: string,
/**
 * Why.
 */
why: string,
/**
 * What to try.
 */
try: string, };

export type Ack = {
/**
 * The browser's name for it.
 */
cmd: string,
/**
 * Always true.
 */
ok: true,
/**
 * The last record of the flow.
 */
seq: number,
/**
 * How many facts followed; none if it had counted before.
 */
facts: number,
/**
 * The flow that a fork began.
 */
flow?: FlowRef,
/**
 * What of it did not come about, in words.
 */
note?: Fault, } | {
/**
 * The browser's name for it.
 */
cmd: string,
/**
 * Always false.
 */
ok: false,
/**
 * Why.
 */
error: Fault, };

export type Findings = {
/**
 * The flows in which something was found or proposed.
 */
flows: Array<FoundFlow>,
/**
 * The flow before which the list goes on, if there are older ones.
 */
before: string | null, };

export type FoundFlow = {
/**
 * The flow.
 */
flow: FlowRef,
/**
 * How people call it.
 */
title: string,
/**
 * What its roles found, in the order in which they looked back, and the report.
 */
findings: Array<FindingView>,
/**
 * What was proposed because of it, oldest first.
 */
changes: Array<ProposedChange>, };

export type FindingView = {
/**
 * The role instance.
 */
role: string,
/**
 * The record that says so.
 */
seq: number | null,
/**
 * Its path in the record folder.
 */
path: string,
/**
 * What it says; absent if it is no text or was lost.
 */
text: string | null,
/**
 * Whether it says more than this.
 */
truncated: boolean,
/**
 * Whether it is the report that puts all findings together.
 */
is_report: boolean, };

export type ProposedChange = {
/**
 * Its name.
 */
id: string,
/**
 * Whose finding led to it.
 */
role: string,
/**
 * The record of that finding.
 */
finding: number | null,
/**
 * The file, from the project's folder.
 */
path: string,
/**
 * When it was proposed.
 */
at: string,
/**
 * How it compares with its file.
 */
stands: Stands, };

export type Stands = "open" | "said-already" | "file-changed" | "applied" | "declined";

export type ChangeDiff = {
/**
 * The change.
 */
change: ProposedChange,
/**
 * What differs from what the file says now; absent once it is decided.
 */
diff: Diff | null, };

export type Changeable = {
/**
 * Their paths, from the project's folder.
 */
files: Array<string>,
/**
 * Whether there are more.
 */
truncated: boolean,
/**
 * What the file that was asked for says now; absent if it is not there, or no text.
 */
text: string | null, };

export type ForkPlan = {
/**
 * The last record it shares.
 */
at: number,
/**
 * When that was recorded.
 */
recorded_at: string,
/**
 * How it would be called.
 */
name: string,
/**
 * What it carries, a sentence each.
 */
carried: Array<string>,
/**
 * What it does not carry, a sentence each.
 */
not_carried: Array<string>,
/**
 * The receiver of a first message; absent if there is none.
 */
hears: Hearer | null, };

export type Hearer = {
/**
 * The role instance.
 */
role: string,
/**
 * Whether it waits for a message; else it gets it with its next request.
 */
waits: boolean, };

export type SessionRequest = {
/**
 * The token.
 */
token: string, };

export type Items = {
/**
 * The items, oldest first.
 */
items: Array<Item>,
/**
 * Where the window begins, if there are older items.
 */
before: number | null, };

export type ItemBody = {
/**
 * The text.
 */
text: string,
/**
 * How long all of it is.
 */
total_bytes: number,
/**
 * Where it goes on.
 */
next: number | null,
/**
 * What a call was asked and gave.
 */
parts?: BodyParts, };

export type SentRequest = {
/**
 * The record that tells of it.
 */
seq: number,
/**
 * The model that was asked.
 */
model: string,
/**
 * The hash of the bytes that left.
 */
hash: string,
/**
 * The body as it is written now; its beginning, if it is very long.
 */
body: string,
/**
 * How long all of it is.
 */
total_bytes: number,
/**
 * Why these are not the very bytes that left; absent if their hash is the same.
 */
differs?: string, };

export type BodyParts = {
/**
 * Its arguments.
 */
arguments?: unknown,
/**
 * Its result.
 */
result?: string,
/**
 * What it changed.
 */
diff?: Diff,
/**
 * What it changed in each file, if it changed several or removed one.
 */
diffs?: Array<Diff>, };

export type Track = {
/**
 * The last record.
 */
head: number,
/**
 * Some records and when they were, in milliseconds since 1970.
 */
at: Array<[number, number]>,
/**
 * The changes of each node's state, and whether it then corrected returned work.
 */
nodes: { [key in string]: Array<[number, NodeState, boolean]> },
/**
 * The bars of the role instances.
 */
turns: Array<TrackTurn>,
/**
 * What went from role to role.
 */
hops: Array<TrackHop>,
/**
 * What else is marked.
 */
marks: Array<TrackMark>, };

export type TrackTurn = {
/**
 * Whose.
 */
role: string,
/**
 * At which node.
 */
node: string | null,
/**
 * Which turn of the role.
 */
turn: number | null,
/**
 * From which record.
 */
from: number,
/**
 * To which; none if it goes on.
 */
to: number | null,
/**
 * What it shows.
 */
kind: TrackKind, };

export type TrackKind = "turn" | "correction" | "waiting" | "suspended";

export type TrackHop = {
/**
 * The record.
 */
seq: number,
/**
 * From whom.
 */
from_role: string,
/**
 * To whom.
 */
to_role: string,
/**
 * Whether it was sent back.
 */
backward: boolean,
/**
 * What.
 */
path: string, };

export type TrackMark = {
/**
 * The record.
 */
seq: number,
/**
 * Whose.
 */
role: string,
/**
 * What it marks.
 */
kind: MarkKind, };

export type MarkKind = "compaction";

export type Events = {
/**
 * The records, oldest first.
 */
events: Array<Event>,
/**
 * Where the window begins, if there are older ones.
 */
before: number | null, };

export type Event = {
/**
 * Its number.
 */
seq: number,
/**
 * When it was recorded.
 */
at: string,
/**
 * The word for what happened.
 */
fact: string,
/**
 * The line, as it is on disk.
 */
line: string, };

export type Transcript = {
/**
 * Its parts.
 */
segments: Array<Segment>,
/**
 * The messages of the part that was asked for.
 */
messages: Array<TranscriptMessage>,
/**
 * How many that part has.
 */
total: number, };

export type Segment = {
/**
 * Its id: `live`, `system`, `tools`, `requests`, or an archive's.
 */
id: string,
/**
 * What kind of part it is.
 */
kind: string,
/**
 * The same in words.
 */
words: string,
/**
 * How many messages it has.
 */
messages: number,
/**
 * Roughly how many tokens.
 */
tokens: number,
/**
 * When the first of them was sent, if known.
 */
from?: string,
/**
 * When the last of them was.
 */
to?: string, };

export type TranscriptMessage = {
/**
 * Its place, counted from 0.
 */
n: number,
/**
 * What kind of message it is.
 */
kind: string,
/**
 * What it says.
 */
content: string,
/**
 * Roughly how many tokens it has.
 */
tokens: number,
/**
 * When it was sent.
 */
at: string | null,
/**
 * The record.
 */
seq: number | null,
/**
 * The same as it is kept.
 */
raw: unknown,
/**
 * What it took; absent where it is no answer of a model.
 */
took?: AnswerCost, };

export type AnswerCost = {
/**
 * From the request on.
 */
ms: number,
/**
 * The tokens that were read, the cached ones among them.
 */
input_tokens: number,
/**
 * Those of them that the provider had cached.
 */
cached_tokens: number,
/**
 * The tokens that were written.
 */
output_tokens: number, };

export type Files = {
/**
 * The files.
 */
files: Array<FileVersions>,
/**
 * What the flow delivered; absent until its forward work is closed, and where it delivered
 * no file.
 */
delivered?: DeliveredFile, };

export type FileVersions = {
/**
 * Its path.
 */
path: string,
/**
 * Its versions, oldest first.
 */
versions: Array<FileVersion>, };

export type DeliveredFile = {
/**
 * The node that closed it.
 */
node: string,
/**
 * Its path, from the project's folder.
 */
path: string,
/**
 * Its hash.
 */
hash: string,
/**
 * How long it is.
 */
bytes: number, };

export type FileVersion = {
/**
 * The record that handed it over.
 */
seq: number,
/**
 * The hash of its bytes.
 */
hash: string,
/**
 * How many.
 */
bytes: number,
/**
 * From which node.
 */
from: string,
/**
 * To which.
 */
to: string,
/**
 * Whether something newer took its place.
 */
superseded: boolean,
/**
 * Who handed it over; absent in what another program began.
 */
by?: Author,
/**
 * Whether it is held until the operator approves it.
 */
waits?: boolean, };

export type Author = {
/**
 * The role instance.
 */
role: string,
/**
 * Which of its turns, counted from 1.
 */
turn: number,
/**
 * Its node, where files that tools changed are listed; absent in the retrospective.
 */
node?: string,
/**
 * Who allowed its last call that changed the file, if that was asked about.
 */
allowed?: Allowance, };

export type Allowance = {
/**
 * The rule, as the operator would write it again, or that the flow never asks; absent if they allowed it
 * themselves.
 */
rule?: string,
/**
 * When.
 */
at: string, };

export type Costs = {
/**
 * All of it.
 */
all: Cost,
/**
 * By role instance; what cost most comes first.
 */
roles: Array<Cost>,
/**
 * By model.
 */
models: Array<Cost>,
/**
 * By node; what belongs to none, such as looking back, has no name.
 */
nodes: Array<Cost>, };

export type Cost = {
/**
 * Which.
 */
name: string,
/**
 * Tokens in and out, cached ones included.
 */
tokens: number,
/**
 * Of those, output.
 */
output: number,
/**
 * Of those, input that was read from a provider's cache.
 */
cached: number,
/**
 * Requests that were sent.
 */
requests: number,
/**
 * Turns that began; a model has none.
 */
turns: number,
/**
 * How long its turns ran, or how long a model was waited for.
 */
ms: number,
/**
 * Money, in millionths of its unit; 0 where no price is known.
 */
cost_micros: number, };

export type RecordFiles = {
/**
 * By path.
 */
files: Array<RecordFile>,
/**
 * Whether there are more.
 */
truncated: boolean,
/**
 * The largest file that is handed over.
 */
bytes_max: number, };

export type RecordFile = {
/**
 * Its path, as handoffs name it.
 */
path: string,
/**
 * Its size.
 */
bytes: number, };

export type RecordText = {
/**
 * Its path.
 */
path: string,
/**
 * What it says.
 */
text: string,
/**
 * The hash of its bytes, which is sent back when it is replaced.
 */
hash: string, };

export type NewFile = {
/**
 * Its path.
 */
path: string,
/**
 * What it says.
 */
text: string,
/**
 * The hash of the file that it replaces; absent for a new one.
 */
over?: string, };

export type Changes = {
/**
 * One for each file.
 */
diffs: Array<Diff>,
/**
 * Whether there is more than is shown.
 */
truncated: boolean,
/**
 * Who changed each file, by its path: the first turns and the last.
 */
by?: { [key in string]: Array<Author> }, };

export type Hits = {
/**
 * The places.
 */
hits: Array<Hit>,
/**
 * Whether the search ended before it had seen everything.
 */
truncated: boolean, };

export type Hit = {
/**
 * The flow.
 */
flow: FlowRef,
/**
 * The role whose feed it is in.
 */
role: string | null,
/**
 * The record.
 */
seq: number,
/**
 * The item.
 */
item: string | null,
/**
 * The words around it.
 */
snippet: string,
/**
 * When it was written; absent for a title.
 */
at?: string,
/**
 * The message that the role's model was sent, if it is in one.
 */
sent?: SentPart, };

export type SentPart = {
/**
 * The part of the session: `live`, an archive, or `system`.
 */
seg: string,
/**
 * Its place in that part, counted from 0.
 */
n: number, };

export type Projects = {
/**
 * The projects.
 */
projects: Array<ProjectRow>, };

export type ProjectRow = {
/**
 * Its name.
 */
name: string,
/**
 * Whether it has roles and a graph of its own.
 */
ready: boolean,
/**
 * Whether it is only a folder, which may become a project.
 */
bare?: boolean,
/**
 * How many flows it has.
 */
flows: number,
/**
 * How its roles look back, if the project chose it beforehand.
 */
improve: ImprovementMode | null,
/**
 * Whether a report is written, if the project chose it beforehand.
 */
feedback: boolean | null, };

export type NewFlow = {
/**
 * From what.
 */
from: NewFrom,
/**
 * What it is started with.
 */
input?: string,
/**
 * How people call it.
 */
title?: string,
/**
 * How its roles look back when the work is done, in the place of what the project chose.
 */
improve?: ImprovementMode,
/**
 * Whether a report is written, in the place of what the project chose.
 */
feedback?: boolean,
/**
 * How much it may do without asking where no rule speaks.
 */
mode?: ConsentMode,
/**
 * What runs without asking.
 */
allow?: Array<string>,
/**
 * What never runs.
 */
deny?: Array<string>, };

export type NewFrom = { "file": string } | { "project": string } | { "draft": string } | { "chat": ChatPartner };

export type ChatPartner = {
/**
 * The project; all of the workspace if absent.
 */
project?: string,
/**
 * Its role; the built-in assistant if absent.
 */
role?: string, };

export type Models = {
/**
 * The models.
 */
models: Array<ModelChoice>, };

export type GraphText = {
/**
 * The file.
 */
source: string, };

export type JudgedGraph = {
/**
 * What is remarkable about its file, as the command line says it.
 */
findings: Array<GraphFinding>,
/**
 * What would be another, a sentence each.
 */
changes: Array<string>,
/**
 * Why it would be refused now; absent if it would be walked.
 */
refused: Fault | null,
/**
 * Each reason for that.
 */
reasons: Array<string>, };

export type GraphFinding = {
/**
 * Whether the file cannot be used because of it.
 */
is_error: boolean,
/**
 * In which line; none if it is about the whole file.
 */
line: number,
/**
 * All of it, as the command line says it.
 */
words: string, };

export type Setting = {
/**
 * What the page showed: the version of the file.
 */
version: string,
/**
 * What changes.
 */
change: SettingChange,
/**
 * Say what it would be, and change nothing.
 */
look?: boolean, };

export type SettingChange = { "add_model": ModelWish } | { "edit_model": ModelWish } | { "remove_model": ModelRemoval } | { "use_model": string } | { "add_server": ServerWish } | { "edit_server": ServerWish } | { "add_rule": RuleWish } | { "remove_rule": RuleWish } | { "set_policy": PolicyWish } | { "set_search": SearchWish } | { "remove_search": Record<symbol, never> } | { "remove_server": string };

export type ModelWish = {
/**
 * How it is called here.
 */
name: string,
/**
 * Its name with its provider.
 */
id?: string,
/**
 * Its provider.
 */
provider?: string,
/**
 * How a new provider is spoken to.
 */
wire?: string,
/**
 * Where a new provider is.
 */
base_url?: string,
/**
 * Where its key is.
 */
key?: KeyPlace,
/**
 * The tokens that it reads at most.
 */
window?: number,
/**
 * The tokens of one answer.
 */
max_output?: number,
/**
 * Whether it gets the images that it reads.
 */
images?: boolean,
/**
 * Its effort, by its word.
 */
effort?: string,
/**
 * Its prices, as they are typed: `3,15` or `3,15,0.3,3.75`.
 */
prices?: string, };

export type KeyPlace = {
/**
 * How it is found: `env`, `file` or `keyring`.
 */
from: string,
/**
 * The name of the variable, the path of the file, or the name in the keyring.
 */
name: string, };

export type ModelRemoval = {
/**
 * Which.
 */
name: string,
/**
 * The model of roles that name none, from then on.
 */
default?: string,
/**
 * Whether its provider goes, too, if no other model has it.
 */
provider?: boolean, };

export type ServerWish = {
/**
 * Its name.
 */
name: string,
/**
 * The program.
 */
command?: string,
/**
 * Its arguments; no shell reads them.
 */
arguments: Array<string>,
/**
 * The folder in which it runs.
 */
folder?: string,
/**
 * Its address.
 */
url?: string,
/**
 * Whether its name may resolve to a private address.
 */
private: boolean,
/**
 * The names of the variables that it inherits.
 */
inherits: Array<string>,
/**
 * Its variables, or its headers.
 */
values: Array<ServerValue>,
/**
 * Its tools that only read.
 */
reads: Array<string>,
/**
 * What it is good for.
 */
about?: string,
/**
 * The definition that was looked at, by its hash: nothing else is saved. It is not asked for by a look.
 */
definition?: string, };

export type ServerValue = {
/**
 * Its name.
 */
name: string,
/**
 * This text, which is no key.
 */
text?: string,
/**
 * A secret that the configuration names already.
 */
secret?: string,
/**
 * A secret that is kept there.
 */
key?: KeyPlace,
/**
 * The prefix of a secret, such as `Bearer `.
 */
prefix?: string, };

export type RuleWish = {
/**
 * Which list it is in: `allow` or `deny`.
 */
list: RuleList,
/**
 * The rule, as it is written.
 */
rule: string, };

export type RuleList = "allow" | "deny";

export type SearchWish = {
/**
 * Where its key is.
 */
key: KeyPlace,
/**
 * Its address, if it is not the usual one.
 */
endpoint?: string, };

export type PolicyWish = { "mode": ModeWish } | { "reach": ReachWish } | { "limits": LimitsWish } | { "notify": NotifyWish };

export type ModeWish = {
/**
 * Its word; the usual one, if absent.
 */
mode?: string, };

export type ReachWish = {
/**
 * The scope, by its word.
 */
scope?: string,
/**
 * Folders that are read besides.
 */
folders: Array<string>,
/**
 * Whether commands may use the network.
 */
network: boolean, };

export type LimitsWish = {
/**
 * The tokens of a flow, or `none`.
 */
tokens?: string,
/**
 * The answers of a model in one turn.
 */
answers?: string,
/**
 * The same call with the same result in a turn.
 */
same_call?: string, };

export type NotifyWish = {
/**
 * The program and its arguments; no shell reads them.
 */
command: Array<string>,
/**
 * The occasions on which it runs; all of them, if none is named.
 */
on: Array<string>, };

export type CallWish = {
/**
 * What it does.
 */
does: CallKind,
/**
 * The command, the path, the host, or the server and its tool as `SERVER/TOOL`.
 */
what: string, };

export type CallKind = "command" | "file" | "web" | "server";

export type CallFate = "runs" | "asks" | "never";

export type SettingDone = {
/**
 * In a sentence.
 */
words: string,
/**
 * More about it, a sentence each.
 */
notes: Array<string>,
/**
 * The version of the file from now on.
 */
version: string,
/**
 * What would run or be reached, for the operator to read.
 */
shown?: string,
/**
 * The hash of that.
 */
definition?: string, };

export type SkillSetting = {
/**
 * What the page showed: the version of the skill; nothing for a new one.
 */
version: string,
/**
 * What changes.
 */
change: SkillChange,
/**
 * Return what roles would see, and change nothing.
 */
look?: boolean, };

export type SkillChange = { "add": SkillWish } | { "edit": SkillWish } | { "remove": string };

export type SkillWish = {
/**
 * Its name.
 */
name: string,
/**
 * When it is used.
 */
description: string,
/**
 * What it says.
 */
text: string, };

export type Trial = { "model": string } | { "server": string } | { "search": Record<symbol, never> } | { "rules": CallWish };

export type Tried = {
/**
 * Whether it works.
 */
works: boolean,
/**
 * In words: its answer, or what is wrong.
 */
words: string,
/**
 * What it offers.
 */
offers: Array<string>,
/**
 * What would happen to the call that was tried.
 */
fate?: CallFate, };

export type NewProject = {
/**
 * Its name, which is that of its folder; it may be there already and hold work.
 */
name: string,
/**
 * A flow file with a script that takes its turns, in the place of a project.
 */
example?: boolean, };

export type MadeProject = {
/**
 * The files that were written, by their paths in the workspace.
 */
files: Array<string>,
/**
 * Whether its folder held work already.
 */
takeover: boolean,
/**
 * The flow that runs at once, without a model.
 */
from: NewFrom,
/**
 * The flow file with which a model fills in what the project is; an example has none.
 */
fills?: string, };

export type Removal = {
/**
 * Its last record, which a removal names.
 */
seq: number,
/**
 * Its title.
 */
title: string,
/**
 * When something last happened in it.
 */
updated_at: string | null,
/**
 * Its folder, by its path in the workspace.
 */
folder: string,
/**
 * How many files go.
 */
files: number,
/**
 * How many bytes.
 */
bytes: number,
/**
 * What its folder holds, the largest first.
 */
parts: Array<RemovalPart>,
/**
 * Forks of it, which stay as they are.
 */
forks: Array<RemovalFork>,
/**
 * Why it is not removed as it is now; absent if it would be.
 */
refused?: Fault, };

export type RemovalPart = {
/**
 * Its name.
 */
name: string,
/**
 * How many files.
 */
files: number,
/**
 * How many bytes.
 */
bytes: number, };

export type RemovalFork = {
/**
 * Which.
 */
flow: FlowRef,
/**
 * Its title.
 */
title: string, };

export type Remove = {
/**
 * The last record of the plan. A flow that went on since stays.
 */
seq: number, };

export type Exported = {
/**
 * The version of what is in the file.
 */
v: number,
/**
 * The version of the program that wrote it.
 */
build: string,
/**
 * The workspace.
 */
workspace: string,
/**
 * When it was written.
 */
exported_at: string,
/**
 * The flow.
 */
flow: FlowRef,
/**
 * The epoch of its journal.
 */
epoch: string,
/**
 * The last record.
 */
seq: number,
/**
 * Its line in the list.
 */
row: FlowRow,
/**
 * Its state when the file was written.
 */
state: FlowState,
/**
 * Everything a time strip needs.
 */
track: Track,
/**
 * What each record changed.
 */
moments: Array<Moment>,
/**
 * The items of each role, oldest first.
 */
feeds: { [key in string]: Array<Item> },
/**
 * The whole texts of items.
 */
bodies: { [key in string]: ItemBody },
/**
 * The sessions of the roles.
 */
transcripts: { [key in string]: ExportedTranscript },
/**
 * The requests as they were sent.
 */
requests: ExportedRequests,
/**
 * The lines of the journal.
 */
events: Array<Event>,
/**
 * The files that were handed over.
 */
files: Files,
/**
 * What tools changed.
 */
changes: Changes,
/**
 * Versions of files, by their hash.
 */
blobs: { [key in string]: string },
/**
 * What proposed changes would do to files as they were when the file was written.
 */
proposals: { [key in string]: ChangeDiff },
/**
 * What was left out.
 */
without: Array<string>, };

export type Moment = {
/**
 * The record.
 */
seq: number,
/**
 * Views that are new, and those that went.
 */
set: Record<string, unknown>,
/**
 * What changed in views that were there.
 */
merge: Record<string, Record<string, unknown>>, };

export type ExportedRequests = {
/**
 * Each, by its record.
 */
sent: { [key in string]: ExportedRequest },
/**
 * What they are put together from.
 */
pieces: Array<string>,
/**
 * Why those that are not there could not be written, by their records.
 */
unwritten: { [key in string]: string },
/**
 * How many before them were left out.
 */
left_out: number, };

export type ExportedRequest = {
/**
 * The model that was asked.
 */
model: string,
/**
 * The hash of the bytes that left.
 */
hash: string,
/**
 * How long all of it was.
 */
total_bytes: number,
/**
 * Why this is not what left, to the byte; absent if it is.
 */
differs?: string,
/**
 * The request that begins as this one does.
 */
after?: number,
/**
 * How many pieces they have in common.
 */
same: number,
/**
 * The pieces behind those, by their numbers.
 */
pieces: Array<number>, };

export type ExportedTranscript = {
/**
 * Every message that ever was in it.
 */
messages: Array<TranscriptMessage>,
/**
 * What each record changed.
 */
moments: Array<SessionMoment>, };

export type SessionMoment = {
/**
 * The record.
 */
seq: number,
/**
 * Its parts, if there are others now.
 */
parts?: Array<SessionPart>,
/**
 * What changed in the messages of its parts.
 */
set: { [key in string]: ListChange },
/**
 * How much there is of the text that is being streamed, which is the last one then.
 */
drafted?: Drafted, };

export type SessionPart = {
/**
 * Its id.
 */
id: string,
/**
 * What it is.
 */
kind: string,
/**
 * In words.
 */
words: string, };

export type ListChange = {
/**
 * As many are as they were.
 */
same: number,
/**
 * The ones behind them, by their numbers.
 */
then: Array<number>, };

export type Drafted = {
/**
 * In letters, as a page counts them.
 */
chars: number,
/**
 * In tokens, roughly.
 */
tokens: number, };
