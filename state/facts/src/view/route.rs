//! Which session a fact changes, and whose feed shows it.

use super::flow::FlowState;
use crate::fact::Fact;
use crate::fact::operator::StopScope;
use crate::id::{MessageId, RoleInstance};
use crate::seat::Seat;

/// The seat of the session that a fact changes, if it changes one.
#[must_use]
#[expect(clippy::too_many_lines, reason = "one exhaustive match")]
pub fn session_seat(fact: &Fact) -> Option<Seat> {
    match fact {
        Fact::NodeSuspended(f) => Some(Seat::from(&f.role)),
        Fact::NodeWoken(f) => Some(Seat::from(&f.role)),
        Fact::TurnStarted(f) => Some(Seat::from(&f.role)),
        Fact::TurnResumed(f) => Some(Seat::from(&f.role)),
        Fact::TurnEnded(f) => Some(Seat::from(&f.role)),
        Fact::DraftAdded(f) => Some(Seat::from(&f.role)),
        Fact::DraftKept(f) => Some(Seat::from(&f.role)),
        Fact::DraftDiscarded(f) => Some(Seat::from(&f.role)),
        Fact::ModelAnswered(f) => Some(Seat::from(&f.role)),
        Fact::CallFinished(f) => Some(Seat::from(&f.role)),
        Fact::SessionOpened(f) => Some(f.seat.clone()),
        Fact::SystemPromptBuilt(f) => Some(f.seat.clone()),
        Fact::SessionImported(f) => Some(f.seat.clone()),
        Fact::MessageAdded(f) => Some(f.seat.clone()),
        // Most of them say nothing new about their sessions.
        Fact::ModelRequested(f) => f.frame.as_ref().map(|_| Seat::from(&f.role)),
        Fact::CompactionStarted(f) => Some(f.seat.clone()),
        Fact::SessionCompacted(f) => Some(f.seat.clone()),
        Fact::CompactionFailed(f) => Some(f.seat.clone()),
        Fact::ArchiveRestored(f) => Some(f.seat.clone()),
        Fact::SegmentStarted(_)
        | Fact::WriterOpened(_)
        | Fact::RecoveryTruncated(_)
        | Fact::RecoveryLossy(_)
        | Fact::QuarantineRestored(_)
        | Fact::RepairApplied(_)
        | Fact::BlobLost(_)
        | Fact::BlobFound(_)
        | Fact::FlowCreated(_)
        | Fact::FlowForked(_)
        | Fact::FlowImported(_)
        | Fact::FeedImported(_)
        | Fact::FlowTitled(_)
        | Fact::EndsChosen(_)
        | Fact::GraphRevised(_)
        | Fact::FlowPaused(_)
        | Fact::FlowUnpaused(_)
        | Fact::FlowCancelled(_)
        | Fact::ForwardPassClosed(_)
        | Fact::FlowCompleted(_)
        | Fact::NodeReopened(_)
        | Fact::NodeRetried(_)
        | Fact::NodeClaimed(_)
        | Fact::HandoffApplied(_)
        | Fact::HandoffStaged(_)
        | Fact::HandoffDecided(_)
        | Fact::HandoffAwaited(_)
        | Fact::RepairRequested(_)
        | Fact::ModelFailed(_)
        | Fact::CallIntended(_)
        | Fact::CallStarted(_)
        | Fact::CallRerun(_)
        | Fact::CallReaped(_)
        | Fact::SessionResumed(_)
        | Fact::OperatorReplied(_)
        | Fact::ReplyReturned(_)
        | Fact::OperatorSteered(_)
        | Fact::StopRequested(_)
        | Fact::ConsentRequested(_)
        | Fact::ConsentResolved(_)
        | Fact::ConsentRuled(_)
        | Fact::ConsentRulesAdded(_)
        | Fact::ConsentRulesRemoved(_)
        | Fact::ConsentModeChanged(_)
        | Fact::GrantAdded(_)
        | Fact::RoleConfigured(_)
        | Fact::McpServerApproved(_)
        | Fact::McpServerUnavailable(_)
        | Fact::McpToolUnavailable(_)
        | Fact::ImprovementChosen(_)
        | Fact::ReflectionStarted(_)
        | Fact::FindingsRecorded(_)
        | Fact::FeedbackDecided(_)
        | Fact::FeedbackStarted(_)
        | Fact::FeedbackRecorded(_)
        | Fact::ChangeProposed(_)
        | Fact::ChangeDecided(_)
        | Fact::BudgetSet(_)
        | Fact::BudgetReached(_) => None,
    }
}

