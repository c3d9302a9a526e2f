//! A turn begins or goes on: the packet of its role, and what its taker is made of.

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::flow::EdgeOutline;
use a_society_facts::fact::session::{MessageAdded, Origin, SessionResumed, SystemPromptBuilt};
use a_society_facts::fact::turn::{DraftKept, StopReason};
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_facts::message::{Message, ToolCall};
use a_society_facts::view::flow::{OperatorMessage, RequestState};
use a_society_facts::view::session::SessionEntry;
use a_society_flow::machine::{self, TurnTask, findings_path, report_path};
use a_society_roles::handoff::{self, AllowedOutcomes, EndingTool, Signal};
use a_society_roles::role::former::speaks_of_another_folder;
use a_society_roles::role::packet::{interrupted_message, moved_message};
use a_society_roles::role::prompt::SystemPrompt;
use a_society_roles::turn::job::{BegunWith, TurnJob};

use super::error::DriverError;
use super::pen::FlowPen;
use crate::turn_view;

/// What was streamed before a crash is kept as the message it was becoming.
pub(super) fn keep_what_was_cut(
    pen: &mut FlowPen,
    turn: TurnId,
    role: &RoleInstance,
    task: &TurnTask,
) -> Result<(), DriverError> {
    pen.append(Fact::SessionResumed(SessionResumed {
        role: role.clone(),
        turn: Some(turn),
    }))?;
    let open = pen
        .state()
        .turns
        .get(&turn)
        .and_then(|turn| turn.request.as_ref());
    let Some(request) = open else { return Ok(()) };
    if request.state == RequestState::Cut && ends_cut_off(pen, turn, role) {
        // It was kept, and the process ended before the words that follow it.
        let text = interrupted_message(&allowed(pen, role, task));
        return pen.say(role, text.into(), Origin::Continuation, None);
    }
    if request.state != RequestState::Asked || request.drafted_bytes == 0 {
        return Ok(());
    }
    let number = request.number;
    let message = pen.name("m")?;
    let kept = DraftKept {
        turn,
        role: role.clone(),
        request: number,
        message,
    };
    pen.append(Fact::DraftKept(kept))?;
    let text = interrupted_message(&allowed(pen, role, task));
    pen.say(role, text.into(), Origin::Continuation, None)
}

/// Notes the interruption in the session of a model whose turn was cut off between two requests, if
/// nothing else is done before the next one.
pub(super) fn tell_interrupted(
    pen: &mut FlowPen,
    turn: TurnId,
    role: &RoleInstance,
    task: &TurnTask,
) -> Result<(), DriverError> {
    let open = pen.state().turns.get(&turn);
    let is_settled = open.is_some_and(|open| open.repair.is_none()) && is_open(pen, turn);
    if !is_settled || !pen.roles.reads_history(role) {
        return Ok(());
    }
    let text = interrupted_message(&allowed(pen, role, task));
    pen.say(role, text.into(), Origin::Continuation, None)
}

/// Whether the last thing in a turn is the result of a call that does not end it, and none is
/// open, so that its model is asked next.
fn is_open(pen: &FlowPen, turn: TurnId) -> bool {
    let Some(open) = pen.state().turns.get(&turn) else {
        return false;
    };
    let Some(request) = &open.request else {
        return false;
    };
    let done = request.state == RequestState::Answered && request.is_settled();
    let ends = |tool: &str| EndingTool::of_name(tool).is_some();
    let session = pen.flow.views().session(&open.role);
    let last = session.and_then(|session| session.messages.last());
    let is_result = last.is_some_and(|last| matches!(&*last.message, Message::ToolResult { .. }));
    done && is_result && !request.calls.iter().any(|call| ends(&call.tool))
}

/// Notes once where paths start now, in a session that names a folder which the flow does not have
/// any more.
pub(super) fn tell_moved(
    pen: &mut FlowPen,
    turn: TurnId,
    role: &RoleInstance,
) -> Result<(), DriverError> {
    let views = pen.flow.views();
    let Some(session) = views.session(role) else {
        return Ok(());
    };
    let told = |entry: &SessionEntry| {
        let is_ours = entry.origin == Some(Origin::Runtime);
        is_ours
            && matches!(&*entry.message, Message::User { content } if content == moved_message())
    };
    let last = session.messages.last();
    let may_hear = last.is_some_and(|last| matches!(*last.message, Message::User { .. }));
    let Some(prompt) = session.system_prompt.as_ref().filter(|_| may_hear) else {
        return Ok(());
    };
    if !pen.roles.reads_history(role) || session.messages.iter().any(told) {
        return Ok(());
    }
    let prompt = pen.flow.whole_text(prompt)?;
    let record = pen.places.record.to_string_lossy().into_owned();
    if speaks_of_another_folder(&prompt, &record) {
        let node = pen
            .state()
            .turns
            .get(&turn)
            .and_then(|open| open.node.clone());
        let text = moved_message().to_owned();
        pen.say(role, text.into(), Origin::Runtime, node.as_ref())?;
    }
    Ok(())
}

