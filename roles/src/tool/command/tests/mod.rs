//! Commands, run by this test binary as their guard.

mod background;
mod oracle;
mod reading;

use std::fs;
use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::frame::Spaces;
use super::*;
use crate::tool::tests::stage::{Stage, done, finish, missing, output, plan, without_time};

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
    let said = output(
        &tools,
        "run_command",
        json!({ "command": "echo out; echo err >&2" }),
    );
    assert_eq!(said, "[exit 0]\nout\nerr\n");
    let failed = done(&tools, "run_command", json!({ "command": "exit 3" })).unwrap();
    assert_eq!(
        (failed.end, without_time(&failed.output).as_str()),
        (CallEnd::Failed, "[exit 3]\n")
    );
    let killed = done(&tools, "run_command", json!({ "command": "kill -9 $$" })).unwrap();
    assert!(
        killed.output.starts_with("[signal 9, "),
        "{}",
        killed.output
    );
}

/// What a command says, whether or not it succeeds.
fn said(stage: &Stage, command: &str) -> String {
    let tools = stage.toolbox();
    let done = done(&tools, "run_command", json!({ "command": command })).unwrap();
    without_time(&done.output)
}

/// Says that a test found nothing to measure here.
fn not_measured(why: &str) {
    // Not by `eprintln!`, which the test runner keeps to itself while a test passes.
    writeln!(
        std::io::stderr(),
        "NOT MEASURED: commands behind walls: {why}"
    )
    .unwrap();
}

/// Whether this system has all walls. Elsewhere the tests of walls have nothing to measure, and
/// say so.
fn has_walls(stage: &Stage) -> bool {
    let plain = plan(
        &stage.toolbox(),
        "run_command",
        json!({ "command": "true" }),
    )
    .unwrap();
    let missing = missing(&plain);
    if !missing.is_empty() {
        not_measured(&missing.join("; "));
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
    for path in [
        "project/a.txt",
        "project/made.txt",
        "project/d/e",
        "project/from-tmp.txt",
    ] {
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
        (
            "C67",
            format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"),
            false,
        ),
        (
            "K01",
            format!("cat /proc/{ours}/environ && echo read"),
            false,
        ),
        ("K01", format!("kill -0 {ours} && echo seen"), false),
        (
            "C55",
            "cat /proc/self/environ | tr '\\0' '\\n' | grep -c '^A_SOCIETY_CALL='".to_owned(),
            true,
        ),
        ("", "read -r line || echo end of input".to_owned(), true),
        ("", "tty || echo no terminal".to_owned(), true),
        ("", "(exec 3</dev/tty) || echo no terminal".to_owned(), true),
    ] {
        let said = said(&stage, &command);
        assert_eq!(said.contains("[exit 0]"), wanted, "{id} {command}: {said}");
    }
    assert!(listener.accept().is_err(), "something connected");
}

/// What of a command is alive, by a word that only its processes have in their arguments.
fn alive(word: &str) -> usize {
    let listed = fs::read_dir("/proc").unwrap();
    let lines = listed.filter_map(|entry| fs::read(entry.unwrap().path().join("cmdline")).ok());
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
    if std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1") {
        full
    } else {
        slice
    }
}

