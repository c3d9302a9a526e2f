//! The consequences of a turn's outcome: each kind of turn ends in its own ways (rows S1 to S7).

use a_society_facts::Fact;
use a_society_facts::fact::budget::{BudgetReached, Measure};
use a_society_facts::fact::node::{FaultCode, HandoffAwaited, WaitReason};
use a_society_facts::fact::turn::TurnEnd;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::message::Text;
use a_society_facts::view::flow::Account;
use a_society_facts::view::flow::FlowState;

use super::close::close;
use super::deliver::handoff;
use super::improve::{findings, findings_path, report, report_path};
use super::input::{TurnEnding, TurnOutcome};
use super::limits::LIMITS_IN_A_ROW_MAX;
use super::live::Board;
use super::refusal::Refusal;
use super::turn::{OutcomeFault, PresentTurn, TurnAt, announced, ends_waiting, present};
use crate::graph::FlowGraph;

pub(super) fn outcome(
    graph: &FlowGraph,
    state: &FlowState,
    input: &TurnOutcome,
) -> Result<Vec<Fact>, Refusal> {
    let turn = present(state, input.turn, input.attempt, concludes(&input.outcome))?;
    judged(graph, state, &turn, input)
}

/// Whether an outcome that is not recorded yet would end its turn; else the role has to correct it. A
/// call that the outcome itself answers, as the one that ends the turn, may still be open.
#[must_use]
pub fn would_end(graph: &FlowGraph, state: &FlowState, input: &TurnOutcome) -> bool {
    let Ok(turn) = announced(state, input.turn, input.attempt) else {
        return false;
    };
    let facts = judged(graph, state, &turn, input).unwrap_or_default();
    let is_refused = |fact: &Fact| {
        matches!(fact, Fact::RepairRequested(_))
            || matches!(fact, Fact::NodeSuspended(f) if f.reason == WaitReason::RepairLimit)
    };
    !facts.is_empty() && !facts.iter().any(is_refused)
}

fn judged(
    graph: &FlowGraph,
    state: &FlowState,
    turn: &PresentTurn<'_>,
    input: &TurnOutcome,
) -> Result<Vec<Fact>, Refusal> {
    if turn.at == TurnAt::Nothing {
        // What it was for is over, so there is nothing left that its outcome could be about.
        return Ok(vec![turn.ended(TurnEnd::Stopped, None)]);
    }
    if let Some(why) = ends_no_chat(state, &input.outcome) {
        return Ok(waits(
            state,
            turn,
            &TurnEnding::Aborted { why, class: None },
        ));
    }
    match (&input.outcome, turn.at) {
        (TurnEnding::Answered, _) if state.chat.is_some() => Ok(turn.answered()),
        (TurnEnding::Handoff(targets), TurnAt::Node(node)) => {
            handoff(graph, state, turn, node, targets, input.approval.clone())
        }
        (TurnEnding::AwaitHandoff, TurnAt::Node(node)) => await_handoff(graph, state, turn, node),
        (TurnEnding::ForwardPassClosed { health, asks }, TurnAt::Node(node)) => {
            close(graph, state, turn, node, health, asks.as_ref())
        }
        (TurnEnding::MetaAnalysisComplete { findings: product }, TurnAt::Reflection) => {
            findings(turn, product)
        }
        (TurnEnding::BackwardPassComplete { report: product }, TurnAt::Feedback) => {
            report(state, turn, product)
        }
        (
            TurnEnding::Answered
            | TurnEnding::Handoff(_)
            | TurnEnding::AwaitHandoff
            | TurnEnding::ForwardPassClosed { .. }
            | TurnEnding::MetaAnalysisComplete { .. }
            | TurnEnding::BackwardPassComplete { .. },
            _,
        ) => turn.repair(ends_otherwise(turn, &input.outcome)),
        (TurnEnding::Fault { code, summary }, _) => {
            turn.repair(OutcomeFault::new(*code, summary.clone()))
        }
        (TurnEnding::OutputLimit, _) => turn.repair(OutcomeFault::new(
            FaultCode::OutputLimit,
            "the answer reached the provider's output limit before it came to an outcome",
        )),
        (
            TurnEnding::PromptHuman { .. }
            | TurnEnding::OwnTurn { .. }
            | TurnEnding::Aborted { .. }
            | TurnEnding::Stopped
            | TurnEnding::ProviderProblem { .. }
            | TurnEnding::NeedsConfiguration { .. }
            | TurnEnding::ConsentDenied
            | TurnEnding::BudgetReached { .. },
            _,
        ) => Ok(waits(state, turn, &input.outcome)),
    }
}

/// Whether an outcome is what the turn's last answer says.
const fn concludes(outcome: &TurnEnding) -> bool {
    !matches!(
        outcome,
        TurnEnding::Aborted { .. }
            | TurnEnding::Stopped
            | TurnEnding::ProviderProblem { .. }
            | TurnEnding::NeedsConfiguration { .. }
            | TurnEnding::ConsentDenied
            | TurnEnding::BudgetReached { .. }
    )
}

/// An outcome in words that names receivers or says that something is done.
const fn signal_word(outcome: &TurnEnding) -> Option<&'static str> {
    match outcome {
        TurnEnding::Handoff(_) => Some("a handoff"),
        TurnEnding::AwaitHandoff => Some("await-handoff"),
        TurnEnding::ForwardPassClosed { .. } => Some("forward-pass-closed"),
        TurnEnding::MetaAnalysisComplete { .. } => Some("meta-analysis-complete"),
        TurnEnding::BackwardPassComplete { .. } => Some("backward-pass-complete"),
        TurnEnding::Answered
        | TurnEnding::Fault { .. }
        | TurnEnding::OutputLimit
        | TurnEnding::PromptHuman { .. }
        | TurnEnding::OwnTurn { .. }
        | TurnEnding::Aborted { .. }
        | TurnEnding::Stopped
        | TurnEnding::ProviderProblem { .. }
        | TurnEnding::NeedsConfiguration { .. }
        | TurnEnding::ConsentDenied
        | TurnEnding::BudgetReached { .. } => None,
    }
}

