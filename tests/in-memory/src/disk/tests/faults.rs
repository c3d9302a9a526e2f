//! Which faults strike which operations, and what they leave.

use std::io;

use a_society_state::disk::{Disk, How, Locked};

use super::super::{FaultPlan, FaultyDisk, InjectedFault, PartialWrite};
use super::{append_to, path, text};

fn arm_next(disk: &FaultyDisk, fault: InjectedFault) {
    disk.arm(FaultPlan {
        at: disk.operations() + 1,
        fault,
        sticky: false,
    });
}

/// The names of the operations of [`do_one_of_each`], in order.
const OPERATIONS: [&str; 18] = [
    "create folder",
    "open new",
    "append",
    "append one",
    "read",
    "reserve",
    "grow",
    "cut",
    "sync",
    "size",
    "lock",
    "rename",
    "link",
    "sync folder",
    "list",
    "about",
    "free",
    "remove file",
];

/// One operation of each sort, each with its result.
fn do_one_of_each(disk: &FaultyDisk) -> Vec<io::Result<usize>> {
    let done = |result: io::Result<()>| result.map(|()| 0);
    let mut results = vec![done(disk.create_folder(path("f")))];
    let opened = disk.open(path("a"), How::CreateNew);
    let mut file = match opened {
        Ok(file) => {
            results.push(Ok(0));
            file
        }
        Err(error) => {
            results.push(Err(error));
            return results;
        }
    };
    results.push(file.append(b"12345678"));
    results.push(file.append(b"9"));
    results.push(file.read_at(0, &mut [0; 4]));
    results.push(done(file.reserve(20)));
    results.push(done(file.set_size(30)));
    results.push(done(file.set_size(3)));
    results.push(done(file.sync()));
    results.push(file.size_bytes().map(|_| 0));
    results.push(file.try_lock().map(|_| 0));
    results.push(done(disk.rename(path("a"), path("b"))));
    results.push(done(disk.link(path("b"), path("c"))));
    results.push(done(disk.sync_folder(path("/"))));
    results.push(disk.list(path("/")).map(|_| 0));
    results.push(disk.about(path("/")).map(|_| 0));
    results.push(disk.free_bytes(path("/")).map(|_| 0));
    results.push(done(disk.remove_file(path("b"))));
    results
}

/// The operations that a fault strikes, when it is planned for each of them in turn.
fn struck(fault: InjectedFault) -> Vec<&'static str> {
    let mut struck = Vec::new();
    for (at, name) in (1..).zip(OPERATIONS) {
        let disk = FaultyDisk::new();
        let expected = do_one_of_each(&FaultyDisk::new());
        disk.arm(FaultPlan {
            at,
            fault,
            sticky: false,
        });
        let results = do_one_of_each(&disk);
        let index = usize::try_from(at).unwrap() - 1;
        let differs = match (&results[index], &expected[index]) {
            (Ok(got), Ok(wanted)) => got != wanted,
            (Err(_), _) | (_, Err(_)) => true,
        };
        assert_eq!(disk.fired(), differs, "{fault:?} at {name}");
        if disk.fired() {
            struck.push(name);
        }
    }
    struck
}

#[test]
fn without_a_fault_every_operation_succeeds_and_counts_one() {
    let disk = FaultyDisk::new();
    let results = do_one_of_each(&disk);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(disk.operations(), OPERATIONS.len() as u64);
    assert!(!disk.fired());
}

#[test]
fn a_device_error_strikes_every_operation() {
    assert_eq!(struck(InjectedFault::Eio), OPERATIONS);
}

#[test]
fn a_full_disk_strikes_what_takes_space() {
    let takes_space = [
        "create folder",
        "open new",
        "append",
        "append one",
        "reserve",
        "grow",
        "sync",
        "rename",
        "link",
        "sync folder",
    ];
    assert_eq!(struck(InjectedFault::Enospc), takes_space);
    assert_eq!(struck(InjectedFault::Edquot), takes_space);
}

#[test]
fn a_read_only_file_system_strikes_what_writes() {
    assert_eq!(
        struck(InjectedFault::Erofs),
        [
            "create folder",
            "open new",
            "append",
            "append one",
            "reserve",
            "grow",
            "cut",
            "sync",
            "rename",
            "link",
            "sync folder",
            "remove file"
        ]
    );
}

