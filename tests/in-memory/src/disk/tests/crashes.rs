//! What a power cut and the death of a process leave.

use std::collections::BTreeSet;
use std::path::PathBuf;

use a_society_state::disk::{Disk, How, Locked};
use proptest::prelude::*;

use super::super::contents::SECTOR_BYTES;
use super::super::{FaultPlan, FaultyDisk, InjectedFault};
use super::{append_to, path, text};

/// Everything that can be seen after crashes with many seeds.
fn outcomes<T: Ord>(disk: &FaultyDisk, look: impl Fn(&FaultyDisk) -> T) -> BTreeSet<T> {
    (0..400).map(|seed| look(&disk.crash_clone(seed))).collect()
}

fn texts(disk: &FaultyDisk, name: &str) -> BTreeSet<Option<String>> {
    outcomes(disk, |after| text(after, name))
}

fn some(names: &[&str]) -> BTreeSet<Option<String>> {
    names.iter().map(|&name| Some(name.to_owned())).collect()
}

fn all_files(disk: &FaultyDisk) -> Vec<(PathBuf, Vec<u8>)> {
    let files = disk.files().into_iter();
    files
        .map(|path| (path.clone(), disk.read_file(&path).unwrap()))
        .collect()
}

#[test]
fn a_synced_file_whose_name_was_not_synced_may_be_gone() {
    let disk = FaultyDisk::new();
    let mut file = append_to(&disk, "a");
    file.append(b"bytes").unwrap();
    file.sync().unwrap();
    let mut expected = some(&["bytes"]);
    expected.insert(None);
    assert_eq!(texts(&disk, "a"), expected);
    disk.sync_folder(path("/")).unwrap();
    assert_eq!(texts(&disk, "a"), some(&["bytes"]));
}

#[test]
fn a_synced_name_does_not_make_the_bytes_durable() {
    let disk = FaultyDisk::new();
    let mut file = append_to(&disk, "a");
    file.append(b"xy").unwrap();
    disk.sync_folder(path("/")).unwrap();
    assert_eq!(
        texts(&disk, "a"),
        some(&["", "x", "xy", "\0", "\0\0"]),
        "the size may come before the bytes"
    );
}

#[test]
fn each_unsynced_sector_survives_by_itself() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"").unwrap();
    let mut file = append_to(&disk, "a");
    file.append(&[1; 3 * SECTOR_BYTES]).unwrap();
    let full = outcomes(&disk, |after| {
        let bytes = after.read_file(path("a")).unwrap();
        let whole = bytes.len() == 3 * SECTOR_BYTES;
        whole.then(|| [0, 1, 2].map(|sector| bytes[sector * SECTOR_BYTES]))
    });
    assert_eq!(full.into_iter().flatten().count(), 8, "every subset comes");
}

#[test]
fn an_unsynced_cut_may_or_may_not_have_happened() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"acknowledged|torn").unwrap();
    let mut file = append_to(&disk, "a");
    file.set_size(12).unwrap();
    assert_eq!(
        texts(&disk, "a"),
        some(&["acknowledged", "acknowledged|torn"])
    );
    file.sync().unwrap();
    assert_eq!(texts(&disk, "a"), some(&["acknowledged"]));
}

#[test]
fn bytes_that_were_appended_and_cut_again_without_a_sync_may_come_back() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"kept").unwrap();
    let mut file = append_to(&disk, "a");
    file.append(b"+short").unwrap();
    file.set_size(4).unwrap();
    let seen = texts(&disk, "a");
    assert!(seen.is_superset(&some(&["kept", "kept+short"])), "{seen:?}");
    file.sync().unwrap();
    assert_eq!(texts(&disk, "a"), some(&["kept"]));
}

#[test]
fn a_replacing_rename_leaves_the_old_or_the_new_and_the_temporary_name_may_linger() {
    let disk = FaultyDisk::new();
    disk.write_file(path("view"), b"old").unwrap();
    disk.write_file(path("temp"), b"new").unwrap();
    disk.rename(path("temp"), path("view")).unwrap();
    let seen = outcomes(&disk, |after| (text(after, "view"), text(after, "temp")));
    let pair = |view: &str, temp: Option<&str>| (Some(view.to_owned()), temp.map(str::to_owned));
    assert_eq!(
        seen,
        BTreeSet::from([
            pair("old", Some("new")),
            pair("new", None),
            pair("new", Some("new"))
        ])
    );
    disk.sync_folder(path("/")).unwrap();
    assert_eq!(texts(&disk, "view"), some(&["new"]));
    assert_eq!(texts(&disk, "temp"), BTreeSet::from([None]));
}

