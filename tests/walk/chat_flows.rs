//! A chat as a flow file: what is in it, that it is sound, and that it runs.

use a_society_stand_in::{Ending, Server};
use serde_json::json;

use super::chatted::{chat_of, last_said, texts};
use super::models::{call, refusal, says, streamed, with_model_at};
use super::place::Place;

const CLOSES: &str = "Done.\n\n```handoff\ntype: forward-pass-closed\n```\n";
const HANDS_OVER: &str =
    "Here it is.\n\n```handoff\ntarget_node_id: turn-2\nartifact_path: list.md\n```\n";

/// A model that answers in chats unless it is to fail, and takes the two nodes of the flow that such a chat is.
fn model() -> Server {
    Server::by(|seen, _| {
        let said = last_said(&seen.body);
        let reply = |said| streamed(said, Ending::Natural, 100);
        if said == "Fail." {
            return refusal(400, 0, "it fails");
        }
        if !seen.text.contains("You are at node") {
            return reply(vec![says(&["You said: ", &said])]);
        }
        let is_second = seen.text.contains("You are at node `turn-2`");
        reply(match seen.text.matches("tool_result").count() {
            _ if is_second => vec![says(&[CLOSES])],
            0 => {
                let input = json!({ "path": "list.md", "content": "Sorted by length.\n" });
                vec![call(0, "write_file", input)]
            }
            _ => vec![says(&[HANDS_OVER])],
        })
    })
}

fn says_in_a_chat(place: &Place, said: &[&str]) -> String {
    for (number, text) in said.iter().enumerate() {
        if number == 0 {
            place.run(&["chat", "--project", "demo", "--once", text]);
        } else {
            let chat = chat_of(place);
            place.run(&["chat", "--resume", &chat, "--once", text]);
        }
    }
    chat_of(place)
}

#[test]
fn a_chat_is_a_flow_file_with_a_node_for_each_answer_that_checks_and_runs() {
    let server = model();
    let place = with_model_at(&server.url(), "anthropic");
    let said = [
        "List the fruits:\n- {{one}}\n- \"two\": 'x'",
        "Fail.",
        "Now sort them.",
    ];
    let chat = says_in_a_chat(&place, &said);
    let export = ["session", "export", &chat, "--format", "flow"];
    let file = place.run(&export);
    assert_eq!(file.code, 0, "{file:?}");
    assert_eq!(
        place.run(&export).out,
        file.out,
        "it depends on the journal alone"
    );
    place.write("demo/made.yaml", &file.out);

    let checked = place.run(&["check", "demo/made.yaml"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    for (text, is_in_nodes) in [(said[0], true), ("Fail.", false), (said[2], true)] {
        let nodes = file.out.split("metadata:").next().unwrap();
        let line = text.lines().next().unwrap();
        assert_eq!(nodes.contains(line), is_in_nodes, "{}", file.out);
    }
    let metadata = file.out.split("metadata:").nth(1).unwrap();
    assert!(
        metadata.contains(&chat) && metadata.contains("You said: "),
        "{metadata}"
    );

    let before = server.seen().len();
    let ran = place.run(&[
        "run",
        "demo/made.yaml",
        "--mode",
        "full",
        "--improve",
        "none",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let sent: Vec<_> = server.seen().into_iter().skip(before).collect();
    let text = |number: usize| {
        let all = texts(&sent[number].body).into_iter();
        all.map(|(_, text)| text).collect::<String>()
    };
    assert!(
        text(0).contains("List the fruits:") && !text(0).contains("Now sort"),
        "{}",
        text(0)
    );
    // The second turn gets what the first one came to, and its own task.
    let last = text(sent.len() - 1);
    assert!(
        last.contains("Sorted by length.") && last.contains("Now sort them."),
        "{last}"
    );
}

#[test]
fn what_is_no_chat_and_a_chat_without_an_answer_have_no_such_file_and_say_why() {
    let server = model();
    let place = with_model_at(&server.url(), "anthropic");
    let chat = says_in_a_chat(&place, &["Fail."]);
    let said = place.run(&["session", "export", &chat, "--format", "flow"]);
    assert!(
        said.code == 1 && said.err.contains("no turn of the chat came to an answer"),
        "{said:?}"
    );
    // A place of its own, in which the flow is the only one.
    let place = with_model_at(&server.url(), "anthropic");
    place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    let flow = place.flow().unwrap();
    let said = place.run(&["session", "export", &flow, "--format", "flow"]);
    assert!(said.code == 1 && said.err.contains("no chat"), "{said:?}");
}
