//! Models with small windows, as they run on one's own machine: their tools and packets, when
//! their conversation is shortened, and calls that they spell as words.

use std::time::Duration;

use a_society_stand_in::{Ending, Piece, Reply, Server, Used};
use serde_json::{Value, json};

use super::models::FLOW;
use super::place::{Place, RUN};

/// A server on the Chat Completions wire that says what follows from a request, and counts it so.
fn server(says: fn(&Value) -> Piece, tokens: fn(&Value) -> u64) -> Server {
    Server::by(move |seen, _| {
        let used = Used {
            fresh: tokens(&seen.body),
            ..Used::default()
        };
        let said = vec![says(&seen.body)];
        Reply::Paced(said, Ending::Natural, used, Duration::from_millis(1))
    })
}

fn results(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

fn called(number: usize, name: &str, arguments: &Value) -> Piece {
    Piece::Call {
        id: format!("call_{number}"),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    }
}

fn done() -> Piece {
    Piece::text("Done.\n\n```handoff\ntype: forward-pass-closed\n```\n")
}

fn place(server: &Server, window: u64) -> Place {
    let place = Place::new(FLOW, "");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    let config = format!(
        "providers:\n  p: {{ wire: openai-chat, base-url: '{}' }}\n\
         models:\n  m: {{ provider: p, id: m, window: {window} }}\nmodel: m\n",
        server.url()
    );
    place.write("config.yaml", &config);
    place
}

/// The tools of a request by their names.
fn tools(body: &Value) -> Vec<(String, Value)> {
    let tools = body["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            let function = &tool["function"];
            let name = function["name"].as_str().unwrap().to_owned();
            (name, function["parameters"]["properties"].clone())
        })
        .collect()
}

fn reads_a_long_file(body: &Value) -> Piece {
    match results(body).len() {
        0 => called(0, "read_file", &json!({ "path": "long.txt" })),
        1 => called(1, "glob", &json!({ "pattern": "*" })),
        2 => {
            let given = json!({ "command": "sleep 9", "background": true });
            called(2, "run_command", &given)
        }
        _ => done(),
    }
}

fn reads_one_long_line_after_another(body: &Value) -> Piece {
    match results(body).len() {
        0 => called(
            0,
            "read_file",
            &json!({ "path": "long.txt", "limit": 2_000 }),
        ),
        1 => called(1, "grep", &json!({ "pattern": "a", "path": "long.txt" })),
        _ => done(),
    }
}

#[test]
fn a_model_is_told_the_bound_of_outputs_that_its_own_window_has_and_gets_no_more() {
    for (window, told, most) in [
        (8_192, "4 KB", 4 * 1024),
        (32_000, "15 KB", 16_000),
        (64_000, "31 KB", 32_000),
        (200_000, "50 KB", 50 * 1024),
    ] {
        let server = server(reads_one_long_line_after_another, |_| 100);
        let place = place(&server, window);
        let lines = format!("{}\n", "a line ".repeat(100)).repeat(1_000);
        place.write("demo/long.txt", &lines);
        let said = place.run(&RUN);
        assert_eq!(said.code, 0, "{said:?}");
        let seen = server.seen();
        let text = &seen[0].text;
        for form in [
            format!("Tool output beyond {told} is cut and kept"),
            format!("at most 2,000 lines or {told}, then"),
            format!("at most {told}; the rest is kept in a file"),
        ] {
            assert!(text.contains(&form), "{window}: {form}");
        }
        assert_eq!(text.matches(" KB").count(), 3, "{window}: {text}");
        for result in results(&seen.last().unwrap().body) {
            let length = result.len();
            // What says how to go on comes on top.
            assert!(
                length <= most + 200 && length > most / 2,
                "{window}: {length}"
            );
        }
    }
}

#[test]
fn a_model_with_a_small_window_gets_fewer_tools_shorter_texts_and_both_ways_to_end() {
    let server = server(reads_a_long_file, |_| 9_000);
    let place = place(&server, 32_000);
    let flow = FLOW.replace(
        "You keep a log.",
        "You keep a log., required_readings: [short.md, large.md]",
    );
    place.write("demo/flow.yaml", &flow);
    place.write("demo/short.md", "The short one.\n");
    place.write("demo/large.md", &"A line of the large one.\n".repeat(1_400));
    let lines: String = (1..=1_000).map(|n| format!("line {n}\n")).collect();
    place.write("demo/long.txt", &lines);
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(server.refused(), [""; 0]);
    let seen = server.seen();
    let offered = tools(&seen[0].body);
    let names: Vec<&str> = offered.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "read_file",
        "edit_file",
        "write_file",
        "grep",
        "list_directory",
        "run_command",
        "ask_operator",
        "handoff",
        "fetch_url",
    ];
    assert_eq!(names, expected);
    let members = |name: &str| offered.iter().find(|(it, _)| it == name).unwrap().1.clone();
    assert!(members("run_command")["background"].is_null());
    assert!(
        members("edit_file")["old_string"].is_object() && members("edit_file")["edits"].is_null()
    );
    let system = seen[0].body["messages"][0]["content"].as_str().unwrap();
    for form in [
        "The short one.",
        "<document path=\"large.md\">\nToo long to show: 35000 bytes. Read it with read_file or grep.",
        "`{\"type\": \"await-handoff\"}`",
        "```handoff\ntype: await-handoff\n```",
    ] {
        assert!(system.contains(form), "{form}: {system}");
    }
    assert!(!system.contains("A line of the large one."));
    let results = results(&seen.last().unwrap().body);
    assert!(
        results[0]
            .starts_with("[long.txt: lines 1-400 of 1000; go on with offset 401]\n1\tline 1\n"),
        "{}",
        &results[0][..80]
    );
    assert!(
        results[1].contains("There is no tool glob."),
        "{}",
        results[1]
    );
    assert!(
        results[2].contains("There are no commands in the background here."),
        "{}",
        results[2]
    );
}

