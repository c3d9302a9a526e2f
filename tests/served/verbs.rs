//! What the operator says, on the page and in the terminal, and what then happens where it matters: the
//! programs of roles begin, end, or never begin.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Server, Window};
use super::operated::{said, stage, started, until};
use crate::support::Workspace;

/// A person lets the plan through; the writer and the closer are programs that say when they begin, and
/// wait until a file tells them to go on.
const FLOW: &str = r#"workflow:
  name: Told
  nodes:
    - { id: plan, role: owner, human-colab: true }
    - { id: write, role: writer }
    - { id: check, role: checker }
    - { id: end, role: owner }
  edges:
    - { from: plan, to: write }
    - { from: write, to: check }
    - { from: check, to: end }
roles:
  owner: { executor: scripted }
  writer: { executor: command, command: { run: [sh, -c, 'echo $$ >> writes.txt; [ -f go ] || exec sleep 600; echo made'] } }
  checker: { executor: command, command: { run: [sh, -c, 'echo $$ >> checks.txt; [ -f end ] || exec sleep 600; echo seen'] } }
"#;

/// How long anything may take.
const LONGEST: Duration = Duration::from_secs(60);

/// How long something that must not happen is waited for.
const NOTHING: Duration = Duration::from_millis(700);

struct Scene {
    workspace: Workspace,
    server: Server,
    window: Window,
    by_page: bool,
    count: usize,
}

impl Scene {
    fn new(by_page: bool) -> Self {
        let workspace = stage(FLOW);
        // A project that leaves open how its flows end.
        std::fs::create_dir(workspace.path().join("a-docs")).unwrap();
        let server = Server::start(&workspace, &[]);
        let flow = started(&server);
        let window = Window::new(&flow, &["owner"]);
        Self {
            workspace,
            server,
            window,
            by_page,
            count: 0,
        }
    }

    /// Says a command, as the page does or as the terminal does.
    fn say(&mut self, command: &Value, words: &[&str]) {
        self.count += 1;
        if self.by_page {
            let name = format!("c{}", self.count);
            let ack = said(&mut self.window, &self.server, &name, command);
            assert_eq!(ack["ok"], json!(true), "{command}: {ack}");
        } else {
            let flow = self.window.flow["flow"].as_str().unwrap().to_owned();
            let words = [&words[..1], &[flow.as_str()], &words[1..]].concat();
            let said = self.workspace.run(&words);
            assert_eq!(said.code, 0, "{said:?}");
        }
    }

    /// The approval that is asked for, which is not this one.
    fn approval(&mut self, before: &str) -> String {
        let asked = |window: &Window| {
            let asks = window.parts("ask/").into_iter();
            let mut ids =
                asks.filter_map(|ask| ask["kind"]["approval"].as_str().map(str::to_owned));
            ids.find(|id| id != before)
        };
        until(&mut self.window, &self.server, |window| {
            asked(window).is_some()
        });
        asked(&self.window).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        // A folder that only keeps flow files is not worked on by itself.
        self.workspace.path().join(name)
    }