#[test]
fn a_name_that_lingers_after_a_rename_is_a_file_of_its_own() {
    let disk = FaultyDisk::new();
    disk.write_file(path("temp"), b"new").unwrap();
    disk.rename(path("temp"), path("view")).unwrap();
    let both = (0..400)
        .map(|seed| disk.crash_clone(seed))
        .find(|after| after.files().len() == 2)
        .unwrap();
    append_to(&both, "temp").set_size(0).unwrap();
    assert_eq!(text(&both, "view").as_deref(), Some("new"));
}

#[test]
fn a_rename_of_unsynced_bytes_may_leave_an_empty_file() {
    let disk = FaultyDisk::new();
    disk.write_file(path("view"), b"old").unwrap();
    append_to(&disk, "temp").append(b"n").unwrap();
    disk.rename(path("temp"), path("view")).unwrap();
    let seen = texts(&disk, "view");
    assert_eq!(seen, some(&["old", "", "\0", "n"]));
}

#[test]
fn every_unsynced_meaning_of_a_name_may_be_what_survives() {
    let disk = FaultyDisk::new();
    disk.write_file(path("view"), b"0").unwrap();
    for text in [b"1", b"2"] {
        let mut file = append_to(&disk, "temp");
        file.append(text).unwrap();
        file.sync().unwrap();
        disk.rename(path("temp"), path("view")).unwrap();
    }
    assert_eq!(texts(&disk, "view"), some(&["0", "1", "2"]));
}

#[test]
fn a_removed_file_may_come_back_until_its_folder_is_synced() {
    let disk = FaultyDisk::new();
    disk.write_file(path("f/a"), b"x").unwrap();
    disk.remove_file(path("f/a")).unwrap();
    let mut expected = some(&["x"]);
    expected.insert(None);
    assert_eq!(texts(&disk, "f/a"), expected);
    disk.sync_folder(path("f")).unwrap();
    assert_eq!(texts(&disk, "f/a"), BTreeSet::from([None]));
}

#[test]
fn a_new_folder_needs_a_sync_of_the_one_above() {
    let disk = FaultyDisk::new();
    disk.create_folder(path("f")).unwrap();
    let mut file = append_to(&disk, "f/a");
    file.append(b"x").unwrap();
    file.sync().unwrap();
    disk.sync_folder(path("f")).unwrap();
    let mut expected = some(&["x"]);
    expected.insert(None);
    assert_eq!(texts(&disk, "f/a"), expected);
    disk.sync_folder(path("/")).unwrap();
    assert_eq!(texts(&disk, "f/a"), some(&["x"]));
}

#[test]
fn a_move_between_folders_never_loses_the_file() {
    let disk = FaultyDisk::new();
    disk.write_file(path("f/a"), b"x").unwrap();
    disk.make_folder(path("g")).unwrap();
    disk.rename(path("f/a"), path("g/b")).unwrap();
    let seen = outcomes(&disk, FaultyDisk::files);
    let files = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(
        seen,
        BTreeSet::from([files(&["/f/a"]), files(&["/g/b"]), files(&["/f/a", "/g/b"])])
    );
    // The folder it left takes the other half along, as one entry of a real journal does.
    disk.sync_folder(path("f")).unwrap();
    assert_eq!(
        outcomes(&disk, FaultyDisk::files),
        BTreeSet::from([files(&["/g/b"])])
    );
}

#[test]
fn what_moved_into_a_folder_that_is_lost_is_still_where_it_was() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"x").unwrap();
    disk.create_folder(path("f")).unwrap();
    disk.rename(path("a"), path("f/a")).unwrap();
    for seed in 0..400 {
        assert!(!disk.crash_clone(seed).files().is_empty());
    }
}

#[test]
fn folders_that_move_into_each_other_survive_a_crash_without_going_round_in_circles() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a/x"), b"1").unwrap();
    disk.make_folder(path("b")).unwrap();
    disk.rename(path("a"), path("b/a")).unwrap();
    disk.rename(path("b/a"), path("a")).unwrap();
    disk.rename(path("b"), path("a/b")).unwrap();
    for seed in 0..400 {
        assert!(!disk.crash_clone(seed).files().is_empty());
    }
}

