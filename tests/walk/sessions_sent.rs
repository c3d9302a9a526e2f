//! Messages that are sent to chats from outside, and their answers: over deaths of the sender and of the driver.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a_society_stand_in::{Ending, Server};
use serde_json::{Value, json};

use super::chatted::{chat_of, last_said, texts};
use super::models::{says, streamed, with_model_at};
use super::place::{Place, wait_until};
use super::session_verbs::cut_behind_every;
use crate::support::{Said, is_full, seed};

/// How often the sender and the driver are killed; more in the whole test.
const KILLS: u64 = 6;
const KILLS_FULL: u64 = 100;

/// Longer than a message takes from the sender to its answer; kills are spread over it.
const SPREAD_MS: u64 = 700;

/// How long the model is silent before it answers a message that asks it to be slow.
const SLOW: Duration = Duration::from_millis(1_600);

/// A model that repeats the last message.
pub(super) struct SlowEcho {
    server: Server,
}

impl SlowEcho {
    pub(super) fn start() -> Self {
        let server = Server::by(|seen, _| {
            let said = last_said(&seen.body);
            if said.contains("slowly") {
                std::thread::sleep(SLOW);
            }
            let answer = format!("You said: {said}");
            let words: Vec<&str> = answer.split_inclusive(' ').collect();
            streamed(vec![says(&words)], Ending::Natural, 100)
        });
        Self { server }
    }

    /// A place with a chat that was answered once.
    pub(super) fn place(&self) -> (Place, String) {
        let place = with_model_at(&self.server.url(), "anthropic");
        let said = place.run(&[
            "chat",
            "--project",
            "demo",
            "--label",
            "notes",
            "--once",
            "First.",
        ]);
        assert_eq!(said.code, 0, "{said:?}");
        let chat = chat_of(&place);
        (place, chat)
    }

    pub(super) fn bodies(&self) -> Vec<Value> {
        assert_eq!(self.server.refused(), [""; 0]);
        let seen = self.server.seen().into_iter();
        seen.map(|request| request.body).collect()
    }
}

fn send(place: &Place, words: &[&str]) -> Said {
    place.run(&[&["sessions", "send", "notes"], words].concat())
}

fn wait(place: &Place, run: &str, seconds: &str) -> Said {
    place.run(&["sessions", "wait", run, "--wait", seconds, "--json"])
}

/// How often a chat has a message of its person in its journal.
fn replied(place: &Place, chat: &str, text: &str) -> usize {
    let journal = place.journal(chat);
    let replies = journal
        .lines()
        .filter(|line| line.contains("\"fact\":\"operator_replied\""));
    replies.filter(|line| line.contains(text)).count()
}

#[test]
fn a_message_to_a_chat_without_a_driver_is_answered_and_its_answer_is_there_later() {
    let model = SlowEcho::start();
    let (place, chat) = model.place();
    let said = send(&place, &["Second."]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "You said: Second.\n"),
        "{said:?}"
    );
    let run = said.err.lines().find_map(|line| line.strip_prefix("run "));
    let run = run.unwrap_or_else(|| panic!("{said:?}")).to_owned();
    let pair = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(
        texts(&model.bodies()[1]),
        [
            pair("user", "First."),
            pair("assistant", "You said: First."),
            pair("user", "Second.")
        ]
    );
    // A later message changes nothing about the answer to this one.
    assert_eq!(send(&place, &["Third."]).code, 0);
    let answered = json!({ "runId": run, "status": "ok", "reply": "You said: Second." });
    let waited = wait(&place, &run, "0");
    assert_eq!((waited.code, waited.json()), (0, answered), "{waited:?}");
    assert_eq!(model.bodies().len(), 3);
    assert_eq!(place.run(&["verify", &chat]).code, 0);
}

