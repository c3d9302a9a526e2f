//! A search finds what the sessions have, whatever happened to the index.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::Fact;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::id::RoleInstance;
use a_society_facts::message::{Message, Text};
use a_society_facts::view::route::session_role;
use a_society_facts::view::{FactView as _, session::SessionView};
use a_society_samples::{id, long, walk};
use tempfile::TempDir;

use super::find::search_journals;
use super::index::{FOLDER, WordIndex};
use super::*;
use crate::clock::CountingClock;
use crate::disk::RealDisk;
use crate::flow::Flow;
use crate::flow_ref::FlowRef;
use crate::ground::Ground;
use crate::store::Store;

/// Words of several scripts, few enough to meet one another.
const VOCABULARY: [&str; 14] = [
    "Lighthouse",
    "LIGHTHOUSE",
    "İstanbul",
    "istanbul",
    "Café",
    "cafe\u{301}",
    "Straße",
    "strasse",
    "東京",
    "京都",
    "foo_bar",
    "1984",
    "light",
    "हिन्दी",
];

struct Anything;

impl SearchTerms for Anything {
    fn goes_on(&mut self, _: UpdateStep) -> bool {
        true
    }

    fn wants(&mut self, _: &FlowRef, _: Option<&RoleInstance>) -> bool {
        true
    }
}

fn store(folder: &Path) -> Store {
    let ground = Ground {
        disk: Arc::new(RealDisk),
        clock: Arc::new(CountingClock::from(a_society_facts::At::from_ms(
            1_779_892_200_000,
        ))),
        process: ProcessName {
            pid: std::process::id(),
            start_ticks: 1,
            boot_id: String::new(),
        },
        ledger: None,
    };
    let root = folder.join(".a-society/state");
    std::fs::create_dir_all(&root).unwrap();
    Store::new(ground, root)
}

/// The facts of a flow after the one that creates it, without those that a writer makes by itself.
fn of_flow(facts: Vec<Fact>) -> (Fact, Vec<Fact>) {
    let mut facts = facts.into_iter().filter(|fact| {
        !matches!(
            fact,
            Fact::SegmentStarted(_) | Fact::WriterOpened(_) | Fact::RecoveryTruncated(_)
        )
    });
    (facts.next().unwrap(), facts.collect())
}

fn create(store: &Store, name: &str, created: &Fact) -> (FlowRef, Flow) {
    let Fact::FlowCreated(created) = created.clone() else {
        panic!("{created:?}")
    };
    let flow = FlowRef {
        project: created.project.clone(),
        flow: id(name),
    };
    (flow.clone(), store.create(flow.flow, created).unwrap())
}

fn name(n: usize) -> String {
    format!("20260527T14300000{n}Z-aaaaa{n}")
}

fn words_of(query: &str) -> SearchWords {
    SearchWords::read(query).unwrap()
}

type Place = (String, Option<String>, u64);

fn places(found: &SearchFound) -> BTreeSet<Place> {
    let sessions = found.sessions.iter();
    let all = sessions.flat_map(|session| {
        assert_eq!(session.more, 0);
        let role = session.role.as_ref().map(ToString::to_string);
        let flow = session.flow.flow.to_string();
        session
            .messages
            .iter()
            .map(move |message| (flow.clone(), role.clone(), message.seq))
    });
    all.collect()
}

fn wanted(words: &SearchWords) -> SearchWanted<'_> {
    SearchWanted {
        words,
        project: None,
        role: None,
        sessions: 1_000,
        messages: 100_000,
    }
}

fn found(store: &Store, query: &str) -> BTreeSet<Place> {
    let words = words_of(query);
    let found = search(store, &wanted(&words), &mut Anything).unwrap();
    assert_eq!(
        (found.without_index.as_deref(), found.behind, found.is_cut),
        (None, 0, false)
    );
    places(&found)
}