/// Waits until a tree has grown.
fn grown(word: &str) {
    for _ in 0..2_000 {
        if alive(word) >= 6 {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the tree {word} did not grow: {} processes", alive(word));
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
        assert_eq!(
            (finished.end, alive(&word)),
            (CallEnd::Stopped, 0),
            "{}",
            finished.output
        );
        assert!(waited < Duration::from_secs(2), "it took {waited:?}");
    }
}

/// The variable that makes the test below the process that is killed: the word of its tree.
const VICTIM: &str = "A_SOCIETY_TEST_VICTIM";

#[test]
fn a_command_does_not_outlive_us_when_we_are_killed() {
    if let Some(word) = std::env::var_os(VICTIM) {
        let stage = Stage::new();
        let word = word.into_string().unwrap();
        let tools = if word.ends_with("full") {
            in_full_scope(&stage)
        } else {
            stage.toolbox()
        };
        let _never = done(&tools, "run_command", json!({ "command": tree(&word) }));
        return;
    }
    for kind in ["walls", "full"] {
        let word = format!("a-society-orphan-{}-{kind}", std::process::id());
        let mut us = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "tool::command::tests::a_command_does_not_outlive_us_when_we_are_killed",
                "--exact",
            ])
            .env(VICTIM, &word)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        grown(&word);
        us.kill().unwrap();
        us.wait().unwrap();
        let killed = Instant::now();
        while alive(&word) > 0 {
            assert!(
                killed.elapsed() < Duration::from_secs(2),
                "{} live on",
                alive(&word)
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_command_that_is_never_let_go_never_runs() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let planned = plan(
        &tools,
        "run_command",
        json!({ "command": "echo ran > ran.txt" }),
    )
    .unwrap();
    let running = tools
        .start(
            planned.clone(),
            &"7.1.1".parse().unwrap(),
            &StopSignal::default(),
        )
        .unwrap();
    let process = running.process().unwrap();
    assert!(process.start_ticks > 0 && !process.boot_id.is_empty());
    drop(running);
    assert_eq!(stage.read("project/ran.txt"), None);
    let stop = StopSignal::default();
    stop.raise();
    let finished = finish(&tools, planned, &stop);
    assert_eq!(
        (finished.end, stage.read("project/ran.txt")),
        (CallEnd::NotRun, None)
    );
}

#[test]
fn a_command_ends_at_its_time_limit_and_what_it_left_behind_ends_with_it() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let word = format!("a-society-late-{}", std::process::id());
    let command = format!("echo begun; (exec -a {word} sleep 600) & exec -a {word} sleep 600");
    let late = done(
        &tools,
        "run_command",
        json!({ "command": command, "timeout_ms": 300 }),
    )
    .unwrap();
    assert_eq!(late.end, CallEnd::TimedOut);
    assert_eq!(
        late.output,
        "begun\n[ended after 300 ms; set timeout_ms or background]\n"
    );
    // It holds the output open, which delays no one.
    let command = format!("setsid bash -c 'exec -a {word} sleep 600' & echo over");
    assert_eq!(
        output(&tools, "run_command", json!({ "command": command })),
        "[exit 0]\nover\n"
    );
    assert_eq!(alive(&word), 0);
}

#[test]
fn output_without_end_is_cut_and_the_rest_is_handed_out() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let endless = json!({ "command": "yes | head -c 30000000; printf '\\xff\\0\\033[31mend'" });
    let finished = done(&tools, "run_command", endless).unwrap();
    assert_eq!((finished.end, finished.is_cut), (CallEnd::Done, true));
    assert!(
        finished.output.len() < 60 * 1024,
        "{} bytes",
        finished.output.len()
    );
    assert!(
        finished.output.contains("left out")
            && finished.output.ends_with("\u{fffd}\0\u{1b}[31mend")
    );
    let named = "; the first and last 2,097,152 bytes: record/.outputs/7.1.1.txt ...]\n";
    assert!(finished.output.contains(named), "{}", finished.output);
    // 30,000,000 bytes and the few of the end, less what is shown.
    assert!(
        finished.output.contains("\n[... 29,9"),
        "{}",
        finished.output
    );
    let kept = fs::read_to_string(stage.record().join(".outputs/7.1.1.txt")).unwrap();
    assert!(
        kept.len() > 4_000_000 && kept.len() < 5 * 1024 * 1024,
        "{} bytes",
        kept.len()
    );
    // A line that is as long as everything.
    let line = json!({ "command": "head -c 10000000 /dev/zero | tr '\\0' x" });
    let finished = done(&tools, "run_command", line).unwrap();
    assert!(finished.is_cut && finished.output.len() < 60 * 1024);
}

