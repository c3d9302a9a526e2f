//! Facts about a flow that another program began.

use super::ids::id;
use super::scribe::{delivery, edge};
use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::imported::{
    FeedImported, FlowImported, ImportedArchive, ImportedFile, ImportedItem, ImportedMessage,
    PassedAlong, PassedFile, SessionImported, These,
};
use a_society_facts::fact::session::Trigger;
use a_society_facts::handoff::HandoffWay;
use a_society_facts::message::{BlobText, Message};
use a_society_facts::view::feed::ItemKind;

pub(super) fn flow() -> Fact {
    Fact::FlowImported(FlowImported {
        state_version: "11".into(),
        files: vec![ImportedFile {
            path: "flow.json".into(),
            blob: Hash::of(b"{}"),
            bytes: 2,
        }],
        without_place: vec!["flow.json: /workspaceRoot".into()],
        visited: vec![id("draft")],
        completed: vec![edge("draft", "review")],
        passed: vec![PassedAlong {
            edge: edge("draft", "review"),
            paths: vec!["notes.md".into()],
            files: vec![PassedFile {
                way: HandoffWay::Forward,
                path: "notes.md".into(),
                blob: Hash::of(b"notes"),
                bytes: 5,
            }],
        }],
        received: vec![delivery("draft", "review", HandoffWay::Forward, "notes.md")],
        awaiting_handoff: vec![id("draft")],
        ailments: Some(vec!["a-docs/agents.md: it is not there".into()]),
    })
}

fn user(name: &str, content: &str) -> ImportedMessage {
    ImportedMessage {
        id: id(name),
        said: Message::User {
            content: content.into(),
        },
        whole: None,
    }
}

pub(super) fn session() -> Fact {
    Fact::SessionImported(SessionImported {
        role: id("writer_2"),
        messages: vec![ImportedMessage {
            whole: Some(BlobText {
                blob: Hash::of(b"all of it"),
                bytes: 9,
                head: "all".into(),
            }),
            ..user("m8", "all")
        }],
        these: Some(These::Archive(ImportedArchive {
            id: "k-1".into(),
            trigger: Trigger::Auto,
            node_id: "draft".into(),
            compacted_at: a_society_facts::At::from_ms(1_779_892_200_123),
            replacement: user("m9", "a summary"),
        })),
    })
}

pub(super) fn feed() -> Fact {
    Fact::FeedImported(FeedImported {
        role: id("writer_2"),
        after: 1,
        items: vec![ImportedItem {
            id: "7".into(),
            kind: ItemKind::ToolSuccess,
            label: "Tool Call".into(),
            text: "read_file notes.md".into(),
            reasoning_display: None,
        }],
    })
}