/// What folding the sessions finds, of messages and titles.
fn folded(store: &Store, query: &str) -> BTreeSet<Place> {
    let words = words_of(query);
    let mut all = BTreeSet::new();
    for flow in store.census().unwrap().flows {
        let place = store.place(&flow);
        let mut sessions: std::collections::BTreeMap<RoleInstance, SessionView> =
            Default::default();
        let name = flow.flow.to_string();
        let has = |text: &str| words.places(text).is_some();
        drop(store.follow_after(&flow, None).read(&mut |recorded| {
            let Some(fact) = recorded.fact() else { return };
            let mut title = None;
            if let Fact::FlowCreated(created) = fact {
                title = Some(&created.title);
            } else if let Fact::FlowTitled(titled) = fact {
                title = Some(&titled.title);
            }
            if title.is_some_and(|title| has(title)) {
                all.insert((name.clone(), None, recorded.seq));
            }
            let Some(role) = session_role(fact) else {
                return;
            };
            if let Fact::SystemPromptBuilt(built) = fact
                && has(&place.text_or_beginning(&built.text))
            {
                all.insert((name.clone(), Some(role.to_string()), recorded.seq));
            }
            let new = || SessionView::new(role.clone(), Some(flow.flow.clone()));
            sessions
                .entry(role.clone())
                .or_insert_with(new)
                .apply(recorded);
        }));
        for (role, session) in sessions {
            let archived = session
                .archives
                .iter()
                .flat_map(|archive| &archive.archived_transcript_history);
            for entry in archived.chain(&session.messages).chain(&session.injected) {
                let whole = entry
                    .whole(|text: &Text| Ok::<_, ()>(place.text_or_beginning(text)))
                    .unwrap();
                let text = match &*whole {
                    Message::User { content }
                    | Message::Assistant { content }
                    | Message::ToolResult { content, .. } => content.clone(),
                    Message::AssistantToolCalls { calls, text } => {
                        let inputs: Vec<&str> = calls
                            .iter()
                            .flat_map(|call| [call.name.as_str(), call.input.get()])
                            .collect();
                        format!("{} {}", text.clone().unwrap_or_default(), inputs.join(" "))
                    }
                };
                if has(&text) {
                    all.insert((name.clone(), Some(role.to_string()), entry.seq));
                }
            }
        }
    }
    all
}

/// The next number of a fixed sequence, below a bound.
fn below(random: &mut u64, bound: usize) -> usize {
    *random = random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*random >> 33).unwrap() % bound
}

/// Puts words of the vocabulary into a text that a fact carries as it is.
fn seasoned(mut fact: Fact, random: &mut u64) -> Fact {
    let mut text = || {
        let count = below(random, 4);
        let words: Vec<&str> = (0..count)
            .map(|_| VOCABULARY[below(random, VOCABULARY.len())])
            .collect();
        words.join(" ")
    };
    if let Fact::MessageAdded(added) = &mut fact {
        added.text = Text::from(text());
    } else if let Fact::CallFinished(finished) = &mut fact {
        finished.output = Text::from(text());
    } else if let Fact::FlowTitled(titled) = &mut fact {
        titled.title = text();
    }
    fact
}

#[test]
fn the_index_finds_what_folding_the_sessions_finds_after_every_piece_of_a_journal() {
    for seed in 1..3 {
        let mut random = seed;
        let folder = TempDir::new().unwrap();
        let store = store(folder.path());
        let mut flows = Vec::new();
        for (n, facts) in [
            walk(),
            long(12, seed).collect(),
            long(5, seed + 9).collect(),
        ]
        .into_iter()
        .enumerate()
        {
            let (created, facts) = of_flow(facts);
            let facts: Vec<Fact> = facts
                .into_iter()
                .map(|fact| seasoned(fact, &mut random))
                .collect();
            let (_, flow) = create(&store, &name(n), &created);
            flows.push((flow, facts.into_iter()));
        }
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for (flow, facts) in &mut flows {
                for fact in facts.by_ref().take(1 + below(&mut random, 40)) {
                    flow.append(fact).unwrap();
                    is_done = false;
                }
            }
            let a = VOCABULARY[below(&mut random, VOCABULARY.len())];
            let b = VOCABULARY[below(&mut random, VOCABULARY.len())];
            for query in [
                a.to_owned(),
                format!("{a} {b}"),
                format!("\"{a} {b}\""),
                "li*".to_owned(),
                "notes".to_owned(),
            ] {
                assert_eq!(
                    found(&store, &query),
                    folded(&store, &query),
                    "{query} of seed {seed}"
                );
                let words = words_of(&query);
                let read = search_journals(&store, &wanted(&words), &mut Anything).unwrap();
                assert_eq!(
                    places(&read),
                    folded(&store, &query),
                    "{query} of seed {seed}, from the journals"
                );
            }
        }
        assert!(!found(&store, "goes").is_empty());
    }
}