#[test]
fn a_file_without_a_name_is_gone_after_a_crash() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"x").unwrap();
    let mut file = disk.open(path("a"), How::Append).unwrap();
    disk.remove_file(path("a")).unwrap();
    disk.sync_folder(path("/")).unwrap();
    file.append(b"y").unwrap();
    file.sync().unwrap();
    assert!(disk.crash_clone(1).files().is_empty());
    assert!(disk.kill_clone().files().is_empty());
}

#[test]
fn after_a_lying_sync_the_bytes_are_read_but_never_durable() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"synced").unwrap();
    let mut file = append_to(&disk, "a");
    file.append(b"LOST").unwrap();
    disk.arm(FaultPlan {
        at: disk.operations() + 1,
        fault: InjectedFault::SyncFailsThenLies,
        sticky: false,
    });
    assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(5));
    assert!(disk.fired());
    file.sync().unwrap();
    assert_eq!(text(&disk, "a").as_deref(), Some("syncedLOST"));
    assert_eq!(
        text(&disk.kill_clone(), "a").as_deref(),
        Some("syncedLOST"),
        "the page cache still shows them"
    );
    assert_eq!(texts(&disk, "a"), some(&["synced\0\0\0\0"]));
    file.append(b"later").unwrap();
    file.sync().unwrap();
    assert_eq!(texts(&disk, "a"), some(&["synced\0\0\0\0later"]));
}

#[test]
fn a_sync_that_only_fails_leaves_everything_as_unsynced_as_it_was() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"").unwrap();
    let mut file = append_to(&disk, "a");
    file.append(b"x").unwrap();
    disk.arm(FaultPlan {
        at: disk.operations() + 1,
        fault: InjectedFault::Eio,
        sticky: false,
    });
    file.sync().unwrap_err();
    assert_eq!(texts(&disk, "a"), some(&["", "\0", "x"]));
    file.sync().unwrap();
    assert_eq!(texts(&disk, "a"), some(&["x"]));
}

#[test]
fn a_killed_process_leaves_what_it_wrote_and_no_lock() {
    let disk = FaultyDisk::new();
    let mut file = append_to(&disk, "a");
    file.append(b"x").unwrap();
    assert_eq!(file.try_lock().unwrap(), Locked::Yes);
    assert_eq!(append_to(&disk, "a").try_lock().unwrap(), Locked::Busy);
    let after = disk.kill_clone();
    assert_eq!(text(&after, "a").as_deref(), Some("x"));
    assert_eq!(append_to(&after, "a").try_lock().unwrap(), Locked::Yes);
    assert_eq!(
        texts(&after, "a"),
        texts(&disk, "a"),
        "what was not synced still is not"
    );
    disk.sync_folder(path("/")).unwrap();
    let after = disk.crash_clone(0);
    assert_eq!(append_to(&after, "a").try_lock().unwrap(), Locked::Yes);
}

#[test]
fn a_clone_and_its_disk_do_not_see_each_other() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"one").unwrap();
    let crashed = disk.crash_clone(3);
    let killed = disk.kill_clone();
    append_to(&disk, "a").append(b"+").unwrap();
    append_to(&crashed, "a").append(b"-").unwrap();
    assert_eq!(text(&disk, "a").as_deref(), Some("one+"));
    assert_eq!(text(&crashed, "a").as_deref(), Some("one-"));
    assert_eq!(text(&killed, "a").as_deref(), Some("one"));
    assert_eq!(crashed.operations(), 2, "a clone counts from the start");
}

#[derive(Debug, Clone)]
enum Write {
    Append(usize),
    Sync,
    Cut(usize),
}

fn writes(cuts: bool) -> impl Strategy<Value = Vec<Write>> {
    let size = || prop_oneof![1_usize..30, 1_usize..3000];
    let cut_weight = if cuts { 2 } else { 1 };
    let write = prop_oneof![
        5 => size().prop_map(Write::Append),
        2 => Just(Write::Sync),
        cut_weight => size().prop_map(move |size| if cuts { Write::Cut(size) } else { Write::Sync }),
    ];
    prop::collection::vec(write, 1..14)
}

/// What was written, and what of it is durable whatever happens.
struct Written {
    disk: FaultyDisk,
    live: Vec<u8>,
    synced: Vec<u8>,
    /// The smallest size since the last sync: up to here nothing has changed.
    untouched: usize,
    /// The largest size since the last sync.
    largest: usize,
}

