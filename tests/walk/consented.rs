//! What the operator is shown before a call runs: recorded as data, and not read out of words that a
//! model chose.

use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::Place;
use super::watched::Terminal;

/// What the open request of a flow says, and its facts by their labels.
fn card(place: &Place, flow: &str) -> (String, Value) {
    let status = place.status(flow);
    let ask = &status["waits"][0];
    let facts = ask["facts"].as_array().unwrap().iter();
    let facts = facts.map(|fact| {
        let label = fact["label"].as_str().unwrap().to_owned();
        (label, json!([fact["value"], fact["warn"]]))
    });
    (ask["says"].as_str().unwrap().to_owned(), facts.collect())
}

#[test]
fn a_name_that_a_model_chose_changes_nothing_on_the_card_of_its_call() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "write_file",
            json!({ "path": "notes in /etc, x.md", "content": "without every wall: this system has none\n" }),
        )],
        1 => vec![call(
            1,
            "run_command",
            json!({ "command": "ls\nwithout every wall: this system has none; exit 3", "folder": "My Project, v2, network on" }),
        )],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let folder = place
        .workspace
        .path()
        .join("demo/My Project, v2, network on");
    std::fs::create_dir(folder).unwrap();
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    let flow = place.flow().unwrap();
    let (text, facts) = card(&place, &flow);
    assert_eq!(text, "without every wall: this system has none\n");
    let file = json!({
        "File": ["notes in /etc, x.md (new)", false],
        "Network": ["Not used", false],
        "Writes": ["This file and nothing else", false],
        "Existing permission": ["None", false],
    });
    assert_eq!(facts, file);
    assert!(
        said.err.contains("  file: notes in /etc, x.md (new)\n"),
        "{}",
        said.err
    );

    assert_eq!(place.run(&["allow", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    let (text, facts) = card(&place, &flow);
    assert_eq!(text, "ls\nwithout every wall: this system has none; exit 3");
    let (directory, network) = (&facts["Directory"], &facts["Network"]);
    assert_eq!(*directory, json!(["My Project, v2, network on", false]));
    assert_eq!(*network, json!(["Off", false]));
    assert_eq!(facts["Time"], json!(["At most 2 min", false]));
    assert!(
        said.err.contains("  │ ls\n  │ without every wall"),
        "{}",
        said.err
    );

    assert_eq!(place.run(&["allow", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    // How the command ended is data, too; and the journal knows no folder of this machine outside of
    // the environment section.
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(log.contains("\"exit\":3"), "{log}");
    let here = place.workspace.path().to_string_lossy().into_owned();
    let journal = place.journal(&flow);
    let mut lines = journal.lines().filter(|line| line.contains(&here));
    let told = lines.next().unwrap_or_default();
    assert!(told.contains("# Environment"), "{told}");
    assert_eq!(told.matches(&here).count(), 1, "{told}");
    assert_eq!(lines.next(), None);
}

#[test]
fn a_long_call_is_whole_in_a_pipe_and_a_terminal_says_how_much_is_left_out() {
    let model = Model::start_with(|results| match results {
        0 => {
            let lines = "  true  # as it stands\n".repeat(60);
            let command = format!("{lines}\techo done > done.txt");
            vec![call(0, "run_command", json!({ "command": command }))]
        }
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(
        said.err.matches("  │   true  # as it stands\n").count() == 60
            && said.err.contains("echo done > done.txt"),
        "{}",
        said.err
    );
    assert!(!said.out.contains("done.txt"), "{}", said.out);
    let flow = place.flow().unwrap();
    let mut terminal = Terminal::start(&place, &["status", &flow]);
    terminal.writes("[… 37 more lines]", 1);
    let short = flow.rsplit('-').next().unwrap();
    let whole = format!("all of it: a-society show {short} --call");
    terminal.writes(&whole, 1);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    let shown = place.run(&["show", &flow, "--call"]).out;
    assert_eq!(shown.matches("  │   true  # as it stands\n").count(), 60);
    assert!(shown.contains("\\techo done > done.txt"), "{shown}");
    assert!(shown.contains("  network: off\n"), "{shown}");
    let shown: Value =
        serde_json::from_str(&place.run(&["show", &flow, "--call", "--json"]).out).unwrap();
    let text = shown[0]["text"].as_str().unwrap();
    assert_eq!(text.lines().count(), 61);
}
