//! Chats: what the model gets of them, what comes back, and what is there after a death.

use std::time::Duration;

use a_society_stand_in::{Ending, Server};
use serde_json::Value;

use super::models::{says, streamed, with_model_at};
use super::place::Place;
use crate::support::{Said, is_full, seed};

/// How often the program is killed; more in the whole test.
const KILLS: u64 = 12;
const KILLS_FULL: u64 = 200;

/// Longer than a chat of one message takes; kills are spread over it.
const SPREAD_MS: u64 = 500;

/// A model that repeats the last message.
pub(super) struct Echo {
    pub(super) server: Server,
}

impl Echo {
    pub(super) fn start() -> Self {
        let server = Server::by(|seen, _| {
            let answer = format!("You said: {}", last_said(&seen.body));
            let words = answer.split_inclusive(' ').collect::<Vec<_>>();
            streamed(vec![says(&words)], Ending::Natural, 100)
        });
        Self { server }
    }

    pub(super) fn place(&self) -> Place {
        with_model_at(&self.server.url(), "anthropic")
    }

    /// The requests so far. None broke the rules of its wire.
    pub(super) fn bodies(&self) -> Vec<Value> {
        assert_eq!(self.server.refused(), [""; 0]);
        let seen = self.server.seen().into_iter();
        seen.map(|request| request.body).collect()
    }
}

/// The last text of the person in a request.
pub(super) fn last_said(request: &Value) -> String {
    let texts = texts(request).into_iter().rev();
    let mut said = texts.filter(|(role, _)| role == "user");
    said.next().map(|(_, text)| text).unwrap_or_default()
}

/// The texts of a request's messages, each with who said it.
pub(super) fn texts(request: &Value) -> Vec<(String, String)> {
    let messages = request["messages"].as_array().into_iter().flatten();
    let mut all = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        let content = &message["content"];
        let blocks = content.as_array().into_iter().flatten();
        let texts = blocks.filter_map(|block| block["text"].as_str());
        let texts = content.as_str().into_iter().chain(texts);
        all.extend(texts.map(|text| (role.clone(), text.to_owned())));
    }
    all
}

/// The only chat of a place.
pub(super) fn chat_of(place: &Place) -> String {
    let listed = place.run(&["ls", "--chats", "--json"]).json();
    let flows = listed["flows"].as_array().cloned().unwrap_or_default();
    assert_eq!(flows.len(), 1, "{listed}");
    flows[0]["flow"].as_str().unwrap().to_owned()
}

fn once(place: &Place, text: &str) -> Said {
    place.run(&["chat", "--project", "demo", "--once", text])
}

fn and_then(place: &Place, chat: &str, text: &str) -> Said {
    place.run(&["chat", "--resume", chat, "--once", text])
}

fn pair(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

#[test]
fn a_message_is_answered_and_the_next_one_holds_both_and_no_way_to_end_a_turn() {
    let model = Echo::start();
    let place = model.place();
    let said = once(&place, "Why twice?");
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "You said: Why twice?\n"),
        "{said:?}"
    );
    let chat = chat_of(&place);
    let short = chat.rsplit('-').next().unwrap();
    let kept = format!("chat {short} is kept: a-society chat --resume {short}");
    assert!(said.err.contains(&kept), "{}", said.err);
    let said = and_then(&place, &chat, "And once?");
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "You said: And once?\n"),
        "{said:?}"
    );

    let bodies = model.bodies();
    assert_eq!(bodies.len(), 2);
    assert_eq!(texts(&bodies[0]), [pair("user", "Why twice?")]);
    assert_eq!(
        texts(&bodies[1]),
        [
            pair("user", "Why twice?"),
            pair("assistant", "You said: Why twice?"),
            pair("user", "And once?")
        ]
    );
    for body in &bodies {
        let tools: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert!(tools.contains(&"read_file"), "{tools:?}");
        assert!(
            !tools.contains(&"handoff") && !tools.contains(&"ask_operator"),
            "{tools:?}"
        );
        let whole = body.to_string();
        assert!(
            !whole.contains("End this turn") && !whole.contains("node"),
            "{whole}"
        );
    }
    // A chat that waits for its person is no flow that waits for the operator.
    assert_eq!(place.run(&["ls"]).out, "");
    let standing = &place.run(&["status", &chat, "--json"]).json()["standing"];
    assert_eq!(standing, "your turn");
}