    /// The processes that began so far, in their order.
    fn begun(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until so many have begun, and gives the last.
    fn has_begun(&self, name: &str, times: usize) -> String {
        holds(|| self.begun(name).len() >= times);
        assert_eq!(self.begun(name).len(), times, "{name}");
        self.begun(name).pop().unwrap()
    }

    fn has_ended(process: &str) {
        holds(|| !is_alive(process));
    }
}

fn holds(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < LONGEST, "it took too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_alive(process: &str) -> bool {
    std::path::Path::new("/proc").join(process).exists()
}

/// Whether programs carry out commands, whichever client sends them.
fn programs_do_what_is_said(by_page: bool) {
    let mut scene = Scene::new(by_page);
    // A plan that is declined reaches no role, and is made again.
    let first = scene.approval("");
    let why = "Say when.";
    scene.say(
        &json!({ "do": "decline", "approval": first, "reason": why }),
        &["decline", &first, "--reason", why],
    );
    let second = scene.approval(&first);
    assert_eq!(scene.begun("writes.txt"), [""; 0]);
    // Nothing begins while the flow pauses.
    scene.say(&json!({ "do": "pause" }), &["pause"]);
    scene.say(
        &json!({ "do": "approve", "approval": second }),
        &["approve", &second],
    );
    std::thread::sleep(NOTHING);
    assert_eq!(scene.begun("writes.txt"), [""; 0]);
    scene.say(&json!({ "do": "unpause" }), &["unpause"]);
    let process = scene.has_begun("writes.txt", 1);
    assert!(is_alive(&process));
    // What is stopped has ended, and begins again when it is tried again.
    scene.say(
        &json!({ "do": "stop", "scope": { "node": "write" } }),
        &["stop", "--node", "write"],
    );
    Scene::has_ended(&process);
    let waits = |window: &Window| {
        let asks = window.parts("ask/").into_iter();
        asks.map(|ask| ask["kind"]["may_retry"].clone())
            .any(|may| may == json!(true))
    };
    until(&mut scene.window, &scene.server, waits);
    assert_eq!(scene.begun("writes.txt").len(), 1);
    std::fs::write(scene.file("go"), "").unwrap();
    scene.say(
        &json!({ "do": "retry", "to": { "node": "write" } }),
        &["retry", "--node", "write"],
    );
    scene.has_begun("writes.txt", 2);
    let checks = scene.has_begun("checks.txt", 1);
    // A node that is done runs again.
    scene.say(
        &json!({ "do": "reopen", "node": "write" }),
        &["reopen", "write"],
    );
    scene.has_begun("writes.txt", 3);
    // And nothing runs any more once the flow is cancelled.
    assert!(is_alive(&checks));
    scene.say(
        &json!({ "do": "cancel", "why": "enough" }),
        &["cancel", "--why", "enough"],
    );
    Scene::has_ended(&checks);
    std::fs::write(scene.file("end"), "").unwrap();
    std::thread::sleep(NOTHING);
    assert_eq!(scene.begun("checks.txt").len(), 1);
    let flow = scene.window.flow["flow"].as_str().unwrap();
    let status = scene.workspace.run(&["status", flow]);
    assert!(status.out.contains("cancelled"), "{status:?}");
}

#[test]
fn programs_begin_and_end_as_the_page_says() {
    programs_do_what_is_said(true);
}

#[test]
fn programs_begin_and_end_as_the_terminal_says() {
    programs_do_what_is_said(false);
}

/// How a flow goes on, looked at where it goes on, whichever client says it.
fn a_flow_goes_on_as_is_said(by_page: bool) {
    let mut scene = Scene::new(by_page);
    let approval = scene.approval("");
    std::fs::write(scene.file("go"), "").unwrap();
    std::fs::write(scene.file("end"), "").unwrap();
    // Another graph has one more program, which then runs.
    let last = "    - { id: end, role: owner }\n";
    let more = FLOW
        .replace(last, &format!("    - {{ id: sign, role: signer }}\n{last}"))
        .replace(
            "{ from: check, to: end }",
            "{ from: check, to: sign }\n    - { from: sign, to: end }",
        )
        + "  signer: { executor: command, command: { run: [sh, -c, 'echo $$ >> signs.txt; echo signed'] } }\n";
    let file = scene.file("more.yaml");
    std::fs::write(&file, &more).unwrap();
    scene.say(
        &json!({ "do": "revise", "source": more }),
        &["revise", file.to_str().unwrap()],
    );
    scene.say(
        &json!({ "do": "approve", "approval": approval }),
        &["approve", &approval],
    );
    scene.has_begun("writes.txt", 1);
    scene.has_begun("checks.txt", 1);
    scene.has_begun("signs.txt", 1);
    let asks = |kind: &'static str| {
        move |window: &Window| {
            let mut asks = window.parts("ask/").into_iter();
            asks.any(|ask| ask["kind"]["kind"] == kind)
        }
    };
    let flow = scene.window.flow["flow"].as_str().unwrap().to_owned();
    let project = scene.window.flow["project"].as_str().unwrap().to_owned();
    let record = scene
        .workspace
        .state()
        .join(project)
        .join(flow)
        .join("record");
    until(&mut scene.window, &scene.server, asks("improvement"));
    assert!(!record.join("findings").exists());
    scene.say(
        &json!({ "do": "improve", "mode": "graph-based" }),
        &["improve", "graph"],
    );
    until(&mut scene.window, &scene.server, asks("feedback"));
    let there = |name: &str| record.join(name).is_file();
    assert!(there("findings/owner-findings.md") && there("findings/writer-findings.md"));
    assert!(!there("feedback.md"));
    scene.say(
        &json!({ "do": "feedback", "granted": true }),
        &["feedback", "yes"],
    );
    holds(|| record.join("feedback.md").is_file());
}

#[test]
fn a_flow_walks_another_graph_and_its_roles_look_back_as_the_page_says() {
    a_flow_goes_on_as_is_said(true);
}

#[test]
fn a_flow_walks_another_graph_and_its_roles_look_back_as_the_terminal_says() {
    a_flow_goes_on_as_is_said(false);
}