#[test]
fn secrets_in_the_output_of_a_command_are_blanked_out_however_they_are_written() {
    let stage = Stage::new();
    let mut setting = stage.setting();
    setting.secrets = vec!["hunter2-hunter2-hunter2".to_owned()];
    setting.environment.push((
        "MY_API_KEY".to_owned(),
        "hunter2-hunter2-hunter2".to_owned(),
    ));
    let tools = Toolbox::open(setting).unwrap();
    let command = "env; for part in hun ter2-hunter2- hunter2; do printf $part; sleep 0.05; done; \
                   printf 'h\\033[1munter2-hunter2-hunter2 '; printf hunter2-hunter2-hunter2 | base64";
    let said = output(&tools, "run_command", json!({ "command": command }));
    assert_eq!(
        said.matches(a_society_base::redact::MARK).count(),
        3,
        "{said}"
    );
    assert!(
        !said.contains("MY_API_KEY") && !said.contains("unter2"),
        "{said}"
    );
}

#[test]
fn p35_a_command_runs_only_in_a_folder_that_may_be_written() {
    let stage = Stage::new();
    stage.write("project/sub/a", "");
    std::os::unix::fs::symlink(stage.root(), stage.project().join("out")).unwrap();
    std::os::unix::fs::symlink("/", stage.project().join("system")).unwrap();
    let tools = stage.toolbox();
    for folder in [
        "/",
        "../",
        "..",
        "/etc",
        "out",
        "system",
        "system/etc",
        "sub/a",
        "sub/none",
        ".git",
        "",
    ] {
        let given = json!({ "command": "pwd", "folder": folder });
        assert!(plan(&tools, "run_command", given).is_err(), "{folder}");
    }
    for (folder, expected) in [("sub", "project/sub"), (".", "project")] {
        let said = output(
            &tools,
            "run_command",
            json!({ "command": "pwd", "folder": folder }),
        );
        assert_eq!(
            said,
            format!("[exit 0]\n{}/{expected}\n", stage.root().display())
        );
    }
    // A folder that was put in the place of the one that was meant is not entered.
    let planned = plan(
        &tools,
        "run_command",
        json!({ "command": "pwd", "folder": "sub" }),
    )
    .unwrap();
    fs::rename(stage.project().join("sub"), stage.project().join("old")).unwrap();
    std::os::unix::fs::symlink(stage.root(), stage.project().join("sub")).unwrap();
    let finished = finish(&tools, planned, &StopSignal::default());
    assert_eq!(finished.end, CallEnd::Failed, "{}", finished.output);
}

/// The same command, as on a system that does not let a user make spaces.
fn without_spaces(stage: &Stage, command: &str) -> String {
    in_spaces(stage, command, &Spaces::None)
}

fn in_spaces(stage: &Stage, command: &str, spaces: &Spaces) -> String {
    let tools = stage.toolbox();
    let mut planned = plan(&tools, "run_command", json!({ "command": command })).unwrap();
    if let Deed::Command(launch) = &mut planned.deed {
        launch.order.walls.spaces = spaces.clone();
    }
    without_time(&finish(&tools, planned, &StopSignal::default()).output)
}

#[test]
fn without_spaces_the_other_walls_stand_and_it_is_said() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    stage.write("project/.git/config", "old");
    stage.write("project/sub/a.txt", "old");
    let (root, record) = (stage.root(), stage.record());
    let said = without_spaces(&stage, "echo new > sub/a.txt");
    assert!(said.contains("[ran without spaces of its own"), "{said}");
    for command in [
        format!("echo new > {}/made.txt", record.display()),
        format!("echo new > {}/outside.txt", root.display()),
        format!(
            "cat {}/.a-society/state/p/f/flow.json > sub/stolen.txt",
            root.display()
        ),
        "echo new > .git/config".to_owned(),
        "rm -rf .git".to_owned(),
    ] {
        let _any = without_spaces(&stage, &command);
    }
    let text = |path: &str| stage.read(path).unwrap_or_default();
    assert_eq!(text("project/sub/a.txt"), "new\n");
    assert_eq!(text(".a-society/state/p/f/record/made.txt"), "new\n");
    assert_eq!(text("outside.txt"), "outside");
    assert_eq!(text("project/sub/stolen.txt"), "");
    assert_eq!(text("project/.git/config"), "old");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let said = without_spaces(&stage, &format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
    assert!(!said.contains("[exit 0]"), "{said}");
}

