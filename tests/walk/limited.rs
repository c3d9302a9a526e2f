//! What the system gives is limited: threads and processes of a user, and how large a file may be. A
//! flow says so and goes on when there is more; nothing panics, hangs, or dies of a signal.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::models::{Model, with_model};
use super::place::{FLOW, Place, RUN, SLOW, signal};

const PROGRAMS: &str = r"workflow:
  name: Limited
  nodes:
    - { id: ask, role: owner }
    - { id: make, role: builder }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: make }
    - { from: make, to: close }
roles:
  owner: { executor: scripted }
  builder:
    executor: command
    command: { run: [sh, -c, echo made], on-exit: { 0: forward, otherwise: prompt-human } }
";

/// A user that nothing else on the machine runs as, so that its processes are known by number.
const NOBODY_ELSE: &str = "64123";

/// Another one, so that neither takes the threads of the other.
const ANOTHER: &str = "64124";

/// How often each limit is tried.
const ROUNDS: usize = 2;

/// Up to how many threads: from some at which a flow begins to some at which all are there.
const LIMITS: std::ops::RangeInclusive<usize> = 4..=16;

/// How long a process may take before it counts as hanging.
const LONGEST: Duration = Duration::from_secs(60);

/// Waits until a process has ended, and asks it to end when it should have. Says its exit code; a
/// process that a signal ended has none.
fn ended(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > LONGEST && !asked {
            signal(child, "TERM");
            asked = true;
        }
        assert!(
            begun.elapsed() < LONGEST * 2,
            "it does not end when it is asked to"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The program with these words, and with what this tool takes from it.
fn limited(place: &Place, tool: &[&str], words: &[&str]) -> (Option<i32>, String) {
    let plain = place.workspace.command(words);
    let mut command = Command::new(tool[0]);
    command
        .args(&tool[1..])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(place.workspace.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env(
            "A_SOCIETY_CONFIG",
            place.workspace.path().join("config.yaml"),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(place.workspace.path().join("stderr")).unwrap());
    let code = ended(&mut command.spawn().unwrap());
    let told = std::fs::read_to_string(place.workspace.path().join("stderr"));
    (code, told.unwrap())
}

/// Goes on without limits, and has what failed run again, until the flow is over.
fn comes_to_its_end(place: &Place, when: &str) {
    let Some(flow) = place.flow() else { return };
    for _ in 0..10 {
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        match said.code {
            0 => return,
            7 | 8 | 12 => {
                if place.run(&["unpause", &flow]).code != 0 {
                    let said = place.run(&["reply", &flow, "Run it again."]);
                    assert_eq!(said.code, 0, "{when}: {said:?}");
                }
            }
            _ => panic!("{when}: {said:?}"),
        }
    }
    panic!("{when}: it does not come to its end");
}

fn not_measured(why: &str) {
    use std::io::Write as _;
    let _told = writeln!(std::io::stderr(), "NOT MEASURED: few threads: {why}");
}

/// Whether a process can be run as a user that may have few processes.
fn can_be_limited(place: &Place) -> bool {
    let user = format!("--reuid={NOBODY_ELSE}");
    let tool = [
        "setpriv",
        &user,
        "--clear-groups",
        "prlimit",
        "--nproc=20:20",
    ];
    let mut there = Command::new(tool[0]);
    there
        .args(&tool[1..])
        .arg("/bin/true")
        .stderr(Stdio::null());
    there.status().is_ok_and(|status| status.success())
        && limited(place, &tool[..3], &["--version"]).0 == Some(0)
}

#[test]
fn a_program_for_which_there_are_too_few_threads_fails_in_words_and_the_process_ends() {
    let place = Place::new(PROGRAMS, "default: forward\n");
    if !can_be_limited(&place) {
        not_measured("no process can be run as another user here");
        return;
    }
    for most in 2..=12 {
        let place = Place::new(PROGRAMS, "default: forward\n");
        let owned = Command::new("chown")
            .args(["-R", NOBODY_ELSE])
            .arg(place.workspace.path())
            .status();
        assert!(owned.unwrap().success());
        let (user, limit) = (
            format!("--reuid={NOBODY_ELSE}"),
            format!("--nproc={most}:{most}"),
        );
        let tool = ["setpriv", &user, "--clear-groups", "prlimit", &limit];
        let words = RUN;
        let (code, told) = limited(&place, &tool, &words);
        assert!(code.is_some(), "{most}: {told}");
        assert!(!told.contains("panicked"), "{most}: {told}");
        comes_to_its_end(&place, &format!("{most} threads"));
    }
}

#[test]
fn a_model_is_reached_with_as_few_threads_as_a_flow_needs_and_with_fewer_nothing_panics() {
    let model = Model::start_with(|_| Vec::new());
    if !can_be_limited(&with_model(&model)) {
        not_measured("no process can be run as another user here");
        return;
    }
    let mut done = 0;
    for round in 0..ROUNDS {
        for most in LIMITS {
            let place = with_model(&model);
            let owned = Command::new("chown")
                .args(["-R", ANOTHER])
                .arg(place.workspace.path())
                .status();
            assert!(owned.unwrap().success());
            let (user, limit) = (
                format!("--reuid={ANOTHER}"),
                format!("--nproc={most}:{most}"),
            );
            // In the second round another process of the same user takes a place and gives it back
            // all the time: what was there when it was asked for may be gone when it is taken.
            let mut beside = (round > 0).then(|| {
                Command::new("setpriv")
                    .args([&user, "--clear-groups", "sh", "-c"])
                    .arg("while :; do /bin/true; done")
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            });
            let tool = ["setpriv", &user, "--clear-groups", "prlimit", &limit];
            let (code, told) = limited(&place, &tool, &RUN);
            if let Some(child) = &mut beside {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            let when = format!("round {round}, {most} threads");
            assert!(code.is_some(), "{when}: {told}");
            assert!(!told.contains("panicked"), "{when}: {told}");
            done += usize::from(code == Some(0));
            comes_to_its_end(&place, &when);
        }
    }
    assert!(done > 0, "no limit left enough for a flow");
}

#[test]
fn a_journal_that_may_not_grow_pauses_its_flow_and_no_signal_kills_it() {
    let place = Place::new(FLOW, SLOW);
    if limited(&place, &["prlimit", "--fsize=1000000"], &["--version"]).0 != Some(0) {
        not_measured("there is no prlimit here");
        return;
    }
    for most in [0, 1_000, 3_000, 5_000, 7_000, 9_000, 70_000] {
        let place = Place::new(FLOW, SLOW);
        let limit = format!("--fsize={most}:{most}");
        let words = ["run", "demo/flow.yaml", "--improve", "none"];
        let (code, told) = limited(&place, &["prlimit", &limit], &words);
        assert!(code.is_some(), "{most}: a signal ended it: {told}");
        assert!(!told.contains("panicked"), "{most}: {told}");
        comes_to_its_end(&place, &format!("{most} bytes"));
    }
}