#[test]
fn the_context_is_in_the_prompt_and_secrets_are_refused() {
    let model = Echo::start();
    let place = model.place();
    let words = [
        "chat",
        "--project",
        "demo",
        "--once",
        "Hello.",
        "--var",
        "team=ledger",
        "--file",
    ];
    let said = place.run(&[&words[..], &["demo/src/a.rs:10-40"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let system = model.bodies()[0]["system"].to_string();
    assert!(system.contains("team: ledger"), "{system}");
    assert!(system.contains("lines 10 to 40 of `src/a.rs`"), "{system}");
    let secret = "key=sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz0123456789";
    let said = place.run(&["chat", "--once", "Hello.", "--var", secret]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(!said.err.contains("sk-ant"), "{said:?}");
    assert_eq!(model.bodies().len(), 1);
}

#[test]
fn each_line_of_a_pipe_is_a_message_and_its_end_ends_the_chat() {
    let model = Echo::start();
    let place = model.place();
    let words = ["chat", "--project", "demo"];
    let said = place.workspace.run_with(&words, b"One.\n\nTwo.\n");
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "You said: One.\nYou said: Two.\n"),
        "{said:?}"
    );
    assert_eq!(texts(&model.bodies()[1]).len(), 3);
    let said = place
        .workspace
        .run_with(&[&words[..], &["--json"]].concat(), b"One.\n");
    let events: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(
        (said.code, named("flow"), named("end")),
        (0, 1, 1),
        "{said:?}"
    );
    assert!(named("said") == 1 && named("ask") == 0, "{said:?}");
}

#[test]
fn a_message_needs_the_name_of_its_chat_and_status_names_the_way_back() {
    let model = Echo::start();
    let place = model.place();
    assert_eq!(once(&place, "First.").code, 0);
    let said = place.run(&["chat", "--once", "Second.", "--resume"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    assert!(said.err.contains("names no chat"), "{said:?}");
    assert_eq!(model.bodies().len(), 1);
    let said = place.run(&["status", &chat_of(&place)]);
    assert!(
        said.out.contains("go on: a-society chat --resume "),
        "{said:?}"
    );
}

#[test]
fn a_role_that_is_not_there_is_refused_with_those_that_are() {
    let model = Echo::start();
    let place = model.place();
    let said = place.run(&["chat", "writer", "--project", "demo", "--once", "Hello."]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("no role writer"), "{said:?}");
    assert_eq!(model.bodies().len(), 0);
}

#[test]
fn killed_at_any_moment_a_chat_goes_on_and_no_answer_is_asked_for_twice() {
    let kills = if is_full() { KILLS_FULL } else { KILLS };
    for number in 0..kills {
        let model = Echo::start();
        let place = model.place();
        let words = ["chat", "--project", "demo", "--once", "First."];
        let mut child = place.start(&words);
        let after = number * SPREAD_MS / kills + (number + seed()) % (SPREAD_MS / kills + 7);
        std::thread::sleep(Duration::from_millis(after));
        child.kill().unwrap();
        child.wait().unwrap();
        let listed = place.run(&["ls", "--chats", "--json"]).json();
        let Some(chat) = listed["flows"][0]["flow"].as_str() else {
            // It died before there was a chat, so nothing was lost.
            continue;
        };
        let was_said = place.journal(chat).contains("\"operator_replied\"");
        let said = and_then(&place, chat, "Second.");
        let told = format!("killed after {after} ms: {said:?}");
        assert_eq!(
            (said.code, said.out.as_str()),
            (0, "You said: Second.\n"),
            "{told}"
        );
        let last = model.bodies().pop().unwrap();
        let said = texts(&last);
        let is_answer =
            |(role, text): &&(String, String)| role == "assistant" && text == "You said: First.";
        if was_said {
            assert_eq!(said[0], pair("user", "First."), "{told}");
            assert!(said.iter().filter(is_answer).count() <= 1, "{said:?}");
        } else {
            assert_eq!(said, [pair("user", "Second.")], "{told}");
        }
        assert_eq!(place.run(&["verify", chat]).code, 0, "{told}");
    }
}

#[test]
fn a_journal_that_ends_behind_any_record_goes_on_to_the_same_answers() {
    let model = Echo::start();
    let place = model.place();
    assert_eq!(once(&place, "First.").code, 0);
    let chat = chat_of(&place);
    let whole = place.journal(&chat);
    let begins = whole
        .lines()
        .position(|line| line.contains("\"flow_created\""))
        .unwrap()
        + 1;
    for kept in begins..=whole.lines().count() {
        let lines: Vec<&str> = whole.lines().take(kept).collect();
        let folder = place.folder(&chat);
        for view in ["flow.json", "views.json", "feed.json"] {
            drop(std::fs::remove_file(folder.join(view)));
        }
        drop(std::fs::remove_dir_all(folder.join("roles")));
        drop(std::fs::remove_dir_all(folder.join("quarantine")));
        std::fs::write(
            folder.join("journal/00000001.jsonl"),
            lines.join("\n") + "\n",
        )
        .unwrap();
        let said = and_then(&place, &chat, "Second.");
        let told = format!("cut behind record {kept}: {said:?}");
        assert_eq!(
            (said.code, said.out.as_str()),
            (0, "You said: Second.\n"),
            "{told}"
        );
        let journal = place.journal(&chat);
        let count = |word: &str| journal.matches(&format!("\"fact\":\"{word}\"")).count();
        assert_eq!(count("turn_started"), count("turn_ended"), "{told}");
        let replied = count("operator_replied");
        assert_eq!(count("turn_ended"), replied, "{told}");
        assert_eq!(
            place.run(&["status", &chat, "--json"]).json()["standing"],
            "your turn"
        );
    }
}
