//! What was open in the forward pass: nodes that ran, nodes that waited, the operator's messages.

use std::collections::BTreeMap;

use a_society_facts::fact::node::{
    HandoffStaged, NodeClaimed, NodeEntry, NodeSuspended, WaitReason,
};
use a_society_facts::fact::operator::OperatorReplied;
use a_society_facts::fact::turn::{
    CallEnd, CallIntended, CallStarted, CalledTool, Cause, DraftAdded, DraftKind, Effect,
    ModelAnswered, ModelRequested, StopReason, TurnEnd, TurnEnded, TurnStarted, Usage,
};
use a_society_facts::handoff::{Delivery, EdgeName, HandoffWay};
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, Message, Text, ToolCall};
use a_society_facts::{Fact, Hash};
use a_society_roles::handoff::words_before_block;
use a_society_state::disk::Disk;
use a_society_state::limits::DRAFT_BYTES;

use super::names::Names;
use super::sessions::{AtWork, ForeignTail, tokens};
use super::sketch::ImportSketch;
use super::source::ForeignFlow;
use super::version11::{AwaitingHuman, ForeignWaitReason, HandoffTarget, PendingInput, message};

/// The model of a request that another program had sent.
const MODEL: &str = "imported";
/// How much of a call's arguments its line for the operator repeats.
const SUMMARY_BYTES_MAX: usize = 160;
/// The tools of that program that only read; a call of one that was cut off simply runs again.
const ONLY_READ: [&str; 6] = [
    "read_file",
    "list_directory",
    "list_files",
    "search_files",
    "grep",
    "web_search",
];

/// The roles that were at work on a node when the files were written.
pub(super) fn at_work(source: &ForeignFlow) -> AtWork {
    let run = &source.run;
    let asked = run.awaiting_human_nodes.iter();
    let asked = asked.filter(|(_, waiting)| waiting.reason == ForeignWaitReason::Consent);
    let nodes = run.running_nodes.iter().chain(asked.map(|(node, _)| node));
    let roles = nodes.filter_map(|node| {
        let node: NodeId = node.parse().ok()?;
        let role = source.graph.graph.node(&node)?.role.clone();
        Some((role, Some(node)))
    });
    roles.collect()
}

/// What was open in the forward pass.
pub(super) fn import(
    sketch: &mut ImportSketch<'_>,
    disk: &dyn Disk,
    source: &ForeignFlow,
    names: &mut Names,
    tails: &BTreeMap<RoleInstance, ForeignTail>,
) {
    let run = &source.run;
    for node in source.graph.graph.nodes() {
        let (id, role) = (&node.id, &node.role);
        let waiting = run.awaiting_human_nodes.get(id.as_str());
        let runs = run.running_nodes.iter().any(|other| other == id.as_str());
        let tail = tails.get(role);
        match waiting {
            Some(waiting) if waiting.reason == ForeignWaitReason::Consent => {
                let what = format!("{id} waited for consent, and asks again when it goes on");
                sketch.left.push(what);
                let what = format!("{id}, which waited for consent");
                sketch.try_all(&what, |s| {
                    running(s, source, id, role, tail, false)?;
                    suspend(s, source, Some(id), role, WaitReason::Consent)
                });
            }
            Some(waiting) => {
                let what = format!("{id}, which waited for the operator");
                let staged = run.pending_handoff_approvals.get(id.as_str());
                sketch.try_all(&what, |s| {
                    let wait = ForeignWait {
                        node: id,
                        role,
                        waiting,
                        staged,
                    };
                    wait.begin(s, disk, source, names)
                });
            }
            None if runs => {
                let what = format!("{id}, which ran");
                sketch.try_all(&what, |s| running(s, source, id, role, tail, true));
            }
            None => {}
        }
    }
    for (node, input) in &run.pending_human_inputs {
        let what = format!("what was said to {node}");
        sketch.try_all(&what, |s| replied(s, source, node, input));
    }
}