#[test]
fn what_leads_to_other_programs_of_the_user_is_closed_and_what_stays_inside_is_not() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    let python = |program: &str| said(&stage, &format!("python3 -c '{program}'"));
    if !python("print(1)").contains("[exit 0]\n1") {
        return not_measured("there is no python");
    }
    let unix = python("import socket; socket.socket(socket.AF_UNIX)");
    assert!(unix.contains("PermissionError"), "{unix}");
    let out = python("import socket; socket.create_connection((\"1.1.1.1\", 443), 1)");
    assert!(out.contains("Network is unreachable"), "{out}");
    let traced = python("import ctypes; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))");
    assert!(traced.contains("-1"), "{traced}");
}

#[test]
fn a_guard_that_is_asked_to_end_ends_its_command_first() {
    let stage = Stage::new();
    let tools = in_full_scope(&stage);
    let word = format!("a-society-asked-{}", std::process::id());
    let planned = plan(&tools, "run_command", json!({ "command": tree(&word) })).unwrap();
    let call = "7.1.1".parse().unwrap();
    let running = tools.start(planned, &call, &StopSignal::default()).unwrap();
    let process = running.process().unwrap();
    let flow = tools.0.setting.owner.flow.clone();
    let watched = word.clone();
    // As recovery after a crash would.
    let cleaner = thread::spawn(move || {
        grown(&watched);
        let began = Instant::now();
        let is_ended = crate::taker::command::end_survivor(&process, &flow, &call);
        (is_ended, began.elapsed())
    });
    let finished = running.finish();
    let (is_ended, took) = cleaner.join().unwrap();
    assert!(is_ended);
    assert_eq!(alive(&word), 0, "{}", finished.output);
    // The cleaner's signal may reach the command before its guard: then it was ended by that. A guard
    // that is not done after a second, on a machine with much to do, is not waited for any longer.
    let was_late = took >= Duration::from_secs(1);
    let by_signal = finished.output.starts_with("[signal 15, ")
        || (was_late
            && finished
                .output
                .starts_with("[The guard of the command was lost."));
    assert!(
        finished.end == CallEnd::Stopped || (finished.end == CallEnd::Failed && by_signal),
        "{:?}: {}",
        finished.end,
        finished.output
    );
}

#[test]
fn s9_git_reads_a_repository_behind_walls_and_cannot_change_its_inside() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    stage.write("project/a.txt", "a");
    stage.write("home/.gitconfig", "[core]\n\tfsmonitor = touch ran.txt\n");
    let git = std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(stage.project())
        .status();
    if !git.is_ok_and(|status| status.success()) {
        return not_measured("there is no git");
    }
    let mut setting = stage.setting();
    setting.environment.retain(|(name, _)| name != "HOME");
    let home = stage.root().join("home").to_string_lossy().into_owned();
    setting.environment.push(("HOME".to_owned(), home));
    let tools = Toolbox::open(setting).unwrap();
    let said = |command: &str| {
        let done = done(&tools, "run_command", json!({ "command": command })).unwrap();
        without_time(&done.output)
    };
    assert_eq!(said("git status --short"), "[exit 0]\n?? a.txt\n");
    for command in [
        "git add a.txt",
        "git config core.fsmonitor x",
        "git commit --allow-empty -m x",
    ] {
        assert!(!said(command).contains("[exit 0]"), "{command}");
    }
    assert_eq!(stage.read("project/ran.txt"), None);
}