fn has_summary(body: &Value) -> bool {
    body.to_string().contains("<summary id=")
}

fn reads_until_it_is_full(body: &Value) -> Piece {
    let is_summary = body["tools"].as_array().is_none_or(Vec::is_empty);
    match results(body).len() {
        _ if is_summary => Piece::text("## Task\nRead.\n## Next step\nEnd."),
        6 => done(),
        _ if has_summary(body) => done(),
        number => {
            let given = json!({ "path": "long.txt", "offset": number * 10 + 1, "limit": 300 });
            called(number, "read_file", &given)
        }
    }
}

#[test]
fn a_small_window_is_shortened_at_seventy_percent_and_a_large_one_is_not_yet() {
    for (window, is_shortened) in [(32_000, true), (40_000, false)] {
        // 23,000 of 32,000 are more than 70 %; of 40,000 they are 57 %.
        let server = server(reads_until_it_is_full, |body| {
            let is_long = results(body).len() > 3 && !has_summary(body);
            if is_long { 23_000 } else { 9_000 }
        });
        let place = place(&server, window);
        let lines: String = (1..=1_000)
            .map(|n| format!("line {n} {}\n", "x".repeat(30)))
            .collect();
        place.write("demo/long.txt", &lines);
        let said = place.run(&RUN);
        assert_eq!(said.code, 0, "{said:?}");
        let asked = |body: &Value| body.to_string().contains("Summarize the conversation");
        let shortened = server.seen().iter().any(|seen| asked(&seen.body));
        assert_eq!(shortened, is_shortened, "{window}");
    }
}

/// A model whose server knows no calls, so that it writes them.
fn spells_its_calls(body: &Value) -> Piece {
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    match results(body).len() {
        0 => {
            let call = call("read_file", json!({ "path": "note.txt" }));
            Piece::text(&format!("<tool_call>\n{call}\n</tool_call>"))
        }
        1 => {
            let call = call(
                "write_file",
                json!({ "path": "record/a.md", "content": "A.\n" }),
            );
            Piece::text(&format!("```json\n{call}\n```"))
        }
        _ => {
            let call = call("handoff", json!({ "type": "forward-pass-closed" }));
            Piece::text(&format!("<tool_call>{call}</tool_call>"))
        }
    }
}

#[test]
fn calls_that_a_local_model_spells_as_words_are_run() {
    let server = server(spells_its_calls, |_| 9_000);
    let place = place(&server, 32_000);
    place.write("demo/note.txt", "What the note says.\n");
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(server.refused(), [""; 0]);
    let last = server.seen().pop().unwrap().body;
    let results = results(&last);
    assert_eq!(results[0], "1\tWhat the note says.\n");
    let flow = place.flow().unwrap();
    let made = std::fs::read_to_string(place.folder(&flow).join("record/a.md"));
    assert_eq!(made.unwrap(), "A.\n");
}

/// Keeps a list, reads until the window is full, and then ends.
fn keeps_a_list(body: &Value) -> Piece {
    if body.to_string().contains("<todo>") {
        return done();
    }
    let items = json!([
        { "text": "Read it all", "status": "in_progress" },
        { "text": "Say what is in it", "status": "pending" },
    ]);
    match (body["tools"].as_array(), results(body).len()) {
        (Some(tools), 0) if !tools.is_empty() => called(0, "todo", &json!({ "items": items })),
        _ => reads_until_it_is_full(body),
    }
}

#[test]
fn a_summary_keeps_the_task_list() {
    let server = server(keeps_a_list, |body| {
        let is_long = results(body).len() > 3 && !has_summary(body);
        if is_long { 33_000 } else { 9_000 }
    });
    let place = place(&server, 40_000);
    let lines: String = (1..=1_000)
        .map(|n| format!("line {n} {}\n", "x".repeat(30)))
        .collect();
    place.write("demo/long.txt", &lines);
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let seen = server.seen();
    let told = seen[1].body.to_string();
    assert!(told.contains("[0 of 2 done]"), "{told}");
    let last = seen.last().unwrap().body.to_string();
    assert!(
        last.contains("<summary id=")
            && last.contains("Read it all")
            && last.contains("Say what is in it"),
        "{last}"
    );
}
