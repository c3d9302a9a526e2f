//! Which session a fact changes, and whose feed shows it.

use super::flow::FlowState;
use crate::fact::Fact;
use crate::fact::operator::StopScope;
use crate::id::{MessageId, RoleInstance};

/// The role instance whose session a fact changes, if it changes one.
#[must_use]
#[expect(clippy::too_many_lines, reason = "one exhaustive match")]
pub fn session_role(fact: &Fact) -> Option<&RoleInstance> {
    match fact {
        Fact::NodeSuspended(f) => Some(&f.role),
        Fact::NodeWoken(f) => Some(&f.role),
        Fact::TurnStarted(f) => Some(&f.role),
        Fact::TurnResumed(f) => Some(&f.role),
        Fact::TurnEnded(f) => Some(&f.role),
        Fact::DraftAdded(f) => Some(&f.role),
        Fact::DraftKept(f) => Some(&f.role),
        Fact::DraftDiscarded(f) => Some(&f.role),
        Fact::ModelAnswered(f) => Some(&f.role),
        Fact::CallFinished(f) => Some(&f.role),
        Fact::SessionOpened(f) => Some(&f.role),
        Fact::SessionStateChanged(f) => Some(&f.role),
        Fact::SessionTouched(f) => Some(&f.role),
        Fact::SurfaceAttached(f) => Some(&f.role),
        Fact::SurfaceDetached(f) => Some(&f.role),
        Fact::SessionPatched(f) => Some(&f.role),
        Fact::SessionReset(f) => Some(&f.role),
        Fact::SystemPromptBuilt(f) => Some(&f.role),
        Fact::SessionImported(f) => Some(&f.role),
        Fact::MessageAdded(f) => Some(&f.role),
        // Most of them say nothing new about their sessions.
        Fact::ModelRequested(f) => f.frame.as_ref().map(|_| &f.role),
        Fact::CompactionStarted(f) => Some(&f.role),
        Fact::SessionCompacted(f) => Some(&f.role),
        Fact::CompactionFailed(f) => Some(&f.role),
        Fact::SessionTrimmed(f) => Some(&f.role),
        Fact::ArchiveRestored(f) => Some(&f.role),
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
        | Fact::SessionForked(_)
        | Fact::SessionResumed(_)
        | Fact::SendAccepted(_)
        | Fact::SendDenied(_)
        | Fact::RunFinished(_)
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
        | Fact::GrantRevoked(_)
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

/// The role instance whose feed shows a fact. What is about the whole flow is shown to its owner.
///
/// The state is the one *before* the fact, which still knows what the fact is about to close.
#[must_use]
pub fn feed_role<'a>(state: &'a FlowState, fact: &'a Fact) -> Option<&'a RoleInstance> {
    if let Fact::FlowCreated(f) = fact {
        return f.graph.start().map(|node| &node.role);
    }
    about(state, fact).or(state.owner.as_ref())
}

/// The role instance a fact is about, if it is about one.
#[expect(
    clippy::too_many_lines,
    reason = "one exhaustive match, one call an arm"
)]
fn about<'a>(state: &'a FlowState, fact: &'a Fact) -> Option<&'a RoleInstance> {
    match fact {
        Fact::NodeReopened(f) => state.role_of(&f.node),
        Fact::NodeRetried(f) => state.role_of(&f.node),
        Fact::NodeClaimed(f) => Some(&f.role),
        Fact::HandoffApplied(f) => state.role_of(&f.node),
        Fact::HandoffStaged(f) => state.role_of(&f.node),
        Fact::HandoffDecided(f) => state
            .staged
            .get(&f.approval)
            .and_then(|staged| state.role_of(&staged.node)),
        Fact::HandoffAwaited(f) => state.role_of(&f.node),
        Fact::NodeSuspended(f) => Some(&f.role),
        Fact::NodeWoken(f) => Some(&f.role),
        Fact::RepairRequested(f) => Some(&f.role),
        Fact::TurnStarted(f) => Some(&f.role),
        Fact::TurnResumed(f) => Some(&f.role),
        Fact::TurnEnded(f) => Some(&f.role),
        Fact::ModelRequested(f) => Some(&f.role),
        Fact::DraftAdded(f) => Some(&f.role),
        Fact::DraftKept(f) => Some(&f.role),
        Fact::DraftDiscarded(f) => Some(&f.role),
        Fact::ModelAnswered(f) => Some(&f.role),
        Fact::ModelFailed(f) => Some(&f.role),
        Fact::CallIntended(f) => Some(&f.role),
        Fact::CallStarted(f) => Some(&f.role),
        Fact::CallFinished(f) => Some(&f.role),
        Fact::CallRerun(f) => Some(&f.role),
        Fact::CallReaped(f) => Some(&f.role),
        Fact::SessionOpened(f) => Some(&f.role),
        Fact::SessionStateChanged(f) => Some(&f.role),
        Fact::SessionTouched(f) => Some(&f.role),
        Fact::SurfaceAttached(f) => Some(&f.role),
        Fact::SurfaceDetached(f) => Some(&f.role),
        Fact::SessionPatched(f) => Some(&f.role),
        Fact::SessionReset(f) => Some(&f.role),
        Fact::SessionForked(f) => Some(&f.role),
        Fact::SessionResumed(f) => Some(&f.role),
        Fact::SystemPromptBuilt(f) => Some(&f.role),
        Fact::SessionImported(f) => Some(&f.role),
        Fact::FeedImported(f) => Some(&f.role),
        Fact::MessageAdded(f) => Some(&f.role),
        Fact::CompactionStarted(f) => Some(&f.role),
        Fact::SessionCompacted(f) => Some(&f.role),
        Fact::CompactionFailed(f) => Some(&f.role),
        Fact::SessionTrimmed(f) => Some(&f.role),
        Fact::ArchiveRestored(f) => Some(&f.role),
        Fact::SendAccepted(f) => Some(&f.role),
        Fact::SendDenied(f) => Some(&f.role),
        Fact::RunFinished(f) => Some(&f.role),
        Fact::OperatorReplied(f) => Some(&f.role),
        Fact::ReplyReturned(f) => replier(state, &f.reply),
        Fact::OperatorSteered(f) => Some(&f.role),
        Fact::StopRequested(f) => stopped(state, &f.scope),
        Fact::ConsentRequested(f) => Some(&f.role),
        Fact::ConsentRuled(f) => Some(&f.role),
        Fact::ConsentResolved(f) => state.consents.get(&f.consent).map(|open| &open.role),
        Fact::RoleConfigured(f) => Some(&f.role),
        Fact::McpServerUnavailable(f) => Some(&f.role),
        Fact::McpToolUnavailable(f) => Some(&f.role),
        Fact::ReflectionStarted(f) => Some(&f.role),
        Fact::FindingsRecorded(f) => Some(&f.role),
        Fact::FeedbackStarted(f) => Some(&f.role),
        Fact::FeedbackRecorded(_) => writer(state),
        Fact::ChangeProposed(f) => Some(&f.role),
        Fact::ChangeDecided(f) => state.changes.get(&f.change).map(|change| &change.role),
        Fact::BudgetSet(f) => f.role.as_ref(),
        Fact::BudgetReached(f) => f.role.as_ref(),
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
        | Fact::GrantRevoked(_)
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
