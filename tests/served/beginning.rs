//! A flow that is begun from the page is refused where the terminal refuses it, in the same words.

use serde_json::{Value, json};

use super::client::Server;
use super::operated::stage;
use crate::support::Workspace;

const FLOW: &str = "\
workflow:
  name: Notes
  nodes:
    - { id: write, role: writer }
  edges: []
roles:
  writer: { executor: scripted }
";

/// A file in the workspace that makes the flow unfit to begin, its text, and the code of the refusal.
const UNFIT: [(&str, &str, &str); 7] = [
    (
        "config.yaml",
        "limits: { answers: many }\n",
        "configuration-unfit",
    ),
    (
        "config.yaml",
        "consent: { allow: ['('] }\n",
        "configuration-unfit",
    ),
    ("config.yaml", "notify: 3\n", "configuration-unfit"),
    (
        ".a-society/config.yaml",
        "consent: { allow: [web] }\n",
        "configuration-unfit",
    ),
    ("demo/script.yaml", "script: 3\n", "script-unfit"),
    ("demo/flow.yaml", "workflow: 3\n", "flow-file-unfit"),
    (
        "demo/a-docs/workflow/main.yaml",
        "workflow: 3\n",
        "project-unfit",
    ),
];

/// What the page is answered that wants a flow.
fn by_page(server: &Server, from: &Value) -> Value {
    let body = json!({ "from": from }).to_string();
    let answer = server.place.answer("POST", "/api/flows", &body).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(!head.starts_with("HTTP/1.1 200 "), "{from}: {body}");
    serde_json::from_str(body).unwrap()
}

/// The error of the terminal.
fn by_command(workspace: &Workspace, words: &[&str]) -> Value {
    let said = workspace.run(words);
    assert_ne!(said.code, 0, "{words:?}: {said:?}");
    let last = said.err.lines().last().unwrap_or_default();
    let error: Value = serde_json::from_str(last).unwrap();
    error["error"].clone()
}

#[test]
fn what_run_refuses_to_begin_is_refused_on_the_page_in_the_same_words() {
    for (path, text, code) in UNFIT {
        let workspace = stage(FLOW);
        let server = Server::start(&workspace, &[]);
        let whole = workspace.path().join(path);
        std::fs::create_dir_all(whole.parent().unwrap()).unwrap();
        std::fs::write(whole, text).unwrap();
        let (from, words): (Value, &[&str]) = if path.contains("a-docs") {
            // The file of its own would take its roles from elsewhere.
            (json!({ "project": "demo" }), &["run", "demo", "--json"])
        } else {
            let from = json!({ "file": "demo/flow.yaml" });
            (from, &["run", "demo/flow.yaml", "--json"])
        };
        let (page, terminal) = (by_page(&server, &from), by_command(&workspace, words));
        assert_eq!(terminal["code"], code, "{path}: {terminal}");
        for member in ["code", "what", "why", "try"] {
            let (shown, printed) = (&page[member], &terminal[member]);
            // The terminal names what it read as it was named, the page by its place.
            let plain = |text: &Value| {
                let root = format!("{}/", workspace.path().display());
                let text = text.as_str().unwrap();
                text.replace(&root, "").replace("WORKSPACE/", "")
            };
            assert_eq!(plain(shown), plain(printed), "{path} {text:?}: {member}");
        }
        let listed = workspace.run(&["ls", "--all", "--json"]);
        assert!(!listed.out.contains("\"flow\""), "{path}: {listed:?}");
    }
}

#[test]
fn a_chat_and_a_draft_of_the_page_are_refused_where_those_of_the_terminal_are() {
    let workspace = stage(FLOW);
    let server = Server::start(&workspace, &[]);
    std::fs::write(
        workspace.path().join("config.yaml"),
        "limits: { answers: many }\n",
    )
    .unwrap();
    let draft = by_page(&server, &json!({ "draft": "demo" }));
    assert_eq!(
        draft["what"],
        by_command(&workspace, &["run", "demo", "--draft", "--json"])["what"]
    );
    let chat = by_page(&server, &json!({ "chat": { "project": "demo" } }));
    let words = ["chat", "--project", "demo", "--once", "Hello.", "--json"];
    assert_eq!(chat["what"], by_command(&workspace, &words)["what"]);
    assert_eq!(draft["why"], chat["why"]);
}