#[test]
fn where_bubblewrap_makes_the_spaces_they_hide_and_protect_the_same() {
    let stage = Stage::new();
    let program =
        std::env::var("A_SOCIETY_TEST_BWRAP").unwrap_or_else(|_| "/usr/bin/bwrap".to_owned());
    let spaces = Spaces::Bubblewrap(program);
    if !has_walls(&stage) {
        return;
    }
    if !spaces::works(&spaces) {
        return not_measured("there is no bubblewrap that works");
    }
    stage.write("project/.git/config", "old");
    let (root, record) = (stage.root(), stage.record());
    let (root, record) = (root.display(), record.display());
    let said = |command: &str| in_spaces(&stage, command, &spaces);
    assert_eq!(said("echo new > a.txt; echo out"), "[exit 0]\nout\n");
    assert_eq!(said(&format!("echo new > {record}/made.txt")), "[exit 0]\n");
    assert_eq!(
        said("ls /proc | grep -c '^[0-9]' | grep -x '[0-9]'")
            .lines()
            .next(),
        Some("[exit 0]")
    );
    for command in [
        "echo new > .git/config",
        "exec 3<>/dev/tcp/1.1.1.1/80",
        &format!("cat {root}/.a-society/state/p/f/flow.json"),
        &format!("echo new > {root}/outside.txt"),
    ] {
        assert!(!said(command).contains("[exit 0]"), "{command}");
    }
    let text = |path: &str| stage.read(path).unwrap_or_default();
    assert_eq!(text("project/a.txt"), "new\n");
    assert_eq!(text(".a-society/state/p/f/record/made.txt"), "new\n");
    assert_eq!(text("project/.git/config"), "old");
    let word = format!("a-society-wrapped-{}", std::process::id());
    let late = in_spaces(
        &stage,
        &format!("setsid env -i bash -c 'exec -a {word} sleep 600' & sleep 0.2; echo over"),
        &spaces,
    );
    assert_eq!((late.as_str(), alive(&word)), ("[exit 0]\nover\n", 0));
}

/// Whatever moment the stop meets, nothing is left.
#[test]
fn a_stop_while_a_command_starts_leaves_nothing_behind() {
    let stage = Stage::new();
    let tools = in_full_scope(&stage);
    for round in 0..rounds(12, 300) {
        let word = format!("a-society-early-{}-{round}", std::process::id());
        let command =
            format!("setsid env -i bash -c 'exec -a {word} sleep 600' & exec -a {word} sleep 600");
        let planned = plan(&tools, "run_command", json!({ "command": command })).unwrap();
        let stop = StopSignal::default();
        let raiser = stop.clone();
        let pause = Duration::from_micros(400 * (round as u64 % 20));
        let running = tools
            .start(planned, &"7.1.1".parse().unwrap(), &stop)
            .unwrap();
        let raising = thread::spawn(move || {
            thread::sleep(pause);
            raiser.raise();
        });
        let finished = running.finish();
        raising.join().unwrap();
        assert!(
            matches!(finished.end, CallEnd::Stopped | CallEnd::NotRun),
            "{}",
            finished.output
        );
        assert_eq!(alive(&word), 0, "round {round}");
    }
}

#[test]
fn a_folder_that_a_command_changes_to_is_not_the_next_ones_and_no_program_waits_to_be_paged() {
    let stage = Stage::new();
    fs::create_dir_all(stage.project().join("sub")).unwrap();
    let tools = stage.toolbox();
    let run = |command: &str| output(&tools, "Bash", json!({ "cmd": command }));
    let project = stage.project().display().to_string();
    assert_eq!(run("cd sub; pwd"), format!("[exit 0]\n{project}/sub\n"));
    assert_eq!(run("pwd"), format!("[exit 0]\n{project}\n"));
    assert_eq!(run("echo $PAGER $NO_COLOR $CI; cat"), "[exit 0]\ncat 1 1\n");
    let patch = plan(
        &tools,
        "shell",
        json!({ "command": ["apply_patch", "*** Begin Patch"] }),
    );
    assert!(patch.unwrap_err().text.starts_with("apply_patch is a tool"));
}

#[test]
fn what_a_command_left_behind_neither_delays_its_result_nor_outlives_it() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let word = format!("a-society-behind-{}", std::process::id());
    let begun = Instant::now();
    let said = output(
        &tools,
        "run_command",
        json!({ "command": format!("exec -a {word} sleep 60 & echo done") }),
    );
    assert_eq!(said, "[exit 0]\ndone\n");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(alive(&word), 0);
}
