//! The real program, interrupted once and twice while a program runs for a role, and reached by its
//! socket however long the path of its workspace is.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr};
use std::time::Instant;

use super::place::{FLOW, Place, SLOW, signal, wait_until};

/// A role whose program says when it runs, and when it is done a second later.
const PROGRAM: &str = r#"workflow:
  name: Program
  nodes:
    - { id: ask, role: owner }
    - { id: build, role: builder }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: build }
    - { from: build, to: close }
roles:
  owner: { executor: scripted }
  builder:
    executor: command
    command:
      run: [sh, -c, 'echo $$ > "$A_SOCIETY_RECORD/pid"; sleep SECONDS; echo done']
      on-exit: { 0: forward }
"#;

/// A process that drives a flow whose program runs, what it says, and the pid of the program.
fn at_work(place: &Place) -> (Child, BufReader<ChildStderr>, String) {
    let mut child = place.start(&["run", "demo/flow.yaml", "--improve", "none"]);
    let said = BufReader::new(child.stderr.take().unwrap());
    let pid = || {
        let flow = place.flow()?;
        let pid = std::fs::read_to_string(place.folder(&flow).join("record/pid")).ok()?;
        (!pid.trim().is_empty()).then(|| pid.trim().to_owned())
    };
    wait_until("the program runs", || pid().is_some());
    (child, said, pid().unwrap())
}

fn until_told(said: &mut BufReader<ChildStderr>, what: &str) {
    let mut line = String::new();
    while !line.contains(what) {
        line.clear();
        assert!(
            said.read_line(&mut line).unwrap() > 0,
            "it never said {what}"
        );
    }
}

#[test]
fn interrupted_once_a_program_comes_to_its_end_and_nothing_new_is_started() {
    let place = Place::new(
        &PROGRAM.replace("SECONDS", "1"),
        "default: forward\nscript: []\n",
    );
    let (mut child, mut said, _) = at_work(&place);
    signal(&child, "INT");
    until_told(&mut said, "interrupted: nothing new is started");
    until_told(&mut said, "go on: a-society resume");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let flow = place.flow().unwrap();
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(
        log.contains("\"fact\":\"call_finished\",\"call\":\"2.1\""),
        "it came to its end"
    );
    assert!(
        !log.contains("\"node\":\"close\",\"role\""),
        "nothing new was started"
    );
    let said = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let log = place.run(&["log", &flow, "--json"]).out;
    assert_eq!(
        log.matches("\"fact\":\"call_started\",\"call\":\"2.")
            .count(),
        1,
        "it ran once"
    );
}

#[test]
fn interrupted_twice_it_ends_at_once_and_what_ran_is_not_forgotten() {
    let place = Place::new(
        &PROGRAM.replace("SECONDS", "60"),
        "default: forward\nscript: []\n",
    );
    let (mut child, mut said, pid) = at_work(&place);
    let begun = Instant::now();
    signal(&child, "INT");
    until_told(&mut said, "interrupted: nothing new is started");
    signal(&child, "INT");
    until_told(&mut said, "ended at once");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        begun.elapsed().as_secs() < 30,
        "the program would have run for a minute"
    );
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["verify", &flow]).code, 0);
    let resumed = place.run(&["resume", &flow, "--improve", "none"]);
    assert_eq!(resumed.code, 8, "{resumed:?}");
    assert!(
        resumed.err.contains("not run again by itself"),
        "{}",
        resumed.err
    );
    // What it had started is gone, at the latest when the flow is opened again.
    let alive = std::path::Path::new("/proc").join(pid);
    wait_until("the program is gone", || !alive.exists());
}

#[test]
fn a_flow_in_a_workspace_with_a_very_long_path_is_still_talked_to() {
    let script = SLOW.replace("every-ms: 8 }", "every-ms: 8 }\n      - wait-ms: 30000");
    let place = Place::new(FLOW, &script);
    let deep = format!("{0}/{0}/{0}", "a-long-name-for-a-folder".repeat(4));
    let root = place.workspace.path().join(&deep);
    std::fs::create_dir_all(root.join(".a-society")).unwrap();
    std::fs::create_dir_all(root.join("demo")).unwrap();
    for file in ["flow.yaml", "script.yaml"] {
        std::fs::copy(
            place.workspace.path().join("demo").join(file),
            root.join("demo").join(file),
        )
        .unwrap();
    }
    let file = format!("{deep}/demo/flow.yaml");
    let child = place.start(&["--workspace", &deep, "run", &file, "--project", "demo"]);
    let mut flow = String::new();
    wait_until("the writer works", || {
        let said = place.run(&["--workspace", &deep, "ls", "--json"]).json();
        flow = said["flows"][0]["flow"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let status = place.run(&["--workspace", &deep, "status", &flow, "--json"]);
        status.code == 0 && status.json()["running"][0]["node"] == "write"
    });
    let paused = place.run(&["--workspace", &deep, "pause", &flow, "--json"]);
    assert_eq!(
        (paused.code, &paused.json()["driven"]),
        (0, &true.into()),
        "{paused:?}"
    );
    let stopped = place.run(&["--workspace", &deep, "stop", &flow, "--all"]);
    assert_eq!(stopped.code, 0, "{stopped:?}");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(12));
}

