//! Servers that end: how it is reported, that nothing runs twice, and when they are tried again.

use std::time::Duration;

use a_society_base::stop::StopSignal;

use super::super::limits::FAILURES_MAX;
use super::super::{Given, RemoteCallFault, ServerLimits, Servers, parse};
use super::stand::{Stand, hasty};

const ECHO: &str = "mcp__s__echo";

#[test]
fn a_crash_in_the_middle_of_a_call_is_told_and_the_call_is_not_repeated() {
    let stand = Stand::new(
        r#"on_call() {
          [ -e "$trace.crashed" ] && { text called; return; }
          : >"$trace.crashed"; echo 'panic: at the disco' >&2; exit 3
        }"#,
    );
    let definition = stand.hash(ECHO);
    let fault = stand.call(ECHO, definition).unwrap_err();
    let said = fault.to_string();
    assert!(fault.has_begun() && matches!(fault, RemoteCallFault::Broke { .. }));
    for words in ["exit code 3", "panic: at the disco", "not known"] {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(stand.heard("tools/call"), 1);
    assert_eq!(stand.call(ECHO, definition).unwrap().text, "called");
    let health = &stand.servers.health()[0];
    assert_eq!(
        (health.starts, health.failures),
        (2, 0),
        "an answer makes up for a crash"
    );
}

#[test]
fn a_server_that_was_killed_between_calls_is_started_again() {
    let stand = Stand::new("on_call() { text \"$$\"; }");
    let definition = stand.hash(ECHO);
    let pid = stand.call(ECHO, definition).unwrap().text;
    let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    while stand.servers.health()[0].is_running {
        std::thread::sleep(Duration::from_millis(5));
    }
    let again = stand.call(ECHO, definition).unwrap().text;
    assert_ne!(again, pid.as_raw_nonzero().to_string());
    let fault = stand.servers.health()[0].last_fault.clone().unwrap();
    assert!(fault.contains("signal 9"), "{fault}");
}

#[test]
fn a_server_that_always_fails_rests_and_is_tried_again_after_that() {
    let limits = ServerLimits {
        rest: Duration::from_millis(300),
        ..hasty()
    };
    let stand = Stand::with(
        "[ -e \"$1/mended\" ] || { echo broken >&2; exit 1; }",
        limits,
    );
    for _ in 0..FAILURES_MAX {
        let why = stand.tools().unwrap_err().to_string();
        assert!(
            why.contains("exit code 1") && why.contains("broken"),
            "{why}"
        );
    }
    let health = &stand.servers.health()[0];
    assert_eq!(health.starts, u64::from(FAILURES_MAX));
    std::fs::write(stand.folder.path().join("mended"), "").unwrap();
    let found = (0..1_000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        match stand.tools() {
            Ok(tools) => Some(tools),
            Err(why) => {
                assert!(why.why.contains("rests"), "{why}");
                None
            }
        }
    });
    assert!(found.is_some());
}

#[test]
fn a_program_that_does_not_exist_is_said() {
    let text = "mcp-servers: {s: {command: /no/such/server}, t: {command: sh, folder: /no/such}}\n";
    let servers = Servers::new(parse(text).unwrap(), Given::default(), hasty());
    let stop = StopSignal::default();
    let why = servers.tools("s", &stop).unwrap_err().to_string();
    assert!(why.contains("was not found"), "{why}");
    let why = servers.tools("t", &stop).unwrap_err().to_string();
    assert!(why.contains("could not be started"), "{why}");
}

#[test]
fn a_secret_that_is_not_there_keeps_a_server_from_starting() {
    let text = "mcp-servers: {s: {command: cat, env: {TOKEN: {secret: github}}}}\n";
    let servers = Servers::new(parse(text).unwrap(), Given::default(), hasty());
    let why = servers.tools("s", &StopSignal::default()).unwrap_err();
    assert!(why.why.contains("secret `github`"), "{why}");
}

