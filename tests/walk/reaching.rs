//! How far the tools of a role reach: what the configuration outside the workspace allows, and what
//! the workspace and the operator take away from it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;

use serde_json::json;

use super::models::{FLOW, Model, call, calls, says, with_model};
use super::place::{Place, wait_until};
use super::prompted::SETTLED;
use super::watched::Terminal;

fn tools(place: &Place, text: &str) {
    let path = place.workspace.path().join("config.yaml");
    let config = std::fs::read_to_string(path).unwrap();
    let (config, _) = config.split_once("tools:").unwrap_or((&config, ""));
    place.write("config.yaml", &format!("{config}{text}"));
}

/// Reads the one file that is there under the temporary folder of this test.
fn reader(path: String) -> Model {
    static PATH: Mutex<String> = Mutex::new(String::new());
    *PATH.lock().unwrap_or_else(PoisonError::into_inner) = path;
    fn read() -> String {
        PATH.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    Model::start_with(|results| match results {
        0 | 2 => vec![call(results, "read_file", json!({ "path": read() }))],
        1 => vec![call(
            1,
            "run_command",
            json!({ "command": "echo done > done.txt" }),
        )],
        _ => Vec::new(),
    })
}

#[test]
fn only_the_configuration_outside_widens_and_whatever_is_inside_takes_away() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("x.txt"), "what is outside").unwrap();
    let model = reader(root.join("x.txt").display().to_string());
    let place = with_model(&model);
    let start = |permissions: &str| {
        let role = format!("a log.{permissions} }}");
        place.write("demo/flow.yaml", &FLOW.replace("a log. }", &role));
        let state = place.workspace.state();
        drop(std::fs::remove_dir_all(state.join("demo")));
        let run = "run demo/flow.yaml --project demo --until-waiting".split(' ');
        let said = place.run(&run.collect::<Vec<&str>>());
        assert_eq!(said.code, 9, "{said:?}");
        (place.flow().unwrap(), said.err)
    };
    let scope = |flow: &str| place.status(flow)["tools"]["owner"]["scope"].clone();
    let first = |flow: &str| calls(&place, flow)[0].1.clone();

    // The file asks for everything, and the configuration says nothing.
    let (flow, shown) = start(", permissions: { scope: full }");
    assert_eq!(
        (first(&flow), scope(&flow)),
        ("failed".into(), json!("sandboxed"))
    );
    let facts = "sandbox: project and record folder only\n  network: off\n";
    assert!(shown.contains(facts), "{shown}");

    let allowed = format!(
        "tools: {{ scope: project, folders: ['{}'] }}\n",
        root.display()
    );
    tools(&place, &allowed);
    let (flow, _) = start(", permissions: { scope: sandboxed }");
    assert_eq!(
        (first(&flow), scope(&flow)),
        ("failed".into(), json!("sandboxed"))
    );
    let (flow, shown) = start("");
    assert_eq!(
        (first(&flow), scope(&flow)),
        ("done".into(), json!("project"))
    );
    assert!(
        shown.contains("the folders you named, to read\n  network: off\n"),
        "{shown}"
    );

    // What was shown was to run in another scope, so that the answer does not count for it now: it is asked
    // about anew, as it would run.
    let said = place.run(&["configure", &flow, "owner", "scope=full"]);
    assert!(said.err.contains("the scope project at most"), "{said:?}");
    assert_eq!(scope(&flow), "project");
    assert_eq!(
        place
            .run(&["configure", &flow, "owner", "scope=sandboxed"])
            .code,
        0
    );
    let done = place.workspace.path().join("demo/done.txt");
    for (code, shown) in [(9, facts), (0, "")] {
        assert!(!done.exists());
        assert_eq!(place.run(&["allow", &flow]).code, 0);
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.err.contains(shown), "{said:?}");
    }
    assert!(done.exists());
    let ends: Vec<String> = calls(&place, &flow)
        .into_iter()
        .map(|(_, end)| end)
        .collect();
    assert_eq!(ends, ["done", "done", "failed"]);
    assert_eq!(scope(&flow), "sandboxed");
}

#[test]
fn a_scope_that_means_nothing_is_refused_where_it_is_said() {
    let place = Place::new(FLOW, "");
    let said = place.run(&["configure", "x", "owner", "scope=everything"]);
    assert!(
        said.code == 2 && said.err.contains("sandboxed, project, full"),
        "{said:?}"
    );
    place.write("config.yaml", "tools: { folders: [/usr/share] }\n");
    let said = place.run(&["models", "ls", "--json"]);
    assert_eq!(said.json()["tools"], json!(null), "{said:?}");
    place.write("config.yaml", "tools: { scope: full }\n");
    let said = place.run(&["models", "ls", "--json"]);
    let wide = json!({ "scope": "full", "folders": [], "network": true });
    assert_eq!(said.json()["tools"], wide, "{said:?}");
}

/// What a role says that asks the operator.
const ASKS: &str = "Which one?\n\n```handoff\ntype: prompt-human\n```\n";

#[test]
fn a_folder_that_the_configuration_names_while_a_flow_is_driven_is_read_in_its_next_turn() {
    static PATH: Mutex<String> = Mutex::new(String::new());
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("x.txt"), "what is outside").unwrap();
    *PATH.lock().unwrap_or_else(PoisonError::into_inner) = root.join("x.txt").display().to_string();
    let model = Model::start_with(|results| {
        let path = PATH.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let read = vec![call(results, "read_file", json!({ "path": path }))];
        match results {
            0 => read,
            1 if ASKED.fetch_add(1, Ordering::SeqCst) == 0 => vec![says(&[ASKS])],
            1 => read,
            _ => Vec::new(),
        }
    });
    let place = with_model(&model);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("your answer>", 1);
    assert!(!model.heard().concat().contains("what is outside"));
    tools(
        &place,
        &format!(
            "tools: {{ scope: project, folders: ['{}'] }}\n",
            root.display()
        ),
    );
    sleep(SETTLED);
    terminal.press("The one outside.\n");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(model.heard().last().unwrap().contains("what is outside"));
}

#[test]
fn a_limit_that_is_changed_while_a_flow_is_driven_stops_its_next_turn() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let model = Model::start_with(|results| match ASKED.fetch_add(1, Ordering::SeqCst) {
        0 => vec![says(&[ASKS])],
        _ => vec![call(
            results,
            "list_files",
            json!({ "path": format!("{results}") }),
        )],
    });
    let place = with_model(&model);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start(&place, &words);
    terminal.writes("your answer>", 1);
    tools(&place, "limits: { answers: 3 }\n");
    sleep(SETTLED);
    terminal.press("All of them.\n");
    wait_until("the turn is stopped", || {
        let flow = place.flow().unwrap();
        place.journal(&flow).matches("\"node_suspended\"").count() == 2
    });
    assert_eq!(model.requests(), 1 + 3);
}