#[test]
fn a_run_whose_output_nobody_reads_says_that_it_rests() {
    let script = SLOW.replace("every-ms: 8 }", "every-ms: 40 }");
    let place = Place::new(FLOW, &script);
    let mut child = place.start(&["run", "demo/flow.yaml", "--improve", "none", "--json"]);
    let mut first = String::new();
    let mut printed = BufReader::new(child.stdout.take().unwrap());
    printed.read_line(&mut first).unwrap();
    drop(printed);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    until_told(&mut said, "what is printed is no longer read");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["resume", &flow, "--improve", "none"]).code, 0);
    assert_eq!(place.outcome(&flow)["notes"], "The notes.");
}

/// A program that leaves another one behind, which leaves its session.
const LEAVES: &str = r#"setsid sleep 98431 & echo $! > "$A_SOCIETY_RECORD/pid"; sleep 60"#;

#[test]
fn what_a_program_left_behind_over_a_death_of_the_driver_is_ended_and_said_when_it_goes_on() {
    let flow = PROGRAM.replace(
        r#"echo $$ > "$A_SOCIETY_RECORD/pid"; sleep SECONDS; echo done"#,
        LEAVES,
    );
    let place = Place::new(&flow, "default: forward\nscript: []\n");
    let (mut child, _, pid) = at_work(&place);
    let lives = || {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("98431")
    };
    assert!(lives());
    child.kill().unwrap();
    child.wait().unwrap();
    let flow = place.flow().unwrap();
    let survived = lives();
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    let log = place.run(&["log", &flow, "--json"]).out;
    wait_until("what was left behind is gone", || !lives());
    assert_eq!(
        log.contains("\"fact\":\"call_reaped\""),
        survived,
        "it is said when there was something to end: {said:?}"
    );
    assert!(
        survived,
        "nothing was left behind, so the test sees nothing"
    );
    // It is not run again by itself, and its outcome is recorded as unknown.
    let started = "\"fact\":\"call_started\",\"call\":\"2.";
    assert_eq!(log.matches(started).count(), 1, "{log}");
    assert!(log.contains("\"end\":\"unknown\""), "{log}");
}

/// Does what cannot be taken back, for longer than the test waits.
const SHIPS: &str = r"default: forward
script:
  - node: write
    say:
      - call: { tool: ship, input: { to: everybody }, effect: irreversible, takes-ms: 20000 }
      - write: { path: notes.md, text: 'Shipped.' }
      - handoff: { to: close, artifact: notes.md }
";

#[test]
fn a_flow_pauses_when_nobody_knows_what_became_of_what_cannot_be_taken_back() {
    let place = Place::new(FLOW, SHIPS);
    let mut child = place.start(&["run", "demo/flow.yaml", "--improve", "none"]);
    let started = || {
        let flow = place.flow()?;
        let log = place.run(&["log", &flow, "--json"]).out;
        let mut lines = log.lines();
        lines.find(|line| line.contains("call_started") && line.contains("\"2.1\""))?;
        Some(flow)
    };
    wait_until("the call is started", || started().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let flow = started().unwrap();
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 8, "{said:?}");
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(log.contains("\"reason\":\"irreversible\"") && log.contains("\"end\":\"unknown\""));
    let said = place.run(&["status", &flow]).out;
    assert!(
        said.contains("whether it had an effect is unknown"),
        "{said}"
    );
    // Nothing goes on by itself, however often it is tried.
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 8, "{said:?}");
    assert_eq!(place.run(&["unpause", &flow]).code, 0);
    let log = || place.run(&["log", &flow, "--json"]).out;
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert!(log().contains("flow_unpaused"), "{said:?}");
    let ships = log()
        .matches("\"fact\":\"call_started\",\"call\":\"2.1\"")
        .count();
    assert_eq!(ships, 1, "it was not done twice");
}
