//! Killed with `SIGKILL` on entry to the calls that change the disk, an import is there whole or not
//! at all, and the next one makes it whole.

use std::process::{Command, Output};

use super::{Old, case, contents};
use crate::support::slice_of;

/// The calls that change the disk, as `strace` names them.
const CALLS: [&str; 7] = [
    "write",
    "fdatasync",
    "fsync",
    "rename",
    "renameat2",
    "unlink",
    "mkdir",
];
/// One call in so many is enough for the slice.
const STRIDE: usize = 8;

const NAME: &str = "correction";

fn traced(place: &Old, words: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_a-society");
    let mut command = Command::new("strace");
    command.args(words).args([program, "import-state"]);
    command.current_dir(place.workspace.path());
    command.output().unwrap()
}

fn count(call: &str) -> usize {
    let place = Old::with(&[NAME]);
    let trace = place.workspace.path().join("trace");
    let expression = format!("trace={call}");
    let words = ["-f", "-o", trace.to_str().unwrap(), "-e", &expression];
    assert!(traced(&place, &words).status.success());
    let text = std::fs::read_to_string(trace).unwrap();
    let named = format!("{call}(");
    text.lines().filter(|line| line.contains(&named)).count()
}

#[test]
fn killed_at_any_call_an_import_is_there_whole_or_not_at_all() {
    if !crate::crash::strace_works("kill -9 at every call of an import") {
        return;
    }
    let each = |call| (1..=count(call)).map(move |number| (call, number));
    let mut kills = 0;
    for (call, number) in slice_of(CALLS.into_iter().flat_map(each), STRIDE) {
        let place = Old::with(&[NAME]);
        let trace = format!("trace={call}");
        let inject = format!("inject={call}:signal=SIGKILL:when={number}");
        let words = ["-f", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        let said = traced(&place, &words);
        assert!(!said.status.success(), "{call} {number}: it was not killed");
        is_whole_or_not_there(&place, &format!("killed at {call} {number}"));
        kills += 1;
    }
    assert!(kills > 10, "only {kills} kills");
}

fn is_whole_or_not_there(place: &Old, when: &str) {
    if place.folder(NAME).join("journal").exists() {
        let said = place.run(&["verify", &Old::id(NAME)]);
        assert_eq!(said.code, 0, "{when}: {said:?}");
    }
    let before = if place.folder(NAME).join("journal").exists() || !place.folder(NAME).exists() {
        place.aside(NAME)
    } else {
        place.folder(NAME)
    };
    assert_eq!(
        contents(&before),
        contents(&case(NAME)),
        "{when}: what is read"
    );
    let said = place.run(&["import-state", "--json"]);
    assert_eq!(said.code, 0, "{when}: {said:?}");
    let said = place.run(&["verify", &Old::id(NAME), "--json"]);
    assert_eq!(said.code, 0, "{when}: {said:?}");
    assert_eq!(
        contents(&place.aside(NAME)),
        contents(&case(NAME)),
        "{when}"
    );
    let entries = std::fs::read_dir(place.workspace.state()).unwrap();
    let coming = entries.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".coming-")
    });
    assert_eq!(coming.count(), 0, "{when}: something half-made is left");
}
