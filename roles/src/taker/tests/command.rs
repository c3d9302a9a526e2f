//! Real programs as roles: their input, how they end, and that nothing of them is left.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use a_society_base::stop::StopSignal;
use a_society_facts::fact::journal::ProcessName;

use super::stage::{Stage, job};
use crate::taker::command::{
    CommandSpec, CommandTaker, ExitOutcome, InheritedVariables, ProgramExits, end_survivor,
};
use crate::turn::job::BegunWith;
use crate::turn::step::{StepReply, TakerEnd, TurnStep};
use crate::turn::taker::Taker as _;

fn shell(script: &str) -> CommandSpec {
    CommandSpec::new(["/bin/sh", "-c", script].map(str::to_owned).to_vec())
}

fn environment() -> InheritedVariables {
    InheritedVariables(vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())])
}

fn taker(stage: &Stage, spec: &CommandSpec, stop: &StopSignal) -> CommandTaker {
    let job = Arc::new(stage.job.clone());
    let begun_with = BegunWith::Packet;
    let files = stage.files.clone();
    CommandTaker::new(
        job,
        begun_with,
        spec.clone(),
        environment(),
        files,
        stop.clone(),
    )
}

/// A flow of its own for each test, because processes are distinguished by it.
fn stage() -> Stage {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed) % 100;
    let number = std::process::id() % 10_000;
    let mut job = job("builder", "build", 0);
    job.flow = format!("20260527T143000123Z-{number:04}{count:02}")
        .parse()
        .unwrap();
    job.project = std::env::temp_dir();
    Stage::new(job)
}

/// Plays a whole turn.
fn played(spec: &CommandSpec) -> Stage {
    let mut stage = stage();
    let mut taker = taker(&stage, spec, &StopSignal::default());
    stage
        .run(&mut taker, StepReply::Begin, 100)
        .expect("the turn ends");
    stage
}

/// What the call came to, and what the program printed.
fn finish(stage: &Stage) -> &str {
    let line = stage.lines.iter().find(|line| line.starts_with("finish"));
    line.expect("it finished")
}

#[test]
fn a_program_is_one_call_and_its_exit_code_ends_the_turn() {
    let stage = played(&shell("echo built; echo careful >&2"));
    insta::assert_snapshot!(stage.page());
    insta::assert_snapshot!(stage.files.texts()["build-output-to-review.md"]);
}

#[test]
fn a_program_reads_its_packet_and_sees_only_the_variables_it_is_given() {
    let stage = played(&shell("cat; env | cut -d= -f1 | sort | tr '\\n' ' '; pwd"));
    let page = finish(&stage);
    assert!(page.contains(r#"\"node\":\"build\""#), "{page}");
    let names = "A_SOCIETY_ATTEMPT A_SOCIETY_CALL A_SOCIETY_FLOW A_SOCIETY_NODE \
                 A_SOCIETY_PROJECT A_SOCIETY_RECORD A_SOCIETY_ROLE A_SOCIETY_TURN PATH ";
    assert!(page.contains(names), "{page}");
}

#[test]
fn the_block_that_a_program_prints_is_its_outcome() {
    let spec = shell("printf 'Look.\\n```handoff\\ntype: prompt-human\\n```\\n'; exit 3");
    let stage = played(&spec);
    assert_eq!(
        stage.lines.last().unwrap(),
        "end PromptHuman, words \"Look.\""
    );
}

#[test]
fn an_exit_code_sends_back_when_the_mapping_says_so_and_is_then_no_failure() {
    let mut spec = shell("echo red; exit 1");
    let codes = [(1, ExitOutcome::Backward)].into();
    spec.on_exit = Some(ProgramExits {
        codes,
        otherwise: None,
    });
    let stage = played(&spec);
    assert!(finish(&stage).contains(" Done "), "{}", stage.page());
    let end = stage.lines.last().unwrap();
    assert!(
        end.contains("intake record/build-output-to-intake.md"),
        "{end}"
    );
}

#[test]
fn a_program_does_not_run_before_its_start_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ran");
    let spec = shell(&format!("touch {}", file.display()));
    let mut stage = stage();
    let mut held = taker(&stage, &spec, &StopSignal::default());
    stage.run(&mut held, StepReply::Begin, 4);
    assert!(
        stage.lines.last().unwrap().starts_with("start"),
        "{}",
        stage.page()
    );
    thread::sleep(Duration::from_millis(100));
    assert!(!file.exists());
    // Dropping it is what the end of this process would do: the gate never opens.
    drop(held);
    thread::sleep(Duration::from_millis(100));
    assert!(!file.exists());
}

#[test]
fn a_call_that_was_started_before_a_crash_is_never_run_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let spec = shell(&format!("echo x >> {}/ran", folder.path().display()));
    let whole = {
        let mut stage = stage();
        let mut taker = taker(&stage, &spec, &StopSignal::default());
        stage.run(&mut taker, StepReply::Begin, 100);
        stage.lines.len()
    };
    for steps in 0..whole {
        let _gone = std::fs::remove_file(folder.path().join("ran"));
        let mut stage = stage();
        let mut first = taker(&stage, &spec, &StopSignal::default());
        stage.run(&mut first, StepReply::Begin, steps);
        drop(first);
        stage.crash();
        let mut second = taker(&stage, &spec, &StopSignal::default());
        stage
            .run(&mut second, StepReply::Begin, 100)
            .expect("the turn ends");
        let ran = std::fs::read_to_string(folder.path().join("ran")).unwrap_or_default();
        let was_started = steps == 4;
        let expected = if was_started { "" } else { "x\n" };
        assert_eq!(ran, expected, "after {steps} steps\n{}", stage.page());
        let end = stage.lines.last().unwrap();
        assert_eq!(end.contains("PromptHuman"), was_started, "{}", stage.page());
        assert_eq!(end.contains("build-output-to-review.md"), !was_started);
    }
}

