//! Sessions that are looked at from outside: by a role through its tools, and by the operator in the terminal.

use a_society_stand_in::{Ending, Server};
use serde_json::{Value, json};

use super::chatted::{Echo, chat_of};
use super::models::{call, says, streamed, with_model_at};

const FLOW: &str = r"workflow:
  name: Two who write
  nodes:
    - { id: write, role: writer, work: [ Write it ] }
    - { id: review, role: reviewer, work: [ Review it ] }
    - { id: close, role: writer, work: [ Close it ] }
  edges:
    - { from: write, to: review }
    - { from: review, to: close }
roles:
  writer: { instructions: You write. }
  reviewer: { instructions: You review., tools: [ write_file, sessions_list, sessions_history ] }
";

const HANDS_OVER: &str = "The lighthouse is blue.\n\n```handoff\ntarget_node_id: review\nartifact_path: record/text.md\n```\n";
const REVIEWED: &str =
    "Read.\n\n```handoff\ntarget_node_id: close\nartifact_path: record/review.md\n```\n";
const GONE: &str = "There is no session private notes. sessions_list names those that you may see.";
const CLOSES: &str = "Read.\n\n```handoff\ntype: forward-pass-closed\n```\n";

/// The last result of a tool that a request has.
pub(super) fn last_result(request: &Value) -> Option<Value> {
    let messages = request["messages"].as_array()?.iter().rev();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let mut results = blocks
        .flatten()
        .filter(|block| block["type"] == "tool_result");
    let content = &results.next()?["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str())?;
    Some(serde_json::from_str(text).unwrap_or_else(|_| json!(text)))
}

fn names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}

/// A writer that writes and hands over, and a reviewer that looks at the sessions of the flow first, and at one of
/// another.
fn model() -> Server {
    Server::by(|seen, number| {
        let request = &seen.body;
        let (is_chat, is_closing) = {
            let text = request.to_string();
            (
                text.contains("A secret."),
                text.contains("record/review.md"),
            )
        };
        let writes = |path: &str| {
            let input = json!({ "path": path, "content": "Blue.\n" });
            vec![call(number, "write_file", input)]
        };
        let looks = |tool: &str, input: Value| vec![call(number, tool, input)];
        let found = last_result(request);
        let said = match (names(request).contains(&"sessions_list"), found) {
            _ if is_chat => vec![says(&["It is kept."])],
            (false, None) => writes("record/text.md"),
            (false, Some(_)) if is_closing => vec![says(&[CLOSES])],
            (false, Some(_)) => vec![says(&[HANDS_OVER])],
            (true, None) => looks(
                "sessions_list",
                json!({ "kinds": ["role"], "messageLimit": 1 }),
            ),
            (true, Some(found)) if found["sessions"].is_array() => {
                let mut rows = found["sessions"].as_array().unwrap().iter();
                let writer = rows.rfind(|row| row["role"] == "writer");
                let key = writer.map_or(json!("none"), |row| row["key"].clone());
                looks("sessions_history", json!({ "sessionKey": key }))
            }
            (true, Some(found)) if found["messages"].is_array() => {
                looks("sessions_history", json!({ "sessionKey": "private notes" }))
            }
            (true, Some(found)) if found == GONE => writes("record/review.md"),
            (true, Some(_)) => vec![says(&[REVIEWED])],
        };
        streamed(said, Ending::Natural, 100)
    })
}

