//! The columns of the table in [`super::list`]: what it says of each kind of fact besides its word.

use super::imported::SessionImported;
use super::node::{NodeSuspended, NodeWoken};
use super::operator::StopScope;
use super::session::{
    ArchiveRestored, CompactionFailed, CompactionStarted, MessageAdded, MessageInjected,
    MessagesTrimmed, SessionClosed, SessionCompacted, SessionOpened, SessionRenewed,
    SystemPromptBuilt,
};
use super::turn::{
    CallFinished, DraftAdded, DraftDiscarded, DraftKept, ModelAnswered, ModelRequested, TurnEnded,
    TurnResumed, TurnStarted,
};
use crate::id::{ApprovalId, ConsentId, MessageId, NodeId, RoleInstance};

/// When a kind of fact may be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactReach {
    /// At any time.
    Always,
    /// Before the flow exists.
    Birth,
    /// As soon as the flow exists, also after it is over.
    Life,
    /// While the flow is not over.
    Work,
}

/// How much of a flow a kind of fact may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// More than one place.
    Wide,
    /// What it is about, and the nodes of that role.
    Narrow,
}

/// How far a kind of fact takes the flow on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactWeight {
    /// It is a piece of streamed text, and changes nothing else.
    Draft,
    /// It is a step within a turn: no node moves by it, and nothing new is to be started.
    Step,
    /// It may move nodes, and give work.
    Moves,
}

/// What a fact is about. The role of some of these is known only to the flow's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactSubject<'a> {
    /// The flow as a whole.
    Flow,
    /// The flow as a whole, before its state knows the owner: the role of the first node.
    Born(Option<&'a RoleInstance>),
    /// A role instance.
    Role(&'a RoleInstance),
    /// A node.
    Node(&'a NodeId),
    /// A staged handoff.
    Staged(&'a ApprovalId),
    /// Something the operator said.
    Said(&'a MessageId),
    /// The turns that are stopped.
    Scope(&'a StopScope),
    /// A request for consent.
    Consent(&'a ConsentId),
    /// A proposed change.
    Change(&'a str),
    /// The feedback report.
    Report,
}

impl<'a> FactSubject<'a> {
    /// The role instance that it is about, as far as the fact alone says so.
    #[must_use]
    pub(crate) const fn role(&self) -> Option<&'a RoleInstance> {
        if let Self::Role(role) = self {
            Some(role)
        } else {
            None
        }
    }
}

/// The facts that change what a session holds.
#[derive(Debug, Clone, Copy)]
pub enum SessionFact<'a> {
    /// [`super::Fact::NodeSuspended`].
    NodeSuspended(&'a NodeSuspended),
    /// [`super::Fact::NodeWoken`].
    NodeWoken(&'a NodeWoken),
    /// [`super::Fact::TurnStarted`].
    TurnStarted(&'a TurnStarted),
    /// [`super::Fact::TurnResumed`].
    TurnResumed(&'a TurnResumed),
    /// [`super::Fact::TurnEnded`].
    TurnEnded(&'a TurnEnded),
    /// [`super::Fact::ModelRequested`].
    ModelRequested(&'a ModelRequested),
    /// [`super::Fact::DraftAdded`].
    DraftAdded(&'a DraftAdded),
    /// [`super::Fact::DraftKept`].
    DraftKept(&'a DraftKept),
    /// [`super::Fact::DraftDiscarded`].
    DraftDiscarded(&'a DraftDiscarded),
    /// [`super::Fact::ModelAnswered`].
    ModelAnswered(&'a ModelAnswered),
    /// [`super::Fact::CallFinished`].
    CallFinished(&'a CallFinished),
    /// [`super::Fact::SessionOpened`].
    SessionOpened(&'a SessionOpened),
    /// [`super::Fact::SystemPromptBuilt`].
    SystemPromptBuilt(&'a SystemPromptBuilt),
    /// [`super::Fact::MessageAdded`].
    MessageAdded(&'a MessageAdded),
    /// [`super::Fact::SessionImported`].
    SessionImported(&'a SessionImported),
    /// [`super::Fact::CompactionStarted`].
    CompactionStarted(&'a CompactionStarted),
    /// [`super::Fact::SessionCompacted`].
    SessionCompacted(&'a SessionCompacted),
    /// [`super::Fact::CompactionFailed`].
    CompactionFailed(&'a CompactionFailed),
    /// [`super::Fact::MessageInjected`].
    MessageInjected(&'a MessageInjected),
    /// [`super::Fact::MessagesTrimmed`].
    MessagesTrimmed(&'a MessagesTrimmed),
    /// [`super::Fact::SessionClosed`].
    SessionClosed(&'a SessionClosed),
    /// [`super::Fact::SessionRenewed`].
    SessionRenewed(&'a SessionRenewed),
    /// [`super::Fact::ArchiveRestored`].
    ArchiveRestored(&'a ArchiveRestored),
}

#[cfg(test)]
mod tests {
    use crate::Fact;
    use crate::sample::every_kind;

    #[test]
    fn a_fact_that_changes_what_a_session_holds_names_its_role() {
        let changes = |fact: &Fact| fact.of_session().is_some();
        for fact in every_kind().into_iter().filter(changes) {
            assert!(fact.about().role().is_some(), "{}", fact.word());
        }
    }

    #[test]
    fn a_fact_whose_row_says_so_names_no_blobs() {
        for fact in every_kind() {
            let mut blobs = 0;
            fact.each_blob(&mut |_, _| blobs += 1);
            let mut payload = Vec::new();
            fact.write_payload(&mut payload).unwrap();
            let payload = String::from_utf8(payload).unwrap();
            // These are about a blob of another fact.
            let is_about = matches!(fact.word(), "blob_lost" | "blob_found");
            assert!(
                blobs > 0 || is_about || !payload.contains(r#""blob":"#),
                "{payload}"
            );
        }
    }

    #[test]
    fn a_fact_that_bears_the_name_of_a_command_says_so_in_its_row() {
        let payload_of = |fact: &Fact| {
            let mut payload = Vec::new();
            fact.write_payload(&mut payload).unwrap();
            serde_json::from_slice::<serde_json::Map<_, _>>(&payload).unwrap()
        };
        for fact in every_kind() {
            let mut payload = payload_of(&fact);
            payload.insert("client".to_owned(), "c-17".into());
            let payload = serde_json::to_vec(&payload).unwrap();
            let named = Fact::read(fact.word(), &payload).unwrap();
            let bears = named.is_ok_and(|named| {
                assert_eq!(
                    named.client().map(ToString::to_string),
                    payload_of(&named).get("client").map(|_| "c-17".to_owned()),
                    "{}",
                    fact.word()
                );
                named.client().is_some()
            });
            assert!(bears || fact.client().is_none(), "{}", fact.word());
        }
    }
}