/// The seat whose feed shows a fact. What is about the whole flow is shown to its owner.
///
/// The state is the one *before* the fact, which still knows what the fact is about to close.
#[must_use]
pub fn feed_seat(state: &FlowState, fact: &Fact) -> Option<Seat> {
    if let Fact::FlowCreated(f) = fact {
        return f.graph.start().map(|node| Seat::from(&node.role));
    }
    about(state, fact).or_else(|| state.owner.as_ref().map(Seat::from))
}

/// The seat that a fact is about, if it is about one.
#[expect(
    clippy::too_many_lines,
    reason = "one exhaustive match, one call an arm"
)]
fn about(state: &FlowState, fact: &Fact) -> Option<Seat> {
    match fact {
        Fact::NodeReopened(f) => state.role_of(&f.node).map(Seat::from),
        Fact::NodeRetried(f) => state.role_of(&f.node).map(Seat::from),
        Fact::NodeClaimed(f) => Some(Seat::from(&f.role)),
        Fact::HandoffApplied(f) => state.role_of(&f.node).map(Seat::from),
        Fact::HandoffStaged(f) => state.role_of(&f.node).map(Seat::from),
        Fact::HandoffDecided(f) => state
            .staged
            .get(&f.approval)
            .and_then(|staged| state.role_of(&staged.node))
            .map(Seat::from),
        Fact::HandoffAwaited(f) => state.role_of(&f.node).map(Seat::from),
        Fact::NodeSuspended(f) => Some(Seat::from(&f.role)),
        Fact::NodeWoken(f) => Some(Seat::from(&f.role)),
        Fact::RepairRequested(f) => Some(Seat::from(&f.role)),
        Fact::TurnStarted(f) => Some(Seat::from(&f.role)),
        Fact::TurnResumed(f) => Some(Seat::from(&f.role)),
        Fact::TurnEnded(f) => Some(Seat::from(&f.role)),
        Fact::ModelRequested(f) => Some(Seat::from(&f.role)),
        Fact::DraftAdded(f) => Some(Seat::from(&f.role)),
        Fact::DraftKept(f) => Some(Seat::from(&f.role)),
        Fact::DraftDiscarded(f) => Some(Seat::from(&f.role)),
        Fact::ModelAnswered(f) => Some(Seat::from(&f.role)),
        Fact::ModelFailed(f) => Some(Seat::from(&f.role)),
        Fact::CallIntended(f) => Some(Seat::from(&f.role)),
        Fact::CallStarted(f) => Some(Seat::from(&f.role)),
        Fact::CallFinished(f) => Some(Seat::from(&f.role)),
        Fact::CallRerun(f) => Some(Seat::from(&f.role)),
        Fact::CallReaped(f) => Some(Seat::from(&f.role)),
        Fact::SessionOpened(f) => Some(f.seat.clone()),
        Fact::SessionResumed(f) => Some(f.seat.clone()),
        Fact::SystemPromptBuilt(f) => Some(f.seat.clone()),
        Fact::SessionImported(f) => Some(f.seat.clone()),
        Fact::FeedImported(f) => Some(f.seat.clone()),
        Fact::MessageAdded(f) => Some(f.seat.clone()),
        Fact::CompactionStarted(f) => Some(f.seat.clone()),
        Fact::SessionCompacted(f) => Some(f.seat.clone()),
        Fact::CompactionFailed(f) => Some(f.seat.clone()),
        Fact::ArchiveRestored(f) => Some(f.seat.clone()),
        Fact::OperatorReplied(f) => Some(Seat::from(&f.role)),
        Fact::ReplyReturned(f) => replier(state, &f.reply).map(Seat::from),
        Fact::OperatorSteered(f) => Some(Seat::from(&f.role)),
        Fact::StopRequested(f) => stopped(state, &f.scope).map(Seat::from),
        Fact::ConsentRequested(f) => Some(Seat::from(&f.role)),
        Fact::ConsentRuled(f) => Some(Seat::from(&f.role)),
        Fact::ConsentResolved(f) => state
            .consents
            .get(&f.consent)
            .map(|open| Seat::from(&open.role)),
        Fact::RoleConfigured(f) => Some(Seat::from(&f.role)),
        Fact::McpServerUnavailable(f) => Some(Seat::from(&f.role)),
        Fact::McpToolUnavailable(f) => Some(Seat::from(&f.role)),
        Fact::ReflectionStarted(f) => Some(Seat::from(&f.role)),
        Fact::FindingsRecorded(f) => Some(Seat::from(&f.role)),
        Fact::FeedbackStarted(f) => Some(Seat::from(&f.role)),
        Fact::FeedbackRecorded(_) => writer(state).map(Seat::from),
        Fact::ChangeProposed(f) => Some(Seat::from(&f.role)),
        Fact::ChangeDecided(f) => state
            .changes
            .get(&f.change)
            .map(|change| Seat::from(&change.role)),
        Fact::BudgetSet(f) => f.role.as_ref().map(Seat::from),
        Fact::BudgetReached(f) => f.role.as_ref().map(Seat::from),
        Fact::SegmentStarted(_)
        | Fact::WriterOpened(_)
        | Fact::RecoveryTruncated(_)
        | Fact::RecoveryLossy(_)
        | Fact::QuarantineRestored(_)
        | Fact::RepairApplied(_)
        | Fact::BlobLost(_)
        | Fact::BlobFound(_)
        | Fact::FlowCreated(_)
        | Fact::FlowForked(_)
        | Fact::FlowImported(_)
        | Fact::FlowTitled(_)
        | Fact::EndsChosen(_)
        | Fact::GraphRevised(_)
        | Fact::FlowPaused(_)
        | Fact::FlowUnpaused(_)
        | Fact::FlowCancelled(_)
        | Fact::ForwardPassClosed(_)
        | Fact::FlowCompleted(_)
        | Fact::ConsentRulesAdded(_)
        | Fact::ConsentRulesRemoved(_)
        | Fact::ConsentModeChanged(_)
        | Fact::GrantAdded(_)
        | Fact::McpServerApproved(_)
        | Fact::ImprovementChosen(_)
        | Fact::FeedbackDecided(_) => None,
    }
}

