//! Chats at a terminal: what is typed, what is shown, and what a stop leaves.

use a_society_stand_in::{Act, Ending, Reply, Server, stream_head};
use serde_json::json;

use super::chatted::{Echo, chat_of, last_said, texts};
use super::models::{call, says, streamed, with_model_at};
use super::prompted::SETTLED;
use super::watched::Terminal;

/// The size of the terminal: rows and columns.
const SIZE: (u16, u16) = (30, 100);

const CHAT: [&str; 3] = ["chat", "--project", "demo"];

#[test]
fn messages_are_typed_below_the_answers_and_the_end_names_the_way_back() {
    let model = Echo::start();
    let place = model.place();
    let mut terminal = Terminal::start_in_control(&place, &CHAT, SIZE);
    terminal.shows("> ");
    terminal.press("Why twice?\n");
    terminal.shows("You said: Why twice?");
    terminal.send("One\u{a}two.\r");
    terminal.shows("two.");
    terminal.writes("You said: One", 1);
    terminal.shows("assistant · m ·");
    // A command that does not exist stays where it was typed.
    terminal.press("/modle m\n");
    terminal.shows("did you mean /model?");
    terminal.shows("> /modle m");
    terminal.send("\u{15}");
    terminal.press("/quit\n");
    let (code, written) = terminal.all_written();
    assert_eq!(code, Some(0), "{written}");
    let chat = chat_of(&place);
    let short = chat.rsplit('-').next().unwrap();
    let kept = format!("chat {short} is kept: a-society chat --resume {short}");
    assert!(written.contains(&kept), "{written}");
    let bodies = model.bodies();
    assert_eq!(bodies.len(), 2);
    assert_eq!(last_said(&bodies[1]), "One\ntwo.");
    assert_eq!(texts(&bodies[1]).len(), 3);
}

#[test]
fn ctrl_c_ends_the_turn_and_its_exchange_is_left_out_of_the_next_request() {
    let server = Server::by(|seen, _| {
        let said = last_said(&seen.body);
        if said == "Stop me." {
            let begun = concat!(
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",",
                "\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,",
                "\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
                "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
                "\"delta\":{\"type\":\"text_delta\",\"text\":\"I begin\\n\"}}\n\n",
            );
            return Reply::Do(vec![stream_head(), Act::Send(begun.into()), Act::Stall]);
        }
        let answer = format!("You said: {said}");
        streamed(vec![says(&[answer.as_str()])], Ending::Natural, 100)
    });
    let place = with_model_at(&server.url(), "anthropic");
    let mut terminal = Terminal::start_in_control(&place, &CHAT, SIZE);
    terminal.shows("> ");
    terminal.press("Before.\n");
    terminal.shows("You said: Before.");
    terminal.press("Stop me.\n");
    terminal.shows("I begin");
    // What is being typed stays.
    terminal.send("Af");
    terminal.shows("> Af");
    terminal.send("\u{3}");
    terminal.shows("stopped by you");
    // The screen keeps the text; the model sees what is complete.
    terminal.shows("I begin");
    std::thread::sleep(SETTLED * 4);
    terminal.press("ter.\n");
    terminal.shows("You said: After.");
    assert!(
        !terminal.written().contains("is stopped"),
        "{}",
        terminal.written()
    );
    terminal.send("\u{4}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert_eq!(server.refused(), [""; 0]);
    let last = server.seen().pop().unwrap().body;
    let said: Vec<String> = texts(&last).into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["Before.", "You said: Before.", "After."]);
    let journal = place.journal(&chat_of(&place));
    assert!(journal.contains("Stop me.") && journal.contains("I begin"));
    let ends = journal.matches("\"fact\":\"turn_ended\"").count();
    assert_eq!(
        (ends, journal.matches("\"end\":\"stopped\"").count()),
        (3, 1)
    );
}

#[test]
fn a_call_asks_above_what_is_typed_and_the_answer_goes_on() {
    let server = Server::by(|seen, _| {
        let asked = seen.text.contains("tool_result");
        let said = if asked {
            vec![says(&["It is made."])]
        } else {
            vec![call(0, "run_command", json!({ "command": "touch made" }))]
        };
        streamed(said, Ending::Natural, 100)
    });
    let place = with_model_at(&server.url(), "anthropic");
    let mut terminal = Terminal::start_in_control(&place, &CHAT, SIZE);
    terminal.shows("> ");
    terminal.press("Make it.\n");
    terminal.shows("y once");
    std::thread::sleep(SETTLED);
    terminal.press("y");
    terminal.shows("It is made.");
    assert!(place.workspace.path().join("demo/made").exists());
    terminal.shows("> ");
    terminal.send("\u{4}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn commands_in_a_chat_change_its_session_and_the_next_request_and_write_it_to_a_file() {
    let model = Echo::start();
    let place = model.place();
    let mut terminal = Terminal::start_in_control(&place, &CHAT, SIZE);
    let file = place.workspace.path().join("kept.md");
    terminal.shows("> ");
    for (typed, shown) in [
        ("One.", "You said: One."),
        ("/tools", "read_file"),
        ("/inject Beside it.", "put into the session"),
        ("/label Two words", "called so"),
        ("Two.", "Two."),
        ("/trim 2", "trimmed"),
        ("/export", "written to"),
        ("/reset", "reset"),
    ] {
        std::thread::sleep(SETTLED);
        terminal.press(&format!("{typed}\n"));
        terminal.shows(shown);
    }
    std::thread::sleep(SETTLED);
    terminal.press(&format!("/export {}\n", file.display()));
    terminal.shows("kept.md");
    terminal.press("Three.\n");
    terminal.shows("You said: Three.");
    terminal.send("\u{4}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let bodies = model.bodies();
    assert_eq!(bodies.len(), 3);
    assert_eq!(last_said(&bodies[1]), "Beside it.\n\nTwo.");
    assert_eq!(texts(&bodies[2]).len(), 1);
    let kept = std::fs::read_to_string(file).unwrap();
    assert!(kept.starts_with("# Two words"), "{kept}");
    let title = &place.run(&["ls", "--chats", "--json"]).json()["flows"][0]["title"];
    assert_eq!(title, "Two words");
}