/// A workspace with two flows that are searched already.
fn searched() -> (TempDir, Store, FlowRef) {
    let folder = TempDir::new().unwrap();
    let store = store(folder.path());
    let mut last = None;
    for (n, facts) in [walk(), long(8, 3).collect()].into_iter().enumerate() {
        let (created, facts) = of_flow(facts);
        let (flow, mut open) = create(&store, &name(n), &created);
        for fact in facts {
            open.append(fact).unwrap();
        }
        open.close().unwrap();
        last = Some(flow);
    }
    assert!(!found(&store, "begin").is_empty());
    (folder, store, last.unwrap())
}

fn files(store: &Store) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(store.root().join(FOLDER)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "db"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn an_index_that_is_missing_damaged_or_of_another_shape_is_made_anew() {
    let (_folder, store, _) = searched();
    let expected = folded(&store, "begin");
    let spoil: [fn(&Path); 6] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| std::fs::write(path, "no database").unwrap(),
        |path| std::fs::write(path, "").unwrap(),
        |path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        },
        |path| {
            let database = rusqlite::Connection::open(path).unwrap();
            database.execute_batch("PRAGMA user_version = 77").unwrap();
        },
        |path| {
            let database = rusqlite::Connection::open(path).unwrap();
            database.execute_batch("DROP TABLE said").unwrap();
        },
    ];
    for (n, spoil) in spoil.into_iter().enumerate() {
        let before = files(&store);
        spoil(before.last().unwrap());
        assert_eq!(found(&store, "begin"), expected, "{n}");
        assert_eq!(files(&store).len(), 1, "{n}");
    }
    std::fs::remove_dir_all(store.root().join(FOLDER)).unwrap();
    assert_eq!(found(&store, "begin"), expected);
}

#[test]
fn what_the_index_says_is_read_in_the_journal_before_it_is_shown() {
    let (_folder, store, _) = searched();
    let expected = folded(&store, "begin");
    for lie in [
        "UPDATE said SET start = 0, stop = 10",
        "UPDATE said SET seq = seq + 1",
        "UPDATE said SET role = 'nobody'",
        "UPDATE said SET id = -id",
        "UPDATE flow SET flow = '20260527T143000009Z-zzzzzz' WHERE id = 1",
    ] {
        let database = rusqlite::Connection::open(files(&store).last().unwrap()).unwrap();
        database.execute_batch(lie).unwrap();
        drop(database);
        assert_eq!(found(&store, "begin"), expected, "{lie}");
        std::fs::remove_dir_all(store.root().join(FOLDER)).unwrap();
        assert_eq!(found(&store, "begin"), expected);
    }
}