fn claim(
    sketch: &mut ImportSketch<'_>,
    node: &NodeId,
    role: &RoleInstance,
) -> Result<TurnId, String> {
    let turn = sketch.next_turn();
    sketch.say(Fact::NodeClaimed(NodeClaimed {
        node: node.clone(),
        role: role.clone(),
        turn,
        entry: NodeEntry::Recovered,
        consumed: Vec::new(),
        dropped: Vec::new(),
        replies: Vec::new(),
    }))?;
    Ok(turn)
}

/// A turn that is open from now on, as if it had been cut off here.
pub(super) fn begin(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    turn: TurnId,
    node: Option<&NodeId>,
    cause: Cause,
) -> Result<(), String> {
    sketch.say(Fact::TurnStarted(TurnStarted {
        turn,
        attempt: 1,
        role: role.clone(),
        node: node.cloned(),
        cause,
    }))
}

fn running(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    node: &NodeId,
    role: &RoleInstance,
    tail: Option<&ForeignTail>,
    may_have_begun: bool,
) -> Result<(), String> {
    let turn = claim(sketch, node, role)?;
    // Without a session that was at work on it, the role begins anew with the whole packet.
    let Some(tail) = tail else { return Ok(()) };
    begin(sketch, role, turn, Some(node), Cause::Node)?;
    cut_off(sketch, source, role, turn, tail, may_have_begun)
}

/// The text of a turn when it was cut off.
pub(super) fn cut_off(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    role: &RoleInstance,
    turn: TurnId,
    tail: &ForeignTail,
    may_have_begun: bool,
) -> Result<(), String> {
    match tail {
        ForeignTail::Whole => Ok(()),
        ForeignTail::Text(text) => {
            requested(sketch, role, turn, text)?;
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.floor_char_boundary(DRAFT_BYTES));
                sketch.say(Fact::DraftAdded(DraftAdded {
                    turn,
                    role: role.clone(),
                    request: 1,
                    kind: DraftKind::Text,
                    text: piece.to_owned(),
                }))?;
                rest = after;
            }
            Ok(())
        }
        ForeignTail::Calls(Message::AssistantToolCalls { calls, text }, results) => {
            let text = text.clone().unwrap_or_default();
            requested(sketch, role, turn, &text)?;
            let session = source.sessions.get(role);
            let message = sketch.name("m")?;
            sketch.say(Fact::ModelAnswered(ModelAnswered {
                turn,
                attempt: 1,
                role: role.clone(),
                request: 1,
                message,
                text: AnswerText::Inline(text),
                calls: calls.clone(),
                stop: StopReason::Tools,
                usage: Usage {
                    context_tokens: session.map_or(0, |(session, _)| tokens(session)),
                    ..Usage::default()
                },
                provider_blocks: None,
                report: None,
            }))?;
            called(sketch, role, turn, calls, results, may_have_begun)
        }
        ForeignTail::Calls(_, _) => Ok(()),
    }
}

fn requested(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    turn: TurnId,
    said: &str,
) -> Result<(), String> {
    sketch.say(Fact::ModelRequested(ModelRequested {
        turn,
        attempt: 1,
        role: role.clone(),
        request: 1,
        model: MODEL.to_owned(),
        // The bytes that were sent are unknown; the request is identified by its result.
        hash: Hash::of(said.as_bytes()),
        frame: None,
    }))
}

