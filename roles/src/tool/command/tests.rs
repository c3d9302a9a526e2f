//! Commands, run by this test binary as their guard.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::tool::tests::stage::{Stage, done, finish, output, plan};

/// With the mark of a call among its variables this is not a test but a guard: see `stage`.
#[test]
fn a_guard_without_an_order_does_nothing() {
    if std::env::var_os("A_SOCIETY_CALL").is_some() {
        let _code = guard(std::io::stdin(), std::io::stdout());
        return;
    }
    assert_eq!(guard(std::io::empty(), std::io::sink()), 125);
}

#[test]
fn a_command_gives_its_exit_code_and_both_outputs() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let said = output(&tools, "run_command", json!({ "command": "echo out; echo err >&2" }));
    assert_eq!(said, "[exit code 0]\nout\n[stderr]\nerr\n");
    let failed = done(&tools, "run_command", json!({ "command": "exit 3" })).unwrap();
    assert_eq!((failed.end, failed.output.as_str()), (CallEnd::Failed, "[exit code 3]\n"));
    let killed = done(&tools, "run_command", json!({ "command": "kill -9 $$" })).unwrap();
    assert!(killed.output.starts_with("[ended by signal 9]"), "{}", killed.output);
}

/// What a command says, whether or not it succeeds.
fn said(stage: &Stage, command: &str) -> String {
    let tools = stage.toolbox();
    done(&tools, "run_command", json!({ "command": command })).unwrap().output
}

/// Whether this system has all walls. Elsewhere the tests of walls have nothing to measure, and
/// say so.
fn has_walls(stage: &Stage) -> bool {
    let missing = plan(&stage.toolbox(), "run_command", json!({ "command": "true" })).unwrap().ask.missing;
    if !missing.is_empty() {
        eprintln!("NOT MEASURED: {}", missing.join("; "));
    }
    missing.is_empty()
}

#[test]
fn a_command_writes_only_in_the_project_and_the_record_folder() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    let (root, record) = (stage.root(), stage.record());
    stage.write("project/.git/config", "old");
    stage.write("project/sub/.git/config", "old");
    stage.write("project/a.txt", "old");
    let (root, record) = (root.display(), record.display());
    let tries = [
        "echo new > a.txt; echo new > made.txt; mkdir d && echo new > d/e".to_owned(),
        format!("echo new > {record}/made.txt"),
        "echo new > \"$TMPDIR/x\" && cp \"$TMPDIR/x\" from-tmp.txt".to_owned(),
        format!("echo new > {root}/outside.txt"),
        format!("echo new > {root}/made.txt"),
        format!("echo new > {root}/.a-society/state/p/f/flow.json"),
        format!("cat {root}/.a-society/state/p/f/flow.json > stolen.txt"),
        "echo new > .git/config; echo new > .git/made; rm -rf .git".to_owned(),
        "echo new > sub/.git/config".to_owned(),
        "mv .git moved".to_owned(),
        format!("ln {root}/outside.txt linked; ln -s {root}/outside.txt soft; echo new >> soft"),
        "umount .git; mount -t tmpfs none sub".to_owned(),
        format!("cat {root}/outside.txt > stolen2.txt"),
    ];
    for command in tries {
        let _any = said(&stage, &command);
    }
    let text = |path: &str| stage.read(path).unwrap_or_default();
    for path in ["project/a.txt", "project/made.txt", "project/d/e", "project/from-tmp.txt"] {
        assert_eq!(text(path), "new\n", "{path}");
    }
    assert_eq!(text(".a-society/state/p/f/record/made.txt"), "new\n");
    for (path, expected) in [
        ("outside.txt", "outside"),
        ("made.txt", ""),
        (".a-society/state/p/f/flow.json", "{}"),
        ("project/stolen.txt", ""),
        ("project/stolen2.txt", ""),
        ("project/.git/config", "old"),
        ("project/.git/made", ""),
        ("project/sub/.git/config", "old"),
    ] {
        assert_eq!(text(path), expected, "{path}");
    }
}

#[test]
fn a_command_sees_no_network_no_other_process_and_no_terminal() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let ours = std::process::id();
    for (id, command, wanted) in [
        ("C67", format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"), false),
        ("K01", format!("cat /proc/{ours}/environ && echo read"), false),
        ("K01", format!("kill -0 {ours} && echo seen"), false),
        ("C55", "cat /proc/self/environ | tr '\\0' '\\n' | grep -c '^A_SOCIETY_CALL='".to_owned(), true),
        ("", "read -r line || echo end of input".to_owned(), true),
        ("", "tty || echo no terminal".to_owned(), true),
        ("", "(exec 3</dev/tty) || echo no terminal".to_owned(), true),
    ] {
        let said = said(&stage, &command);
        assert_eq!(said.contains("[exit code 0]"), wanted, "{id} {command}: {said}");
    }
    assert!(listener.accept().is_err(), "something connected");
}

/// What of a command is alive, by a word that only its processes have in their arguments.
fn alive(word: &str) -> usize {
    let listed = std::fs::read_dir("/proc").unwrap();
    let lines = listed.filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok());
    let is_one = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(word);
    lines.filter(is_one).count()
}

/// A tree that is five deep, of which every part ignores the polite signal, and of which parts
/// have sessions of their own and no variables.
fn tree(word: &str) -> String {
    format!(
        r#"
        export W={word}
        grow() {{
            trap '' TERM HUP INT
            if [ "$1" -gt 0 ]; then
                if [ $(($1 % 2)) = 0 ]; then
                    setsid env -i W=$W bash -c "$(declare -f grow); grow $(($1 - 1))" "$W" </dev/null >/dev/null 2>&1 &
                else
                    (grow $(($1 - 1))) &
                fi
            fi
            while :; do sleep 600.$$1 "$W" 2>/dev/null || sleep 1; done
        }}
        bash -c "$(declare -f grow); grow 5" $W &
        echo up
        wait
        "#
    )
}

fn rounds(slice: usize, full: usize) -> usize {
    if std::env::var_os("A_SOCIETY_TEST_FULL").is_some() {
        full
    } else {
        slice
    }
}

/// Waits until a tree has grown.
fn grown(word: &str) {
    for _ in 0..400 {
        if alive(word) >= 6 {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the tree did not grow: {} processes", alive(word));
}

fn in_full_scope(stage: &Stage) -> Toolbox {
    let mut setting = stage.setting();
    setting.scope = Scope::Full;
    Toolbox::open(setting).unwrap()
}

#[test]
fn a_tree_that_ignores_signals_and_leaves_its_session_is_dead_within_two_seconds_of_a_stop() {
    let stage = Stage::new();
    // With walls and without: without them there are no spaces that would do it for us.
    let boxes = [stage.toolbox(), in_full_scope(&stage)];
    for round in 0..rounds(10, 500) {
        let tools = &boxes[round % 2];
        let word = format!("a-society-tree-{}-{round}", std::process::id());
        let command = tree(&word);
        let planned = plan(tools, "run_command", json!({ "command": command })).unwrap();
        let stop = StopSignal::default();
        let raiser = stop.clone();
        let watched = word.clone();
        let watcher = thread::spawn(move || {
            grown(&watched);
            raiser.raise();
            Instant::now()
        });
        let finished = finish(tools, planned, &stop);
        let waited = watcher.join().unwrap().elapsed();
        assert_eq!((finished.end, alive(&word)), (CallEnd::Stopped, 0), "{}", finished.output);
        assert!(waited < Duration::from_secs(2), "it took {waited:?}");
    }
}
