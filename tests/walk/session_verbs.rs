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
pub(super) fn goes_on_behind_every(
    place: &Place,
    chat: &str,
    fact: &str,
    texts_then: &dyn Fn(&str, &Said),
) {
    cut_behind_every(place, chat, fact, &|told| {
        let said = and_then(place, chat, "Go on.");
        let told = format!("{told}: {said:?}");
        assert!(said.code == 0 && said.out.ends_with("Go on.\n"), "{told}");
        texts_then(&told, &said);
    });
}

/// Cuts the journal of a chat behind each record from the first with this fact on. After what is done then, it is sound.
pub(super) fn cut_behind_every(place: &Place, chat: &str, fact: &str, then: &dyn Fn(&str)) {
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
        let told = format!("cut behind record {kept}");
        then(&told);
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
fn a_session_is_changed_over_the_page_s_socket_and_the_next_request_has_what_is_left() {
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
    say(json!({ "do": "inject", "role": "assistant", "speaker": "user", "text": "Beside it." }));
    reply(&mut say, "Four.", 4);
    assert_eq!(last_texts(&model), ["Beside it.\n\nFour."]);
    wait_until("the turn is over", at_rest);
    say(json!({ "do": "title", "title": "Two  words" }));
    let listed = place.run(&["ls", "--chats", "--json"]).json();
    assert_eq!(listed["flows"][0]["title"], "Two words");
    say(json!({ "do": "close", "role": "assistant", "force": false }));
    assert_eq!(
        place.run(&["status", &chat, "--json"]).json()["standing"],
        "closed"
    );
    say(json!({ "do": "open", "role": "assistant" }));
    reply(&mut say, "Five.", 5);
    assert_eq!(last_texts(&model), ["Five."]);
}

#[test]
fn what_is_injected_begins_no_turn_and_is_in_the_next_request_and_a_note_of_the_system_stays() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["One."]);
    let inject = |role: &str, text: &str| {
        let said = place.run(&["session", "inject", &chat, "--role", role, text]);
        assert_eq!(said.code, 0, "{said:?}");
    };
    inject("system", "Answer briefly.");
    inject("user", "I work on Linux.");
    inject("assistant", "Linux, then.");
    assert_eq!(model.bodies().len(), 1);
    assert_eq!(and_then(&place, &chat, "Two.").code, 0);
    let note = "<system-note>Answer briefly.</system-note>";
    let beside = format!("{note}\n\nI work on Linux.");
    let expected = ["One.", "You said: One.", &beside, "Linux, then.", "Two."];
    assert_eq!(last_texts(&model), expected);
    let length = place.run(&["session", "length", &chat]);
    assert_eq!((length.code, length.out.as_str()), (0, "7\n"));

    assert_eq!(
        place.run(&["session", "trim", &chat, "--keep", "2"]).code,
        0
    );
    assert_eq!(and_then(&place, &chat, "Three.").code, 0);
    let two = format!("{note}\n\nTwo.");
    assert_eq!(last_texts(&model), [&two, "You said: Two.", "Three."]);
    let said = place.run(&["session", "inject", &chat, "--role", "tool", "x"]);
    assert!(
        said.code == 2 && said.err.contains("user, assistant or system"),
        "{said:?}"
    );
    let said = place.run(&["session", "inject", &chat, "x"]);
    assert!(said.code == 2 && said.err.contains("--role"), "{said:?}");
}

#[test]
fn what_is_injected_while_a_turn_is_open_comes_after_it_also_where_the_turn_is_cut_off() {
    let server = stalls_at("Wait.");
    let place = with_model_at(&server.url(), "anthropic");
    let chat = chat_in_which(&place, &["One."]);
    let mut child = place.start(&["chat", "--resume", &chat, "--once", "Wait."]);
    wait_until("the model is asked", || server.seen().len() == 2);
    let said = place.run(&[
        "session",
        "inject",
        &chat,
        "--role",
        "user",
        "Beside it.",
        "--json",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        (said.json()["waiting"].clone(), server.seen().len()),
        (1.into(), 2)
    );
    assert_eq!(place.run(&["session", "length", &chat]).out, "3\n");
    // The turn is stopped, its exchange is undone with the next message, and what was put in beside it stays.
    assert_eq!(place.run(&["stop", &chat, "--all"]).code, 0);
    child.wait().unwrap();
    assert_eq!(and_then(&place, &chat, "Two.").code, 0);
    let last = server.seen().pop().unwrap().body;
    let said: Vec<String> = texts(&last).into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["One.", "You said: One.", "Beside it.\n\nTwo."]);
    assert_eq!(server.refused(), [""; 0]);
}

