//! What an operator changes on a flow over the wire, as with the commands of the terminal.

use serde_json::{Value, json};

use super::client::{PATIENCE, Server, Window};
use crate::support::{Said, Workspace};

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
pub(super) fn stage(flow: &str) -> Workspace {
    let workspace = Workspace::new();
    let folder = workspace.path().join("demo");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("flow.yaml"), flow).unwrap();
    std::fs::write(folder.join("script.yaml"), "default: forward\nscript: []\n").unwrap();
    workspace
}

/// Starts the flow in a server.
pub(crate) fn started(server: &Server) -> Value {
    let body = json!({ "from": { "file": "demo/flow.yaml" } }).to_string();
    let row = server.place.ask("POST", "/api/flows", &body).unwrap();
    json!({ "project": row["project"], "flow": row["flow"] })
}

/// Follows a flow until its parts are so.
pub(crate) fn until(window: &mut Window, server: &Server, holds: impl Fn(&Window) -> bool) {
    let mut connection = window.connect(&server.place).unwrap();
    while !(window.is_caught_up() && holds(window)) {
        let message = connection.hear(PATIENCE).unwrap();
        window.hear(&connection, &message);
    }
}

/// Says a command and what was answered to it.
pub(crate) fn said(window: &mut Window, server: &Server, cmd: &str, command: &Value) -> Value {
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
    // Too little frees no role; it is durable all the same.
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

/// A flow whose first handoff waits, and what may be asked about another graph for it.
struct Judged {
    workspace: Workspace,
    server: Server,
    window: Window,
    /// Its file.
    flow: String,
    id: String,
    path: String,
}

impl Judged {
    fn new() -> Self {
        let gate = "    - { id: plan, role: owner, human-colab: true }";
        let flow = FLOW.replace("    - { id: plan, role: owner }", gate);
        let workspace = stage(&flow);
        let server = Server::start(&workspace, &[]);
        let wire = started(&server);
        let mut window = Window::new(&wire, &["owner"]);
        until(&mut window, &server, |window| {
            !window.parts("ask/").is_empty()
        });
        let text = |key: &str| wire[key].as_str().unwrap().to_owned();
        let (project, id) = (text("project"), text("flow"));
        let path = format!("/api/flow/{project}/{id}/revision");
        Self {
            workspace,
            server,
            window,
            flow,
            id,
            path,
        }
    }

    /// The file that is walked now.
    fn walked(&self) -> Value {
        let told = self.server.place.ask("GET", &self.path, "").unwrap();
        told["source"].clone()
    }

    /// The page's answer.
    fn by_page(&self, source: &str) -> Value {
        let body = json!({ "source": source }).to_string();
        self.server.place.ask("POST", &self.path, &body).unwrap()
    }

    /// What a command says about a file with this text.
    fn by_command(&self, words: &[&str], source: &str) -> Said {
        std::fs::write(self.workspace.path().join("new.yaml"), source).unwrap();
        self.workspace.run(words)
    }
}

#[test]
fn a_graph_that_cannot_be_walked_is_told_in_the_words_of_the_terminal() {
    let judged = Judged::new();
    // Every finding has the words of `check`.
    let broken = judged.flow.replace("to: write }", "to: wriet }");
    let told = judged.by_page(&broken);
    let words = told["findings"][0]["words"].as_str().unwrap();
    assert!(words.starts_with("error[G012]: "), "{words}");
    assert_eq!(told["refused"]["code"], "flow-file-unfit");
    let checked = judged.by_command(&["check", "new.yaml"], &broken);
    assert_eq!(words.lines().next(), checked.out.lines().next());
    // It has no place for what happens.
    let without = FLOW.replace("write", "draft");
    let told = judged.by_page(&without);
    let reason = told["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("the node `write` must stay:"), "{told}");
    let foretell = ["revise", &judged.id, "new.yaml", "--dry-run"];
    let refused = judged.by_command(&foretell, &without);
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(refused.err.contains(reason), "{refused:?}");
}

#[test]
fn what_another_graph_changes_is_told_before_it_is_walked_and_the_flow_hears_nothing_of_it() {
    let mut judged = Judged::new();
    assert_eq!(judged.walked(), judged.flow);
    assert_eq!(judged.by_page(&judged.flow)["changes"], json!([]));
    let check = "    - { id: check, role: owner }\n    - { id: end";
    let ways = "{ from: write, to: check }\n    - { from: check, to: end }";
    let more = (judged.flow)
        .replace("    - { id: end", check)
        .replace("{ from: write, to: end }", ways);
    let told = judged.by_page(&more);
    let expected = [
        "the node `check` of `owner` is new",
        "the edge `write → check` is new",
        "the edge `check → end` is new",
        "the edge `write → end` is gone",
    ];
    assert_eq!(told["changes"], json!(expected));
    assert_eq!(told["refused"], Value::Null);
    let foretell = ["revise", &judged.id, "new.yaml", "--dry-run"];
    let foretold = judged.by_command(&foretell, &more);
    assert_eq!(foretold.out.lines().collect::<Vec<_>>(), expected);
    let log = judged.workspace.run(&["log", &judged.id, "--json"]).out;
    assert!(!log.contains("graph_revised"), "{log}");
    let order = json!({ "do": "revise", "source": more });
    let ack = said(&mut judged.window, &judged.server, "other", &order);
    assert_eq!(ack["ok"], json!(true), "{ack}");
    until(&mut judged.window, &judged.server, |window| {
        let mut nodes = window.parts("node/").into_iter();
        nodes.any(|node| node["id"] == "check")
    });
    assert_eq!(judged.walked(), more);
}

#[test]
fn to_configure_a_role_that_does_not_wait_for_it_is_no_word_to_go_on() {
    let mut judged = Judged::new();
    judged.server.kill();
    judged.server = Server::start(&judged.workspace, &[]);
    let order =
        json!({ "do": "configure", "role": "writer", "settings": { "scope": "sandboxed" } });
    let ack = said(&mut judged.window, &judged.server, "scope", &order);
    assert_eq!(ack["ok"], json!(true), "{ack}");
    let path = judged.path.replace("/revision", "/state");
    let state = judged.server.place.ask("GET", &path, "").unwrap();
    assert_eq!(state["flow"]["stopped"], json!(true), "{state}");
    let settings = &state["roles"]["writer"]["settings"];
    assert_eq!(settings["scope"], json!("sandboxed"));
}

/// A project whose writer's own file names servers and takes away how far its tools reach.
fn project() -> Workspace {
    let workspace = Workspace::new();
    let made = workspace.run(&["init", "demo"]);
    assert_eq!(made.code, 0, "{made:?}");
    let write = |path: &str, text: &str| {
        std::fs::write(workspace.path().join(path), text).unwrap();
    };
    write(
        "config.yaml",
        "tools: { scope: full }\nmcp-servers:\n  ledger: { command: /bin/true }\n",
    );
    write(
        "demo/a-docs/roles/writer/role.yaml",
        "mcp-servers: [ledger, books]\npermissions: { scope: project, network: false }\n",
    );
    workspace
}

#[test]
fn what_only_a_projects_own_role_file_says_is_told_of_the_role_and_of_the_servers() {
    let workspace = project();
    let server = Server::start(&workspace, &[]);
    let body = json!({ "from": { "project": "demo" } }).to_string();
    let row = server.place.ask("POST", "/api/flows", &body).unwrap();
    let flow = json!({ "project": row["project"], "flow": row["flow"] });
    let mut window = Window::new(&flow, &["owner"]);
    until(&mut window, &server, |window| {
        !window.parts("role/").is_empty()
    });
    let roles = window.parts("role/");
    let role = |name: &str| {
        let mut mine = roles.iter().filter(|role| role["instance"] == name);
        let role = mine.next().unwrap();
        (role["mcp"].clone(), role["reach"].clone())
    };
    assert_eq!(
        role("writer"),
        (
            json!(["ledger", "books"]),
            json!("scope project, network off")
        )
    );
    assert_eq!(role("owner"), (json!([]), json!("scope full, network on")));
    let page = server.place.ask("GET", "/api/settings/mcp", "").unwrap();
    let listed = workspace.run(&["mcp", "ls", "--json"]).out;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    for member in ["servers", "missing", "faults"] {
        assert_eq!(page[member], listed[member], "{member}");
    }
    assert_eq!(page["servers"][0]["named_by"], json!(["demo/writer"]));
    assert_eq!(
        page["missing"],
        json!([{ "name": "books", "named_by": ["demo/writer"] }])
    );
    let listed = workspace.run(&["mcp", "ls"]).out;
    assert!(listed.contains("named by writer of demo"), "{listed}");
    assert!(listed.contains("books  MISSING"), "{listed}");
}

#[test]
fn a_flow_file_that_the_page_starts_works_where_the_terminal_would_have_it_work() {
    let says = FLOW.replace(
        "writer: { executor: scripted }",
        "writer: { executor: command, command: { run: [sh, -c, 'pwd > where.txt; echo done'] } }",
    );
    let workspace = stage(&says);
    for folder in ["flows", "own/.git"] {
        std::fs::create_dir_all(workspace.path().join(folder)).unwrap();
    }
    for folder in ["flows", "own"] {
        for file in ["flow.yaml", "script.yaml"] {
            let from = workspace.path().join("demo").join(file);
            std::fs::copy(from, workspace.path().join(folder).join(file)).unwrap();
        }
    }
    let server = Server::start(&workspace, &[]);
    let root = workspace.path().canonicalize().unwrap();
    for (file, folder) in [("flows/flow.yaml", ""), ("own/flow.yaml", "own")] {
        let body = json!({ "from": { "file": file } }).to_string();
        server.place.ask("POST", "/api/flows", &body).unwrap();
        let there = root.join(folder).join("where.txt");
        let begun = std::time::Instant::now();
        while !there.exists() {
            assert!(
                begun.elapsed() < PATIENCE * 4,
                "{file} does not work in {folder:?}"
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(!root.join("flows/where.txt").exists(), "{file}");
    }
}

#[test]
fn a_file_without_a_project_that_the_page_starts_ends_with_its_forward_work() {
    let workspace = stage(FLOW);
    let server = Server::start(&workspace, &[]);
    // The answer is given before the task of the flow reports the state of the flow.
    for _ in 0..8 {
        let flow = started(&server);
        let mut window = Window::new(&flow, &["owner"]);
        let asks_or_ends = |window: &Window| {
            let head = window.parts("flow").into_iter().next().unwrap_or_default();
            head["over"] == true || !window.parts("ask/").is_empty()
        };
        until(&mut window, &server, asks_or_ends);
        assert_eq!(window.parts("ask/"), Vec::<Value>::new(), "{flow}");
    }
}

#[test]
fn what_a_change_of_the_configuration_is_refused_with_names_nothing_of_the_terminal() {
    let workspace = stage(FLOW);
    let server = Server::start(&workspace, &[]);
    let page = server.place.ask("GET", "/api/settings/models", "").unwrap();
    let refused = |change: Value| {
        let body = json!({ "version": page["version"], "change": change }).to_string();
        let answer = server.place.answer("POST", "/api/settings", &body).unwrap();
        assert!(!answer.starts_with("HTTP/1.1 200 "), "{answer}");
        answer
    };
    for (change, hint) in [
        (
            json!({ "add_model": { "name": "x", "wire": "anthropic" } }),
            "give its window in tokens",
        ),
        (
            json!({ "add_model": { "name": "x" } }),
            "choose a provider, or the wire of a new one",
        ),
        (
            json!({ "add_model": { "name": "x", "provider": "p", "window": 9000 } }),
            "choose the wire of a new one",
        ),
    ] {
        let answer = refused(change);
        assert!(answer.contains(hint), "{answer}");
        assert!(!answer.contains("--"), "{answer}");
    }
}