/// The calls of an answer, in their order: those with results, and the first without one, which may
/// have begun.
fn called(
    sketch: &mut ImportSketch<'_>,
    role: &RoleInstance,
    turn: TurnId,
    calls: &[ToolCall],
    results: &[Message],
    may_have_begun: bool,
) -> Result<(), String> {
    let mut unknown = may_have_begun;
    for (place, call) in calls.iter().enumerate() {
        let result = result_of(call, results);
        let begun = result.is_some() || (unknown && !ONLY_READ.contains(&call.name.as_str()));
        if result.is_none() {
            // Calls run one after another: what follows the first one without a result did not run.
            unknown = false;
        }
        if !begun {
            continue;
        }
        let id: a_society_facts::id::CallId = sketch.name("c")?;
        sketch.say(Fact::CallIntended(CallIntended {
            call: id.clone(),
            turn,
            role: role.clone(),
            tool_call: call.id.clone(),
            ordinal: u32::try_from(place).unwrap_or(u32::MAX),
            tool: call.name.clone(),
            arguments: Hash::of(call.input.get().as_bytes()),
            effect: Effect::Mutating,
            idempotency_key: Hash::of(id.as_str().as_bytes()),
            before: None,
            after: None,
            files: Vec::new(),
            texts: Vec::new(),
            summary: summary(call),
        }))?;
        sketch.say(Fact::CallStarted(CallStarted {
            call: id.clone(),
            role: role.clone(),
            process: None,
        }))?;
        let Some((content, is_error)) = result else {
            continue;
        };
        let (output, message) = (sketch.text(content), sketch.name("m")?);
        let called = CalledTool {
            call: id,
            turn,
            role: role.clone(),
            tool_call: call.id.clone(),
            tool: call.name.clone(),
        };
        let end = if is_error {
            CallEnd::Failed
        } else {
            CallEnd::Done
        };
        sketch.say(Fact::CallFinished(called.finished(end, output, message)))?;
    }
    Ok(())
}

/// What a call gave back, and whether it failed.
fn result_of(call: &ToolCall, results: &[Message]) -> Option<(String, bool)> {
    results.iter().find_map(|result| match result {
        Message::ToolResult {
            call_id,
            content,
            is_error,
            ..
        } if *call_id == call.id => Some((content.clone(), *is_error)),
        Message::ToolResult { .. }
        | Message::User { .. }
        | Message::Assistant { .. }
        | Message::AssistantToolCalls { .. } => None,
    })
}

fn summary(call: &ToolCall) -> String {
    let arguments = call.input.get();
    let shown = &arguments[..arguments.floor_char_boundary(SUMMARY_BYTES_MAX)];
    format!("{} {shown}", call.name)
}

/// A node, or a role that reflects, that waits for the operator.
pub(super) fn suspend(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    node: Option<&NodeId>,
    role: &RoleInstance,
    reason: WaitReason,
) -> Result<(), String> {
    let question = match reason {
        WaitReason::PromptHuman => last_words(source, role),
        WaitReason::AutonomousAbort
        | WaitReason::Consent
        | WaitReason::ConsentDenied
        | WaitReason::RoleConfiguration
        | WaitReason::HandoffApproval
        | WaitReason::RepairLimit
        | WaitReason::Budget
        | WaitReason::Provider
        | WaitReason::Message => None,
    };
    let question = question.map(|text| sketch.text(text));
    sketch.say(Fact::NodeSuspended(NodeSuspended {
        question,
        ..NodeSuspended::of(node.cloned(), role.clone(), reason)
    }))
}

/// The last text of a role before its block: its question.
fn last_words(source: &ForeignFlow, role: &RoleInstance) -> Option<String> {
    let (session, _) = source.sessions.get(role)?;
    let said =
        session
            .transcript_history
            .iter()
            .rev()
            .find_map(|raw| match message(raw).ok()? {
                Message::Assistant { content } => Some(content),
                Message::User { .. }
                | Message::AssistantToolCalls { .. }
                | Message::ToolResult { .. } => None,
            })?;
    let words = words_before_block(&said).trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// The reason as it is called here; a wait for consent has none of these.
pub(super) fn reason(reason: ForeignWaitReason) -> WaitReason {
    match reason {
        ForeignWaitReason::PromptHuman => WaitReason::PromptHuman,
        ForeignWaitReason::AutonomousAbort => WaitReason::AutonomousAbort,
        ForeignWaitReason::Consent => WaitReason::Consent,
        ForeignWaitReason::ConsentDenied => WaitReason::ConsentDenied,
        ForeignWaitReason::RoleConfiguration => WaitReason::RoleConfiguration,
        ForeignWaitReason::HandoffApproval => WaitReason::HandoffApproval,
    }
}

/// A node that waited for the operator.
struct ForeignWait<'a> {
    node: &'a NodeId,
    role: &'a RoleInstance,
    waiting: &'a AwaitingHuman,
    /// The handoff that waited for approval.
    staged: Option<&'a Vec<HandoffTarget>>,
}

