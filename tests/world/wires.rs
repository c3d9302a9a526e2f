//! A flow of two roles over each wire, with a third-party provider.

use serde_json::{Value, json};

use super::aimock::{Aimock, calls, texts, when};
use super::site::Site;

const FLOW: &str = r"workflow:
  name: Release notes
  nodes:
    - { id: plan, role: owner, work: [ Say what the release is about. ] }
    - { id: write, role: writer, work: [ Write the notes. ] }
    - { id: close, role: owner }
  edges:
    - { from: plan, to: write }
    - { from: write, to: close }
roles:
  owner: { instructions: You answer for the release. }
  writer: { instructions: You write for people. }
";

/// What a model says here goes over two scripts and over what JSON escapes.
const NOTES: &str = "The notes: \u{6f22}\u{5b57} \u{1f600}, \"quoted\", a\\b.\n";

/// Handoffs are made by a call, by a block, and by a signal.
fn answers() -> Vec<Value> {
    let to_write = json!([{ "target_node_id": "write", "artifact_path": "record/brief.md" }]);
    vec![
        when(
            json!({ "toolResultContains": "Wrote record/brief.md" }),
            calls("handoff", &json!({ "targets": to_write })),
        ),
        when(
            json!({ "toolResultContains": "Wrote record/notes.md" }),
            calls(
                "run_command",
                &json!({ "command": "cp flow.yaml kept.yaml && echo 'It is kept.'" }),
            ),
        ),
        when(
            json!({ "toolResultContains": "It is kept." }),
            json!({ "content": "Here they are.\n\n```handoff\ntarget_node_id: close\nartifact_path: record/notes.md\n```\n" }),
        ),
        when(
            json!({ "userMessage": "node `plan`" }),
            calls(
                "write_file",
                &json!({ "path": "record/brief.md", "content": "The brief.\n" }),
            ),
        ),
        when(
            json!({ "userMessage": "node `write`" }),
            calls(
                "write_file",
                &json!({ "path": "record/notes.md", "content": NOTES }),
            ),
        ),
        when(
            json!({ "userMessage": "node `close`" }),
            json!({ "content": "Done.\n\n```handoff\ntype: forward-pass-closed\n```\n" }),
        ),
    ]
}

/// Walks the flow over a wire whose requests go to a path.
fn walks_over(wire: &str, path: &str) {
    let Some(model) = Aimock::start(&answers()) else {
        return;
    };
    let heard = walked(&model, &model.url(), wire);
    assert!(heard.iter().all(|request| request["path"] == path));
}

/// Walks the flow over a wire to an address, behind which there is the model, and gives what that was asked.
pub(super) fn walked(model: &Aimock, url: &str, wire: &str) -> Vec<Value> {
    let site = Site::at(FLOW, url, wire, "");
    let said = site.begin();
    assert_eq!(said.code, 9, "{said:?}");
    assert!(
        said.err.contains("cp flow.yaml kept.yaml"),
        "the operator is shown the command: {said:?}"
    );
    assert!(!site.path().join("demo/kept.yaml").exists());
    assert_eq!(site.record("notes.md"), NOTES);
    site.allow();
    let said = site.resume();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(site.read("demo/kept.yaml"), FLOW);
    assert_eq!(site.status()["status"], "completed");
    let heard = model.answered();
    arrived(&heard);
    heard
}

/// The requests contain the earlier texts and results.
fn arrived(heard: &[Value]) {
    // Two of the first node, three of the second, one of the last: none was spent on a repair.
    assert_eq!(heard.len(), 6);
    let tools = |request: &Value| request["body"]["tools"].to_string();
    for name in ["read_file", "write_file", "run_command", "handoff"] {
        assert!(tools(&heard[0]).contains(name), "{name}");
    }
    assert_eq!(tools(&heard[0]), tools(&heard[1]));
    let packet = texts(&heard[2], "user")[0];
    assert!(packet.contains("The brief."), "{packet}");
    let results = texts(&heard[4], "tool");
    assert_eq!(results.len(), 2, "{results:#?}");
    assert!(results[1].contains("It is kept."), "{results:#?}");
    let packet = texts(&heard[5], "user").pop().unwrap().to_owned();
    assert!(packet.contains(NOTES.trim()), "{packet}");
}

/// The answers of the flow, for a model behind a gateway.
pub(super) fn model() -> Option<Aimock> {
    Aimock::start(&answers())
}

#[test]
fn a_flow_ends_over_the_messages_wire_of_somebody_elses_server() {
    walks_over("anthropic", "/v1/messages");
}

#[test]
fn a_flow_ends_over_the_chat_wire_of_somebody_elses_server() {
    walks_over("openai-chat", "/v1/chat/completions");
}

#[test]
fn a_flow_ends_over_the_responses_wire_of_somebody_elses_server() {
    walks_over("openai-responses", "/v1/responses");
}
