//! What an operator changes on a flow over the wire, as with the commands of the terminal.

use serde_json::{Value, json};

use super::client::{PATIENCE, Server, Window};
use crate::support::Workspace;

const FLOW: &str = "\
workflow:
  name: Notes
  nodes:
    - { id: plan, role: owner }
    - { id: write, role: writer }
    - { id: end, role: owner }
  edges:
    - { from: plan, to: write }
    - { from: write, to: end }
roles:
  owner: { executor: scripted }
  writer: { executor: scripted }
";

/// A workspace with a project `demo`, whose flow file is this and whose roles hand on by themselves.
fn stage(flow: &str) -> Workspace {
    let workspace = Workspace::new();
    let folder = workspace.path().join("demo");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("flow.yaml"), flow).unwrap();
    std::fs::write(folder.join("script.yaml"), "default: forward\nscript: []\n").unwrap();
    workspace
}

/// Starts the flow in a server.
fn started(server: &Server) -> Value {
    let body = json!({ "from": { "file": "demo/flow.yaml" } }).to_string();
    let row = server.place.ask("POST", "/api/flows", &body).unwrap();
    json!({ "project": row["project"], "flow": row["flow"] })
}

/// Follows a flow until its parts are so.
fn until(window: &mut Window, server: &Server, holds: impl Fn(&Window) -> bool) {
    let mut connection = window.connect(&server.place).unwrap();
    while !(window.is_caught_up() && holds(window)) {
        let message = connection.hear(PATIENCE).unwrap();
        window.hear(&connection, &message);
    }
}

/// Says a command and what was answered to it.
fn said(window: &mut Window, server: &Server, cmd: &str, command: &Value) -> Value {
    let mut connection = window.connect(&server.place).unwrap();
    let order = json!({ "t": "do", "cmd": cmd, "flow": window.flow, "command": command });
    connection.say(&order).unwrap();
    while !window.acks.contains_key(cmd) {
        let message = connection.hear(PATIENCE).unwrap();
        window.hear(&connection, &message);
    }
    window.acks[cmd].clone()
}

/// The question about a budget, if one is asked.
fn short(window: &Window) -> Option<Value> {
    let asks = window.parts("ask/").into_iter();
    let mut shorts = asks.map(|ask| ask["kind"]["budget"].clone());
    shorts.find(Value::is_object)
}

#[test]
fn a_role_that_waits_for_a_budget_says_which_and_goes_on_when_it_is_raised() {
    let workspace = stage(&format!("{FLOW}budget: {{ turns: 1 }}\n"));
    let mut server = Server::start(&workspace, &[]);
    let flow = started(&server);
    let mut window = Window::new(&flow, &["owner", "writer"]);
    until(&mut window, &server, |window| short(window).is_some());
    let asked = short(&window).unwrap();
    assert_eq!(
        asked,
        json!({ "role": null, "measure": "turns", "limit": 1, "spent": 2, "least": 3, "raise_to": 4 })
    );
    let raise =
        |limit: u64| json!({ "do": "budget", "role": null, "measure": "turns", "limit": limit });
    // Too little frees nobody; it is durable all the same.
    let ack = said(&mut window, &server, "little", &raise(2));
    assert_eq!((&ack["ok"], &ack["facts"]), (&json!(true), &json!(1)));
    until(&mut window, &server, |window| {
        short(window).is_some_and(|short| short["limit"] == 2)
    });
    // Another server, which does not drive the flow, lets it go on all the same.
    server.kill();
    server = Server::start(&workspace, &[]);
    until(&mut window, &server, |window| short(window).is_some());
    let ack = said(&mut window, &server, "enough", &raise(9));
    assert_eq!(ack["ok"], json!(true), "{ack}");
    // Said again, as after a broken connection, it counts once.
    let again = said(&mut window, &server, "enough", &raise(9));
    assert_eq!(again["ok"], json!(true), "{again}");
    until(&mut window, &server, |window| {
        let head = window.parts("flow");
        short(window).is_none() && head.iter().any(|head| head["phase"] != "forward")
    });
}

#[test]
fn another_graph_is_judged_as_the_terminal_does_and_walked_once_it_was_said() {
    let gate = "    - { id: plan, role: owner, human-colab: true }";
    let flow = FLOW.replace("    - { id: plan, role: owner }", gate);
    let workspace = stage(&flow);
    let server = Server::start(&workspace, &[]);
    let wire = started(&server);
    let mut window = Window::new(&wire, &["owner"]);
    until(&mut window, &server, |window| {
        !window.parts("ask/").is_empty()
    });
    let (project, id) = (&wire["project"], wire["flow"].as_str().unwrap());
    let path = format!("/api/flow/{}/{id}/revision", project.as_str().unwrap());
    let judged = |source: &str| {
        let body = json!({ "source": source }).to_string();
        server.place.ask("POST", &path, &body).unwrap()
    };
    assert_eq!(server.place.ask("GET", &path, "").unwrap()["source"], flow);
    assert_eq!(judged(&flow)["changes"], json!([]));
    let foretold = |source: &str| {
        std::fs::write(workspace.path().join("new.yaml"), source).unwrap();
        workspace.run(&["revise", id, "new.yaml", "--dry-run"])
    };
    // A file that is no graph: every finding is said as `check` says it.
    let broken = flow.replace("to: write }", "to: wriet }");
    let told = judged(&broken);
    let words = told["findings"][0]["words"].as_str().unwrap();
    assert!(words.starts_with("error[G012]: "), "{words}");
    assert_eq!(told["refused"]["code"], "flow-file-unfit");
    std::fs::write(workspace.path().join("new.yaml"), &broken).unwrap();
    let checked = workspace.run(&["check", "new.yaml"]);
    let first = checked.out.lines().next().unwrap();
    assert_eq!(words.lines().next().unwrap(), first);
    // One without a place for what happens.
    let without = FLOW.replace("write", "draft");
    let told = judged(&without);
    let reason = told["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("the node `write` must stay:"), "{told}");
    let refused = foretold(&without);
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(refused.err.contains(reason), "{refused:?}");
    // One that fits: the same sentences, and nothing was said to the flow by any of it.
    let more = flow
        .replace(
            "    - { id: end",
            "    - { id: check, role: owner }\n    - { id: end",
        )
        .replace(
            "{ from: write, to: end }",
            "{ from: write, to: check }\n    - { from: check, to: end }",
        );
    let told = judged(&more);
    let changes: Vec<&str> = told["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    assert_eq!(
        changes,
        [
            "the node `check` of `owner` is new",
            "the edge `write → check` is new",
            "the edge `check → end` is new",
            "the edge `write → end` is gone",
        ]
    );
    assert_eq!(told["refused"], Value::Null);
    assert_eq!(foretold(&more).out.lines().collect::<Vec<_>>(), changes);
    assert!(
        !workspace
            .run(&["log", id, "--json"])
            .out
            .contains("graph_revised")
    );
    let order = json!({ "do": "revise", "source": more });
    let ack = said(&mut window, &server, "other", &order);
    assert_eq!(ack["ok"], json!(true), "{ack}");
    until(&mut window, &server, |window| {
        !window
            .parts("node/")
            .iter()
            .all(|node| node["id"] != "check")
    });
    assert_eq!(server.place.ask("GET", &path, "").unwrap()["source"], more);
}
