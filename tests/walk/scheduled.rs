//! What `serve` begins at due times: once each, whatever ends it and however many servers there are.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a_society_stand_in::{Ending, Server};
use serde_json::{Value, json};

use super::chatted::last_said;
use super::models::{says, streamed, with_model_at};
use super::place::{LONGEST, Place, signal, wait_until};
use crate::crash::scenario::strace_works;
use crate::support::{Said, slice_of};

/// The calls that change the disk, as `strace` names them.
const CALLS: [&str; 5] = ["write", "fdatasync", "fsync", "rename", "mkdir"];

/// One call in so many is enough for the slice.
const STRIDE: usize = 11;

/// A due time that was before any server.
const PAST: &str = "at: 2026-01-01T09:00";

/// How long a run that is not to begin gets for it.
const NOTHING_COMES: Duration = Duration::from_millis(1_500);

/// A model that answers after a while, and knows how many requests it had at once.
struct Counting {
    server: Server,
    most: Arc<AtomicUsize>,
}

impl Counting {
    fn start(silent: Duration) -> Self {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let peak: Arc<AtomicUsize> = Arc::clone(&most);
        let server = Server::by(move |seen, _| {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(silent);
            now.fetch_sub(1, Ordering::SeqCst);
            let said = format!("You said: {}", last_said(&seen.body));
            streamed(vec![says(&[&said])], Ending::Natural, 10)
        });
        Self { server, most }
    }

    fn requests(&self) -> usize {
        self.server.seen().len()
    }

    /// A place whose configuration has one schedule, `nightly`.
    fn place(&self, schedule: &str) -> Place {
        let place = with_model_at(&self.server.url(), "anthropic");
        schedule_in(&place, schedule);
        place
    }
}

fn schedule_in(place: &Place, schedule: &str) {
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let models = config.split("schedules:").next().unwrap();
    let workspace = place.workspace.path().display();
    place.write(
        "config.yaml",
        &format!("{models}schedules:\n  nightly: {{ workspace: '{workspace}', {schedule} }}\n"),
    );
}

/// A server, which is killed when it is dropped.
struct Serving(Child);

impl Serving {
    fn start(place: &Place) -> Self {
        Self(place.start(&["serve", "--port", "0"]))
    }

