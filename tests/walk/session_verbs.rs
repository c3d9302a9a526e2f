//! What the operator does to the session of a chat: what the next request holds, and what is kept.

use a_society_stand_in::{Act, Ending, Reply, Server, stream_head};
use serde_json::{Value, json};

use super::chatted::{Echo, chat_of, last_said, texts};
use super::models::{says, streamed, with_model_at};
use super::place::{Place, wait_until};
use crate::served::client::{Server as PageServer, Window};
use crate::served::operated::said as obeyed;
use crate::support::Said;

/// A chat with these messages of its person.
fn chat_in_which(place: &Place, said: &[&str]) -> String {
    let [first, others @ ..] = said else {
        panic!("something is said");
    };
    let once = place.run(&["chat", "--project", "demo", "--once", first]);
    assert_eq!(once.code, 0, "{once:?}");
    let chat = chat_of(place);
    for next in others {
        assert_eq!(and_then(place, &chat, next).code, 0);
    }
    chat
}

fn and_then(place: &Place, chat: &str, text: &str) -> Said {
    place.run(&["chat", "--resume", chat, "--once", text])
}

/// What the last request said.
fn last_texts(model: &Echo) -> Vec<String> {
    let last = model.bodies().pop().unwrap();
    texts(&last).into_iter().map(|(_, text)| text).collect()
}

