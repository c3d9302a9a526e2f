//! What may follow what: judged before a fact is appended, and again when a journal is opened.
//!
//! Facts are appended one by one, so every prefix of a legal sequence is legal: no rule asks for
//! what comes next, only for what came before. No rule looks at the journal; all of them look at
//! the state that was folded from it, and at no more of it than what the fact is about.

mod flow;
mod handoff;
mod imported;
mod improvement;
mod node;
mod operator;
mod session;
mod turn;
mod why;

pub use why::Illegal;

use crate::fact::Fact;
use crate::fact::columns::FactReach;
use crate::view::FlowState;

/// Whether a fact may follow.
///
/// # Errors
/// When it may not, with the reason.
#[expect(
    clippy::too_many_lines,
    reason = "one exhaustive match, one call an arm"
)]
pub fn legal(state: &FlowState, fact: &Fact) -> Result<(), Illegal> {
    gate(state, fact)?;
    fresh(state, fact)?;
    match fact {
        // Facts about the journal come from the holder of its lock, at any time.
        Fact::SegmentStarted(_)
        | Fact::WriterOpened(_)
        | Fact::RecoveryTruncated(_)
        | Fact::RecoveryLossy(_)
        | Fact::QuarantineRestored(_)
        | Fact::RepairApplied(_)
        | Fact::BlobLost(_)
        | Fact::BlobFound(_) => Ok(()),

        Fact::FlowCreated(f) => flow::created(f),
        Fact::FlowForked(f) => flow::forked(state, f),
        Fact::FlowImported(f) => imported::flow(state, f),
        Fact::SessionImported(f) => imported::session(state, f),
        Fact::FeedImported(f) => imported::feed(state, f),
        Fact::FlowTitled(_) | Fact::EndsChosen(_) => Ok(()),
        Fact::GraphRevised(f) => flow::revised(state, f),
        Fact::FlowPaused(_) => flow::not_paused(state),
        Fact::FlowUnpaused(_) => flow::paused(state),
        Fact::FlowCancelled(_) => Ok(()),
        Fact::ForwardPassClosed(f) => flow::closed(state, f),
        Fact::FlowCompleted(_) => flow::completed(state),
        Fact::NodeReopened(f) => node::reopened(state, f),
        Fact::NodeRetried(f) => node::retried(state, f),

        Fact::NodeClaimed(f) => node::claimed(state, f),
        Fact::HandoffApplied(f) => handoff::applied(state, f),
        Fact::HandoffStaged(f) => handoff::staged(state, f),
        Fact::HandoffDecided(f) => handoff::decided(state, f),
        Fact::HandoffAwaited(f) => handoff::awaited(state, f),
        Fact::NodeSuspended(f) => node::suspended(state, f),
        Fact::NodeWoken(f) => node::woken(state, f),
        Fact::RepairRequested(f) => turn::repair(state, f),

        Fact::TurnStarted(f) => turn::started(state, f),
        Fact::TurnResumed(f) => turn::resumed(state, f),
        Fact::TurnEnded(f) => turn::ended(state, f),
        Fact::ModelRequested(f) => turn::requested(state, f),
        Fact::DraftAdded(f) => turn::draft_added(state, f),
        Fact::DraftKept(f) => turn::draft_kept(state, f),
        Fact::DraftDiscarded(f) => turn::draft_discarded(state, f),
        Fact::ModelAnswered(f) => turn::answered(state, f),
        Fact::ModelFailed(f) => turn::failed(state, f),
        Fact::RequestHeld(f) => turn::held(state, f),
        Fact::CallIntended(f) => turn::call_intended(state, f),
        Fact::CallStarted(f) => turn::call_started(state, f),
        Fact::CallFinished(f) => turn::call_finished(state, f),
        Fact::CallRerun(f) => turn::call_rerun(state, f),
        Fact::CallReaped(f) => turn::call_reaped(state, f),

        Fact::SessionOpened(f) => session::opened(state, f),
        Fact::SessionResumed(f) => session::known(state, &f.role).map(drop),
        Fact::SystemPromptBuilt(f) => session::prompt_built(state, f),
        Fact::MessageAdded(f) => session::message_added(state, f),
        Fact::CompactionStarted(f) => session::compaction_started(state, f),
        Fact::SessionCompacted(f) => session::compacted(state, f),
        Fact::CompactionFailed(f) => session::compacting(state, &f.role, &f.compaction),
        Fact::MessageInjected(f) => session::injected(state, f),
        Fact::MessagesTrimmed(f) => session::trimmed(state, f),
        Fact::SessionClosed(f) => session::closed(state, f),
        Fact::SessionRenewed(f) => session::renewed(state, f),
        Fact::ArchiveRestored(f) => session::restored(state, f),

        Fact::OperatorReplied(f) => operator::replied(state, f),
        Fact::ReplyReturned(f) => operator::returned(state, f),
        Fact::OperatorSteered(f) => operator::steered(state, f),
        Fact::StopRequested(_) => Ok(()),
        Fact::ConsentRequested(f) => operator::consent_requested(state, f),
        Fact::ConsentResolved(f) => operator::consent_resolved(state, f),
        Fact::ConsentRuled(f) => operator::consent_ruled(state, f),
        Fact::ConsentRulesAdded(f) => operator::rules_added(state, f),
        Fact::ConsentRulesRemoved(_) => Ok(()),
        Fact::ConsentModeChanged(_) => Ok(()),
        Fact::GrantAdded(f) => operator::granted(state, &f.grant),
        Fact::RoleConfigured(_) => Ok(()),
        Fact::McpServerApproved(_) => Ok(()),
        Fact::McpServerUnavailable(_) => Ok(()),
        Fact::McpToolUnavailable(_) => Ok(()),

        Fact::ImprovementChosen(f) => improvement::chosen(state, f),
        Fact::ReflectionStarted(f) => improvement::reflection(state, f),
        Fact::FindingsRecorded(f) => improvement::findings(state, f),
        Fact::FeedbackDecided(_) => improvement::feedback_decided(state),
        Fact::FeedbackStarted(f) => improvement::feedback_started(state, f),
        Fact::FeedbackRecorded(f) => improvement::feedback_recorded(state, f),
        Fact::ChangeProposed(f) => improvement::change_proposed(state, f),
        Fact::ChangeDecided(f) => improvement::change_decided(state, f),

        Fact::BudgetSet(_) => Ok(()),
        Fact::BudgetReached(f) => operator::budget_reached(state, f),
    }
}

fn gate(state: &FlowState, fact: &Fact) -> Result<(), Illegal> {
    let over = state.phase.is_over().then_some(Illegal::Over {
        status: state.phase.status().word(),
    });
    match (fact.reach(), state.is_created()) {
        (FactReach::Always, _) | (FactReach::Birth, false) | (FactReach::Life, true) => Ok(()),
        (FactReach::Birth, true) => Err(Illegal::AlreadyCreated),
        (FactReach::Life | FactReach::Work, false) => Err(Illegal::NotCreated),
        (FactReach::Work, true) => over.map_or(Ok(()), Err),
    }
}

/// A client's command counts once.
fn fresh(state: &FlowState, fact: &Fact) -> Result<(), Illegal> {
    let Some(client) = fact.client() else {
        return Ok(());
    };
    match state.clients.get(client) {
        Some(seq) => Err(Illegal::Repeated {
            client: client.clone(),
            seq,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
