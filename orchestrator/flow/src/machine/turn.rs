//! The turn an input speaks of, and how a turn ends, is mended or waits (rows S3 to S9).

use a_society_facts::Fact;
use a_society_facts::fact::budget::Lack;
use a_society_facts::fact::node::{
    FaultCode, NodeSuspended, OwnTurnAsked, RepairRequested, Trouble, TurnFailure, WaitReason,
};
use a_society_facts::fact::terms::WaitingServer;
use a_society_facts::fact::turn::{Cause, TurnEnd, TurnEnded};
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{FlowPhase, OpenTurn, Reflecting, RequestState};

use super::limits::REPAIRS_MAX;
use super::refusal::Refusal;

/// Refuses unless the flow is in this phase.
pub(super) fn in_phase(state: &FlowState, phase: FlowPhase) -> Result<(), Refusal> {
    if state.phase == phase {
        return Ok(());
    }
    let status = state.phase.status().word();
    if state.phase.is_over() {
        return Err(Refusal::Over { status });
    }
    Err(Refusal::WrongPhase {
        status,
        needs: phase.status().word(),
    })
}

/// What an open turn is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnAt<'a> {
    /// At a node, which its role has for this turn.
    Node(&'a NodeId),
    /// At a reflection that is not done.
    Reflection,
    /// At the report.
    Feedback,
    /// At nothing any more: what it was for is over.
    Nothing,
}

/// An open turn at the try that counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct PresentTurn<'a> {
    pub(super) id: TurnId,
    pub(super) open: &'a OpenTurn,
    pub(super) role: &'a RoleInstance,
    pub(super) at: TurnAt<'a>,
}

/// The turn that an outcome is about: open, at that try, not waiting, with nothing left open. The
/// outcome of a turn comes from its last answer, so that answer must be there; that a turn failed or
/// was stopped can be reported at any point.
pub(super) fn present(
    state: &FlowState,
    turn: TurnId,
    attempt: u32,
    concludes: bool,
) -> Result<PresentTurn<'_>, Refusal> {
    let open = heard(state, turn, attempt)?;
    if concludes && open.repair.is_some() {
        return Err(Refusal::RepairUntold { turn });
    }
    if open
        .request
        .as_ref()
        .is_some_and(|request| !request.is_settled() || request.drafted_bytes > 0)
    {
        return Err(Refusal::Unsettled { turn });
    }
    in_place(state, turn, open)
}

/// The turn that an outcome is going to be about, whatever of it is still open.
pub(super) fn announced(
    state: &FlowState,
    turn: TurnId,
    attempt: u32,
) -> Result<PresentTurn<'_>, Refusal> {
    let open = heard(state, turn, attempt)?;
    in_place(state, turn, open)
}

fn in_place<'a>(
    state: &'a FlowState,
    turn: TurnId,
    open: &'a OpenTurn,
) -> Result<PresentTurn<'a>, Refusal> {
    Ok(PresentTurn {
        id: turn,
        open,
        role: &open.role,
        at: place(state, turn, open).ok_or(Refusal::TurnWaits { turn })?,
    })
}

/// The open turn, if it is the flow's own and the try is the one that counts.
pub(super) fn heard(state: &FlowState, turn: TurnId, attempt: u32) -> Result<&OpenTurn, Refusal> {
    let Some(open) = state.turns.get(&turn) else {
        return Err(Refusal::TurnNotOpen { turn });
    };
    if open.attempt != attempt {
        return Err(Refusal::Late {
            turn,
            attempt,
            present: open.attempt,
        });
    }
    match open.cause {
        Cause::Node | Cause::Reflection | Cause::Feedback => Ok(open),
        Cause::Compaction | Cause::Selection => Err(Refusal::NotOurTurn { turn }),
    }
}

/// What an open turn is at; nothing is given for one that waits for the operator.
pub(super) fn place<'a>(
    state: &'a FlowState,
    turn: TurnId,
    open: &'a OpenTurn,
) -> Option<TurnAt<'a>> {
    if state.phase.is_over() {
        return Some(TurnAt::Nothing);
    }
    if let Some(node) = &open.node {
        let waits = (state.awaiting_operator.get(node)).is_some_and(|w| w.turn == Some(turn));
        let runs = state.running.get(node).is_some_and(|r| r.turn == turn);
        return match (runs, waits) {
            (true, _) => Some(TurnAt::Node(node)),
            (false, true) => None,
            (false, false) => Some(TurnAt::Nothing),
        };
    }
    let reflecting = state.reflecting(&open.role);
    let reflecting = reflecting.filter(|reflecting| reflecting.turn == turn);
    match reflecting {
        Some(Reflecting {
            waiting: Some(_), ..
        }) => None,
        Some(Reflecting { findings: None, .. }) if open.cause == Cause::Reflection => {
            Some(TurnAt::Reflection)
        }
        Some(Reflecting { findings: None, .. }) if open.cause == Cause::Feedback => {
            Some(TurnAt::Feedback)
        }
        Some(_) | None => Some(TurnAt::Nothing),
    }
}

/// How a turn ends that waits for the operator; one whose last request has no answer has failed.
pub(super) fn ends_waiting(open: &OpenTurn) -> TurnEnd {
    match open.request.as_ref().map(|request| request.state) {
        Some(RequestState::Asked) => TurnEnd::Failed,
        Some(RequestState::Answered | RequestState::Failed | RequestState::Cut) | None => {
            TurnEnd::Waiting
        }
    }
}

