//! What waits for something is woken by it. Each test fails where the bell is cut and only the looks are left that are there
//! for a change which the system does not tell of: what is measured is the sum of many waits, or a wait of seconds.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use a_society_facts::At;
use a_society_stand_in::{Ending, Piece, Reply, Server as Provider, Used};
use serde_json::Value;

use super::models::{says, with_model_at};
use super::place::{ASKING, FLOW, Place, wait_until};
use crate::served::client::Server;

/// A look comes once a second, so that as many waits without a bell take several seconds.
const ROUNDS: u32 = 8;

/// What all waits of such a test may take together.
const TOGETHER_MAX: Duration = Duration::from_millis(2_500);

#[test]
fn a_follower_of_a_log_prints_a_record_when_it_is_written() {
    let place = Place::new(FLOW, ASKING);
    let flow = place.run_until_it_waits();
    let mut follower = place.start(&["log", &flow, "--follow", "--json"]);
    let (tell, lines) = channel();
    let out = BufReader::new(follower.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            drop(tell.send(line));
        }
    });
    let last = place.journal(&flow).lines().last().unwrap().to_owned();
    while lines.recv_timeout(Duration::from_secs(30)).unwrap() != last {}
    let mut waited = Duration::ZERO;
    for round in 0..ROUNDS {
        let mode = ["full-access", "partial-access"][(round % 2) as usize];
        assert_eq!(place.run(&["mode", &flow, mode]).code, 0);
        let written = Instant::now();
        while !(lines.recv_timeout(Duration::from_secs(30)).unwrap()).contains(mode) {}
        waited += written.elapsed();
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
    assert!(waited < TOGETHER_MAX, "{waited:?} for {ROUNDS} records");
}

/// A role that asks, and whose summaries take a quarter of a second.
fn summarizing() -> Provider {
    Provider::by(|seen, _| {
        let has_tools = seen.body["tools"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        let said = if has_tools {
            says(&["Which of the two?\n\n```handoff\ntype: prompt-human\n```\n"])
        } else {
            says(&["It asked which of the two."])
        };
        let pause = Duration::from_millis(if has_tools { 1 } else { 40 });
        let pieces = vec![Piece::Block(said.0, said.1)];
        Reply::Paced(pieces, Ending::Natural, Used::default(), pause)
    })
}

/// How long ago the last record of this kind was made.
fn since_last(place: &Place, flow: &str, fact: &str) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let journal = place.journal(flow);
    let records = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut last = records.rev().filter(|record| record["fact"] == fact);
    let last = last.next().unwrap();
    let at: At = serde_json::from_value(last["at"].clone()).unwrap();
    now.saturating_sub(Duration::from_millis(at.ms().unsigned_abs()))
}

#[test]
fn a_summary_that_is_waited_for_is_reported_when_it_is_there() {
    let provider = summarizing();
    let place = with_model_at(&provider.url(), "anthropic");
    let flow = place.run_until_it_waits();
    let _driver = Server::start(&place.workspace, &["--resume"]);
    wait_until("the server drives it", || {
        place.status(&flow)["driven_by"].is_string()
    });
    let mut waited = Duration::ZERO;
    for _ in 0..ROUNDS {
        let said = place.run(&["session", "compact", &flow, "owner", "--json"]);
        waited += since_last(&place, &flow, "session_compacted");
        assert_eq!(said.code, 0, "{said:?}");
        let archive = said.json()["archive"]["archive"].clone();
        let restore = [
            "session",
            "restore",
            &flow,
            "owner",
            archive.as_str().unwrap(),
        ];
        assert_eq!(place.run(&restore).code, 0);
    }
    assert!(waited < TOGETHER_MAX, "{waited:?} for {ROUNDS} summaries");
}

/// Two questions, one after the other.
const TWICE: &str = r"default: forward
script:
  - { node: write, turn: 1, say: [ 'Which colour?', { signal: prompt-human } ] }
  - { node: write, turn: 2, say: [ 'Which size?', { signal: prompt-human } ] }
";

/// The lines that the notification command wrote.
fn notified(place: &Place) -> usize {
    let said = std::fs::read_to_string(place.workspace.path().join("said.txt"));
    said.unwrap_or_default().lines().count()
}

/// A flow that asks, driven by a server whose notification command is this line of a shell.
fn notifying(line: &str) -> (Place, String, Server) {
    let place = Place::new(FLOW, TWICE);
    let flow = place.run_until_it_waits();
    place.write(
        "config.yaml",
        &format!("notify: {{ command: [sh, -c, '{line}'] }}\n"),
    );
    let server = Server::start(&place.workspace, &["--resume"]);
    (place, flow, server)
}

#[test]
fn a_notification_command_that_has_ended_holds_the_next_notification_up_no_longer() {
    let (place, flow, _server) = notifying("echo told >> said.txt");
    wait_until("the first question is told", || notified(&place) == 1);
    let status = place.run(&["status", &flow]);
    assert!(status.out.contains(" · driven by serve"), "{status:?}");
    let told = Instant::now();
    assert_eq!(place.run(&["reply", &flow, "Blue."]).code, 0);
    wait_until("the second question is told", || notified(&place) == 2);
    // One that hangs may run for five seconds.
    assert!(
        told.elapsed() < Duration::from_secs(4),
        "{:?}",
        told.elapsed()
    );
}

#[test]
fn a_notification_command_of_a_server_has_as_long_as_one_of_a_run_while_its_flow_is_driven() {
    let (place, _flow, _server) = notifying("sleep 2; echo told >> said.txt");
    wait_until("the question is told", || notified(&place) == 1);
}

#[test]
fn a_command_that_finds_its_flow_between_two_drivers_is_carried_out_as_soon_as_it_is_free() {
    let place = Place::new(FLOW, ASKING);
    let flow = place.run_until_it_waits();
    let folder = place.folder(&flow);
    // A driver that has the lock, does not listen, and is busy with the folder for longer than a command waits without news.
    let lock = File::options()
        .write(true)
        .open(folder.join("flow.lock"))
        .unwrap();
    lock.lock().unwrap();
    let mut command = place.start(&["pause", &flow]);
    let began = folder.join("begins");
    for _ in 0..120 {
        std::fs::write(&began, "").unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_file(&began).unwrap();
    assert!(command.try_wait().unwrap().is_none(), "it has not given up");
    drop(lock);
    assert_eq!(command.wait().unwrap().code(), Some(0));
    assert!(place.journal(&flow).contains("\"flow_paused\""));
}
