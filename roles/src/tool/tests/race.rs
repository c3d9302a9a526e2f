//! Folders that are swapped for links while they are used (P13).

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::stage::{Stage, done, everything_in};

#[test]
fn p13_a_folder_that_is_swapped_for_a_link_all_the_time_leads_nowhere() {
    let stage = Stage::new();
    stage.write("project/door/file.txt", "inside");
    stage.write("outer/file.txt", "outside");
    let (door, other) = (stage.project().join("door"), stage.project().join("other"));
    symlink(stage.root().join("outer"), &other).unwrap();
    let before = everything_in(&stage.root().join("outer"));
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_over);
    let swapper = thread::spawn(move || {
        while !seen.load(Ordering::Relaxed) {
            renameat_with(CWD, &door, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        }
    });
    let tools = stage.toolbox();
    let full = std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1");
    let rounds = if full { 1_000_000 } else { 3_000 };
    let mut worked = 0;
    for round in 0..rounds {
        let given = match round % 3 {
            0 => ("read_file", json!({ "path": "door/file.txt" })),
            1 => (
                "write_file",
                json!({ "path": "door/new.txt", "content": "x" }),
            ),
            _ => ("search_files", json!({ "path": "door", "text": "side" })),
        };
        if let Ok(finished) = done(&tools, given.0, given.1) {
            assert!(!finished.output.contains("outside"), "{}", finished.output);
            worked += 1;
        }
    }
    is_over.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(everything_in(&stage.root().join("outer")), before);
    assert!(fs::exists(stage.root().join("outer/new.txt")).is_ok_and(|there| !there));
    assert!(
        worked > 0,
        "no round found the folder in its place, so nothing was tried"
    );
}