#[test]
fn a_closed_chat_takes_no_message_and_an_opened_one_begins_anew_with_what_was_said_archived() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["One."]);
    let exists = || {
        let said = place.run(&["session", "exists", &chat]);
        (said.code, said.out)
    };
    assert_eq!(exists(), (0, "true\n".to_owned()));
    for _ in 0..2 {
        assert_eq!(place.run(&["session", "close", &chat]).code, 0);
    }
    assert_eq!(exists(), (3, "false\n".to_owned()));
    let short = chat.rsplit('-').next().unwrap();
    let way = format!("a-society session open {short}");
    for refused in [
        and_then(&place, &chat, "Two."),
        place.run(&["reply", &chat, "Two."]),
    ] {
        assert_eq!(refused.code, 6, "{refused:?}");
        assert!(
            refused.err.contains("closed") && refused.err.contains("session open"),
            "{refused:?}"
        );
    }
    assert!(and_then(&place, &chat, "Two.").err.contains(&way));
    assert_eq!(
        place.run(&["status", &chat, "--json"]).json()["standing"],
        "closed"
    );
    let kept = place.run(&["session", "snapshot", &chat]).json();
    assert_eq!(kept["transcriptHistory"][0]["content"], "One.");
    assert_eq!(model.bodies().len(), 1);

    let opened = place.run(&["session", "open", &chat, "--json"]);
    assert_eq!(opened.code, 0, "{opened:?}");
    assert_eq!(exists().0, 0);
    assert_eq!(and_then(&place, &chat, "Two.").code, 0);
    assert_eq!(last_texts(&model), ["Two."]);
    let archive = opened.json()["archive"]["archive"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        place
            .run(&["session", "restore", &chat, "assistant", &archive])
            .code,
        0
    );
    assert_eq!(and_then(&place, &chat, "Three.").code, 0);
    assert_eq!(last_texts(&model)[..2], ["One.", "You said: One."]);
}

#[test]
fn a_chat_at_work_is_closed_by_force_which_ends_its_turn() {
    let server = stalls_at("Wait.");
    let place = with_model_at(&server.url(), "anthropic");
    let chat = chat_in_which(&place, &["One."]);
    let mut child = place.start(&["chat", "--resume", &chat, "--once", "Wait."]);
    wait_until("the model is asked", || server.seen().len() == 2);
    let said = place.run(&["session", "close", &chat]);
    assert!(
        said.code == 6 && said.err.contains("a turn of it is open"),
        "{said:?}"
    );
    let said = place.run(&["session", "close", &chat, "--force", "--json"]);
    assert!(said.code == 0 && said.json()["stopped"] == true, "{said:?}");
    assert_ne!(child.wait().unwrap().code(), Some(0));
    let journal = place.journal(&chat);
    assert!(journal.contains("\"end\":\"stopped\""), "{journal}");
    assert_eq!(place.run(&["session", "open", &chat]).code, 0);
    assert_eq!(and_then(&place, &chat, "Two.").code, 0);
    let last = server.seen().pop().unwrap().body;
    assert_eq!(texts(&last).len(), 1, "{last}");
}

#[test]
fn a_chat_whose_process_was_killed_is_closed_by_force_and_says_how_its_turn_ends() {
    let server = stalls_at("Wait.");
    let place = with_model_at(&server.url(), "anthropic");
    let chat = chat_in_which(&place, &["One."]);
    let mut child = place.start(&["chat", "--resume", &chat, "--once", "Wait."]);
    wait_until("the model is asked", || server.seen().len() == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let said = place.run(&["session", "close", &chat, "--force"]);
    assert!(
        said.code == 1 && said.err.contains("try: a-society resume "),
        "{said:?}"
    );
    let resumed = place.run(&["resume", &chat, "--until-waiting"]);
    assert!(!resumed.err.contains("error["), "{resumed:?}");
    assert_eq!(place.run(&["session", "open", &chat]).code, 0);
    assert_eq!(and_then(&place, &chat, "Two.").code, 0);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_journal_that_ends_behind_an_injection_or_between_closing_and_opening_goes_on() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["One."]);
    let run = |words: &[&str]| assert_eq!(place.run(words).code, 0, "{words:?}");
    run(&["session", "inject", &chat, "--role", "user", "Beside it."]);
    goes_on_behind_every(&place, &chat, "message_injected", &|told, _| {
        let said = last_texts(&model);
        assert!(
            said.iter().any(|text| text.starts_with("Beside it.")),
            "{told}: {said:?}"
        );
    });
    run(&["session", "close", &chat]);
    run(&["session", "open", &chat]);
    goes_on_behind_every(&place, &chat, "session_renewed", &|told, _| {
        assert_eq!(last_texts(&model), ["Go on."], "{told}");
    });
}

