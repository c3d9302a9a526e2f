//! The consequences of a turn's outcome: each kind of turn ends in its own ways (rows S1 to S7).

use a_society_facts::fact::Fact;
use a_society_facts::fact::budget::{BudgetReached, Measure};
use a_society_facts::fact::node::{FaultCode, HandoffAwaited, WaitReason};
use a_society_facts::fact::turn::TurnEnd;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::message::Text;
use a_society_facts::view::FlowState;
use a_society_facts::view::flow::Account;

use super::close::close;
use super::deliver::handoff;
use super::improve::{findings, findings_path, report, report_path};
use super::input::{Outcome, TurnOutcome};
use super::limits::LIMITS_IN_A_ROW_MAX;
use super::live::Board;
use super::refusal::Refusal;
use super::turn::{At, Fault, Present, announced, ends_waiting, present};
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
    turn: &Present<'_>,
    input: &TurnOutcome,
) -> Result<Vec<Fact>, Refusal> {
    if turn.at == At::Nothing {
        // What it was for is over, so there is nothing left that its outcome could be about.
        return Ok(vec![turn.ended(TurnEnd::Stopped, None)]);
    }
    match &input.outcome {
        Outcome::Handoff(targets) => match turn.at {
            At::Node(node) => handoff(graph, state, turn, node, targets, input.approval.clone()),
            At::Reflection | At::Feedback | At::Nothing => {
                turn.repair(ends_otherwise(turn, &input.outcome))
            }
        },
        Outcome::AwaitHandoff => match turn.at {
            At::Node(node) => await_handoff(graph, state, turn, node),
            At::Reflection | At::Feedback | At::Nothing => {
                turn.repair(ends_otherwise(turn, &input.outcome))
            }
        },
        Outcome::ForwardPassClosed { health, asks } => match turn.at {
            At::Node(node) => close(graph, state, turn, node, (health, asks.as_ref())),
            At::Reflection | At::Feedback | At::Nothing => {
                turn.repair(ends_otherwise(turn, &input.outcome))
            }
        },
        Outcome::MetaAnalysisComplete { findings: product } => match turn.at {
            At::Reflection => findings(turn, product),
            At::Node(_) | At::Feedback | At::Nothing => {
                turn.repair(ends_otherwise(turn, &input.outcome))
            }
        },
        Outcome::BackwardPassComplete { report: product } => match turn.at {
            At::Feedback => report(state, turn, product),
            At::Node(_) | At::Reflection | At::Nothing => {
                turn.repair(ends_otherwise(turn, &input.outcome))
            }
        },
        Outcome::Fault { code, summary } => turn.repair(Fault::new(*code, summary.clone())),
        Outcome::OutputLimit => turn.repair(Fault::new(
            FaultCode::OutputLimit,
            "the answer reached the provider's output limit before it came to an outcome",
        )),
        Outcome::PromptHuman { .. }
        | Outcome::Aborted { .. }
        | Outcome::Stopped
        | Outcome::ProviderProblem { .. }
        | Outcome::NeedsConfiguration { .. }
        | Outcome::ConsentDenied
        | Outcome::BudgetReached { .. } => Ok(waits(state, turn, &input.outcome)),
    }
}

/// Whether an outcome is what the turn's last answer says.
fn concludes(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Handoff(_)
        | Outcome::PromptHuman { .. }
        | Outcome::AwaitHandoff
        | Outcome::ForwardPassClosed { .. }
        | Outcome::MetaAnalysisComplete { .. }
        | Outcome::BackwardPassComplete { .. }
        | Outcome::Fault { .. }
        | Outcome::OutputLimit => true,
        Outcome::Aborted { .. }
        | Outcome::Stopped
        | Outcome::ProviderProblem { .. }
        | Outcome::NeedsConfiguration { .. }
        | Outcome::ConsentDenied
        | Outcome::BudgetReached { .. } => false,
    }
}

fn ends_otherwise(turn: &Present<'_>, said: &Outcome) -> Fault {
    let said = match said {
        Outcome::Handoff(_) => "a handoff",
        Outcome::AwaitHandoff => "await-handoff",
        Outcome::ForwardPassClosed { .. } => "forward-pass-closed",
        Outcome::MetaAnalysisComplete { .. } => "meta-analysis-complete",
        Outcome::BackwardPassComplete { .. } => "backward-pass-complete",
        Outcome::Fault { .. }
        | Outcome::OutputLimit
        | Outcome::PromptHuman { .. }
        | Outcome::Aborted { .. }
        | Outcome::Stopped
        | Outcome::ProviderProblem { .. }
        | Outcome::NeedsConfiguration { .. }
        | Outcome::ConsentDenied
        | Outcome::BudgetReached { .. } => "this",
    };
    let summary = match turn.at {
        At::Node(_) => format!("{said} ends no turn of a node"),
        At::Reflection => format!(
            "{said} does not end a reflection; meta-analysis-complete does, once `{}` is written",
            findings_path(&turn.open.role)
        ),
        At::Feedback => format!(
            "{said} does not end this turn; backward-pass-complete does, once `{}` is written",
            report_path()
        ),
        At::Nothing => format!("{said} ends nothing here"),
    };
    Fault::new(FaultCode::WrongSignal, summary)
}

/// The outcomes after which only the operator can help, each with its reason.
fn waits(state: &FlowState, turn: &Present<'_>, outcome: &Outcome) -> Vec<Fact> {
    let said = |why: &String| Some(Text::from(why.clone()));
    match outcome {
        Outcome::PromptHuman { question } => {
            let question = question.clone();
            turn.suspended(WaitReason::PromptHuman, question, TurnEnd::Waiting, None)
        }
        Outcome::Aborted { why } => {
            let (reason, error) = (WaitReason::AutonomousAbort, Some(why.clone()));
            turn.suspended(reason, said(why), TurnEnd::Failed, error)
        }
        Outcome::ProviderProblem {
            trouble,
            why,
            until,
        } => {
            let hit = state.session(&turn.open.role);
            let is_borne = hit.is_none_or(|session| session.limits_hit < LIMITS_IN_A_ROW_MAX);
            turn.in_trouble(*trouble, why, until.filter(|_| is_borne))
        }
        Outcome::NeedsConfiguration { why } => {
            let reason = WaitReason::RoleConfiguration;
            turn.suspended(reason, said(why), ends_waiting(turn.open), None)
        }
        Outcome::ConsentDenied => turn.suspended(
            WaitReason::ConsentDenied,
            None,
            ends_waiting(turn.open),
            None,
        ),
        Outcome::BudgetReached { lack } => {
            let mut facts = used_up(state, &turn.open.role);
            facts.extend(turn.out_of_budget(lack));
            facts
        }
        Outcome::Handoff(_)
        | Outcome::AwaitHandoff
        | Outcome::ForwardPassClosed { .. }
        | Outcome::MetaAnalysisComplete { .. }
        | Outcome::BackwardPassComplete { .. }
        | Outcome::Fault { .. }
        | Outcome::OutputLimit
        | Outcome::Stopped => turn.stopped(),
    }
}

/// A node awaits a handoff only while something else goes on from which one could come; what it
/// has not read yet counts as well.
fn await_handoff(
    graph: &FlowGraph,
    state: &FlowState,
    turn: &Present<'_>,
    node: &NodeId,
) -> Result<Vec<Fact>, Refusal> {
    let board = Board::of(graph, state);
    if !board.others_go_on(node) && board.reads(node).next().is_none() {
        let summary = "nothing else can run, so that no handoff can arrive here";
        return turn.repair(Fault::new(FaultCode::InvalidTransition, summary));
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