#[test]
fn a_time_out_leaves_the_run_going_on_and_says_how_to_wait_for_it() {
    let model = SlowEcho::start();
    let (place, chat) = model.place();
    let late = send(&place, &["Answer slowly.", "--wait", "1", "--json"]);
    let value = late.json();
    assert_eq!(
        (late.code, &value["status"]),
        (8, &json!("timeout")),
        "{late:?}"
    );
    let run = value["runId"].as_str().unwrap();
    let error = value["error"].as_str().unwrap();
    assert!(
        error.contains(&format!("a-society sessions wait {run}")),
        "{error}"
    );
    let waited = wait(&place, run, "30");
    let reply = &waited.json()["reply"];
    assert_eq!(
        (waited.code, reply),
        (0, &json!("You said: Answer slowly.")),
        "{waited:?}"
    );

    // Sent and left: the run goes on without its sender.
    let sent = send(
        &place,
        &[
            "And slowly again.",
            "--no-wait",
            "--json",
            "--client-id",
            "mine",
        ],
    );
    let value = sent.json();
    assert_eq!(
        (sent.code, &value),
        (
            0,
            &json!({ "runId": format!("{chat}:mine"), "status": "accepted" })
        ),
        "{sent:?}"
    );
    // While the chat is at work, it takes no other.
    let busy = send(&place, &["Not now.", "--no-wait"]);
    assert!(
        busy.code == 5 && busy.err.contains("nothing was sent"),
        "{busy:?}"
    );
    // The same name is the same message.
    let again = send(&place, &["And slowly again.", "--client-id", "mine"]);
    assert_eq!(
        (again.code, again.out.as_str()),
        (0, "You said: And slowly again.\n"),
        "{again:?}"
    );
    assert_eq!(replied(&place, &chat, "And slowly again."), 1);
    assert_eq!(replied(&place, &chat, "Not now."), 0);
    assert_eq!(model.bodies().len(), 3);
}

/// A chat that another process drives until its standard input ends.
fn driven(place: &Place, chat: &str) -> Child {
    let mut command = place.workspace.command(&["chat", "--resume", chat]);
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("it is driven", || {
        !place.status(chat)["driven_by"].is_null()
    });
    child
}

#[test]
fn the_process_that_drives_a_chat_takes_the_message_and_no_other_is_started() {
    let model = SlowEcho::start();
    let (place, chat) = model.place();
    let mut child = driven(&place, &chat);
    let driver = place.status(&chat)["driven_by"].clone();
    let said = send(&place, &["Second."]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "You said: Second.\n"),
        "{said:?}"
    );
    assert_eq!(place.status(&chat)["driven_by"], driver);
    // Two at once are answered one after the other.
    let one = place.start(&["sessions", "send", "notes", "One.", "--json"]);
    let two = send(&place, &["Two.", "--json"]);
    let one = one.wait_with_output().unwrap();
    let one: Value = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!(one["reply"], "You said: One.");
    assert_eq!(two.json()["reply"], "You said: Two.");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(model.bodies().len(), 4);
}

