//! Killed with `SIGKILL` on entry to every write, sync, rename and truncate, in turn.

use super::scenario::{FLOW, Place, Said, strace_works};
use crate::support::slice_of;

/// The calls that change the disk, as `strace` names them.
const CALLS: [&str; 8] = [
    "write",
    "fdatasync",
    "fsync",
    "rename",
    "renameat2",
    "ftruncate",
    "unlink",
    "mkdir",
];

/// One call in so many is enough for the slice.
const STRIDE: usize = 5;

/// How often a run makes a call.
fn count(place: &Place, call: &str) -> usize {
    let trace = place.file("trace");
    let expression = format!("trace={call}");
    let words = ["-f", "-o", trace.to_str().unwrap(), "-e", &expression];
    let said = place.scenario(&words, false);
    assert!(said.output.status.success(), "{said:?}");
    let text = std::fs::read_to_string(trace).unwrap();
    text.lines()
        .filter(|line| line.contains(&format!("{call}(")))
        .count()
}

/// Runs the scenario until it is killed on entry to the given call.
fn killed_at(call: &str, number: usize) -> (Place, Said) {
    let place = Place::new();
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:signal=SIGKILL:when={number}");
    let said = place.scenario(
        &["-f", "-o", "/dev/null", "-e", &trace, "-e", &inject],
        false,
    );
    (place, said)
}

#[test]
fn killed_at_any_call_that_changes_the_disk_nothing_acknowledged_is_lost() {
    if !strace_works("kill -9 at every write, sync, rename and truncate") {
        return;
    }
    let each = |call| (1..=count(&Place::new(), call)).map(move |number| (call, number));
    let mut kills = 0;
    for (call, number) in slice_of(CALLS.into_iter().flat_map(each), STRIDE) {
        let (place, before) = killed_at(call, number);
        assert!(
            !before.output.status.success(),
            "{call} {number}: it was not killed"
        );
        goes_on(&place, &before, &format!("killed at {call} {number}"));
        kills += 1;
    }
    assert!(kills > 20, "only {kills} kills");
}

/// The flow opens, holds every acknowledged record, and reaches its end.
fn goes_on(place: &Place, before: &Said, when: &str) {
    let last = before.acknowledged.last().copied().unwrap_or(0);
    let after = place.scenario(&[], true);
    assert!(
        after.output.status.success(),
        "{when}: it does not go on: {after:?}"
    );
    let folded = after.folded.unwrap_or(0);
    assert!(
        folded >= last,
        "{when}: record {last} was acknowledged and only {folded} is there"
    );
    let verified = place.run(&["verify", FLOW]);
    assert!(
        verified.status.success(),
        "{when}: it does not verify: {verified:?}"
    );
}

#[test]
fn killed_while_it_recovers_it_recovers_the_next_time() {
    if !strace_works("kill -9 inside a recovery") {
        return;
    }
    let each = |call| {
        let (torn, _) = torn_place();
        (1..=count_in_recovery(&torn, call)).map(move |number| (call, number))
    };
    let calls = ["write", "fdatasync", "fsync", "rename", "ftruncate"];
    for (call, number) in slice_of(calls.into_iter().flat_map(each), STRIDE * 2) {
        let (place, before) = torn_place();
        let trace = format!("trace={call}");
        let inject = format!("inject={call}:signal=SIGKILL:when={number}");
        place.scenario(
            &["-f", "-o", "/dev/null", "-e", &trace, "-e", &inject],
            true,
        );
        let when = format!("recovery killed at {call} {number}");
        goes_on(&place, &before, &when);
        told(&place, &when);
    }
}

/// A flow whose journal ends in half a record, as a power cut leaves it.
fn torn_place() -> (Place, Said) {
    let place = Place::new();
    let (trace, inject) = ("trace=fdatasync", "inject=fdatasync:signal=SIGKILL:when=9");
    let said = place.scenario(&["-f", "-o", "/dev/null", "-e", trace, "-e", inject], false);
    let journal = place
        .path()
        .join(format!(".a-society/state/demo/{FLOW}/journal"));
    let mut segments: Vec<_> = std::fs::read_dir(journal)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    segments.sort();
    let last = segments.pop().unwrap();
    let mut bytes = std::fs::read(&last).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"seq\":9999,\"at\":\"2026");
    std::fs::write(last, bytes).unwrap();
    (place, said)
}

fn count_in_recovery(place: &Place, call: &str) -> usize {
    let trace = place.file("trace");
    let expression = format!("trace={call}");
    let words = ["-f", "-o", trace.to_str().unwrap(), "-e", &expression];
    let said = place.scenario(&words, true);
    assert!(said.output.status.success(), "{said:?}");
    told(place, "recovery that was not killed");
    let text = std::fs::read_to_string(trace).unwrap();
    text.lines()
        .filter(|line| line.contains(&format!("{call}(")))
        .count()
}

/// What was cut is in the journal, once.
fn told(place: &Place, when: &str) {
    let log = place.run(&["log", FLOW, "--json"]);
    assert!(log.status.success(), "{when}: {log:?}");
    let text = String::from_utf8_lossy(&log.stdout).into_owned();
    let cuts = text.matches("\"fact\":\"recovery_truncated\"").count();
    assert_eq!(cuts, 1, "{when}: the cut is told {cuts} times");
}