#[test]
fn a_flow_that_was_removed_is_not_found_any_more() {
    let (_folder, store, flow) = searched();
    std::fs::remove_dir_all(store.folder(&flow).root()).unwrap();
    let left = found(&store, "begin");
    assert!(
        !left.is_empty()
            && left
                .iter()
                .all(|(name, _, _)| *name != flow.flow.to_string())
    );
    let database = rusqlite::Connection::open(files(&store).last().unwrap()).unwrap();
    let rows: i64 = database
        .query_row("SELECT count(*) FROM flow", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn a_journal_that_lost_its_end_is_read_anew() {
    let (_folder, store, flow) = searched();
    let path = store.folder(&flow).segment(1);
    let bytes = std::fs::read(&path).unwrap();
    for part in [90, 60, 30] {
        let end = bytes.len() * part / 100;
        let end = memchr::memrchr(b'\n', &bytes[..end]).unwrap() + 1;
        std::fs::write(&path, &bytes[..end]).unwrap();
        for query in ["begin", "goes", "round"] {
            assert_eq!(
                found(&store, query),
                folded(&store, query),
                "{query} in {part} of a hundred"
            );
        }
    }
}

#[test]
fn beside_another_writer_the_index_is_read_as_it_is() {
    let (_folder, store, _) = searched();
    let expected = folded(&store, "begin");
    let held = WordIndex::of(&store).lock().unwrap();
    let words = words_of("begin");
    let beside = search(&store, &wanted(&words), &mut Anything).unwrap();
    assert_eq!((places(&beside), beside.behind), (expected.clone(), 1));
    // Where there is none yet, the journals are read.
    std::fs::remove_file(files(&store).last().unwrap()).unwrap();
    let alone = search(&store, &wanted(&words), &mut Anything).unwrap();
    assert_eq!(places(&alone), expected);
    assert!(alone.without_index.is_some());
    drop(held);
    assert_eq!(found(&store, "begin"), expected);
}

#[test]
fn many_searches_at_once_find_the_same() {
    let (_folder, store, _) = searched();
    let expected = folded(&store, "begin");
    std::fs::remove_dir_all(store.root().join(FOLDER)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let words = words_of("begin");
                    let found = search(&store, &wanted(&words), &mut Anything).unwrap();
                    // One that is being made has what was indexed so far.
                    assert!(places(&found).is_subset(&expected));
                    assert!(found.behind > 0 || places(&found) == expected);
                }
            });
        }
    });
    assert_eq!(found(&store, "begin"), expected);
}

#[test]
fn where_no_index_can_be_the_journals_are_searched() {
    let (_folder, store, _) = searched();
    let expected = folded(&store, "begin");
    std::fs::remove_dir_all(store.root().join(FOLDER)).unwrap();
    std::fs::write(store.root().join(FOLDER), "in the way").unwrap();
    let words = words_of("begin");
    let found = search(&store, &wanted(&words), &mut Anything).unwrap();
    assert_eq!(places(&found), expected);
    assert!(found.without_index.is_some());
}

#[test]
fn an_update_that_is_ended_early_goes_on_where_it_was() {
    struct Once(usize);
    impl SearchTerms for Once {
        fn goes_on(&mut self, _: UpdateStep) -> bool {
            self.0 += 1;
            self.0 < 2
        }
        fn wants(&mut self, _: &FlowRef, _: Option<&RoleInstance>) -> bool {
            true
        }
    }
    let (_folder, store, _) = searched();
    std::fs::remove_dir_all(store.root().join(FOLDER)).unwrap();
    assert_eq!(index(&store, &mut Once(0)), Ok(1));
    assert_eq!(index(&store, &mut Once(0)), Ok(0));
    assert_eq!(found(&store, "begin"), folded(&store, "begin"));
}

#[test]
fn a_search_may_be_of_one_project_or_one_role() {
    let (_folder, store, flow) = searched();
    let words = words_of("begin");
    let of = |project: &str, role: Option<&str>| {
        let (project, role) = (id(project), role.map(id));
        let wanted = SearchWanted {
            project: Some(&project),
            role: role.as_ref(),
            ..wanted(&words)
        };
        let indexed = places(&search(&store, &wanted, &mut Anything).unwrap());
        let read = places(&search_journals(&store, &wanted, &mut Anything).unwrap());
        assert_eq!(indexed, read);
        indexed
    };
    let all = of(flow.project.as_str(), None);
    assert_eq!(all, found(&store, "begin"));
    assert!(of("elsewhere", None).is_empty());
    let of_owner = of(flow.project.as_str(), Some("owner"));
    assert!(
        !of_owner.is_empty()
            && of_owner
                .iter()
                .all(|(_, role, _)| role.as_deref() == Some("owner"))
    );
}