#[test]
fn a_program_that_cannot_be_started_fails_the_turn() {
    let stage = played(&CommandSpec::new(vec![
        "no-such-program-anywhere".to_owned(),
    ]));
    assert!(finish(&stage).contains("exit code 127"), "{}", stage.page());
    let end = stage.lines.last().unwrap();
    let says = "no-such-program-anywhere could not be started (exit code 127)";
    assert!(
        end.contains("Aborted") && end.contains(says),
        "{}",
        stage.page()
    );
    // A program that gives these codes a meaning is asked about as the role's file says.
    let mut spec = shell("exit 127");
    spec.on_exit = Some(ProgramExits {
        codes: std::collections::BTreeMap::from([(127, ExitOutcome::PromptHuman)]),
        otherwise: None,
    });
    let asked = played(&spec);
    assert!(
        asked.lines.last().unwrap().contains("PromptHuman"),
        "{}",
        asked.page()
    );
    let stage = played(&CommandSpec::new(Vec::new()));
    assert!(
        finish(&stage).contains("Failed \"The command is empty"),
        "{}",
        stage.page()
    );
    let mut stage = self::stage();
    stage.job.project = Path::new("/no/such/folder").to_owned();
    let mut taker = taker(&stage, &shell("true"), &StopSignal::default());
    stage
        .run(&mut taker, StepReply::Begin, 100)
        .expect("the turn ends");
    assert!(
        stage.lines.last().unwrap().contains("Aborted"),
        "{}",
        stage.page()
    );
}

#[test]
fn an_outcome_that_cannot_be_applied_asks_the_operator() {
    let mut stage = stage();
    let mut taker = taker(&stage, &shell("true"), &StopSignal::default());
    stage.run(&mut taker, StepReply::Begin, 100);
    let told = stage.mend();
    stage
        .run(&mut taker, told, 100)
        .expect("the turn ends again");
    let end = stage.lines.last().unwrap();
    assert!(
        end.contains("PromptHuman") && end.contains("Please mend it."),
        "{end}"
    );
}

#[test]
fn an_operator_who_was_asked_decides_for_a_program_or_lets_it_run_again() {
    for (reply, line) in [
        (
            "forward: by-hand.md",
            "end handoff [\"review by-hand.md\"], words \"\"",
        ),
        ("Try again.", "ask command"),
    ] {
        let mut stage = stage();
        stage.job.packet = reply.to_owned();
        let (job, files) = (Arc::new(stage.job.clone()), stage.files.clone());
        let (reply, stop) = (BegunWith::Reply, StopSignal::default());
        let mut taker = CommandTaker::new(job, reply, shell("true"), environment(), files, stop);
        stage
            .run(&mut taker, StepReply::Begin, 100)
            .expect("the turn ends");
        assert_eq!(stage.lines[0], line);
    }
}

/// Runs a program that would go on for ever, with a time limit, and gives what its call came to
/// and how long that took.
fn limited(script: &str, limit_ms: u64) -> (Stage, Duration) {
    let mut spec = shell(script);
    spec.time_limit_ms = limit_ms;
    let begin = Instant::now();
    (played(&spec), begin.elapsed())
}

/// A long sleep that no other run of these tests has.
fn sleep(number: u32) -> String {
    format!("sleep {number}.{}", std::process::id())
}

/// Whether a process with these words in its command line lives.
fn lives(words: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line)
            .replace('\0', " ")
            .contains(words)
    })
}

#[test]
fn at_the_time_limit_the_whole_tree_is_ended_within_two_seconds() {
    let table = [
        "@ & @",
        "trap '' TERM; @ & while :; do @; done",
        "setsid @ & @",
        "setsid sh -c 'trap \"\" TERM; (@ &) ; @' & @",
        "exec >/dev/null 2>&1; @",
    ];
    for (number, script) in (98301..).zip(table) {
        let words = &sleep(number);
        let script = &script.replace('@', words);
        let (stage, took) = limited(script, 300);
        assert!(finish(&stage).contains("TimedOut"), "{}", stage.page());
        assert!(!lives(words), "{words} lives on");
        assert!(
            took < Duration::from_millis(300 + 2_500),
            "{script}: {took:?}"
        );
        assert!(stage.lines.last().unwrap().contains("PromptHuman"));
    }
}

