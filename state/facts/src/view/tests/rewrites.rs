//! What compaction and restoring do to a session.

use std::collections::BTreeMap;

use super::super::FactView;
use super::super::session::SessionView;
use super::fold;
use crate::fact::Fact;
use crate::fact::session::{
    ArchiveRestored, MessagesTrimmed, SessionCompacted, SessionRenewed, Strategy, Trigger,
};
use crate::fact::turn::{CallEnd, CallFinished, SeenFile};
use crate::hash::Hash;
use crate::id::{RoleInstance, TurnId};
use crate::line::Recorded;
use crate::message::Text;
use crate::sample::{id, walk};

fn reviewer() -> SessionView {
    fold(walk()).sessions[&id::<RoleInstance>("reviewer")].clone()
}

fn take(session: &mut SessionView, fact: Fact) {
    let record = Recorded::new(
        session.journal_seq + 1,
        session.last_activity_at.unwrap(),
        fact,
    );
    session.apply(&record);
}

fn compact(kept_first: u64, kept_last: u64) -> Fact {
    Fact::SessionCompacted(SessionCompacted {
        role: id("reviewer"),
        compaction: "k-9".into(),
        trigger: Trigger::Manual,
        strategy: Strategy::Llm,
        node: Some(id("review")),
        message: id("m-9"),
        replacement: Text::from("In short."),
        kept_first,
        kept_last,
        tokens_before: 10,
        tokens_after: None,
        why: None,
    })
}

fn restore(archive: &str) -> Fact {
    Fact::ArchiveRestored(ArchiveRestored {
        client: None,
        role: id("reviewer"),
        archive: archive.into(),
    })
}

#[test]
fn a_restored_compaction_gives_the_history_back_as_it_was() {
    let before = reviewer();
    let counts = [0_u64, 1, 2, 3, 100];
    for (first, kept) in counts.iter().flat_map(|one| counts.map(|two| (*one, two))) {
        let mut session = before.clone();
        take(&mut session, compact(first, kept));
        let all = before.messages.len();
        let kept = usize::try_from(kept).unwrap().min(all);
        let first = usize::try_from(first).unwrap().min(all - kept);
        assert_eq!(session.messages.len(), first + kept + 1);
        assert_eq!(session.messages[..first], before.messages[..first]);
        assert_eq!(session.messages[first].id, Some(id("m-9")));
        assert_eq!(session.latest_context_usage, 0);
        take(&mut session, restore("k-9"));
        assert_eq!(session.messages, before.messages, "kept {first} and {kept}");
        assert_eq!(
            session.exchanges(),
            before.exchanges(),
            "kept {first} and {kept}"
        );
        assert!(session.archives.is_empty());
    }
}

#[test]
fn an_archive_that_is_restored_after_another_compaction_comes_first() {
    let before = reviewer();
    let mut session = before.clone();
    take(&mut session, compact(0, 0));
    let Fact::SessionCompacted(mut again) = compact(0, 0) else {
        panic!("it is a compaction");
    };
    again.compaction = "k-10".into();
    again.message = id("m-10");
    take(&mut session, Fact::SessionCompacted(again));
    take(&mut session, restore("k-9"));
    assert_eq!(session.messages[..before.messages.len()], before.messages);
    assert_eq!(session.messages.len(), before.messages.len() + 1);
}

fn trim(archive: &str, kept_last: u64, kept: &[&str]) -> Fact {
    Fact::MessagesTrimmed(MessagesTrimmed {
        role: id("reviewer"),
        archive: archive.into(),
        kept_last,
        kept: kept.iter().map(|name| id(name)).collect(),
        client: None,
    })
}

fn renew() -> Fact {
    Fact::SessionRenewed(SessionRenewed {
        role: id("reviewer"),
        archive: "r-9".into(),
        session: id("session-reviewer-2"),
        generation: 2,
        client: None,
    })
}

#[test]
fn a_restored_trim_gives_the_history_back_as_it_was_also_around_messages_that_stayed() {
    let before = reviewer();
    let ids = before.messages.iter().filter_map(|entry| entry.id.as_ref());
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    let all = before.messages.len();
    for kept_last in 0..=all {
        for stays in &ids {
            let mut session = before.clone();
            take(&mut session, trim("t-9", kept_last as u64, &[stays]));
            let cut = &before.messages[..all - kept_last];
            let stayed = cut
                .iter()
                .filter(|entry| entry.id == Some(id(stays)))
                .count();
            assert_eq!(session.messages.len(), kept_last + stayed);
            assert_eq!(
                (session.usage.context, session.usage.total),
                (0, before.usage.total)
            );
            take(&mut session, restore("t-9"));
            assert_eq!(session.messages, before.messages, "{kept_last} {stays}");
            assert_eq!(
                session.exchanges(),
                before.exchanges(),
                "{kept_last} {stays}"
            );
            assert!(session.archives.is_empty());
        }
    }
}

#[test]
fn a_session_that_begins_anew_holds_nothing_and_what_it_spent_is_spent() {
    let before = reviewer();
    let mut session = before.clone();
    take(&mut session, renew());
    assert!(session.messages.is_empty() && session.exchanges().is_empty());
    assert_eq!((&session.key, session.turns), (&before.key, before.turns));
    assert_eq!(
        (session.generation, session.usage.total),
        (2, before.usage.total)
    );
    assert_ne!(session.session_id, before.session_id);
    let kept = &session.archives[before.archives.len()];
    assert_eq!(kept.archived_transcript_history, before.messages);
    take(&mut session, restore("r-9"));
    assert_eq!(session.messages, before.messages);
}

/// What a role knows of files does not depend on which messages are left.
#[test]
fn the_files_that_a_role_saw_are_known_after_a_compaction_and_not_to_the_next_incarnation() {
    let mut session = reviewer();
    let seen = |text: &[u8]| SeenFile {
        path: "src/a.rs".into(),
        hash: Hash::of(text),
    };
    for text in [b"one", b"two"] {
        let finished = CallFinished {
            call: id("99.1"),
            turn: TurnId(99),
            role: id("reviewer"),
            tool_call: "t".into(),
            tool: "read_file".into(),
            end: CallEnd::Done,
            output: Text::from("1\tx"),
            message: id("m-8"),
            seen: vec![seen(text)],
            image: None,
            exit: None,
            signal: None,
            cut: None,
        };
        take(&mut session, Fact::CallFinished(finished));
    }
    let known = BTreeMap::from([("src/a.rs".to_owned(), Hash::of(b"two"))]);
    assert_eq!(session.seen, known);
    take(&mut session, compact(0, 0));
    assert_eq!(session.seen, known);
    take(&mut session, trim("t-9", 0, &[]));
    assert_eq!(session.seen, known);
    take(&mut session, renew());
    assert_eq!(session.seen, BTreeMap::new());
}
