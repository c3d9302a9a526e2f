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
}

/// A fact that names blobs.
pub(super) trait Mentions {
    /// Calls back for each blob.
    fn each_blob(&self, each: Each<'_>);
}

macro_rules! mentions {
    ($($fact:ident: $payload:ty, $each:ident => $told:expr;)+) => {
        $(impl Mentions for $payload {
            fn each_blob(&self, $each: Each<'_>) {
                let $fact = self;
                $told;
            }
        })+
    };
}

mentions! {
    fact: super::flow::FlowCreated, each => {
        text(&fact.graph.source, each);
        optional(fact.input.as_ref(), each);
    };
    fact: super::flow::GraphRevised, each => text(&fact.graph.source, each);
    fact: super::flow::NodeReopened, each => optional(fact.note.as_ref(), each);
    fact: super::node::HandoffApplied, each => deliveries(&fact.deliveries, each);
    fact: super::node::HandoffStaged, each => deliveries(&fact.deliveries, each);
    fact: super::node::NodeSuspended, each => {
        optional(fact.question.as_ref(), each);
        optional(fact.asked.as_ref().and_then(|asked| asked.again.as_ref()), each);
    };
    fact: super::turn::CallIntended, each => {
        let earlier = fact.texts.iter().filter_map(|text| text.earlier.as_ref());
        earlier.for_each(|kept| text(kept, each));
    };
    fact: super::turn::CallFinished, each => {
        text(&fact.output, each);
        if let Some(image) = &fact.image {
            each(image.blob, image.bytes);
        }
    };
    fact: super::imported::FlowImported, each => {
        fact.files
            .iter()
            .for_each(|file| each(file.blob, file.bytes));
        let passed = fact.passed.iter().flat_map(|passed| &passed.files);
        passed.for_each(|file| each(file.blob, file.bytes));
        deliveries(&fact.received, each);
    };
    fact: super::imported::SessionImported, each => {
        let whole = fact.messages.iter().filter_map(|m| m.whole.as_ref());
        let replaced = match &fact.these {
            Some(These::Archive(archive)) => archive.replacement.whole.as_ref(),
            Some(These::History(_)) | None => None,
        };
        whole
            .chain(replaced)
            .for_each(|whole| each(whole.blob, whole.bytes));
    };
    fact: super::session::SystemPromptBuilt, each => text(&fact.text, each);
    fact: super::turn::ModelRequested, each => {
        let texts = fact.frame.iter().flat_map(|frame| frame.texts());
        texts.for_each(|kept| text(kept, each));
    };
    fact: super::session::MessageAdded, each => text(&fact.text, each);
    fact: super::session::MessageInjected, each => text(&fact.text, each);
    fact: super::session::SessionCompacted, each => text(&fact.replacement, each);
    fact: super::operator::OperatorReplied, each => text(&fact.text, each);
    fact: super::operator::OperatorSteered, each => text(&fact.text, each);
    fact: super::operator::ConsentRequested, each => text(&fact.shown, each);
    fact: super::operator::ConsentResolved, each => optional(fact.reason.as_ref(), each);
    fact: super::improvement::FindingsRecorded, each => artifact(&fact.findings, each);
    fact: super::improvement::FeedbackRecorded, each => artifact(&fact.report, each);
    fact: super::improvement::ChangeProposed, each => text(&fact.after, each);
}