#[test]
fn a_role_that_names_the_tools_reads_the_sessions_of_its_flow_and_no_others() {
    let server = model();
    let place = with_model_at(&server.url(), "anthropic");
    // A chat of the same project is its person's.
    let once = place.run(&[
        "chat",
        "--project",
        "demo",
        "--label",
        "private notes",
        "--once",
        "A secret.",
    ]);
    assert_eq!(once.code, 0, "{once:?}");
    place.write("demo/flow.yaml", FLOW);
    let run = place.run(&["run", "demo/flow.yaml", "--allow", "edits"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(server.refused(), [""; 0]);

    let seen: Vec<Value> = server.seen().into_iter().map(|seen| seen.body).collect();
    let of_reviewer: Vec<&Value> = seen
        .iter()
        .filter(|request| names(request).contains(&"sessions_list"))
        .collect();
    let results: Vec<Value> = of_reviewer
        .iter()
        .filter_map(|request| last_result(request))
        .collect();
    let [listed, read, refused, _] = results.as_slice() else {
        panic!("{results:#?}");
    };
    // Both roles of this flow, and not the chat.
    let rows = listed["sessions"].as_array().unwrap();
    let roles: Vec<&str> = rows.iter().filter_map(|row| row["role"].as_str()).collect();
    assert_eq!(
        (roles.len(), &listed["count"]),
        (2, &json!(2)),
        "{listed:#}"
    );
    assert!(roles.contains(&"writer") && roles.contains(&"reviewer"));
    let writer = rows.iter().find(|row| row["role"] == "writer").unwrap();
    assert!(
        writer["messages"][0]["content"]
            .as_str()
            .is_some_and(|text| text.starts_with("The lighthouse is blue."))
    );
    // The words that the writer ended with, and no result of a tool.
    let messages = read["messages"].as_array().unwrap();
    assert!(
        messages
            .iter()
            .all(|message| message["role"] != "tool_result")
    );
    assert_eq!(
        messages.last().unwrap()["content"],
        writer["messages"][0]["content"]
    );
    assert_eq!(refused, &json!(GONE));

    // A role that does not name them has no such tool.
    let others = seen
        .iter()
        .filter(|request| !names(request).contains(&"sessions_list"));
    assert!(others.clone().count() > 0);
    assert!(
        others
            .clone()
            .all(|request| !names(request).contains(&"sessions_history"))
    );
}

#[test]
fn the_terminal_lists_all_sessions_the_last_active_first() {
    let model = Echo::start();
    let place = model.place();
    let first = place.run(&[
        "chat",
        "--project",
        "demo",
        "--label",
        "first",
        "--once",
        "One.",
    ]);
    assert_eq!(first.code, 0, "{first:?}");
    let second = place.run(&["chat", "--project", "demo", "--once", "Two."]);
    assert_eq!(second.code, 0, "{second:?}");

    let listed = place
        .run(&["sessions", "ls", "--json", "--messages", "1"])
        .json();
    let rows = listed["sessions"].as_array().unwrap();
    // The last active comes first.
    let said: Vec<&Value> = rows
        .iter()
        .map(|row| &row["messages"][0]["content"])
        .collect();
    assert_eq!(said, [&json!("You said: Two."), &json!("You said: One.")]);
    let row = &rows[1];
    let state = place.workspace.path().join(".a-society/state");
    let path = state.join(row["transcriptPath"].as_str().unwrap());
    assert!(path.is_file(), "{}", path.display());
    let only = place
        .run(&["sessions", "ls", "--json", "--label", "first"])
        .json();
    assert_eq!(
        (&only["count"], &only["sessions"][0]["key"]),
        (&json!(1), &row["key"])
    );
    let table = place.run(&["sessions", "ls"]);
    assert!(
        table.out.starts_with("KEY") && table.out.lines().count() == 3,
        "{table:?}"
    );
    for (filter, count) in [("role", 0), ("other", 2)] {
        let found = place
            .run(&["sessions", "ls", "--json", "--kind", filter])
            .json();
        assert_eq!(found["count"], count, "{filter}");
    }
    let wrong = place.run(&["sessions", "ls", "--kind", "chats"]);
    assert!(
        wrong.code == 2 && wrong.err.contains("there are: main, role"),
        "{wrong:?}"
    );
}

#[test]
fn the_terminal_reads_a_session_by_its_key_its_id_or_its_label() {
    let model = Echo::start();
    let place = model.place();
    let once = place.run(&[
        "chat",
        "--project",
        "demo",
        "--label",
        "first",
        "--once",
        "One.",
    ]);
    assert_eq!(once.code, 0, "{once:?}");
    let chat = chat_of(&place);
    let listed = place.run(&["sessions", "ls", "--json"]).json();
    let row = &listed["sessions"][0];
    for name in ["key", "sessionId", "label"] {
        let of = row[name].as_str().unwrap();
        let read = place.run(&["sessions", "history", of, "--json"]).json();
        let said: Vec<&str> = read["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|message| message["content"].as_str())
            .collect();
        assert_eq!(said, ["One.", "You said: One."], "{name}");
    }
    let last = place.run(&["sessions", "history", "first", "--limit", "1"]);
    assert!(
        last.out.starts_with("--- assistant, ") && last.out.ends_with("\nYou said: One.\n"),
        "{last:?}"
    );
    let none = place.run(&["sessions", "history", "nothing"]);
    assert!(
        none.code == 3 && none.err.contains("a-society sessions ls"),
        "{none:?}"
    );

    // A fork is a session of its own, with a key of its own; the label is then that of both.
    let forked = place.run(&["fork", &chat, "--json"]);
    assert_eq!(forked.code, 0, "{forked:?}");
    let several = place.run(&["sessions", "history", "first"]);
    assert!(
        several.code == 2 && several.err.contains(":fork:"),
        "{several:?}"
    );
    let key = row["key"].as_str().unwrap();
    assert_eq!(place.run(&["sessions", "history", key]).code, 0);
}
