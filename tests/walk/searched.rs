//! What a search of the page finds of what models were sent, and how it is shown.

use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::Place;
use crate::served::client::Server;

/// Hands over once it has written what it hands over.
fn hands_over(results: usize) -> Vec<(Value, Vec<Value>)> {
    match results {
        0 => vec![call(
            0,
            "write_file",
            json!({ "path": "plan.md", "content": "# The plan\n\nPaint the **greenhouse** first.\n" }),
        )],
        _ => Vec::new(),
    }
}

/// What is found, as the role, what it was sent, and the words around it.
fn found(server: &Server, flow: Option<&str>, words: &str) -> Vec<(String, Value, String)> {
    let of = flow.map_or_else(String::new, |flow| format!("&flow={flow}"));
    let path = format!("/api/search?q={words}{of}");
    let said = server.place.ask("GET", &path, "").unwrap();
    let hits = said["hits"].as_array().unwrap().iter().map(|hit| {
        let role = hit["role"].as_str().unwrap_or_default().to_owned();
        let words = hit["snippet"].as_str().unwrap().to_owned();
        (role, hit["sent"].clone(), words)
    });
    hits.collect()
}

fn place() -> (Model, Place) {
    let model = Model::start_with(hands_over);
    let place = with_model(&model);
    let said = place.run(&[
        "run",
        "demo/flow.yaml",
        "--allow",
        "edits",
        "--improve",
        "none",
        "--input",
        "Mend the lighthouse before the autumn storms come.",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    (model, place)
}

#[test]
fn words_of_a_task_and_of_a_system_prompt_are_found_where_their_model_got_them() {
    let (_model, place) = place();
    let flow = place.flow().unwrap();
    let server = Server::start(&place.workspace, &[]);
    for of in [Some(flow.as_str()), None] {
        let hits = found(&server, of, "lighthouse");
        let sent = hits.iter().find(|(_, sent, _)| sent["seg"] == "live");
        let (role, sent, words) = sent.unwrap_or_else(|| panic!("{hits:?}"));
        assert!(!role.is_empty() && sent["n"].is_u64(), "{hits:?}");
        assert!(
            words.contains("Mend the lighthouse before the autumn storms come."),
            "{words}"
        );
        assert!(!words.contains(['<', '{']), "{words}");
        let hits = found(&server, of, "answer%20unless");
        let prompt = hits.iter().any(|(_, sent, _)| sent["seg"] == "system");
        assert!(prompt, "{hits:?}");
    }
}
