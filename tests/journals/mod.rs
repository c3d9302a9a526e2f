//! Journals that older versions wrote, which must open for ever.
//!
//! `v1/journal/` is a whole flow as version 1 wrote it, byte for byte; `v1/shapes.jsonl` holds one
//! line of every kind of fact that it knew, the retired ones as well. Neither file is ever written again: a version that changes a shape
//! adds a folder and an upcast. The views under `v1/expected/` are what the journal folds to
//! today, and may change with the views. `requests/` holds a flow of three nodes over each wire, whose
//! requests must be written to the bytes that left, for ever.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::list::RETIRED;
use a_society_facts::line::{self, Body};
use a_society_orchestrator::sent_request;
use a_society_state::clock::CountingClock;
use a_society_state::disk::RealDisk;
use a_society_state::views::{bytes_of, names};
use a_society_state::{FlowRef, Ground, Store};

use crate::tidy::expect_generated;

const FLOW: &str = "20260527T143000123Z-a1b2c3";
const PROJECT: &str = "release-notes";

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals/v1")
}

fn shapes() -> String {
    let mut out = Vec::new();
    let at = At::from_ms(1_779_892_200_123);
    for fact in a_society_samples::every_kind() {
        line::write(&mut out, 1, at, 0, 0, &fact).unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// Writes a file that is written once and never again.
fn write_once(path: &Path, make: impl FnOnce() -> String) -> String {
    if !path.exists() && std::env::var_os("A_SOCIETY_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, make()).unwrap();
    }
    std::fs::read_to_string(path).unwrap()
}

/// The walk of the samples as a journal of one segment, by a clock and a process of its own.
fn walk() -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut facts = a_society_samples::walk().into_iter().filter(|fact| {
        // The store writes these itself.
        !matches!(fact.word(), "segment_started" | "writer_opened")
    });
    let created = match facts.next() {
        Some(a_society_facts::Fact::FlowCreated(created)) => created,
        other => panic!("a walk begins with its flow, not with {other:?}"),
    };
    let mut flow = store.create(FLOW.parse().unwrap(), created).unwrap();
    for fact in facts {
        flow.append(fact).unwrap();
    }
    let path = flow.folder().segment(1);
    flow.close().unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// The process that opens the journals here. The views hold it, so no part of it comes from the machine.
fn writer() -> ProcessName {
    ProcessName {
        pid: 4711,
        start_ticks: 0,
        boot_id: "00000000-0000-4000-8000-000000004711".to_owned(),
    }
}

fn store(root: &Path) -> Store {
    let ground = Ground {
        disk: Arc::new(RealDisk),
        clock: Arc::new(CountingClock::from(At::from_ms(1_779_892_200_123))),
        process: writer(),
        ledger: None,
    };
    Store::new(ground, root.join("state"))
}

#[test]
fn a_journal_of_version_1_opens_and_folds_to_the_same_views() {
    let journal = write_once(&here().join("journal/00000001.jsonl"), walk);
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let at = FlowRef {
        project: PROJECT.parse().unwrap(),
        flow: FLOW.parse().unwrap(),
    };
    let place = store.folder(&at);
    std::fs::create_dir_all(place.journal()).unwrap();
    std::fs::write(place.segment(1), &journal).unwrap();
    let (flow, report) = store.open(&at).unwrap();
    assert_eq!(report.records as usize, journal.lines().count());
    assert!(report.recovered.is_empty(), "{:?}", report.recovered);
    for name in names(flow.views()) {
        let bytes = String::from_utf8(bytes_of(
            store.ground().disk.as_ref(),
            flow.folder(),
            &name,
            flow.views(),
        ))
        .unwrap();
        // The views are one line each on disk; here they are spread out, so that a change shows.
        let spread: serde_json::Value = serde_json::from_str(&bytes).unwrap();
        let spread = serde_json::to_string_pretty(&spread).unwrap() + "\n";
        let path = format!("tests/journals/v1/expected/{}", name.path());
        expect_generated(&path, &spread);
    }
}

#[test]
fn every_kind_of_fact_of_version_1_is_still_read() {
    let kept = write_once(&here().join("shapes.jsonl"), shapes);
    let (mut words, mut retired) = (Vec::new(), Vec::new());
    for text in kept.lines() {
        let (frame, body) = line::read(&mut text.as_bytes().to_vec()).unwrap();
        assert_eq!(frame.version, 1);
        match body {
            Body::Known(fact) => words.push(fact.word()),
            Body::Foreign { word, .. } => retired.push(word),
        }
    }
    assert_eq!(
        retired, RETIRED,
        "a kind that was written is no longer read"
    );
    words.dedup();
    assert!(words.len() + RETIRED.len() >= 83, "only {words:?}");
}

#[test]
fn what_is_read_from_an_old_journal_is_written_as_it_stood() {
    let requests = here().join("../requests");
    let journals = ["anthropic", "openai-chat", "openai-responses"];
    let journals = journals.map(|wire| requests.join(wire).join("00000001.jsonl"));
    let kept = [
        here().join("shapes.jsonl"),
        here().join("journal/00000001.jsonl"),
    ];
    let mut lines = 0;
    for path in kept.into_iter().chain(journals) {
        for text in std::fs::read_to_string(&path).unwrap().lines() {
            let (frame, body) = line::read(&mut text.as_bytes().to_vec()).unwrap();
            let Body::Known(fact) = body else { continue };
            let mut out = Vec::new();
            line::write(
                &mut out,
                frame.seq,
                frame.at,
                frame.durable,
                frame.prev,
                &fact,
            )
            .unwrap();
            assert_eq!(String::from_utf8(out).unwrap().trim_end(), text, "{path:?}");
            lines += 1;
        }
    }
    assert!(lines > 200, "only {lines} lines");
}

#[test]
fn the_facts_of_this_version_are_written_down() {
    let mut text = String::from(
        "# Facts\n\nEverything that can happen in a flow, by the word that names it in the \
         journal. This page is made from `state/facts/src/fact/list.rs`.\n\n| Word | True when |\n\
         | --- | --- |\n",
    );
    for kind in a_society_facts::fact::list::KINDS {
        let row = ["| `", kind.word, "` | ", kind.sentence.trim(), " |\n"];
        text.extend(row);
    }
    expect_generated("docs/facts.md", &text);
}

#[test]
fn requests_of_older_versions_are_written_to_the_bytes_that_left() {
    for wire in ["anthropic", "openai-chat", "openai-responses"] {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals/requests");
        let kept = kept.join(wire);
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let journal = std::fs::read_to_string(kept.join("00000001.jsonl")).unwrap();
        let begin: serde_json::Value =
            serde_json::from_str(journal.lines().next().unwrap()).unwrap();
        let at = FlowRef {
            project: "demo".parse().unwrap(),
            flow: begin["flow"].as_str().unwrap().parse().unwrap(),
        };
        let place = store.folder(&at);
        std::fs::create_dir_all(place.journal()).unwrap();
        std::fs::write(place.segment(1), journal).unwrap();
        std::fs::create_dir_all(place.blobs()).unwrap();
        for blob in std::fs::read_dir(kept.join("blobs")).unwrap() {
            let blob = blob.unwrap();
            std::fs::copy(blob.path(), place.blobs().join(blob.file_name())).unwrap();
        }
        let mut written = Vec::new();
        sent_request::each(
            &store,
            &at,
            Path::new("/elsewhere"),
            1..=u64::MAX,
            &mut |seq, request| {
                written.push((seq, request.unwrap().differs));
                ControlFlow::Continue(())
            },
        )
        .unwrap();
        assert_eq!(written.len(), 6, "{wire}");
        assert!(
            written.iter().all(|(_, differs)| differs.is_none()),
            "{wire}: {written:?}"
        );
    }
}