#[test]
fn each_of_the_other_faults_strikes_its_own_operations() {
    assert_eq!(
        struck(InjectedFault::Eintr),
        ["append", "append one", "read"]
    );
    assert_eq!(
        struck(InjectedFault::Emfile),
        ["open new", "sync folder", "list"]
    );
    assert_eq!(
        struck(InjectedFault::ShortWrite(PartialWrite::One)),
        ["append"]
    );
    assert_eq!(
        struck(InjectedFault::ShortWrite(PartialWrite::Half)),
        ["append"]
    );
    assert_eq!(
        struck(InjectedFault::ShortWrite(PartialWrite::AllButOne)),
        ["append"]
    );
    assert_eq!(struck(InjectedFault::ShortRead), ["read"]);
    assert_eq!(struck(InjectedFault::SyncFailsThenLies), ["sync"]);
    assert_eq!(struck(InjectedFault::FolderSyncFails), ["sync folder"]);
    assert_eq!(struck(InjectedFault::RenameFails), ["rename"]);
    assert_eq!(struck(InjectedFault::NoLinks), ["link"]);
}

#[test]
fn every_fault_can_strike_something() {
    for fault in InjectedFault::ALL {
        assert!(!struck(fault).is_empty(), "{fault:?}");
    }
}

#[test]
fn faults_carry_the_errors_of_the_system() {
    let kinds = [
        (InjectedFault::Enospc, io::ErrorKind::StorageFull),
        (InjectedFault::Edquot, io::ErrorKind::QuotaExceeded),
        (InjectedFault::Eintr, io::ErrorKind::Interrupted),
        (InjectedFault::Erofs, io::ErrorKind::ReadOnlyFilesystem),
    ];
    let disk = FaultyDisk::new();
    let mut file = append_to(&disk, "a");
    for (fault, kind) in kinds {
        arm_next(&disk, fault);
        assert_eq!(file.append(b"x").unwrap_err().kind(), kind);
    }
    arm_next(&disk, InjectedFault::Emfile);
    let error = disk.open(path("a"), How::Read).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(24));
    assert_eq!(
        text(&disk, "a").as_deref(),
        Some(""),
        "a refused append takes nothing"
    );
}

#[test]
fn an_interrupted_append_works_when_it_is_tried_again() {
    let disk = FaultyDisk::new();
    let mut file = append_to(&disk, "a");
    arm_next(&disk, InjectedFault::Eintr);
    let error = file.append(b"xy").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    assert_eq!(file.append(b"xy").unwrap(), 2);
    assert_eq!(text(&disk, "a").as_deref(), Some("xy"));
}

#[test]
fn a_short_write_takes_the_first_bytes() {
    for (part, taken) in [
        (PartialWrite::One, "1"),
        (PartialWrite::Half, "12"),
        (PartialWrite::AllButOne, "1234"),
    ] {
        let disk = FaultyDisk::new();
        let mut file = append_to(&disk, "a");
        arm_next(&disk, InjectedFault::ShortWrite(part));
        assert_eq!(file.append(b"12345").unwrap(), taken.len());
        assert_eq!(text(&disk, "a").as_deref(), Some(taken));
    }
}

#[test]
fn a_short_read_returns_the_first_half() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"12345").unwrap();
    let file = disk.open(path("a"), How::Read).unwrap();
    arm_next(&disk, InjectedFault::ShortRead);
    let mut bytes = [0; 9];
    assert_eq!(file.read_at(1, &mut bytes).unwrap(), 2);
    assert_eq!(&bytes[..3], b"23\0");
    arm_next(&disk, InjectedFault::ShortRead);
    assert_eq!(file.read_at(4, &mut bytes).unwrap(), 1);
    assert!(!disk.fired(), "one byte cannot be cut short");
}

#[test]
fn a_sticky_fault_strikes_again_until_it_is_disarmed() {
    let disk = FaultyDisk::new();
    let mut file = append_to(&disk, "a");
    disk.arm(FaultPlan {
        at: disk.operations() + 1,
        fault: InjectedFault::Enospc,
        sticky: true,
    });
    assert_eq!(file.size_bytes().unwrap(), 0);
    assert!(!disk.fired());
    for _ in 0..3 {
        file.append(b"x").unwrap_err();
    }
    assert!(disk.fired());
    file.set_size(0).unwrap();
    disk.disarm();
    assert!(!disk.fired());
    file.append(b"x").unwrap();
}