fn transcript(place: &Place, chat: &str) -> Value {
    let file = place.folder(chat).join("roles/assistant/transcript.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// The journal of a chat, cut behind each record from the first with this fact on: the chat goes on with a message, and
/// is sound.
fn goes_on_behind_every(place: &Place, chat: &str, fact: &str, texts_then: &dyn Fn(&str, &Said)) {
    let whole = place.journal(chat);
    let word = format!("\"fact\":\"{fact}\"");
    let first = whole.lines().position(|line| line.contains(&word)).unwrap() + 1;
    for kept in first..=whole.lines().count() {
        let lines: Vec<&str> = whole.lines().take(kept).collect();
        let folder = place.folder(chat);
        for view in ["flow.json", "views.json", "feed.json"] {
            drop(std::fs::remove_file(folder.join(view)));
        }
        for kept in ["roles", "quarantine"] {
            drop(std::fs::remove_dir_all(folder.join(kept)));
        }
        let segment = folder.join("journal/00000001.jsonl");
        std::fs::write(segment, lines.join("\n") + "\n").unwrap();
        let said = and_then(place, chat, "Go on.");
        let told = format!("cut behind record {kept}: {said:?}");
        assert_eq!(
            (said.code, said.out.as_str()),
            (0, "You said: Go on.\n"),
            "{told}"
        );
        texts_then(&told, &said);
        assert_eq!(place.run(&["verify", chat]).code, 0, "{told}");
    }
}

#[test]
fn a_trimmed_chat_sends_the_last_messages_only_and_a_restored_one_sends_all_again() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["One.", "Two.", "Three."]);
    // An odd number keeps the answer, and so the message that it answers.
    let said = place.run(&["session", "trim", &chat, "--keep", "1", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = said.json();
    let archive = said["archive"]["archive"].as_str().unwrap().to_owned();
    assert_eq!(
        (&said["messages"], &said["archive"]["messages"]),
        (&2.into(), &4.into())
    );
    let kept = transcript(&place, &chat);
    assert_eq!(kept["compactionArchives"][0]["kind"], "trim");
    assert_eq!(
        kept["compactionArchives"][0]["archivedTranscriptHistory"][0]["content"],
        "One."
    );

    assert_eq!(and_then(&place, &chat, "Four.").code, 0);
    assert_eq!(last_texts(&model), ["Three.", "You said: Three.", "Four."]);
    let said = place.run(&["session", "trim", &chat, "--keep", "100"]);
    assert!(
        said.code == 0 && said.out.contains("all 4 messages"),
        "{said:?}"
    );

    let restored = place.run(&["session", "restore", &chat, "assistant", &archive]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(and_then(&place, &chat, "Five.").code, 0);
    let all = last_texts(&model);
    assert_eq!(all.len(), 9);
    assert_eq!((all[0].as_str(), all[8].as_str()), ("One.", "Five."));
}

#[test]
fn a_chat_that_was_reset_sends_nothing_that_was_said_before_and_what_it_cost_counts_on() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["A secret word.", "Two."]);
    let of = |chat: &str| transcript(&place, chat);
    let before = of(&chat);
    let said = place.run(&["session", "reset", &chat, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = said.json();
    assert_eq!(
        (&said["messages"], &said["generation"]),
        (&0.into(), &2.into())
    );
    let after = of(&chat);
    assert_eq!(after["key"], before["key"]);
    assert_ne!(after["sessionId"], before["sessionId"]);
    assert_eq!(
        (&after["state"], &after["turns"]),
        (&"created".into(), &2.into())
    );
    assert_eq!(after["usage"]["total"], before["usage"]["total"]);
    assert_eq!(after["transcriptHistory"], Value::Array(Vec::new()));

    assert_eq!(and_then(&place, &chat, "Three.").code, 0);
    assert_eq!(last_texts(&model), ["Three."]);
    let body = model.bodies().pop().unwrap().to_string();
    assert!(!body.contains("secret word"), "{body}");
    let archive = said["archive"]["archive"].as_str().unwrap();
    assert_eq!(
        place
            .run(&["session", "restore", &chat, "assistant", archive])
            .code,
        0
    );
    assert_eq!(and_then(&place, &chat, "Four.").code, 0);
    assert_eq!(last_texts(&model)[0], "A secret word.");
}

#[test]
fn a_journal_that_ends_behind_a_trim_or_a_reset_goes_on_without_what_was_left_out() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["One.", "Two."]);
    assert_eq!(
        place.run(&["session", "trim", &chat, "--keep", "2"]).code,
        0
    );
    assert_eq!(place.run(&["session", "reset", &chat]).code, 0);
    goes_on_behind_every(&place, &chat, "messages_trimmed", &|told, _| {
        let said = last_texts(&model);
        assert!(!said.contains(&"One.".to_owned()), "{told}: {said:?}");
        let is_reset = place.journal(&chat).contains("\"session_renewed\"");
        assert_eq!(
            said.contains(&"Two.".to_owned()),
            !is_reset,
            "{told}: {said:?}"
        );
    });
}

/// A model that does not answer this message.
fn stalls_at(stalling: &'static str) -> Server {
    Server::by(move |seen, _| {
        let said = last_said(&seen.body);
        if said == stalling {
            return Reply::Do(vec![stream_head(), Act::Stall]);
        }
        let answer = format!("You said: {said}");
        streamed(vec![says(&[answer.as_str()])], Ending::Natural, 100)
    })
}

#[test]
fn a_session_in_which_a_turn_is_open_is_neither_trimmed_nor_reset_and_one_that_is_not_there_is_named()
 {
    let server = stalls_at("Wait.");
    let place = with_model_at(&server.url(), "anthropic");
    let chat = chat_in_which(&place, &["One."]);
    let mut child = place.start(&["chat", "--resume", &chat, "--once", "Wait."]);
    wait_until("the model is asked", || server.seen().len() == 2);
    for verb in [&["trim", &chat, "--keep", "1"][..], &["reset", &chat]] {
        let said = place.run(&[&["session"][..], verb].concat());
        assert_eq!(said.code, 6, "{said:?}");
        assert!(said.err.contains("a turn of it is open"), "{said:?}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let said = place.run(&["session", "trim", "nosuch", "--keep", "1"]);
    assert!(said.code != 0 && said.err.contains("nosuch"), "{said:?}");
    let said = place.run(&["session", "reset", &chat, "writer"]);
    assert!(said.code == 6 && said.err.contains("writer"), "{said:?}");
}

#[test]
fn a_chat_is_trimmed_and_reset_over_the_page_s_socket_and_the_next_request_has_the_rest() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["One.", "Two."]);
    let server = PageServer::start(&place.workspace, &[]);
    let flow = json!({ "project": "demo", "flow": chat });
    let mut window = Window::new(&flow, &["assistant"]);
    let mut number = 0;
    let mut say = |command: Value| {
        number += 1;
        let ack = obeyed(&mut window, &server, &format!("c{number}"), &command);
        assert_eq!(ack["ok"], json!(true), "{command}: {ack}");
    };
    let reply = |say: &mut dyn FnMut(Value), text: &str, requests: usize| {
        say(json!({ "do": "reply", "to": "only", "text": text }));
        wait_until("it is answered", || model.bodies().len() == requests);
    };
    say(json!({ "do": "trim", "role": "assistant", "keep": 2 }));
    reply(&mut say, "Three.", 3);
    assert_eq!(last_texts(&model), ["Two.", "You said: Two.", "Three."]);
    let at_rest = || place.run(&["status", &chat, "--json"]).json()["standing"] == "your turn";
    wait_until("the turn is over", at_rest);
    say(json!({ "do": "reset", "role": "assistant" }));
    reply(&mut say, "Four.", 4);
    assert_eq!(last_texts(&model), ["Four."]);
}
