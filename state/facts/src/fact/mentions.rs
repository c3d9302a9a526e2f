//! What a fact mentions that is outside the journal: blobs, and quarantined files.
//!
//! Code that opens, exports or prunes a flow asks here what belongs to it, so that no other place has
//! to know which member of which fact is a reference.

use super::Fact;
use super::imported::These;
use crate::handoff::{Artifact, Delivery};
use crate::hash::Hash;
use crate::message::Text;

/// Gets each blob: its hash and its size.
type Each<'a> = &'a mut dyn FnMut(Hash, u64);

fn text(text: &Text, each: Each<'_>) {
    if let Some(kept) = text.blob() {
        each(kept.blob, kept.bytes);
    }
}

fn optional(kept: Option<&Text>, each: Each<'_>) {
    if let Some(kept) = kept {
        text(kept, each);
    }
}

fn artifact(artifact: &Artifact, each: Each<'_>) {
    if artifact.text.is_none() {
        each(artifact.hash, artifact.bytes);
    }
}

fn deliveries(deliveries: &[Delivery], each: Each<'_>) {
    for delivery in deliveries {
        artifact(&delivery.artifact, each);
    }
}

impl Fact {
    /// The quarantined file the fact speaks of, if it does.
    #[must_use]
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a fact that speaks of none says nothing"
    )]
    pub fn quarantine(&self) -> Option<&str> {
        match self {
            Self::RecoveryTruncated(cut) => Some(&cut.quarantine),
            Self::RecoveryLossy(lossy) => Some(&lossy.cut.quarantine),
            Self::RepairApplied(repair) => Some(&repair.quarantine),
            _ => None,
        }
    }

    /// The files that the fact says were handed over, or were made by those who look back.
    pub fn artifacts(&self) -> impl Iterator<Item = &Artifact> {
        let (deliveries, made): (&[Delivery], Option<&Artifact>) = self.handed();
        let handed = deliveries.iter().map(|delivery| &delivery.artifact);
        handed.chain(made)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a fact that hands nothing over says nothing"
    )]
    fn handed(&self) -> (&[Delivery], Option<&Artifact>) {
        match self {
            Self::HandoffApplied(fact) => (&fact.deliveries, None),
            Self::HandoffStaged(fact) => (&fact.deliveries, None),
            Self::FlowImported(fact) => (&fact.received, None),
            Self::FindingsRecorded(fact) => (&[], Some(&fact.findings)),
            Self::FeedbackRecorded(fact) => (&[], Some(&fact.report)),
            _ => (&[], None),
        }
    }

    /// Tells of every blob the fact names.
    #[expect(
        clippy::too_many_lines,
        reason = "one exhaustive match over every kind of fact"
    )]
    pub fn each_blob(&self, each: &mut dyn FnMut(Hash, u64)) {
        match self {
            Self::FlowCreated(fact) => {
                text(&fact.graph.source, each);
                optional(fact.input.as_ref(), each);
            }
            Self::GraphRevised(fact) => text(&fact.graph.source, each),
            Self::NodeReopened(fact) => optional(fact.note.as_ref(), each),
            Self::HandoffApplied(fact) => deliveries(&fact.deliveries, each),
            Self::HandoffStaged(fact) => deliveries(&fact.deliveries, each),
            Self::NodeSuspended(fact) => optional(fact.question.as_ref(), each),
            Self::CallFinished(fact) => {
                text(&fact.output, each);
                if let Some(image) = &fact.image {
                    each(image.blob, image.bytes);
                }
            }
            Self::FlowImported(fact) => {
                fact.files
                    .iter()
                    .for_each(|file| each(file.blob, file.bytes));
                let passed = fact.passed.iter().flat_map(|passed| &passed.files);
                passed.for_each(|file| each(file.blob, file.bytes));
                deliveries(&fact.received, each);
            }
            Self::SessionImported(fact) => {
                let whole = fact.messages.iter().filter_map(|m| m.whole.as_ref());
                let replaced = match &fact.these {
                    Some(These::Archive(archive)) => archive.replacement.whole.as_ref(),
                    Some(These::History(_)) | None => None,
                };
                whole
                    .chain(replaced)
                    .for_each(|whole| each(whole.blob, whole.bytes));
            }
            Self::SystemPromptBuilt(fact) => text(&fact.text, each),
            Self::ModelRequested(fact) => {
                let texts = fact.frame.iter().flat_map(|frame| frame.texts());
                texts.for_each(|kept| text(kept, each));
            }
            Self::MessageAdded(fact) => text(&fact.text, each),
            Self::SessionCompacted(fact) => text(&fact.replacement, each),
            Self::OperatorReplied(fact) => text(&fact.text, each),
            Self::OperatorSteered(fact) => text(&fact.text, each),
            Self::ConsentRequested(fact) => text(&fact.shown, each),
            Self::ConsentResolved(fact) => optional(fact.reason.as_ref(), each),
            Self::FindingsRecorded(fact) => artifact(&fact.findings, each),
            Self::FeedbackRecorded(fact) => artifact(&fact.report, each),
            Self::ChangeProposed(fact) => text(&fact.after, each),
            Self::SegmentStarted(_)
            | Self::WriterOpened(_)
            | Self::RecoveryTruncated(_)
            | Self::RecoveryLossy(_)
            | Self::QuarantineRestored(_)
            | Self::RepairApplied(_)
            | Self::BlobLost(_)
            | Self::BlobFound(_)
            | Self::FlowForked(_)
            | Self::FeedImported(_)
            | Self::FlowTitled(_)
            | Self::EndsChosen(_)
            | Self::FlowPaused(_)
            | Self::FlowUnpaused(_)
            | Self::FlowCancelled(_)
            | Self::ForwardPassClosed(_)
            | Self::FlowCompleted(_)
            | Self::NodeRetried(_)
            | Self::NodeClaimed(_)
            | Self::HandoffDecided(_)
            | Self::HandoffAwaited(_)
            | Self::NodeWoken(_)
            | Self::RepairRequested(_)
            | Self::TurnStarted(_)
            | Self::TurnResumed(_)
            | Self::TurnEnded(_)
            | Self::DraftAdded(_)
            | Self::DraftKept(_)
            | Self::DraftDiscarded(_)
            | Self::ModelAnswered(_)
            | Self::ModelFailed(_)
            | Self::CallIntended(_)
            | Self::CallStarted(_)
            | Self::CallRerun(_)
            | Self::CallReaped(_)
            | Self::SessionOpened(_)
            | Self::SessionResumed(_)
            | Self::CompactionStarted(_)
            | Self::CompactionFailed(_)
            | Self::ArchiveRestored(_)
            | Self::ReplyReturned(_)
            | Self::StopRequested(_)
            | Self::ConsentRuled(_)
            | Self::ConsentRulesAdded(_)
            | Self::ConsentRulesRemoved(_)
            | Self::ConsentModeChanged(_)
            | Self::GrantAdded(_)
            | Self::RoleConfigured(_)
            | Self::McpServerApproved(_)
            | Self::McpServerUnavailable(_)
            | Self::McpToolUnavailable(_)
            | Self::ImprovementChosen(_)
            | Self::ReflectionStarted(_)
            | Self::FeedbackDecided(_)
            | Self::FeedbackStarted(_)
            | Self::ChangeDecided(_)
            | Self::BudgetSet(_)
            | Self::BudgetReached(_) => {}
        }
    }
}