fn stopped<'a>(state: &'a FlowState, scope: &'a StopScope) -> Option<&'a RoleInstance> {
    match scope {
        StopScope::Node(node) => state.role_of(node),
        StopScope::Role(role) => Some(role),
        StopScope::All => None,
    }
}

/// The role instance that a queued reply or word was meant for.
fn replier<'a>(state: &'a FlowState, reply: &MessageId) -> Option<&'a RoleInstance> {
    let node = state
        .replies
        .iter()
        .find(|(_, said)| said.iter().any(|said| said.id == *reply));
    let role = state
        .steers
        .iter()
        .find(|(_, said)| said.iter().any(|said| said.id == *reply));
    let reflecting = state.improvement.iter().flat_map(|improvement| {
        let report = &improvement.feedback;
        (improvement.roles.iter()).chain(report.role.iter().zip(&report.work))
    });
    let mut reflecting = reflecting
        .filter(|(_, work)| work.replies.iter().any(|said| said.id == *reply))
        .map(|(role, _)| role);
    node.and_then(|(node, _)| state.role_of(node))
        .or(role.map(|(role, _)| role))
        .or_else(|| reflecting.next())
}

fn writer(state: &FlowState) -> Option<&RoleInstance> {
    state.improvement.as_ref()?.feedback.role.as_ref()
}
