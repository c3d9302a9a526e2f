//! Views: total on anything, the same however they are folded, and as they are written.

mod decisions;
mod drafts;
mod feeds;
mod imported;
mod rewrites;

use proptest::prelude::*;

use super::session::Texts;
use super::{FactView, FlowScreen, FlowState, Views};
use crate::fact::Fact;
use crate::id::RoleInstance;
use crate::line::{Body, Recorded};
use crate::sample::{every_kind, id, long, recorded, walk};

fn fold(facts: impl IntoIterator<Item = Fact>) -> Views {
    let mut views = Views::default();
    for record in recorded(facts) {
        views.apply(&record);
    }
    views
}

fn written(views: &Views) -> Vec<u8> {
    let mut out = Vec::new();
    views.flow.write_json(&mut out);
    for session in views.sessions.values() {
        session.write_json(&mut out, Texts::BEGINNINGS);
    }
    for feed in views.feeds.values() {
        feed.write_json(&mut out);
    }
    serde_json::to_writer(&mut out, &views.summary()).unwrap();
    out
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn flow_json_as_it_is_written() {
    let views = fold(walk());
    insta::assert_snapshot!("flow", pretty(&*views.flow));
}

#[test]
fn flow_json_in_the_middle_of_things() {
    let middle = walk()
        .into_iter()
        .take_while(|fact| fact.word() != "consent_resolved");
    insta::assert_snapshot!("flow_in_the_middle", pretty(&*fold(middle).flow));
}

#[test]
fn transcript_json_as_it_is_written() {
    let views = fold(walk());
    insta::assert_snapshot!(
        "transcript",
        pretty(&views.sessions[&id::<RoleInstance>("writer")])
    );
}

#[test]
fn feed_json_as_it_is_written() {
    let views = fold(walk());
    for role in ["owner", "writer", "reviewer", "feedback"] {
        let feed: Vec<_> = views.feeds[&id::<RoleInstance>(role)].items().collect();
        insta::assert_snapshot!(format!("feed_{role}"), pretty(&feed));
    }
}

#[test]
fn a_summary_as_it_is_written() {
    let middle = walk()
        .into_iter()
        .take_while(|fact| fact.word() != "consent_resolved");
    insta::assert_snapshot!("summary", pretty(&fold(middle).summary()));
}

#[test]
fn views_are_rebuilt_byte_for_byte() {
    assert_eq!(written(&fold(walk())), written(&fold(walk())));
    let once: Vec<_> = long(30, 7).collect();
    assert_eq!(written(&fold(once.clone())), written(&fold(once)));
}

#[test]
fn what_is_written_is_json_that_reads_back() {
    let mut state = FlowState::default();
    for record in recorded(walk()) {
        state.apply(&record);
        let mut json = Vec::new();
        state.write_json(&mut json);
        assert_eq!(serde_json::from_slice::<FlowState>(&json).unwrap(), state);
    }
}

#[test]
fn a_screen_goes_on_from_a_checkpoint_as_if_there_had_been_none() {
    let records: Vec<_> = recorded(walk()).collect();
    let mut whole = FlowScreen::default();
    records.iter().for_each(|record| whole.apply(record));
    let mut first = FlowScreen::default();
    for (place, record) in records.iter().enumerate() {
        let json = serde_json::to_vec(&first).unwrap();
        let mut second: FlowScreen = serde_json::from_slice(&json).unwrap();
        assert_eq!(second, first, "at record {place}");
        records[place..]
            .iter()
            .for_each(|record| second.apply(record));
        assert_eq!(second, whole, "at record {place}");
        first.apply(record);
    }
}

#[test]
fn a_screen_and_the_views_agree() {
    let mut views = Views::default();
    let mut screen = FlowScreen::default();
    for record in recorded(walk()) {
        views.apply(&record);
        screen.apply(&record);
        assert_eq!(screen.flow, *views.flow);
        assert_eq!(screen.summary, views.summary());
    }
    for (role, feed) in &views.feeds {
        assert!(feed.items().eq(screen.feeds[role].items()), "{role}");
    }
}

#[test]
fn a_screen_stays_small_however_long_the_journal_is() {
    let mut screen = FlowScreen::default();
    for record in recorded(long(1_500, 3)) {
        screen.apply(&record);
    }
    for feed in screen.feeds.values() {
        assert!(feed.items().len() <= crate::limits::SCREEN_ITEMS_MAX);
    }
    let bytes = serde_json::to_vec(&screen).unwrap().len();
    assert!(bytes < 1024 * 1024, "{bytes} bytes");
}

#[test]
fn the_guessed_sizes_are_near_the_real_ones() {
    let near = |guess: u64, real: usize, what: &str| {
        let real = real as u64;
        assert!(
            guess < real * 3 && real < guess * 3,
            "{what}: {guess} for {real}"
        );
    };
    for views in [fold(walk()), fold(long(60, 1))] {
        let mut out = Vec::new();
        views.flow.write_json(&mut out);
        near(views.flow.approx_bytes(), out.len(), "flow");
        for (role, session) in &views.sessions {
            let mut out = Vec::new();
            // The guess counts kept texts whole, as they are written.
            let whole = |_| Some("x".repeat(200_000));
            session.write_json(&mut out, Texts(&whole));
            near(session.approx_bytes(), out.len(), role.as_ref());
        }
        for (role, feed) in &views.feeds {
            let mut out = Vec::new();
            feed.write_json(&mut out);
            near(feed.approx_bytes(), out.len(), role.as_ref());
        }
    }
}

#[test]
fn views_say_exactly_what_a_fact_changed() {
    let mut views = Views::default();
    for record in recorded(walk()) {
        let before = views.clone();
        let touched = views.apply(&record);
        for (role, session) in &views.sessions {
            let changed = before.sessions.get(role) != Some(session);
            assert!(
                !changed || touched.session.as_ref() == Some(role),
                "{}",
                record.word()
            );
        }
        for (role, feed) in &views.feeds {
            let changed = before.feeds.get(role) != Some(feed);
            assert!(
                !changed || touched.feed.as_ref() == Some(role),
                "{}",
                record.word()
            );
        }
    }
}

#[test]
fn a_fact_of_a_later_version_changes_nothing_but_the_place() {
    let mut views = fold(walk());
    let before = views.clone();
    let foreign = Recorded {
        seq: before.flow.seq + 1,
        at: before.flow.updated_at.unwrap(),
        body: Body::Foreign {
            word: "something_new".into(),
            payload: serde_json::value::RawValue::from_string("{}".into()).unwrap(),
        },
    };
    views.apply(&foreign);
    assert_eq!(views.sessions, before.sessions);
    assert_eq!(views.feeds, before.feeds);
    std::sync::Arc::make_mut(&mut views.flow).seq = before.flow.seq;
    assert_eq!(views.flow, before.flow);
}

#[test]
fn a_lost_blob_and_a_lossy_cut_cannot_be_missed() {
    let facts =
        walk()
            .into_iter()
            .take(8)
            .chain(every_kind().into_iter().filter(|fact| {
                ["recovery_lossy", "blob_lost", "repair_applied"].contains(&fact.word())
            }));
    let views = fold(facts);
    assert_eq!(views.summary().damage.len(), 3);
    let errors = views.feeds[&id::<RoleInstance>("owner")]
        .items()
        .filter(|item| item.kind == super::feed::ItemKind::Error);
    assert_eq!(errors.count(), 3);
}

#[test]
fn the_seed_members_of_a_transcript_are_there_under_their_names() {
    use crate::message::Message;

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Archive {
        id: String,
        trigger: String,
        node_id: String,
        compacted_at: String,
        archived_transcript_history: Vec<Message>,
        replacement_message: Message,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Context {
        node_id: String,
        exchanges: Vec<Message>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RoleSession {
        role_name: String,
        logical_session_id: String,
        transcript_history: Vec<Message>,
        current_node_context: Option<Context>,
        compaction_archives: Vec<Archive>,
        is_active: bool,
        current_node_id: Option<String>,
        system_prompt: Option<String>,
        latest_context_usage: u64,
    }

    let upto = walk()
        .into_iter()
        .take_while(|fact| fact.word() != "handoff_staged");
    let views = fold(upto);
    let mut json = Vec::new();
    views.sessions[&id::<RoleInstance>("writer")].write_json(&mut json, Texts::BEGINNINGS);
    let session: RoleSession = serde_json::from_slice(&json).unwrap();
    assert_eq!(session.role_name, "writer");
    assert_eq!(
        session.logical_session_id,
        "20260527T143000123Z-a1b2c3__writer"
    );
    assert_eq!(session.current_node_id.as_deref(), Some("draft"));
    assert!(session.system_prompt.is_some() && !session.is_active);
    assert_eq!(session.latest_context_usage, 2_000);
    let context = session.current_node_context.unwrap();
    assert_eq!(context.node_id, "draft");
    assert!(session.transcript_history.ends_with(&context.exchanges));
    let archive = &session.compaction_archives[0];
    assert_eq!(
        (archive.id.as_str(), archive.trigger.as_str()),
        ("k-1", "auto")
    );
    assert_eq!(archive.node_id, "draft");
    assert!(archive.compacted_at.ends_with('Z') && archive.archived_transcript_history.len() > 5);
    assert_eq!(session.transcript_history[0], archive.replacement_message);
    let mut json = Vec::new();
    views.sessions[&id::<RoleInstance>("reviewer")].write_json(&mut json, Texts::BEGINNINGS);
    let session: RoleSession = serde_json::from_slice(&json).unwrap();
    assert!(
        session.is_active,
        "the reviewer is in the middle of its turn"
    );
}

/// Facts to shuffle: everything there is.
fn pool() -> Vec<Fact> {
    let mut pool = every_kind();
    pool.extend(walk());
    pool.extend(long(3, 1));
    pool
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn views_take_any_facts_in_any_order(
        places in proptest::collection::vec(any::<prop::sample::Index>(), 0..200),
        whole_first in any::<bool>(),
    ) {
        let pool = pool();
        let start = if whole_first { walk() } else { Vec::new() };
        let picked = places.iter().map(|place| place.get(&pool).clone());
        let facts: Vec<Fact> = start.into_iter().chain(picked).collect();
        let mut screen = FlowScreen::default();
        for record in recorded(facts.clone()) {
            // Legality judges any fact in any state, too; it only must not panic.
            let _ = crate::legal::legal(&screen.flow, record.fact().unwrap()).is_ok();
            screen.apply(&record);
        }
        let views = fold(facts);
        prop_assert_eq!(&*views.flow, &screen.flow);
        prop_assert!(!written(&views).is_empty());
        let json = serde_json::to_vec(&screen).unwrap();
        prop_assert_eq!(serde_json::from_slice::<FlowScreen>(&json).unwrap(), screen);
    }
}

#[test]
fn a_fork_of_a_session_begins_with_its_messages() {
    use crate::fact::session::{Descent, SessionKind, SessionOpened, SessionParent};
    let mut views = fold(walk());
    let reviewer = views.sessions[&id::<RoleInstance>("reviewer")].clone();
    let at_seq = reviewer.messages[2].seq;
    let opened = Fact::SessionOpened(SessionOpened {
        role: id("reviewer_2"),
        key: id("fork"),
        session: id("fork-1"),
        generation: 1,
        kind: SessionKind::Child,
        parent: Some(SessionParent {
            key: id("reviewer"),
            session: reviewer.session_id.clone().unwrap(),
            descent: Descent::Fork,
            at_seq,
        }),
        user: None,
    });
    let record = Recorded::new(views.flow.seq + 1, views.flow.updated_at.unwrap(), opened);
    views.apply(&record);
    assert_eq!(
        views.sessions[&id::<RoleInstance>("reviewer_2")].messages,
        reviewer.messages[..3]
    );
    assert_eq!(views.sessions[&id::<RoleInstance>("reviewer")], reviewer);
}