/// Whether a session ends with what a request of this turn streamed before it was cut off.
fn ends_cut_off(pen: &FlowPen, turn: TurnId, role: &RoleInstance) -> bool {
    let session = pen.flow.views().session(role);
    let last = session.and_then(|session| session.messages.last());
    last.is_some_and(|entry| entry.interrupted && entry.turn == Some(turn))
}

/// Whether no system prompt was built for a role's session.
pub(super) fn has_no_prompt(pen: &FlowPen, role: &RoleInstance) -> bool {
    let session = pen.state().session(role);
    session.is_some_and(|session| session.prompt.is_none())
}

/// The system prompt of a role for which something was chosen since it may have been built.
pub(super) fn prompt_before_choice(
    pen: &FlowPen,
    role: &RoleInstance,
) -> Result<Option<String>, DriverError> {
    let views = pen.flow.views();
    if !views.flow.configurations.contains_key(role) {
        return Ok(None);
    }
    let session = views.session(role);
    let prompt = session.and_then(|session| session.system_prompt.as_ref());
    let text = prompt.map(|prompt| pen.flow.whole_text(prompt));
    Ok(text.transpose()?)
}

pub(super) fn build_prompt(
    pen: &mut FlowPen,
    role: &RoleInstance,
    prompt: SystemPrompt,
) -> Result<(), DriverError> {
    let SystemPrompt { text, sources } = prompt;
    let fingerprint = Hash::of(text.as_bytes());
    let known = pen.state().session(role);
    if known.is_some_and(|session| session.prompt == Some(fingerprint)) {
        return Ok(());
    }
    let text = pen.flow.keep_text(text)?;
    let fact = SystemPromptBuilt {
        role: role.clone(),
        text,
        fingerprint,
        sources,
    };
    pen.append(Fact::SystemPromptBuilt(fact))
}

/// Whether the role needs its packet. For a node that goes on, a reply is enough.
pub(super) fn is_untold(pen: &FlowPen, turn: TurnId, role: &RoleInstance, task: &TurnTask) -> bool {
    let (untold, unsaid, _) = owed(pen, turn, role, task);
    // A chat reads what its person says, and nothing else.
    let is_chat = pen.state().chat.is_some();
    untold && !is_chat && (unsaid.is_empty() || !was_here(pen, role, task))
}

/// Tells the role whatever it has not been told, and returns what the turn began with.
pub(super) fn tell(
    pen: &mut FlowPen,
    turn: TurnId,
    role: &RoleInstance,
    task: &TurnTask,
    packet: Option<String>,
) -> Result<String, DriverError> {
    let (_, unsaid, node) = owed(pen, turn, role, task);
    if let Some(packet) = &packet {
        let origin = match task {
            TurnTask::Node(_) => Origin::Entry,
            TurnTask::Reflection | TurnTask::Feedback => Origin::Improvement,
        };
        let text = pen.flow.keep_text(packet.clone())?;
        pen.say(role, text, origin, node.as_ref())?;
    }
    let mut packet = packet.unwrap_or_default();
    for mut said in unsaid {
        let text = pen.flow.whole_text(&said.text)?;
        if let Some(choice) = chosen(pen, role, &text) {
            said.text = choice.into();
        }
        packet = pen.flow.whole_text(&said.text)?;
        let origin = if said.when.is_some() {
            Origin::Steer
        } else {
            Origin::Reply
        };
        pen.append(Fact::MessageAdded(MessageAdded {
            role: role.clone(),
            message: said.id,
            text: said.text,
            origin,
            node: node.clone(),
            client: None,
            request: None,
        }))?;
    }
    Ok(packet)
}