impl PresentTurn<'_> {
    /// The turn is over.
    pub(super) fn ended(&self, end: TurnEnd, error: Option<String>) -> Fact {
        Fact::TurnEnded(TurnEnded {
            turn: self.id,
            attempt: self.open.attempt,
            role: self.open.role.clone(),
            end,
            error,
        })
    }

    /// The turn is over, and its node or role waits for the operator.
    pub(super) fn suspended(
        &self,
        reason: WaitReason,
        question: Option<Text>,
        end: TurnEnd,
        error: Option<String>,
    ) -> Vec<Fact> {
        let waits = self.waits(reason, question);
        vec![Fact::NodeSuspended(waits), self.ended(end, error)]
    }

    /// The turn has failed, and its node or role waits for the operator.
    pub(super) fn failed(
        &self,
        reason: WaitReason,
        why: String,
        class: Option<String>,
    ) -> Vec<Fact> {
        let waits = NodeSuspended {
            failed: Some(TurnFailure { class }),
            ..self.waits(reason, Some(Text::from(why.clone())))
        };
        vec![
            Fact::NodeSuspended(waits),
            self.ended(TurnEnd::Failed, Some(why)),
        ]
    }

    /// A chat has answered, and its person speaks next.
    pub(super) fn answered(&self) -> Vec<Fact> {
        self.suspended(WaitReason::Message, None, TurnEnd::Outcome, None)
    }

    /// The role asks the operator.
    pub(super) fn asks(&self, question: Option<Text>, choices: Vec<String>) -> Vec<Fact> {
        let waits = NodeSuspended {
            choices,
            ..self.waits(WaitReason::PromptHuman, question)
        };
        vec![
            Fact::NodeSuspended(waits),
            self.ended(TurnEnd::Waiting, None),
        ]
    }

    /// The operator plays the role, and is asked for its outcome.
    pub(super) fn is_the_operators(
        &self,
        question: Option<Text>,
        again: Option<Text>,
    ) -> Vec<Fact> {
        let waits = NodeSuspended {
            own_turn: Some(true),
            asked: Some(OwnTurnAsked { again }),
            ..self.waits(WaitReason::PromptHuman, question)
        };
        vec![
            Fact::NodeSuspended(waits),
            self.ended(TurnEnd::Waiting, None),
        ]
    }

    /// The operator is asked about what was wrong with the project before the flow came here.
    pub(super) fn asks_about_project(&self, question: Text) -> Vec<Fact> {
        let waits = NodeSuspended {
            about_project: true,
            ..self.waits(WaitReason::PromptHuman, Some(question))
        };
        vec![
            Fact::NodeSuspended(waits),
            self.ended(TurnEnd::Waiting, None),
        ]
    }

    /// Something has to be mended before it reaches its model.
    pub(super) fn in_trouble(
        &self,
        trouble: Trouble,
        why: &str,
        class: &Option<String>,
        servers: &[WaitingServer],
        until: Option<a_society_facts::At>,
    ) -> Vec<Fact> {
        let waits = NodeSuspended {
            trouble: Some(trouble),
            failed: Some(TurnFailure {
                class: class.clone(),
            }),
            servers: servers.to_vec(),
            until,
            ..self.waits(WaitReason::Provider, Some(Text::from(why.to_owned())))
        };
        vec![
            Fact::NodeSuspended(waits),
            self.ended(TurnEnd::Failed, Some(why.to_owned())),
        ]
    }

    /// A budget has to be raised before it goes on.
    pub(super) fn out_of_budget(&self, lack: &Lack) -> Vec<Fact> {
        let why = lack.to_string();
        let waits = NodeSuspended {
            lack: Some(lack.clone()),
            ..self.waits(WaitReason::Budget, Some(Text::from(why.clone())))
        };
        vec![
            Fact::NodeSuspended(waits),
            self.ended(TurnEnd::Failed, Some(why)),
        ]
    }

    fn waits(&self, reason: WaitReason, question: Option<Text>) -> NodeSuspended {
        NodeSuspended {
            question,
            own_turn: (reason == WaitReason::PromptHuman).then_some(false),
            ..NodeSuspended::of(self.open.node.clone(), self.role.clone(), reason)
        }
    }

    /// The outcome is not valid: the role mends it, unless it tried too often or is to stop.
    pub(super) fn repair(&self, fault: OutcomeFault) -> Result<Vec<Fact>, Refusal> {
        if self.open.stop {
            return Ok(self.stopped());
        }
        if self.open.repairs >= REPAIRS_MAX {
            return Ok(self.failed(WaitReason::RepairLimit, fault.summary, None));
        }
        Ok(vec![Fact::RepairRequested(RepairRequested {
            role: self.role.clone(),
            node: self.open.node.clone(),
            turn: self.id,
            code: fault.code,
            summary: fault.summary,
            count: self.open.repairs.saturating_add(1),
        })])
    }

    /// The operator stopped it.
    pub(super) fn stopped(&self) -> Vec<Fact> {
        self.suspended(WaitReason::AutonomousAbort, None, TurnEnd::Stopped, None)
    }
}

/// What is wrong with the outcome of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutcomeFault {
    pub(super) code: FaultCode,
    pub(super) summary: String,
}

impl OutcomeFault {
    pub(super) fn new(code: FaultCode, summary: impl Into<String>) -> Self {
        Self {
            code,
            summary: summary.into(),
        }
    }
}