#[test]
fn k03_a_secret_that_a_server_says_is_not_repeated() {
    let script = "echo \"no use for $TOKEN\" >&2; exit 1";
    let text = format!(
        "mcp-servers: {{s: {{command: sh, args: [-c, '{script}'], env: {{TOKEN: {{secret: key}}}}}}}}\n"
    );
    let given = Given {
        secrets: [("key".to_owned(), "canary-s3cret".to_owned())].into(),
        ..Given::default()
    };
    let servers = Servers::new(parse(&text).unwrap(), given, hasty());
    let why = servers.tools("s", &StopSignal::default()).unwrap_err().why;
    assert!(why.contains("no use for [secret withheld]"), "{why}");
    let all = format!("{servers:?} {:?}", servers.health());
    assert!(!all.contains("canary"), "{all}");
}

#[test]
fn a_server_that_ends_with_its_input_is_not_killed() {
    let stand = Stand::new("on_begin() { trap 'printf \"end\\n\" >>\"$trace\"' EXIT; }");
    stand.tools().unwrap();
    let Stand {
        folder, servers, ..
    } = stand;
    drop(servers);
    let trace = std::fs::read_to_string(folder.path().join("trace")).unwrap();
    assert!(trace.ends_with("end\n"), "{trace}");
}

#[test]
fn a_server_that_does_not_want_to_end_is_killed() {
    let stand = Stand::new(
        "on_begin() { trap '' TERM HUP INT; echo $$ >\"$trace.pid\"; }; on_list() { answer \"{\\\"tools\\\":[$tools]}\"; while :; do sleep 900; done; }",
    );
    stand.tools().unwrap();
    let Stand {
        folder, servers, ..
    } = stand;
    let pid = std::fs::read_to_string(folder.path().join("trace.pid")).unwrap();
    drop(servers);
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(stat.is_err(), "{stat:?}");
}

/// The test is its own victim: it starts itself again, and kills that with its server running.
#[test]
fn a_server_ends_with_us_when_we_are_killed() {
    const ROLE: &str = "A_SOCIETY_TEST_VICTIM";
    let begun = "on_begin() { trap '' TERM HUP INT; sleep 900 & echo \"$$ $!\" >\"$trace.pids\"; }";
    if let Ok(into) = std::env::var(ROLE) {
        let stand = Stand::new(begun);
        stand.tools().unwrap();
        let pids = std::fs::read_to_string(stand.folder.path().join("trace.pids")).unwrap();
        std::fs::write(format!("{into}.new"), pids).unwrap();
        std::fs::rename(format!("{into}.new"), &into).unwrap();
        std::thread::sleep(Duration::from_secs(900));
    }
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("pids");
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap());
    victim.args([
        "--exact",
        "tests::restarts::a_server_ends_with_us_when_we_are_killed",
    ]);
    victim
        .env(ROLE, &into)
        .env("TMPDIR", folder.path())
        .stdout(std::process::Stdio::null());
    let mut victim = victim.spawn().unwrap();
    let pids = soon(|| std::fs::read_to_string(&into).ok());
    assert!(pids.split_whitespace().all(runs), "{pids}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    soon(|| (!pids.split_whitespace().any(runs)).then_some(()));
}

fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn soon<T>(look: impl Fn() -> Option<T>) -> T {
    let found = (0..2_000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        look()
    });
    found.expect("it came about in time")
}

#[test]
fn all_servers_end_with_their_trees_when_nobody_needs_them_any_more() {
    let stand = Stand::new(
        r#"on_begin() { setsid sleep 900 </dev/null >/dev/null 2>&1 & echo "$$ $!" >"$trace.pids"; }"#,
    );
    stand.tools().unwrap();
    let Stand {
        folder, servers, ..
    } = stand;
    let pids = std::fs::read_to_string(folder.path().join("trace.pids")).unwrap();
    assert!(pids.split_whitespace().all(runs), "{pids}");
    drop(servers);
    assert!(!pids.split_whitespace().any(runs), "{pids}");
}

#[test]
fn what_a_server_offers_is_known_without_starting_it_only_while_it_runs() {
    let stand = Stand::new("");
    assert!(stand.servers.known_tools("s").is_none());
    assert_eq!(stand.servers.health()[0].starts, 0, "nothing was started");
    let tools = stand.tools().unwrap();
    let known = stand.servers.known_tools("s").unwrap();
    assert_eq!(known.offered, tools.offered);
    assert!(stand.servers.known_tools("t").is_none());
}