#[test]
fn what_takes_no_messages_says_so_and_nothing_is_sent() {
    let model = SlowEcho::start();
    let (place, chat) = model.place();
    let none = place.run(&["sessions", "send", "nothing", "Hello."]);
    assert!(
        none.code == 3 && none.err.contains("sessions ls"),
        "{none:?}"
    );
    let none = place.run(&["sessions", "wait", &format!("{chat}:nothing")]);
    assert!(none.code == 3 && none.err.contains("no run"), "{none:?}");
    let none = place.run(&["sessions", "wait", "nothing"]);
    assert_eq!(none.code, 3, "{none:?}");
    assert_eq!(place.run(&["session", "close", &chat]).code, 0);
    let closed = send(&place, &["Hello."]);
    assert!(
        closed.code == 6 && closed.err.contains("session open"),
        "{closed:?}"
    );
    place.write("demo/flow.yaml", super::models::FLOW);
    let ran = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_ne!(ran.code, 0);
    let listed = place.run(&["sessions", "ls", "--json", "--kind", "role"]);
    let key = listed.json()["sessions"][0]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let role = place.run(&["sessions", "send", &key, "Hello."]);
    assert!(role.code == 6 && role.err.contains("its flow"), "{role:?}");
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills the process that drives a chat, if one does.
fn kill_driver(place: &Place, chat: &str) {
    let status = place.status(chat);
    let holder = status["driven_by"].as_str().unwrap_or_default();
    let pid = holder.split(|letter: char| !letter.is_ascii_digit());
    if let Some(pid) = pid.into_iter().find(|digits| !digits.is_empty()) {
        // It may have ended meanwhile.
        drop(Command::new("kill").args(["-KILL", pid]).status());
    }
}

#[test]
fn behind_every_record_of_a_run_the_message_is_answered_once_and_its_answer_can_be_fetched() {
    let model = SlowEcho::start();
    let (place, chat) = model.place();
    let words = ["Second.", "--client-id", "mine", "--wait", "60"];
    assert_eq!(send(&place, &words).code, 0);
    let run = format!("{chat}:mine");
    // The driver of the last message writes its end before the journal is cut.
    let is_rested = || place.status(&chat)["driven_by"].is_null();
    let cuts = AtomicUsize::new(0);
    wait_until("the chat rests", is_rested);
    // The first message has a record of this kind, too: in front of it the run is unknown.
    cut_behind_every(&place, &chat, "operator_replied", &|told| {
        let accepted = replied(&place, &chat, "Second.");
        let waited = wait(&place, &run, "60");
        if accepted == 0 {
            assert_eq!(waited.code, 3, "{told}: {waited:?}");
            assert_eq!(send(&place, &words).code, 0, "{told}");
        } else {
            let reply = &waited.json()["reply"];
            assert_eq!(reply, "You said: Second.", "{told}: {waited:?}");
            cuts.fetch_add(1, Ordering::Relaxed);
        }
        wait_until("the chat rests", is_rested);
        assert_eq!(replied(&place, &chat, "Second."), 1, "{told}");
        let last = model.bodies().pop().unwrap();
        let heard = texts(&last).into_iter();
        let heard = heard.filter(|(_, text)| text == "Second.").count();
        assert!(heard <= 1, "{told}: {last}");
        let again = wait(&place, &run, "0");
        assert_eq!(again.json()["reply"], "You said: Second.", "{told}");
    });
    assert!(cuts.into_inner() > 5);
}

#[test]
fn killed_at_any_moment_an_accepted_message_is_read_once_and_its_answer_can_be_fetched() {
    let kills = if is_full() { KILLS_FULL } else { KILLS };
    for number in 0..kills {
        let model = SlowEcho::start();
        let (place, chat) = model.place();
        let words = [
            "sessions",
            "send",
            "notes",
            "Second.",
            "--client-id",
            "mine",
        ];
        let mut child = place.start(&words);
        let after = number * SPREAD_MS / kills + (number + seed()) % (SPREAD_MS / kills + 7);
        std::thread::sleep(Duration::from_millis(after));
        kill(&mut child);
        if number % 2 == 0 {
            kill_driver(&place, &chat);
        }
        let told = format!("killed after {after} ms");
        let run = format!("{chat}:mine");
        if replied(&place, &chat, "Second.") == 0 {
            // Nothing was accepted, and the same name may be sent again.
            assert_eq!(place.run(&words).code, 0, "{told}");
        }
        let waited = wait(&place, &run, "30");
        assert_eq!(
            waited.json()["reply"],
            "You said: Second.",
            "{told}: {waited:?}"
        );
        assert_eq!(replied(&place, &chat, "Second."), 1, "{told}");
        let last = model.bodies().pop().unwrap();
        let heard = texts(&last)
            .into_iter()
            .filter(|(_, text)| text == "Second.");
        assert_eq!(heard.count(), 1, "{told}: {last}");
        assert_eq!(place.run(&["verify", &chat]).code, 0, "{told}");
    }
}