/// The choice that an answer of the operator names, if the role offered some.
fn chosen(pen: &FlowPen, role: &RoleInstance, answer: &str) -> Option<String> {
    let session = pen.flow.views().session(role)?;
    let mut entries = session.messages.iter().rev();
    let asked = entries.find_map(|entry| match &*entry.message {
        Message::AssistantToolCalls { calls, .. } => Some(calls),
        Message::User { .. } | Message::Assistant { .. } | Message::ToolResult { .. } => None,
    })?;
    let asks = |call: &&ToolCall| EndingTool::of_name(&call.name) == Some(EndingTool::AskOperator);
    let call = asked.iter().find(asks)?;
    handoff::chosen(call.input.get(), answer)
}

/// Whether the packet is outstanding, the operator's words that the role has not got, and the node.
fn owed(
    pen: &FlowPen,
    turn: TurnId,
    role: &RoleInstance,
    task: &TurnTask,
) -> (bool, Vec<OperatorMessage>, Option<NodeId>) {
    let state = pen.state();
    match task {
        TurnTask::Node(node) => {
            let running = state
                .running
                .get(node)
                .filter(|running| running.turn == turn);
            let untold = running.is_some_and(|running| !running.told);
            let unsaid = running
                .map(|running| running.unsaid.clone())
                .unwrap_or_default();
            (untold, unsaid, Some(node.clone()))
        }
        TurnTask::Reflection | TurnTask::Feedback => {
            let work = state.reflecting(role);
            let untold = work.is_some_and(|work| !work.told);
            let unsaid = work.map(|work| work.unsaid.clone()).unwrap_or_default();
            (untold, unsaid, None)
        }
    }
}

/// Whether the role's session already speaks of this task.
fn was_here(pen: &FlowPen, role: &RoleInstance, task: &TurnTask) -> bool {
    let Some(session) = pen.flow.views().session(role) else {
        return false;
    };
    match task {
        TurnTask::Node(node) => session.node.as_ref().is_some_and(|mark| mark.node == *node),
        TurnTask::Reflection | TurnTask::Feedback => pen
            .state()
            .reflecting(role)
            .is_some_and(|work| !work.unsaid.is_empty()),
    }
}

/// What the turn began with, and of which kind it is. A turn that goes on has its packet already.
pub(super) fn begun(
    pen: &FlowPen,
    role: &RoleInstance,
    task: &TurnTask,
    told: String,
) -> Result<(String, BegunWith), DriverError> {
    let node = task.node();
    let session = pen.flow.views().session(role);
    let entries = session.map_or(&[][..], |session| &session.messages);
    let here = || {
        let entries = entries.iter().rev();
        entries.filter(|entry| entry.node.as_ref() == node)
    };
    let last = here().find(|entry| kind(entry.origin).0);
    let (_, begun_with) = kind(last.and_then(|entry| entry.origin));
    let mended = here()
        .take_while(|entry| !kind(entry.origin).0)
        .any(|entry| entry.origin == Some(Origin::Repair));
    let begun_with = if mended {
        BegunWith::Repair
    } else {
        begun_with
    };
    let Some(said) = last.filter(|_| told.is_empty()) else {
        return Ok((told, begun_with));
    };
    let said = said.whole(|text| pen.flow.whole_text(text))?;
    Ok(match &*said {
        Message::User { content } => (content.clone(), begun_with),
        Message::Assistant { .. }
        | Message::AssistantToolCalls { .. }
        | Message::ToolResult { .. } => (told, begun_with),
    })
}

pub(super) fn job(
    pen: &FlowPen,
    turn: TurnId,
    attempt: u32,
    role: &RoleInstance,
    task: Option<&TurnTask>,
    packet: String,
) -> Result<TurnJob, DriverError> {
    let session = pen.flow.views().session(role);
    let all = session.map_or(&[][..], |session| &session.messages);
    let entries = if pen.roles.reads_history(role) {
        all
    } else {
        turn_view::of_turn(all, turn)
    };
    let answered = |entry: &&SessionEntry| turn_view::answers(entry, turn);
    // What was replaced was answered all the same: the calls of a turn are numbered on.
    let archives = session.map_or(&[][..], |session| &session.archives);
    let archived = archives
        .iter()
        .flat_map(|archive| &archive.archived_transcript_history);
    let answers = entries.iter().chain(archived).filter(answered).count();
    let answers_before = u32::try_from(answers).unwrap_or(u32::MAX);
    let at = turn_view::TurnPlace {
        flow: pen.flow.id().clone(),
        record: pen.places.record.clone(),
        project: pen.places.project.clone(),
    };
    let kept = turn_view::KeptBlobs {
        text: &|text| pen.flow.whole_text(text),
        bytes: &|hash| pen.flow.whole_blob(hash),
    };
    let own = turn_view::job(pen.flow.views(), turn, attempt, role, entries, kept, at)?;
    let mut job = TurnJob {
        allowed: task.map_or_else(|| own.allowed.clone(), |task| allowed(pen, role, task)),
        node: task.and_then(TurnTask::node).cloned(),
        turns_before: task.map_or(0, |task| turns_before(pen, role, task)),
        exchanges_from: session
            .and_then(|session| session.node.as_ref())
            .map_or(0, |mark| mark.start),
        packet,
        answers_before,
        last_stop: last_stop(pen, turn),
        ..own
    };
    pen.spoken.put_back(turn, entries, &mut job);
    Ok(job)
}

