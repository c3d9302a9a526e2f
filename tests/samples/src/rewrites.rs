//! Facts that move the messages of a session about.

use super::every::{client, role};
use super::ids::id;
use super::imported;
use a_society_facts::Fact;
use a_society_facts::fact::session::{
    ArchiveRestored, CompactionFailed, CompactionStarted, MessageInjected, MessagesTrimmed,
    SessionClosed, SessionCompacted, SessionRenewed, Speaker, Strategy, Trigger,
};
use a_society_facts::message::Text;

/// One of each.
pub(super) fn all() -> Vec<Fact> {
    vec![
        imported::session(),
        Fact::CompactionStarted(CompactionStarted {
            role: role(),
            compaction: "k-1".into(),
            trigger: Trigger::Manual,
            strategy: Strategy::ObservationMask,
            client: client(),
        }),
        Fact::SessionCompacted(SessionCompacted {
            role: role(),
            compaction: "k-1".into(),
            trigger: Trigger::Auto,
            strategy: Strategy::NodeSummary,
            node: Some(id("draft")),
            message: id("m6"),
            replacement: Text::from("So far: everything."),
            kept_first: 1,
            kept_last: 2,
            tokens_before: 90_000,
            tokens_after: None,
            why: None,
        }),
        Fact::CompactionFailed(CompactionFailed {
            role: role(),
            compaction: "k-1".into(),
            why: "the summary was empty".into(),
        }),
        Fact::MessageInjected(MessageInjected {
            role: role(),
            message: id("m9"),
            speaker: Speaker::System,
            text: Text::from("Answer briefly."),
            client: client(),
        }),
        Fact::MessagesTrimmed(MessagesTrimmed {
            role: role(),
            archive: "t-1".into(),
            kept_last: 2,
            kept: vec![id("m1")],
            client: client(),
        }),
        Fact::SessionClosed(SessionClosed {
            role: role(),
            client: client(),
        }),
        Fact::SessionRenewed(SessionRenewed {
            role: role(),
            archive: "r-1".into(),
            session: id("session-writer-2"),
            generation: 2,
            client: client(),
        }),
        Fact::ArchiveRestored(ArchiveRestored {
            role: role(),
            archive: "t-1".into(),
            client: client(),
        }),
        imported::feed(),
    ]
}
