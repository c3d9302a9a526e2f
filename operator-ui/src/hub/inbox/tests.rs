//! The list loses no change, whenever it comes.

use std::path::Path;
use std::sync::Arc;

use a_society_in_memory::{DiskCall, FaultyDisk};
use a_society_state::clock::SystemClock;
use a_society_state::layout::FlowFolder;
use a_society_state::{Ground, Store, process};

use super::*;

/// The journal of a flow that asks something in its last turn.
const JOURNAL: &str = include_str!("../../../tests/journals/human-gate.jsonl");
const FLOW: &str = "20261121T145750217Z-ol8hhb";

fn segment(root: &Path) -> PathBuf {
    FlowFolder::at(root.join("demo").join(FLOW)).segment(1)
}

/// A disk with the journal up to a fact, below a folder that is there, so that the system can watch it.
fn disk_upto(root: &Path, fact: &str) -> FaultyDisk {
    let last = (JOURNAL.lines())
        .position(|line| line.contains(&format!("\"fact\":\"{fact}\"")))
        .unwrap();
    let lines: Vec<&str> = JOURNAL.lines().take(last + 1).collect();
    let segment = segment(root);
    std::fs::create_dir_all(segment.parent().unwrap()).unwrap();
    let disk = FaultyDisk::new();
    let bytes = lines.join("\n") + "\n";
    disk.write_file(&segment, bytes.as_bytes()).unwrap();
    disk
}

fn lister(disk: &FaultyDisk, root: &Path) -> (Arc<Hubs>, Lister) {
    let ground = Ground {
        process: process::this(disk),
        disk: Arc::new(disk.clone()),
        clock: Arc::new(SystemClock::default()),
        ledger: None,
    };
    let store = Store::new(ground, root.to_owned());
    let hubs = Hubs::new(store, "epoch".to_owned(), None);
    let lister = Lister::new(&hubs);
    (hubs, lister)
}

/// Whether the question of the last turn is listed. Without it there is one entry, for a flow that no process drives.
fn is_asked(lister: &Lister) -> bool {
    let mut asks = lister.known.values().flat_map(|known| &known.asks);
    let first = asks.next().unwrap();
    assert_eq!(asks.next(), None);
    !first.ends_with("stopped")
}

#[test]
fn what_is_written_between_the_first_reading_and_the_watch_is_listed_in_the_next_round() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let disk = disk_upto(&root, "turn_started");
    let (hubs, mut lister) = lister(&disk, &root);
    let flow = hubs.store.census().unwrap().flows.remove(0);
    let journal = segment(&root);
    disk.record_trace();
    let mut was_read = false;
    disk.after_each(Box::new(move |_, disk| {
        let last = disk.trace().pop();
        let reads = matches!(&last, Some(DiskCall::Read { path, .. }) if *path == journal);
        if was_read && !reads {
            disk.write_file(&journal, JOURNAL.as_bytes()).unwrap();
        }
        was_read = reads;
    }));
    lister.hub.changed(flow);
    lister.listed_us = u64::MAX;
    lock(&lister.hub.changes).list = false;
    lister.round(&hubs);
    assert!(!is_asked(&lister));
    lister.round(&hubs);
    assert!(is_asked(&lister));
}

#[test]
fn what_the_system_did_not_notify_of_is_listed_once_it_lost_count() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let disk = disk_upto(&root, "turn_started");
    let (hubs, mut lister) = lister(&disk, &root);
    for _ in 0..2 {
        lister.round(&hubs);
    }
    assert!(!is_asked(&lister));
    disk.write_file(&segment(&root), JOURNAL.as_bytes())
        .unwrap();
    lister.hub.news(&News::All);
    lister.round(&hubs);
    assert!(is_asked(&lister));
}

#[test]
fn a_flow_that_cannot_be_watched_is_read_whenever_flows_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let disk = disk_upto(&root, "turn_started");
    std::fs::remove_dir_all(root.join("demo")).unwrap();
    let (hubs, mut lister) = lister(&disk, &root);
    lister.round(&hubs);
    assert!(!is_asked(&lister));
    disk.write_file(&segment(&root), JOURNAL.as_bytes())
        .unwrap();
    lock(&lister.hub.changes).list = true;
    lister.round(&hubs);
    assert!(is_asked(&lister));
}