/// Why the last answer of a turn ended.
fn last_stop(pen: &FlowPen, turn: TurnId) -> Option<StopReason> {
    let request = pen.state().turns.get(&turn)?.request.as_ref()?;
    request.stop
}

/// How many turns of a role were for the same before.
fn turns_before(pen: &FlowPen, role: &RoleInstance, task: &TurnTask) -> u32 {
    let state = pen.state();
    match task {
        TurnTask::Node(node) => state.entered_again.get(node).copied().unwrap_or(0),
        TurnTask::Reflection | TurnTask::Feedback => state.reflecting(role).map_or(0, |r| r.again),
    }
}

/// What the turn may end with at present.
pub(super) fn allowed(pen: &FlowPen, role: &RoleInstance, task: &TurnTask) -> AllowedOutcomes {
    match task {
        TurnTask::Node(_) if pen.state().chat.is_some() => AllowedOutcomes {
            answers: true,
            ..AllowedOutcomes::default()
        },
        TurnTask::Node(node) => {
            let may = machine::allowed(&pen.graph, pen.state(), node);
            let mut signals = vec![Signal::PromptHuman, Signal::AwaitHandoff];
            if may.closes {
                signals.push(Signal::ForwardPassClosed);
            }
            let names = |nodes: &[NodeId]| nodes.iter().map(ToString::to_string).collect();
            let state = pen.state();
            let leaving = || state.graph.leaving(node);
            let done = |edge: &EdgeOutline| state.completed_edges.contains(&edge.edge);
            let read = state.running.get(node).map(|running| &running.received);
            let here = |edge: &EdgeOutline| {
                let mut read = read.into_iter().flatten();
                done(edge) || read.any(|delivery| delivery.edge == edge.edge)
            };
            let to = |edge: &EdgeOutline| edge.edge.to.to_string();
            let awaited = state.graph.entering(node).filter(|edge| !here(edge));
            AllowedOutcomes {
                answers: false,
                forward: names(&may.forward),
                optional: leaving().filter(|edge| edge.optional).map(to).collect(),
                done: leaving().filter(|edge| done(edge)).map(to).collect(),
                backward: names(&may.backward),
                awaited: awaited.map(|edge| edge.edge.from.to_string()).collect(),
                signals,
            }
        }
        TurnTask::Reflection => {
            let findings_path = findings_path(role);
            let signal = Signal::MetaAnalysisComplete { findings_path };
            AllowedOutcomes {
                signals: vec![signal, Signal::PromptHuman],
                ..AllowedOutcomes::default()
            }
        }
        TurnTask::Feedback => {
            let signal = Signal::BackwardPassComplete {
                artifact_path: report_path().to_owned(),
            };
            AllowedOutcomes {
                signals: vec![signal, Signal::PromptHuman],
                ..AllowedOutcomes::default()
            }
        }
    }
}

/// Whether a turn may begin with a message of this origin, and what it then began with.
fn kind(origin: Option<Origin>) -> (bool, BegunWith) {
    match origin {
        Some(Origin::Reply) => (true, BegunWith::Reply),
        Some(Origin::Entry | Origin::Improvement) => (true, BegunWith::Packet),
        Some(
            Origin::Steer
            | Origin::Repair
            | Origin::Continuation
            | Origin::Consultation
            | Origin::Injection
            | Origin::Compaction
            | Origin::Runtime,
        )
        | None => (false, BegunWith::Packet),
    }
}