#[test]
fn what_a_program_leaves_running_in_its_group_ends_with_it() {
    let words = sleep(98311);
    let stage = played(&shell(&format!("{words} & echo done")));
    assert!(finish(&stage).contains("exit code 0"), "{}", stage.page());
    thread::sleep(Duration::from_millis(50));
    assert!(!lives(&words));
}

#[test]
fn a_daemon_that_keeps_the_output_open_does_not_hold_up_the_turn() {
    let begin = Instant::now();
    let stage = played(&shell("setsid sleep 5 & echo done"));
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
    assert!(finish(&stage).contains("done"), "{}", stage.page());
}

#[test]
fn a_stop_ends_a_program_while_it_runs() {
    let mut stage = stage();
    let stop = StopSignal::default();
    let words = sleep(98321);
    let mut taker = taker(&stage, &shell(&words), &stop);
    stage.run(&mut taker, StepReply::Begin, 4);
    let waker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        stop.raise();
    });
    let begin = Instant::now();
    stage.run(&mut taker, StepReply::Done { call: None }, 1);
    waker.join().unwrap();
    assert!(finish(&stage).contains("Stopped"), "{}", stage.page());
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert!(!lives(&words));
    assert!(matches!(
        taker.next(StepReply::Stop),
        TurnStep::End(TakerEnd::Aborted { .. })
    ));
}

#[test]
fn a_stop_before_the_gate_opens_lets_nothing_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ran");
    let mut stage = stage();
    let stop = StopSignal::default();
    let mut taker = taker(&stage, &shell(&format!("touch {}", file.display())), &stop);
    stage.run(&mut taker, StepReply::Begin, 4);
    stop.raise();
    stage.run(&mut taker, StepReply::Done { call: None }, 1);
    assert!(!file.exists(), "{}", stage.page());
}

#[test]
fn output_without_end_is_cut_in_the_middle() {
    let (stage, _) = limited("yes äöü", 200);
    let page = finish(&stage);
    assert!(
        page.contains("bytes are left out here") && page.len() < 60_000,
        "{}",
        page.len()
    );
    let (stage, _) = limited(
        "printf 'a\\377\\000b'; head -c 300000 /dev/zero | tr '\\0' x",
        9_000,
    );
    let page = finish(&stage);
    assert!(
        page.contains("exit code 0") && page.contains("a\u{fffd}\\0b"),
        "{:.200}",
        page
    );
}

#[test]
fn a_program_that_reads_nothing_and_one_that_asks_the_terminal_both_end() {
    let mut stage = stage();
    stage.job.packet = "x".repeat(1_000_000);
    let mut taker = taker(&stage, &shell("exit 0"), &StopSignal::default());
    stage
        .run(&mut taker, StepReply::Begin, 100)
        .expect("the turn ends");
    assert!(finish(&stage).contains("exit code 0"));
    let stage = played(&shell(
        "if (: </dev/tty) 2>/dev/null; then echo tty; else echo none; fi",
    ));
    assert!(finish(&stage).contains("none"), "{}", stage.page());
}

#[test]
fn a_program_that_is_ended_by_a_signal_says_so() {
    let stage = played(&shell("kill -9 $$"));
    assert!(
        finish(&stage).contains("Failed \"ended by signal 9"),
        "{}",
        stage.page()
    );
}

#[test]
fn what_survived_a_crash_is_ended_and_what_only_has_its_number_is_not() {
    let stage = stage();
    let flow = &stage.job.flow;
    let call = "7.1.9".parse().unwrap();
    let mut child = std::process::Command::new("sleep")
        .arg("98331")
        .env("A_SOCIETY_CALL", format!("{flow}/7.1.9"))
        .spawn()
        .unwrap();
    let mut stranger = std::process::Command::new("sleep")
        .arg("98332")
        .spawn()
        .unwrap();
    let named = |pid, start_ticks| ProcessName {
        pid,
        start_ticks,
        boot_id: "another start of the machine".to_owned(),
    };
    // A process that was only just started does not show its variables yet.
    let shown = format!("/proc/{}/environ", child.id());
    let bears_the_mark = || std::fs::read(&shown).is_ok_and(|it| !it.is_empty());
    while cfg!(target_os = "linux") && !bears_the_mark() {
        thread::sleep(Duration::from_millis(1));
    }
    // The process is gone; its number was reused; its child bears the mark.
    assert!(end_survivor(&named(stranger.id(), 1), flow, &call));
    assert!(!child.wait().unwrap().success());
    assert!(stranger.try_wait().unwrap().is_none());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert!(!end_survivor(&named(stranger.id(), 1), flow, &call));
}