fn write_all(writes: &[Write]) -> Written {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"").unwrap();
    let mut file = append_to(&disk, "a");
    let (mut live, mut synced) = (Vec::new(), Vec::new());
    let (mut untouched, mut largest) = (0, 0);
    for (number, write) in (1_u8..).zip(writes) {
        match write {
            Write::Append(size) => {
                let bytes = vec![number; *size];
                assert_eq!(file.append(&bytes).unwrap(), *size);
                live.extend(bytes);
            }
            Write::Cut(less) => {
                live.truncate(live.len().saturating_sub(*less));
                file.set_size(live.len() as u64).unwrap();
            }
            Write::Sync => {
                file.sync().unwrap();
                synced = live.clone();
                (untouched, largest) = (live.len(), live.len());
            }
        }
        untouched = untouched.min(live.len());
        largest = largest.max(live.len());
    }
    Written {
        disk,
        live,
        synced,
        untouched,
        largest,
    }
}

proptest! {
    #[test]
    fn synced_bytes_survive_and_other_sectors_are_new_or_old(
        writes in writes(false),
        seed: u64,
    ) {
        let written = write_all(&writes);
        let after = written.disk.crash_clone(seed).read_file(path("a")).unwrap();
        prop_assert!(after.starts_with(&written.synced));
        prop_assert!(after.len() <= written.live.len());
        let mut new = written.live.clone();
        new.truncate(after.len());
        let mut old = written.synced.clone();
        old.resize(after.len(), 0);
        for (sector, bytes) in after.chunks(SECTOR_BYTES).enumerate() {
            let range = sector * SECTOR_BYTES..sector * SECTOR_BYTES + bytes.len();
            prop_assert!(bytes == &new[range.clone()] || bytes == &old[range]);
        }
    }

    #[test]
    fn with_cuts_what_was_synced_and_not_cut_survives(writes in writes(true), seed: u64) {
        let written = write_all(&writes);
        let after = written.disk.crash_clone(seed).read_file(path("a")).unwrap();
        prop_assert!(after.len() >= written.untouched);
        prop_assert!(after.len() <= written.largest);
        prop_assert_eq!(&after[..written.untouched], &written.live[..written.untouched]);
    }

    #[test]
    fn when_all_is_synced_a_crash_changes_nothing(writes in writes(true), seed: u64) {
        let written = write_all(&writes);
        append_to(&written.disk, "a").sync().unwrap();
        let after = written.disk.crash_clone(seed);
        prop_assert_eq!(after.read_file(path("a")).unwrap(), written.live);
    }

    #[test]
    fn the_same_seed_gives_the_same_crash_and_a_second_crash_changes_nothing(
        writes in writes(true),
        seed: u64,
        other: u64,
    ) {
        let written = write_all(&writes);
        let first = all_files(&written.disk.crash_clone(seed));
        let again = all_files(&written.disk.crash_clone(seed));
        prop_assert_eq!(&first, &again);
        let killed = all_files(&written.disk.kill_clone().crash_clone(seed));
        prop_assert_eq!(&first, &killed);
        let twice = written.disk.crash_clone(seed).crash_clone(other);
        prop_assert_eq!(&first, &all_files(&twice));
    }

    #[test]
    fn a_durable_file_that_is_only_moved_is_never_lost(
        moves in prop::collection::vec((0_usize..6, 0_usize..6, 0_usize..8), 1..30),
        seed: u64,
    ) {
        const NAMES: [&str; 6] = ["a", "b", "f/a", "f/b", "g/a", "g/b"];
        let disk = FaultyDisk::new();
        disk.make_folder(path("g")).unwrap();
        disk.make_folder(path("f")).unwrap();
        let mut at = 0;
        disk.write_file(path(NAMES[at]), b"treasure").unwrap();
        for (first, second, what) in moves {
            match what {
                0..4 => {
                    disk.rename(path(NAMES[at]), path(NAMES[first])).unwrap();
                    at = first;
                }
                4 => disk.sync_folder(path(["/", "f", "g"][first % 3])).unwrap(),
                _ if first != at && second != at => {
                    drop(append_to(&disk, NAMES[first]));
                    disk.rename(path(NAMES[first]), path(NAMES[second])).unwrap();
                }
                _ => {}
            }
        }
        let after = all_files(&disk.crash_clone(seed));
        prop_assert!(after.iter().any(|(_, bytes)| bytes == b"treasure"), "{:?}", after);
    }
}