#[test]
fn a_session_that_is_not_there_is_no_error_to_some_verbs_and_named_by_the_others_and_forks_form_a_tree()
 {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["One."]);
    let said = |words: &[&str]| {
        let said = place.run(&[&["session"][..], words].concat());
        (said.code, said.out, said.err)
    };
    assert_eq!(
        said(&["exists", "nosuch"]),
        (3, "false\n".into(), String::new())
    );
    assert_eq!(
        said(&["snapshot", "nosuch"]),
        (3, "null\n".into(), String::new())
    );
    for verb in ["length", "tree", "reset", "close", "open", "export"] {
        let words = [verb, "nosuch", "assistant"];
        let words = if matches!(verb, "tree" | "close" | "open") {
            &words[..2]
        } else {
            &words[..]
        };
        let (code, out, err) = said(words);
        assert!(
            code == 3 && out.is_empty() && err.contains("nosuch"),
            "{verb}: {code} {err}"
        );
    }
    let fork = |of: &str| {
        let made = place.run(&["fork", of, "--json"]).json();
        made["flow"].as_str().unwrap().to_owned()
    };
    let child = fork(&chat);
    let (grandchild, other) = (fork(&child), fork(&chat));
    let tree = place
        .run(&["session", "tree", &grandchild, "--json"])
        .json();
    assert_eq!(tree["root"], chat);
    let each = tree["tree"].as_array().unwrap();
    let each: Vec<(&str, u64)> = each
        .iter()
        .map(|one| {
            (
                one["flow"].as_str().unwrap(),
                one["depth"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        each,
        [
            (chat.as_str(), 0),
            (&child, 1),
            (&grandchild, 2),
            (&other, 1)
        ]
    );
    let kin = place.run(&["session", "snapshot", &chat]).json();
    assert_eq!(
        (&kin["children"], &kin["root"]),
        (&json!([child, other]), &json!(chat))
    );
}

#[test]
fn every_name_of_a_session_finds_it_for_every_verb_and_an_error_names_those_that_could_be_meant() {
    let model = Echo::start();
    let place = model.place();
    let new = |label: &str| {
        let words = ["chat", "--project", "demo", "--label", label];
        let said = place.run(&[&words[..], &["--once", "One.", "--json"]].concat());
        assert_eq!(said.code, 0, "{said:?}");
    };
    new("notes of may");
    new("notes of june");
    let rows = place.run(&["sessions", "ls", "--json"]).json();
    let rows = rows["sessions"].as_array().unwrap();
    let may = rows.iter().find(|row| row["label"] == "notes of may");
    let may = may.unwrap();
    let text = |field: &str| may[field].as_str().unwrap();
    let (chat, key) = (text("flowId"), text("key"));
    let short = chat.rsplit('-').next().unwrap();
    let project = format!("demo/{chat}");
    let id = text("sessionId");
    // Each reset below leads to another incarnation with an id of its own.
    let length = place.run(&["session", "length", id]);
    assert_eq!((length.code, length.out.as_str()), (0, "2\n"), "{length:?}");
    let begun = &key[..key.len() - 1];
    let label = "notes of may";
    let names = [chat, short, &project, key, begun, label, &label[..10]];
    for name in names {
        let run = |words: &[&str]| {
            let said = place.run(words);
            assert_eq!(said.code, 0, "{name}: {words:?} {said:?}");
            said
        };
        for verb in ["length", "exists", "tree", "archives", "ls", "export"] {
            run(&["session", verb, name]);
        }
        let found = run(&["session", "snapshot", name]).json();
        assert_eq!(found["flow"], chat, "{name}");
        let read = run(&["sessions", "history", name, "--json"]).json();
        assert_eq!(read["flow"], chat, "{name}");
        let trimmed = run(&["session", "trim", name, "--keep", "9", "--json"]).json();
        assert_eq!(trimmed["flow"], chat, "{name}");
        run(&["session", "inject", name, "--role", "user", "Two."]);
        let archive = run(&["session", "reset", name, "--json"]).json();
        let archive = archive["archive"]["archive"].as_str().unwrap();
        run(&["session", "restore", name, archive]);
        run(&["session", "close", name]);
        run(&["session", "open", name]);
        let archives = run(&["session", "archives", name, "--json"]).json();
        let last = archives["archives"].as_array().unwrap().last().unwrap();
        let last = last["archive"].as_str().unwrap();
        run(&["session", "restore", name, "assistant", last]);
    }
    let several = place.run(&["session", "length", "notes of"]);
    let labels = several.err.contains("notes of may") && several.err.contains("notes of june");
    assert!(several.code == 2 && labels, "{several:?}");
    for row in rows {
        let key = row["key"].as_str().unwrap();
        assert!(several.err.contains(key), "{key}: {several:?}");
    }
    for words in [
        ["session", "length", "nosuch"],
        ["sessions", "history", "nosuch"],
    ] {
        let none = place.run(&words);
        assert!(none.code == 3 && none.err.contains(key), "{none:?}");
    }
    // The name of the first chat begins so, too.
    let label = &short[..1];
    new(label);
    let labelled = place.run(&["session", "snapshot", label]);
    assert_eq!(labelled.code, 0, "{labelled:?}");
    assert_ne!(labelled.json()["flow"], chat);
}

#[test]
fn a_chat_without_a_message_has_a_session_that_is_empty_and_found_by_its_label() {
    let model = Echo::start();
    let place = model.place();
    let words = ["chat", "--project", "demo", "--label", "empty"];
    let said = place.run(&[&words[..], &["--once", "One."]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let chat = chat_of(&place);
    let journal = place.journal(&chat);
    let silent = journal
        .lines()
        .take_while(|line| !line.contains("operator_replied"));
    let silent: Vec<&str> = silent.collect();
    assert!(!silent.is_empty());
    let folder = place.folder(&chat);
    std::fs::write(
        folder.join("journal/00000001.jsonl"),
        silent.join("\n") + "\n",
    )
    .unwrap();
    for view in ["flow.json", "views.json", "feed.json"] {
        drop(std::fs::remove_file(folder.join(view)));
    }
    drop(std::fs::remove_dir_all(folder.join("roles")));
    let run = |words: &[&str]| {
        let said = place.run(words);
        assert_eq!(said.code, 0, "{words:?} {said:?}");
        said
    };
    assert_eq!(run(&["session", "exists", "empty"]).out, "true\n");
    assert_eq!(run(&["session", "length", "empty"]).out, "0\n");
    let snapshot = run(&["session", "snapshot", "empty"]).json();
    assert_eq!(snapshot["transcriptHistory"], json!([]));
    assert_eq!(run(&["sessions", "history", "empty"]).out, "");
    assert_eq!(
        run(&["sessions", "send", "empty", "Two."]).out,
        "You said: Two.\n"
    );
}

#[test]
fn a_note_of_the_system_is_in_what_replaces_a_compacted_history_also_the_second_time() {
    let server = Server::by(|seen, _| {
        let is_summary = seen.body["tools"].as_array().is_none_or(Vec::is_empty);
        let answer = if is_summary { "They spoke." } else { "Yes." };
        streamed(vec![says(&[answer])], Ending::Natural, 100)
    });
    let place = with_model_at(&server.url(), "anthropic");
    let long = "Read all of this. ".repeat(200);
    let chat = chat_in_which(&place, &[&long]);
    let rule = [
        "session",
        "inject",
        &chat,
        "--role",
        "system",
        "Answer briefly.",
    ];
    assert_eq!(place.run(&rule).code, 0);
    for round in 0..2 {
        let compacted = place.run(&["session", "compact", &chat, "assistant"]);
        assert_eq!(compacted.code, 0, "{compacted:?}");
        assert_eq!(and_then(&place, &chat, &long).code, 0);
        let last = server.seen().pop().unwrap().body;
        let first = &texts(&last)[0].1;
        let notes = first
            .matches("<system-note>Answer briefly.</system-note>")
            .count();
        assert!(
            notes == 1 && first.contains("They spoke."),
            "{round}: {first}"
        );
    }
}

#[test]
fn a_chat_is_printed_as_markdown_with_who_said_what() {
    let model = Echo::start();
    let place = model.place();
    let chat = chat_in_which(&place, &["Why\n```\ntwice?"]);
    let rule = [
        "session",
        "inject",
        &chat,
        "--role",
        "system",
        "Answer briefly.",
    ];
    assert_eq!(place.run(&rule).code, 0);
    let said = place.run(&["session", "export", &chat, "--format", "md"]);
    assert_eq!(said.code, 0, "{said:?}");
    let heads: Vec<&str> = said
        .out
        .lines()
        .filter(|line| line.starts_with("## "))
        .collect();
    let who = |head: &str| head.split(',').next().unwrap_or_default().to_owned();
    let who: Vec<String> = heads.into_iter().map(who).collect();
    assert_eq!(who, ["## You", "## assistant", "## System"]);
    assert!(said.out.contains("You said: Why"), "{said:?}");
    let json = place.run(&["session", "export", &chat]).json();
    assert_eq!(json["transcriptHistory"].as_array().unwrap().len(), 3);
    let said = place.run(&["session", "export", &chat, "--format", "pdf"]);
    assert!(
        said.code == 2 && said.err.contains("json, md or flow"),
        "{said:?}"
    );
}
