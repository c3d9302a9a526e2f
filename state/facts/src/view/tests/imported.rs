//! A flow that another program began: its views hold what was imported.

use serde_json::{Value, json};

use super::{Views, fold};
use crate::fact::Fact;
use crate::fact::imported::{
    FeedImported, FlowImported, ImportedArchive, ImportedHistory, ImportedItem, ImportedMessage,
    PassedAlong, SessionImported, These,
};
use crate::fact::session::{ArchiveRestored, SessionKind, SessionOpened, Trigger};
use crate::handoff::EdgeName;
use crate::id::RoleInstance;
use crate::legal::{Illegal, legal};
use crate::message::Message;
use crate::sample::{id, recorded, walk};
use crate::view::feed::ItemKind;

fn created() -> Vec<Fact> {
    let mut facts = walk();
    let place = facts.iter().position(|fact| fact.word() == "flow_created");
    facts.truncate(place.unwrap() + 1);
    facts
}

fn flow() -> Fact {
    let edge = EdgeName {
        from: id("draft"),
        to: id("review"),
    };
    Fact::FlowImported(FlowImported {
        state_version: "11".into(),
        files: Vec::new(),
        without_place: vec!["flow.json: /workspaceRoot".into()],
        visited: vec![id("draft"), id("review")],
        completed: vec![edge.clone()],
        passed: vec![PassedAlong {
            edge,
            paths: vec!["notes.md".into()],
            files: Vec::new(),
        }],
        received: Vec::new(),
        awaiting_handoff: vec![id("review")],
        ailments: None,
    })
}

fn opened() -> Fact {
    Fact::SessionOpened(SessionOpened {
        role: id("writer"),
        key: id("flow:x:role:writer"),
        session: id("s-1"),
        generation: 1,
        kind: SessionKind::Role,
        parent: None,
        user: None,
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

fn part(messages: Vec<ImportedMessage>, these: Option<These>) -> Fact {
    Fact::SessionImported(SessionImported {
        role: id("writer"),
        messages,
        these,
    })
}

fn session() -> Vec<Fact> {
    let archive = ImportedArchive {
        id: "k-1".into(),
        trigger: Trigger::Auto,
        node_id: "draft".into(),
        compacted_at: crate::At::from_ms(0),
        replacement: user("m3", "a summary"),
    };
    let history = ImportedHistory {
        named: None,
        node: Some(id("draft")),
        exchanges: 1,
        context_tokens: 1200,
        is_active: false,
    };
    vec![
        part(vec![user("m1", "write")], None),
        part(vec![user("m2", "more")], Some(These::Archive(archive))),
        part(vec![user("m3", "a summary")], None),
        part(vec![user("m4", "go on")], Some(These::History(history))),
    ]
}

fn feed(after: u64, names: &[&str]) -> Fact {
    let item = |name: &&str| ImportedItem {
        id: (*name).to_owned(),
        kind: ItemKind::Assistant,
        label: "Assistant".into(),
        reasoning_display: None,
        text: format!("text of {name}"),
    };
    Fact::FeedImported(FeedImported {
        role: id("writer"),
        after,
        items: names.iter().map(item).collect(),
    })
}

fn imported() -> Vec<Fact> {
    let mut facts = created();
    facts.extend([flow(), opened()]);
    facts.extend(session());
    facts.extend([feed(0, &["1", "2"]), feed(2, &["3"])]);
    facts
}

fn contents(history: &Value) -> Vec<&str> {
    let list = history.as_array().unwrap().iter();
    list.map(|said| said["content"].as_str().unwrap()).collect()
}

fn transcript(views: &Views) -> Value {
    serde_json::to_value(&views.sessions[&id::<RoleInstance>("writer")]).unwrap()
}

#[test]
fn a_session_holds_what_it_held_however_it_was_cut_into_parts() {
    let views = fold(imported());
    let session = transcript(&views);
    assert_eq!(
        contents(&session["transcriptHistory"]),
        ["a summary", "go on"]
    );
    assert_eq!(session["currentNodeContext"]["nodeId"], "draft");
    assert_eq!(
        contents(&session["currentNodeContext"]["exchanges"]),
        ["go on"]
    );
    let archive = &session["compactionArchives"][0];
    assert_eq!(
        contents(&archive["archivedTranscriptHistory"]),
        ["write", "more"]
    );
    assert_eq!(archive["replacementMessage"]["content"], "a summary");
    assert_eq!(archive["compactedAt"], "1970-01-01T00:00:00.000Z");
    assert_eq!(session["latestContextUsage"], 1200);
    assert_eq!(session["isActive"], false);
}

#[test]
fn an_imported_archive_goes_back_to_where_it_was() {
    let mut facts = imported();
    facts.push(Fact::ArchiveRestored(ArchiveRestored {
        role: id("writer"),
        archive: "k-1".into(),
        client: None,
    }));
    let views = fold(facts);
    let session = transcript(&views);
    assert_eq!(
        contents(&session["transcriptHistory"]),
        ["write", "more", "go on"]
    );
}

#[test]
fn a_feed_holds_the_imported_items_and_nothing_that_was_said_before_them() {
    let views = fold(imported());
    let items: Vec<_> = views.feeds[&id::<RoleInstance>("writer")].items().collect();
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(items[2].text, "text of 3");
}

#[test]
fn a_flow_stands_as_it_was_said_to_stand() {
    let state = fold(imported()).flow;
    let state = serde_json::to_value(&*state).unwrap();
    assert_eq!(state["visited"], json!(["draft", "review"]));
    assert_eq!(
        state["completed_edges"],
        json!([{"from": "draft", "to": "review"}])
    );
    assert_eq!(state["awaiting_handoff"], json!(["review"]));
    assert_eq!(state["history"]["draft"]["review"], json!(["notes.md"]));
    assert_eq!(state["imported"]["state_version"], "11");
}

/// The state after all of these facts, each of which may follow.
fn after(facts: Vec<Fact>) -> crate::view::FlowState {
    let mut views = Views::default();
    for record in recorded(facts) {
        let fact = record.fact().unwrap();
        assert_eq!(legal(&views.flow, fact), Ok(()), "{}", fact.word());
        views.apply(&record);
    }
    std::sync::Arc::unwrap_or_clone(views.flow)
}

#[test]
fn a_flow_is_imported_once_and_before_anything_happens_in_it() {
    let state = after(imported());
    assert_eq!(legal(&state, &flow()), Err(Illegal::AlreadyCreated));
    let used = legal(&state, &session()[0]).unwrap_err();
    assert!(matches!(used, Illegal::Session { .. }), "{used}");
    let mut begun = walk();
    begun.truncate(begun.len() / 2);
    let state = after(begun);
    for fact in [flow(), session().remove(0), feed(0, &[])] {
        assert!(legal(&state, &fact).is_err(), "{}", fact.word());
    }
}

#[test]
fn only_what_the_graph_names_can_have_happened() {
    let state = after(created());
    let change = |edit: fn(&mut FlowImported)| {
        let Fact::FlowImported(mut fact) = flow() else {
            panic!("another kind of fact");
        };
        edit(&mut fact);
        legal(&state, &Fact::FlowImported(fact)).unwrap_err()
    };
    let node = change(|fact| fact.visited.push(id("nowhere")));
    assert!(matches!(node, Illegal::UnknownNode { .. }), "{node}");
    let edge = change(|fact| fact.completed[0].to = id("nowhere"));
    assert!(matches!(edge, Illegal::UnknownEdge { .. }), "{edge}");
}