#[test]
fn a_failed_rename_changes_nothing() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"new").unwrap();
    disk.write_file(path("b"), b"old").unwrap();
    arm_next(&disk, InjectedFault::RenameFails);
    disk.rename(path("a"), path("b")).unwrap_err();
    for seed in 0..50 {
        let after = disk.crash_clone(seed);
        assert_eq!(text(&after, "a").as_deref(), Some("new"));
        assert_eq!(text(&after, "b").as_deref(), Some("old"));
    }
}

#[test]
fn a_failed_sync_of_a_folder_makes_no_name_durable() {
    let disk = FaultyDisk::new();
    drop(append_to(&disk, "a"));
    arm_next(&disk, InjectedFault::FolderSyncFails);
    disk.sync_folder(path("/")).unwrap_err();
    assert!((0..50).any(|seed| disk.crash_clone(seed).files().is_empty()));
}

#[test]
fn a_full_disk_takes_a_part_and_then_nothing_until_space_is_freed() {
    let disk = FaultyDisk::new();
    disk.write_file(path("reserve"), &[0; 10]).unwrap();
    disk.set_free_bytes(Some(5));
    let mut file = append_to(&disk, "a");
    assert_eq!(file.append(b"1234567").unwrap(), 5);
    assert_eq!(disk.free_bytes(path("/")).unwrap(), 0);
    let error = file.append(b"67").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.append(b"").unwrap(), 0);
    let error = file.reserve(6).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    file.reserve(5).unwrap();
    file.set_size(3).unwrap();
    assert_eq!(disk.free_bytes(path("/")).unwrap(), 2);
    disk.remove_file(path("reserve")).unwrap();
    assert_eq!(disk.free_bytes(path("/")).unwrap(), 12);
    file.reserve(15).unwrap();
    assert_eq!(disk.free_bytes(path("/")).unwrap(), 0);
    assert_eq!(file.size_bytes().unwrap(), 15);
    disk.set_free_bytes(None);
    assert_eq!(file.append(b"x").unwrap(), 1);
}

#[test]
fn the_space_of_a_removed_file_comes_back_when_its_last_handle_is_dropped() {
    let disk = FaultyDisk::new();
    disk.set_free_bytes(Some(10));
    let mut first = append_to(&disk, "a");
    first.append(b"12345678").unwrap();
    let second = append_to(&disk, "a");
    disk.remove_file(path("a")).unwrap();
    drop(first);
    assert_eq!(disk.free_bytes(path("/")).unwrap(), 2);
    assert_eq!(second.size_bytes().unwrap(), 8);
    drop(second);
    assert_eq!(disk.free_bytes(path("/")).unwrap(), 10);
}

#[test]
fn a_replaced_file_gives_its_space_back_and_a_crash_counts_again() {
    let disk = FaultyDisk::new();
    disk.set_free_bytes(Some(10));
    for _ in 0..5 {
        let mut file = append_to(&disk, "temp");
        file.append(b"1234").unwrap();
        disk.rename(path("temp"), path("view")).unwrap();
    }
    assert_eq!(disk.free_bytes(path("/")).unwrap(), 6);
    assert_eq!(disk.kill_clone().free_bytes(path("/")).unwrap(), 6);
    for seed in 0..50 {
        let after = disk.crash_clone(seed);
        let sizes = after.files().into_iter().map(|file| {
            let bytes = after.read_file(&file).unwrap();
            bytes.len() as u64
        });
        let used: u64 = sizes.sum();
        assert_eq!(
            after.free_bytes(path("/")).unwrap(),
            10_u64.saturating_sub(used)
        );
    }
}

#[test]
fn a_file_larger_than_the_disk_can_hold_is_refused() {
    let disk = FaultyDisk::new();
    let mut file = append_to(&disk, "a");
    for size_bytes in [u64::MAX, 1 << 40] {
        let error = file.set_size(size_bytes).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
    assert_eq!(file.size_bytes().unwrap(), 0);
}

#[test]
fn a_handle_for_reading_refuses_to_write() {
    let disk = FaultyDisk::new();
    disk.write_file(path("a"), b"x").unwrap();
    let mut file = disk.open(path("a"), How::Read).unwrap();
    file.append(b"y").unwrap_err();
    file.set_size(0).unwrap_err();
    file.reserve(9).unwrap_err();
    assert_eq!(file.try_lock().unwrap(), Locked::Yes);
    assert_eq!(text(&disk, "a").as_deref(), Some("x"));
}