    fn kill(mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn ls(place: &Place) -> Value {
    let said = place.run(&["schedules", "ls", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.json()["schedules"][0].clone()
}

fn lines(place: &Place) -> Said {
    place.run(&["schedules", "ls"])
}

/// The ids of all flows and chats whose first record is there.
fn flows(place: &Place) -> Vec<String> {
    let both = [
        place.run(&["ls", "--all", "--json"]),
        place.run(&["ls", "--chats", "--json"]),
    ];
    let mut found: Vec<String> = Vec::new();
    for said in both {
        let listed = said.json();
        let rows = listed["flows"].as_array().cloned().unwrap_or_default();
        let ids = rows.iter().filter_map(|row| row["flow"].as_str());
        found.extend(ids.map(str::to_owned));
    }
    found.sort();
    found.dedup();
    found
}

/// How many messages of its schedule a chat has.
fn messages(place: &Place) -> usize {
    let history = place.run(&["sessions", "history", "cron:nightly", "--json"]);
    if history.code != 0 {
        return 0;
    }
    let messages = history.json()["messages"].as_array().cloned();
    let messages = messages.unwrap_or_default().into_iter();
    messages.filter(|message| message["role"] == "user").count()
}

fn is_answered(place: &Place) -> bool {
    let history = place.run(&["sessions", "history", "cron:nightly"]);
    history.out.contains("You said: Look.")
}

#[test]
fn a_chat_that_was_answered_is_not_driven_any_longer_and_takes_messages_all_the_same() {
    let model = Counting::start(Duration::ZERO);
    let place = model.place("cron: '@every 1s', chat: assistant, project: demo, input: Look.");
    let server = Serving::start(&place);
    wait_until("three runs were asked", || model.requests() >= 3);
    schedule_in(&place, &format!("{PAST}, chat: assistant, input: Look."));
    let is_driven = |flow: &String| !place.status(flow)["driven_by"].is_null();
    wait_until("no chat is driven", || !flows(&place).iter().any(is_driven));
    let threads = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", server.0.id()));
        let names = tasks
            .unwrap()
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with("flow")).count()
    };
    wait_until("the threads of the chats ended", || threads() == 0);
    let said = place.run(&[
        "sessions",
        "send",
        "cron:nightly",
        "And now?",
        "--wait",
        "60",
    ]);
    assert_eq!(said.out, "You said: And now?\n", "{said:?}");
}

#[test]
fn a_due_chat_is_answered_once_and_the_list_has_its_run_over_restarts() {
    let model = Counting::start(Duration::ZERO);
    let place = model.place(&format!(
        "{PAST}, chat: assistant, project: demo, input: Look."
    ));
    let before = ls(&place);
    assert_eq!(
        before["next"],
        json!("2026-01-01T09:00:00.000Z"),
        "{before}"
    );
    let said = lines(&place);
    assert!(
        said.out.contains("due since 2026-01-01T09:00:00Z"),
        "{said:?}"
    );

    let server = Serving::start(&place);
    wait_until("the chat is answered", || is_answered(&place));
    server.kill();
    let server = Serving::start(&place);
    std::thread::sleep(NOTHING_COMES);
    server.kill();
    assert_eq!((model.requests(), messages(&place)), (1, 1));

    let row = ls(&place);
    assert_eq!(row["name"], json!("nightly"));
    assert_eq!((&row["next"], &row["failed"]), (&Value::Null, &Value::Null));
    assert_eq!(row["missed"]["count"], json!(1), "{row}");
    assert_eq!(row["missed"]["made_up"], json!(true));
    assert_eq!(row["last"]["standing"], json!("your turn"), "{row}");
    let said = lines(&place);
    for part in [
        "never again",
        "your turn",
        "nightly missed 1 run",
        "one run made up for it",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let listed = place
        .run(&["sessions", "ls", "--kind", "cron", "--json"])
        .json();
    assert_eq!(
        listed["sessions"][0]["key"],
        json!("cron:nightly"),
        "{listed}"
    );
}

#[test]
fn a_due_flow_walks_its_graph_and_is_ended_like_any_other() {
    let place = Place::new(super::place::FLOW, super::place::ASKING);
    place.write("config.yaml", "");
    schedule_in(
        &place,
        &format!("{PAST}, flow: demo/flow.yaml, input: Look."),
    );
    let server = Serving::start(&place);
    wait_until("the flow waits for its operator", || {
        ls(&place)["last"]["standing"]
            .as_str()
            .is_some_and(|it| it.contains("waiting for you"))
    });
    let flow = flows(&place).remove(0);
    let cancelled = place.run(&["cancel", &flow]);
    assert_eq!(cancelled.code, 0, "{cancelled:?}");
    server.kill();
    assert_eq!(ls(&place)["last"]["standing"], json!("cancelled"));
    assert_eq!(flows(&place).len(), 1);
    let log = place.run(&["log", &flow, "--json"]);
    assert!(
        log.out
            .contains("\"client\":\"cron:nightly:2026-01-01T09:00:00.000Z\""),
        "{log:?}"
    );
    assert_eq!(place.run(&["verify", &flow]).code, 0);
}

#[test]
fn what_was_missed_is_skipped_where_that_is_configured() {
    let model = Counting::start(Duration::ZERO);
    let place = model.place(&format!(
        "{PAST}, chat: assistant, input: Look., missed: skip"
    ));
    let server = Serving::start(&place);
    wait_until("the missed run is decided", || {
        !ls(&place)["missed"].is_null()
    });
    std::thread::sleep(NOTHING_COMES);
    server.kill();
    assert_eq!((model.requests(), flows(&place).len()), (0, 0));
    assert!(lines(&place).out.contains("skipped"));
}

#[test]
fn a_schedule_of_another_workspace_or_with_a_faulty_file_runs_nothing_and_says_why() {
    let model = Counting::start(Duration::ZERO);
    let place = model.place(&format!("{PAST}, flow: demo/faulty.yaml"));
    place.write("demo/faulty.yaml", "workflow: 3\n");
    let server = Serving::start(&place);
    wait_until("the fault is listed", || !ls(&place)["failed"].is_null());
    server.kill();
    let said = lines(&place);
    assert!(
        said.out.contains("demo/faulty.yaml") && said.out.contains("skipped"),
        "{said:?}"
    );
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    place.write(
        "config.yaml",
        &config.replace("workspace: '/", "workspace: '/elsewhere/"),
    );
    let none = lines(&place);
    assert!(none.out.contains("no schedule"), "{none:?}");
    place.write("config.yaml", &config.replace("at:", "att:"));
    let faulty = lines(&place);
    assert_eq!(faulty.code, 1, "{faulty:?}");
    assert!(faulty.err.contains("att"), "{faulty:?}");
}

#[test]
fn two_servers_begin_a_run_once_and_the_second_goes_on_when_the_first_is_killed() {
    let model = Counting::start(Duration::ZERO);
    let place = model.place("cron: '@every 2s', chat: assistant, input: Look.");
    let (first, second) = (Serving::start(&place), Serving::start(&place));
    wait_until("a few runs are answered", || model.requests() >= 2);
    first.kill();
    let before = model.requests();
    wait_until("the other server runs more", || model.requests() > before);
    second.kill();
    let runs = flows(&place);
    let due: std::collections::BTreeSet<&str> = runs.iter().map(|flow| &flow[..19]).collect();
    assert_eq!(due.len(), runs.len(), "a due time has two runs: {runs:?}");
    let last = place.run(&["sessions", "history", "cron:nightly", "--json"]);
    assert_eq!(last.json()["flow"], json!(runs.last()), "{last:?}");
    // One run may have been killed before its request left, and one after it.
    assert!(
        model.requests().abs_diff(runs.len()) <= 2,
        "{} {runs:?}",
        model.requests()
    );
}

#[test]
fn runs_that_take_longer_than_their_period_do_not_pile_up() {
    let model = Counting::start(Duration::from_millis(2_500));
    let place = model.place("cron: '@every 1s', chat: assistant, input: Look., missed: skip");
    let server = Serving::start(&place);
    wait_until("three runs were asked", || model.requests() >= 3);
    server.kill();
    assert_eq!(model.most.load(Ordering::SeqCst), 1);
    let row = ls(&place);
    assert_eq!(row["missed"]["made_up"], json!(false), "{row}");
}

#[test]
fn ctrl_c_ends_a_server_with_schedules_in_good_order() {
    let model = Counting::start(Duration::ZERO);
    let place = model.place("cron: '@every 1s', chat: assistant, input: Look.");
    let mut server = Serving::start(&place);
    wait_until("a run is answered", || model.requests() >= 1);
    signal(&server.0, "INT");
    wait_until("it ends", || server.0.try_wait().unwrap().is_some());
    assert!(server.0.wait().unwrap().success());
}

/// Serves under `strace` with these words until the run is answered or the server is dead; whether it is dead.
fn served_traced(place: &Place, words: &[&str]) -> bool {
    let plain = place.workspace.command(&["serve", "--port", "0"]);
    let mut traced = Command::new("strace");
    traced
        .args(words)
        .arg(plain.get_program())
        .args(plain.get_args());
    traced.current_dir(place.workspace.path()).env_clear();
    traced.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    traced.env(
        "A_SOCIETY_CONFIG",
        place.workspace.path().join("config.yaml"),
    );
    traced
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = traced.spawn().unwrap();
    let begin = std::time::Instant::now();
    let died = loop {
        assert!(begin.elapsed() < LONGEST, "neither answered nor dead");
        if server.try_wait().unwrap().is_some() {
            break true;
        }
        if is_answered(place) {
            break false;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if !died {
        // strace keeps signals to itself.
        let told = std::fs::read(place.workspace.path().join(".a-society/server.json")).unwrap();
        let told: Value = serde_json::from_slice(&told).unwrap();
        let ended = Command::new("kill").arg(told["pid"].to_string()).status();
        assert!(ended.unwrap().success());
    }
    drop(server.wait());
    died
}

#[test]
fn killed_at_any_call_that_changes_the_disk_a_due_run_begins_once_and_is_answered() {
    if !strace_works("kill -9 of a server with a schedule at every write") {
        return;
    }
    let model = Counting::start(Duration::ZERO);
    let schedule = format!("{PAST}, chat: assistant, project: demo, input: Look.");
    let place = model.place(&schedule);
    let trace = place.workspace.path().join("trace");
    let all = format!("trace={}", CALLS.join(","));
    assert!(!served_traced(
        &place,
        &["-f", "-o", trace.to_str().unwrap(), "-e", &all]
    ));
    let text = std::fs::read_to_string(trace).unwrap();
    let count = |call: &str| {
        text.lines()
            .filter(|line| line.contains(&format!(" {call}(")))
            .count()
    };
    let each = |call| (1..=count(call)).map(move |number| (call, number));
    let mut kills = 0;
    for (call, number) in slice_of(CALLS.into_iter().flat_map(each), STRIDE) {
        let place = model.place(&schedule);
        let before = model.requests();
        let inject = format!("inject={call}:signal=SIGKILL:when={number}");
        let only = format!("trace={call}");
        let words = ["-f", "-o", "/dev/null", "-e", &only, "-e", &inject];
        kills += usize::from(served_traced(&place, &words));
        let server = Serving::start(&place);
        wait_until(
            &format!("it is answered after a kill at {call} {number}"),
            || is_answered(&place),
        );
        server.kill();
        let when = format!("killed at {call} {number}");
        let flows = flows(&place);
        assert_eq!((flows.len(), messages(&place)), (1, 1), "{when}: {flows:?}");
        // A request whose answer was not recorded is sent again.
        assert!((1..=2).contains(&(model.requests() - before)), "{when}");
        assert_eq!(place.run(&["verify", &flows[0]]).code, 0, "{when}");
    }
    assert!(kills > 3, "only {kills} kills");
}
