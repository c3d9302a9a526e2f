//! The trace, the hook, and changes of the disk from outside.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use a_society_state::disk::{Disk, How, Kind, SharedDisk};

use super::super::{DiskCall, FaultPlan, FaultyDisk, InjectedFault};
use super::{append_to, path, text};

#[test]
fn the_trace_tells_in_order_what_was_done_and_what_failed() {
    let disk = FaultyDisk::new();
    disk.make_folder(path("f")).unwrap();
    drop(append_to(&disk, "f/before"));
    disk.record_trace();
    let mut file = append_to(&disk, "f/a");
    file.append(b"123").unwrap();
    file.sync().unwrap();
    disk.sync_folder(path("f")).unwrap();
    disk.mark("ack 1");
    disk.arm(FaultPlan {
        at: disk.operations() + 1,
        fault: InjectedFault::Eio,
        sticky: false,
    });
    file.append(b"4567").unwrap_err();
    let path = PathBuf::from("f/a");
    assert_eq!(
        disk.trace(),
        [
            DiskCall::Open {
                path: path.clone(),
                how: How::CreateOrAppend
            },
            DiskCall::Append {
                path: path.clone(),
                bytes: 3
            },
            DiskCall::Sync { path: path.clone() },
            DiskCall::SyncFolder {
                path: PathBuf::from("f")
            },
            DiskCall::Mark {
                text: "ack 1".to_owned()
            },
            DiskCall::Failed {
                op: Box::new(DiskCall::Append { path, bytes: 4 }),
                kind: io::Error::from_raw_os_error(5).kind()
            },
        ]
    );
}

#[test]
fn without_a_request_nothing_is_recorded() {
    let disk = FaultyDisk::new();
    drop(append_to(&disk, "a"));
    disk.mark("x");
    assert!(disk.trace().is_empty());
}

#[test]
fn the_hook_sees_every_operation_and_may_use_the_disk() {
    let disk = FaultyDisk::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    disk.after_each(Box::new(move |number, disk| {
        let crashed = disk.crash_clone(number);
        drop(append_to(&crashed, "b"));
        assert!(disk.about(path("/")).is_ok());
        sink.lock().unwrap().push((number, text(disk, "a")));
    }));
    let mut file = append_to(&disk, "a");
    file.append(b"x").unwrap();
    drop(file);
    disk.after_each(Box::new(|_, _| {}));
    disk.about(path("a")).unwrap();
    let told = |number, text: &str| (number, Some(text.to_owned()));
    assert_eq!(
        *seen.lock().unwrap(),
        [told(1, ""), told(3, "x")],
        "what the hook itself does counts, and calls no hook"
    );
}

#[test]
fn a_hook_may_replace_itself() {
    let disk = FaultyDisk::new();
    let calls = Arc::new(Mutex::new(0));
    let sink = Arc::clone(&calls);
    disk.after_each(Box::new(move |_, disk| {
        *sink.lock().unwrap() += 1;
        disk.after_each(Box::new(|_, _| {}));
    }));
    for _ in 0..3 {
        disk.about(path("/")).unwrap();
    }
    assert_eq!(*calls.lock().unwrap(), 1);
}

#[test]
fn a_clone_of_the_handle_is_the_same_disk() {
    let disk = FaultyDisk::new();
    let shared: SharedDisk = Arc::new(disk.clone());
    drop(shared.open(path("a"), How::CreateNew).unwrap());
    assert_eq!(disk.operations(), 1);
    assert_eq!(disk.files(), [PathBuf::from("/a")]);
}

#[test]
fn what_somebody_outside_writes_is_durable_at_once_and_no_operation() {
    let disk = FaultyDisk::new();
    disk.write_file(path("/f/g/a"), b"one").unwrap();
    disk.write_file(path("/f/g/a"), b"two").unwrap();
    disk.write_file(path("f/b"), b"\x00\x01").unwrap();
    disk.flip_bit(path("f/b"), 9).unwrap();
    disk.truncate(path("/f/g/a"), 2).unwrap();
    disk.truncate(path("/f/g/a"), 20).unwrap();
    assert_eq!(disk.operations(), 0);
    for seed in 0..50 {
        let after = disk.crash_clone(seed);
        assert_eq!(text(&after, "f/g/a").as_deref(), Some("tw"));
        assert_eq!(after.read_file(path("f/b")).unwrap(), [0, 3]);
    }
    assert!(disk.flip_bit(path("f/b"), 16).is_err());
    assert!(disk.flip_bit(path("nowhere"), 0).is_err());
    assert!(disk.truncate(path("f"), 0).is_err());
    assert!(disk.write_file(path("f"), b"").is_err());
    assert!(disk.make_folder(path("f/b")).is_err());
    assert_eq!(disk.read_file(path("f")), None);
}

#[test]
fn writing_from_outside_settles_a_name_that_was_not_synced() {
    let disk = FaultyDisk::new();
    disk.create_folder(path("f")).unwrap();
    append_to(&disk, "f/a").append(b"x").unwrap();
    disk.write_file(path("f/a"), b"y").unwrap();
    for seed in 0..50 {
        assert_eq!(text(&disk.crash_clone(seed), "f/a").as_deref(), Some("y"));
    }
}

#[test]
fn the_clock_stands_where_it_was_set() {
    let disk = FaultyDisk::new();
    disk.set_now_ms(1000);
    let mut file = append_to(&disk, "a");
    disk.set_now_ms(2000);
    assert_eq!(disk.about(path("a")).unwrap().modified_ms, 1000);
    file.append(b"x").unwrap();
    let about = disk.about(path("a")).unwrap();
    assert_eq!((about.kind, about.modified_ms), (Kind::File, 2000));
}

#[test]
fn a_path_with_dots_is_read_as_written() {
    let disk = FaultyDisk::new();
    disk.write_file(path("/f/../g/./a"), b"x").unwrap();
    assert_eq!(text(&disk, "g/a").as_deref(), Some("x"));
}

#[test]
fn a_folder_that_nobody_syncs_does_not_grow_for_ever() {
    let disk = FaultyDisk::new();
    for number in 0..20_000_u32 {
        let mut file = append_to(&disk, "temp");
        file.append(&number.to_le_bytes()).unwrap();
        disk.rename(path("temp"), path("view")).unwrap();
    }
    assert!(disk.world().tree.node_count() < 10_000);
    assert_eq!(disk.files(), [PathBuf::from("/view")]);
    let crashed = disk.crash_clone(5);
    assert!(crashed.read_file(path("view")).is_some());
}

#[test]
fn many_threads_may_share_a_disk() {
    let disk = FaultyDisk::new();
    disk.after_each(Box::new(|number, disk| drop(disk.crash_clone(number))));
    std::thread::scope(|scope| {
        for name in ["a", "b", "c"] {
            let disk = disk.clone();
            scope.spawn(move || {
                let mut file = append_to(&disk, name);
                for _ in 0..100 {
                    file.append(b"x").unwrap();
                    file.sync().unwrap();
                }
            });
        }
    });
    assert_eq!(disk.operations(), 603);
    assert_eq!(text(&disk, "c").unwrap().len(), 100);
}