/// Why an outcome leaves a chat without an answer. A chat has no neighbour to hand over to, and the role is not
/// asked to correct itself: its person reads why, and speaks next.
fn ends_no_chat(state: &FlowState, outcome: &TurnEnding) -> Option<String> {
    state.chat.as_ref()?;
    if let TurnEnding::Fault { summary, .. } = outcome {
        return Some(summary.clone());
    }
    if matches!(outcome, TurnEnding::OutputLimit) {
        let why = "the model reached its provider's output limit before it said anything";
        return Some(why.to_owned());
    }
    signal_word(outcome).map(|word| format!("{word} ends no turn of a chat"))
}

fn ends_otherwise(turn: &PresentTurn<'_>, said: &TurnEnding) -> OutcomeFault {
    let said = signal_word(said).unwrap_or("this");
    let summary = match turn.at {
        TurnAt::Node(_) => format!("{said} ends no turn of a node"),
        TurnAt::Reflection => format!(
            "{said} does not end a reflection; meta-analysis-complete does, once `{}` is written",
            findings_path(turn.role)
        ),
        TurnAt::Feedback => format!(
            "{said} does not end this turn; backward-pass-complete does, once `{}` is written",
            report_path()
        ),
        TurnAt::Nothing => format!("{said} ends nothing here"),
    };
    OutcomeFault::new(FaultCode::WrongSignal, summary)
}

/// The outcomes after which only the operator can help, each with its reason.
fn waits(state: &FlowState, turn: &PresentTurn<'_>, outcome: &TurnEnding) -> Vec<Fact> {
    let said = |why: &String| Some(Text::from(why.clone()));
    match outcome {
        TurnEnding::PromptHuman { question, choices } => {
            turn.asks(question.clone(), choices.clone())
        }
        TurnEnding::OwnTurn { question, again } => {
            turn.is_the_operators(question.clone(), again.clone())
        }
        TurnEnding::Aborted { why, class } => {
            turn.failed(WaitReason::AutonomousAbort, why.clone(), class.clone())
        }
        TurnEnding::ProviderProblem {
            trouble,
            why,
            class,
            servers,
            until,
        } => {
            let hit = state.session(turn.role);
            let is_borne = hit.is_none_or(|session| session.limits_hit < LIMITS_IN_A_ROW_MAX);
            turn.in_trouble(*trouble, why, class, servers, until.filter(|_| is_borne))
        }
        TurnEnding::NeedsConfiguration { why } => {
            let reason = WaitReason::RoleConfiguration;
            turn.suspended(reason, said(why), ends_waiting(turn.open), None)
        }
        TurnEnding::ConsentDenied => turn.suspended(
            WaitReason::ConsentDenied,
            None,
            ends_waiting(turn.open),
            None,
        ),
        TurnEnding::BudgetReached { lack } => {
            let mut facts = used_up(state, turn.role);
            facts.extend(turn.out_of_budget(lack));
            facts
        }
        TurnEnding::Answered
        | TurnEnding::Handoff(_)
        | TurnEnding::AwaitHandoff
        | TurnEnding::ForwardPassClosed { .. }
        | TurnEnding::MetaAnalysisComplete { .. }
        | TurnEnding::BackwardPassComplete { .. }
        | TurnEnding::Fault { .. }
        | TurnEnding::OutputLimit
        | TurnEnding::Stopped => turn.stopped(),
    }
}

/// A node awaits a handoff only while something else goes on from which one could come; what it
/// has not read yet counts as well.
fn await_handoff(
    graph: &FlowGraph,
    state: &FlowState,
    turn: &PresentTurn<'_>,
    node: &NodeId,
) -> Result<Vec<Fact>, Refusal> {
    let board = Board::of(graph, state);
    if !board.others_go_on(node) && board.reads(node).next().is_none() {
        let summary = "nothing else can run, so that no handoff can arrive here";
        return turn.repair(OutcomeFault::new(FaultCode::InvalidTransition, summary));
    }
    Ok(vec![
        Fact::HandoffAwaited(HandoffAwaited {
            node: node.clone(),
            turn: turn.id,
        }),
        turn.ended(TurnEnd::Outcome, None),
    ])
}

/// The budgets of the flow and of the role that are used up and not reported yet.
fn used_up(state: &FlowState, role: &RoleInstance) -> Vec<Fact> {
    let own = state.role_accounts.get(role);
    let accounts = [(None, Some(&state.account)), (Some(role), own)];
    let mut facts = Vec::new();
    for (role, account) in accounts {
        let Some(account) = account else { continue };
        facts.extend(over(account).map(|(measure, limit)| {
            Fact::BudgetReached(BudgetReached {
                role: role.cloned(),
                measure,
                limit,
                spent: account.spent.of(measure),
            })
        }));
    }
    facts
}

fn over(account: &Account) -> impl Iterator<Item = (Measure, u64)> {
    (account.limits.iter())
        .filter(|(measure, limit)| account.spent.of(**measure) >= **limit)
        .filter(|(measure, _)| !account.reached.contains(measure))
        .map(|(measure, limit)| (*measure, *limit))
}
