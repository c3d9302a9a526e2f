//! A turn ended in a way that its role has to mend: the message that says so.

use a_society_facts::fact::node::FaultCode;
use a_society_facts::fact::session::Origin;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::message::Message;
use a_society_flow::machine::TurnTask;
use a_society_roles::handoff::{
    EndingTool, OutcomeForm, RoleOutcome as Said, no_ending_message, output_limit_message,
    repair_message,
};
use a_society_roles::turn::conclude::{conclude, conclude_called};
use a_society_roles::turn::step::TakerEnd;

use super::briefing::allowed;
use super::error::DriverError;
use super::judged_end::{Meant, meant};
use super::pen::FlowPen;
use crate::record::{FoundArtifact, RefusedPath};

/// A repair that was recorded by a process that ended before its message. The role gets it when its turn begins: its
/// words follow from its last answer, or from the record.
#[derive(Debug)]
pub(super) struct UntoldRepair {
    /// How the last answer ended the turn, unless that is another fault than the recorded one.
    end: Option<TakerEnd>,
}

impl UntoldRepair {
    /// The repair that a turn's role was not told of, if there is one.
    pub(super) fn of(
        pen: &FlowPen,
        turn: TurnId,
        role: &RoleInstance,
        task: &TurnTask,
    ) -> Option<Self> {
        let code = untold_repair(pen, turn)?;
        let end = last_end(pen, turn, role, task)
            .filter(|end| !matches!(end, TakerEnd::Fault(fault) if fault.code != code));
        Some(Self { end })
    }

    /// The files of a handoff that the role has to mend.
    pub(super) fn paths(&self) -> Vec<String> {
        let Some(TakerEnd::Outcome {
            outcome: Said::Handoff(targets),
            ..
        }) = &self.end
        else {
            return Vec::new();
        };
        let paths = targets.iter().map(|target| target.artifact_path.clone());
        paths.collect()
    }

    /// The role gets the message, with what was found of the files.
    pub(super) fn tell(
        self,
        pen: &mut FlowPen,
        turn: TurnId,
        (role, task): (&RoleInstance, &TurnTask),
        products: &[Result<FoundArtifact, RefusedPath>],
    ) -> Result<(), DriverError> {
        let end = self.end;
        let meant = end.map_or_else(Meant::default, |end| meant(&end, products));
        say_repair(pen, turn, role, task, meant).map(drop)
    }
}

/// The repair that was recorded and whose message the role has not got.
fn untold_repair(pen: &FlowPen, turn: TurnId) -> Option<FaultCode> {
    pen.state().turns.get(&turn)?.repair
}

/// How the last answer of a turn ends it, as far as it alone shows it.
fn last_end(pen: &FlowPen, turn: TurnId, role: &RoleInstance, task: &TurnTask) -> Option<TakerEnd> {
    let request = pen.state().turns.get(&turn)?.request.as_ref()?;
    let session = pen.flow.views().session(role)?;
    let mut entries = session.messages.iter().rev();
    let answer = entries.find(|entry| entry.id.is_some() && entry.id == request.message);
    match answer.map(|entry| &*entry.message) {
        Some(Message::Assistant { content }) => Some(conclude(content, &allowed(pen, role, task))),
        Some(Message::AssistantToolCalls { calls, text }) => {
            let text = text.as_deref().unwrap_or_default();
            conclude_called(text, calls, &allowed(pen, role, task))
        }
        // An empty answer is not a message.
        Some(Message::User { .. } | Message::ToolResult { .. }) | None => {
            Some(conclude("", &allowed(pen, role, task)))
        }
    }
}

/// The role gets the message that asks it to mend the end of its turn.
pub(super) fn say_repair(
    pen: &mut FlowPen,
    turn: TurnId,
    role: &RoleInstance,
    task: &TurnTask,
    meant: Meant,
) -> Result<String, DriverError> {
    let may = allowed(pen, role, task);
    let code = untold_repair(pen, turn);
    let code = code.unwrap_or(FaultCode::InvalidTransition);
    let message = if code == FaultCode::OutputLimit {
        output_limit_message(&may)
    } else if code == FaultCode::MissingBlock && meant.is_silent {
        no_ending_message(&may)
    } else {
        let problem = meant.problem.unwrap_or_else(|| last_repair(pen, role));
        let (outcome, form) = (meant.outcome.as_ref(), form(pen, turn));
        repair_message(&problem, code.word(), &may, outcome, form)
    };
    let node = task.node();
    pen.say(role, message.clone().into(), Origin::Repair, node)?;
    Ok(message)
}

/// How the role ended its last answer.
fn form(pen: &FlowPen, turn: TurnId) -> OutcomeForm {
    let open = pen.state().turns.get(&turn);
    let mut calls = open.iter().filter_map(|open| open.request.as_ref());
    let ends = |tool: &str| EndingTool::of_name(tool).is_some();
    if calls.any(|request| request.calls.iter().any(|call| ends(&call.tool))) {
        OutcomeForm::Call
    } else {
        OutcomeForm::Block
    }
}

/// The summary of the last repair, as the feed has it.
fn last_repair(pen: &FlowPen, role: &RoleInstance) -> String {
    let feed = pen.flow.views().feed(role);
    let repair = feed.and_then(|feed| {
        let mut items = feed.items().rev();
        items.find(|item| item.event.as_deref() == Some("repair.requested"))
    });
    repair.map(|item| item.text.clone()).unwrap_or_default()
}
