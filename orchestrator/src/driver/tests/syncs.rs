//! How many syncs a walk takes, and what must not come before them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "only writes and syncs are counted"
)]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::At;
use a_society_facts::view::flow::FlowStatus;
use a_society_in_memory::{DiskCall, FaultyDisk, ManualClock};
use a_society_state::disk::How;
use a_society_state::{Ground, Store, process};

use super::begin_in;
use crate::driver::core::Core;
use crate::driver::task::drive;

const SCRIPT: &str = r"
default: forward
script:
  - node: begin
    say:
      - I begin.
      - write: { path: plan.md, text: The plan. }
      - handoff: [TARGETS]
";

/// A clock that does not move, so that no view is ever due while the flow moves.
fn store(disk: &FaultyDisk) -> Store {
    let ground = Ground {
        disk: Arc::new(disk.clone()),
        clock: Arc::new(ManualClock::from(At::from_ms(1_795_246_169_123))),
        process: process::this(disk),
        ledger: None,
    };
    Store::new(ground, "/w/.a-society/state".into())
}

/// From `begin` to so many nodes, one after the other or beside one another, and to `end`.
fn begun(disk: &FaultyDisk, count: usize, beside: bool) -> Core {
    let (mut nodes, mut edges, mut targets) = (String::new(), String::new(), String::new());
    let mut before = "begin".to_owned();
    for number in 2..count + 2 {
        writeln!(nodes, "    - {{ id: n{number}, role: writer_{number} }}").unwrap();
        writeln!(edges, "    - {{ from: {before}, to: n{number} }}").unwrap();
        if beside || number == 2 {
            write!(targets, "{{ to: n{number}, artifact: plan.md }}, ").unwrap();
        }
        if beside {
            writeln!(edges, "    - {{ from: n{number}, to: end }}").unwrap();
        } else {
            before = format!("n{number}");
        }
    }
    if !beside {
        writeln!(edges, "    - {{ from: {before}, to: end }}").unwrap();
    }
    let flow = format!(
        "workflow:\n  name: Many\n  nodes:\n    - {{ id: begin, role: owner }}\n{nodes}    \
         - {{ id: end, role: owner, await-all-inputs: true }}\n  edges:\n{edges}roles:\n  \
         owner: {{ executor: scripted }}\n  writer: {{ executor: scripted }}\n"
    );
    begin_in(
        &store(disk),
        disk,
        &flow,
        &SCRIPT.replace("TARGETS", &targets),
    )
}

/// Drives a flow until all forward work is done, and returns what the disk did meanwhile.
fn driven(disk: &FaultyDisk, core: Core) -> Vec<DiskCall> {
    disk.record_trace();
    let before = disk.trace().len();
    let driven = drive(core, None).unwrap();
    let mut after = 0;
    loop {
        let seen = driven.handle.wait(after, Duration::from_secs(10)).unwrap();
        if seen.state.status == FlowStatus::AwaitingImprovementChoice && seen.live == 0 {
            break;
        }
        assert!(seen.seq > after && !seen.over, "it stands still");
        after = seen.seq;
    }
    let ops = disk.trace().split_off(before);
    driven.handle.drain();
    driven.task.join().unwrap().unwrap();
    ops
}

fn syncs(ops: &[DiskCall]) -> usize {
    let sync = |op: &&DiskCall| matches!(op, DiskCall::Sync { .. } | DiskCall::SyncFolder { .. });
    ops.iter().filter(sync).count()
}

#[test]
fn a_node_of_two_requests_and_one_call_takes_three_syncs_and_no_file_takes_one() {
    let disk = FaultyDisk::new();
    let ops = driven(&disk, begun(&disk, 8, false));
    // The last node closes without a call, and its last text is synced when the flow rests.
    assert_eq!(syncs(&ops), 3 * 9 + 1 + 1);
}

#[test]
fn turns_that_wait_at_the_same_time_share_their_syncs() {
    let disk = FaultyDisk::new();
    let ops = driven(&disk, begun(&disk, 64, true));
    // Eight turns at once: 3 for the first, 3 for each eight of the others, and those of the end.
    let shared = 3 + 3 * 64 / 8;
    assert!(
        (shared..=shared + 8).contains(&syncs(&ops)),
        "{} syncs",
        syncs(&ops)
    );
}

#[test]
fn no_call_writes_a_file_before_its_start_is_durable() {
    let disk = FaultyDisk::new();
    let ops = driven(&disk, begun(&disk, 8, false));
    let (mut synced, mut written) = (true, 0);
    for op in &ops {
        match op {
            DiskCall::Append { path, .. } if path.ends_with("00000001.jsonl") => synced = false,
            DiskCall::Sync { path } if path.ends_with("00000001.jsonl") => synced = true,
            DiskCall::Open {
                path,
                how: How::CreateNew,
            } if path
                .parent()
                .is_some_and(|folder| folder.ends_with("record")) =>
            {
                assert!(synced, "{} came before its record", path.display());
                written += 1;
            }
            _ => {}
        }
    }
    assert_eq!(written, 9);
}