impl ForeignWait<'_> {
    fn begin(
        self,
        sketch: &mut ImportSketch<'_>,
        disk: &dyn Disk,
        source: &ForeignFlow,
        names: &mut Names,
    ) -> Result<(), String> {
        let Self {
            node,
            role,
            waiting,
            staged,
        } = self;
        let turn = claim(sketch, node, role)?;
        let why = reason(waiting.reason);
        if why != WaitReason::HandoffApproval {
            return suspend(sketch, source, Some(node), role, why);
        }
        let targets = staged.map(Vec::as_slice).unwrap_or_default();
        let deliveries: Result<Vec<Delivery>, String> = targets
            .iter()
            .map(|target| delivery(sketch, disk, names, node, target))
            .collect();
        let approval: a_society_facts::id::ApprovalId = sketch.name("a")?;
        sketch.open_session(role)?;
        begin(sketch, role, turn, Some(node), Cause::Node)?;
        sketch.say(Fact::HandoffStaged(HandoffStaged {
            approval: approval.clone(),
            node: node.clone(),
            turn,
            deliveries: deliveries?,
        }))?;
        sketch.say(Fact::NodeSuspended(NodeSuspended {
            approval: Some(approval),
            ..NodeSuspended::of(Some(node.clone()), role.clone(), why)
        }))?;
        sketch.say(Fact::TurnEnded(TurnEnded {
            turn,
            attempt: 1,
            role: role.clone(),
            end: TurnEnd::Waiting,
            error: None,
        }))
    }
}

fn delivery(
    sketch: &mut ImportSketch<'_>,
    disk: &dyn Disk,
    names: &mut Names,
    from: &NodeId,
    target: &HandoffTarget,
) -> Result<Delivery, String> {
    let to: NodeId = target
        .target_node_id
        .parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())?;
    let written = target.artifact_path.as_deref();
    let written = written.ok_or_else(|| format!("nothing is named that goes to {to}"))?;
    Ok(Delivery {
        edge: EdgeName {
            from: from.clone(),
            to,
        },
        way: HandoffWay::Forward,
        artifact: names.artifact(disk, sketch, written),
    })
}

fn replied(
    sketch: &mut ImportSketch<'_>,
    source: &ForeignFlow,
    node: &str,
    input: &PendingInput,
) -> Result<(), String> {
    let id: NodeId = node
        .parse()
        .map_err(|bad: a_society_facts::id::BadName| bad.to_string())?;
    let known = source.graph.graph.node(&id);
    let role = known.map(|node| node.role.clone());
    let role = role.ok_or_else(|| "the graph has no such node".to_owned())?;
    said(sketch, Some(id), role, input)
}

/// The operator's message that no role has read, with its time.
pub(super) fn said(
    sketch: &mut ImportSketch<'_>,
    node: Option<NodeId>,
    role: RoleInstance,
    input: &PendingInput,
) -> Result<(), String> {
    let reply = sketch.name("m")?;
    let text: Text = sketch.text(input.text.clone());
    let fact = Fact::OperatorReplied(OperatorReplied {
        reply,
        node,
        role,
        text,
        client: None,
    });
    let received = input.received_at.as_deref().and_then(|at| at.parse().ok());
    match received {
        Some(at) => sketch.say_at(at, fact),
        None => sketch.say(fact),
    }
}
