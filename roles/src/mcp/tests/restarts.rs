//! Servers that end: how it is told, that nothing runs twice, and when they are tried again.

use std::time::Duration;

use super::super::limits::FAILURES_MAX;
use super::super::{CallFault, Given, Limits, Servers, parse};
use super::stand::{Stand, hasty};
use crate::turn::stop::StopSignal;

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
    assert!(fault.has_begun() && matches!(fault, CallFault::Broke { .. }));
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
    let limits = Limits {
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
fn all_servers_end_with_their_trees_when_nobody_needs_them_any_more() {
    let stand = Stand::new(
        r#"on_begin() { setsid sleep 900 </dev/null >/dev/null 2>&1 & echo "$$ $!" >"$trace.pids"; }"#,
    );
    stand.tools().unwrap();
    let Stand {
        folder, servers, ..
    } = stand;
    let pids = std::fs::read_to_string(folder.path().join("trace.pids")).unwrap();
    let runs = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    assert!(pids.split_whitespace().all(runs), "{pids}");
    drop(servers);
    assert!(!pids.split_whitespace().any(runs), "{pids}");
}
