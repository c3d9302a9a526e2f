//! What is looked at of a flow while it goes on and when it is over: its calls, its files, its result, and who drives it.

use super::models::{Model, with_model};
use super::place::{FLOW, Place, SLOW, wait_until};
use super::watched::Terminal;
use crate::support::steady;

#[test]
fn each_call_that_waits_is_shown_whole_and_then_the_files_and_the_result() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    let shown = place.run(&["show", &flow, "--call", "1"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(
        shown.out.starts_with("owner asks to call run_command ("),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("\n  │ echo one >> log.txt\n"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("\n  folder: the project folder\n"),
        "{}",
        shown.out
    );
    assert_eq!(
        place.run(&["show", &flow, "--call"]).out,
        shown.out,
        "one call waits"
    );
    let calls = place.run(&["show", &flow, "--call", "1", "--json"]).json();
    assert_eq!(calls[0]["text"], "echo one >> log.txt");
    let none = place.run(&["show", &flow, "--call", "2"]);
    assert_eq!(none.code, 3, "{none:?}");
    assert!(
        none.err.contains("no call 2 waits for your consent"),
        "{}",
        none.err
    );
    assert!(none.err.contains("why: one call waits"), "{}", none.err);
    assert!(none.err.contains("try: a-society show"), "{}", none.err);
    let nothing = place.run(&["show", &flow, "--result"]);
    assert_eq!(nothing.code, 3, "{nothing:?}");
    assert!(
        nothing.err.contains("the flow has delivered nothing"),
        "{}",
        nothing.err
    );

    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let resume = ["resume", &flow, "--until-waiting", "--improve", "none"];
    assert_eq!(place.run(&resume).code, 0);
    let shown = place.run(&["show", &flow]).out;
    let (_, files) = shown.split_once("\nFILES\n").expect(&shown);
    let first = files.lines().next().unwrap();
    assert!(
        first.trim().starts_with("notes.md  +1 −0  owner, turn"),
        "{shown}"
    );
    assert!(shown.contains("  owner  m      1"), "{shown}");
    // A row about a call names its tool once.
    assert!(shown.contains("  write notes.md (11 bytes)"), "{shown}");
    assert!(!shown.contains("write_file: write "), "{shown}");
    assert!(!shown.contains("run_command: run "), "{shown}");
    assert!(shown.contains("delivered   notes.md (11 B)"), "{shown}");
    let result = place.run(&["show", &flow, "--result"]);
    assert_eq!((result.code, result.out.as_str()), (0, "The notes.\n"));
    let result = place.run(&["show", &flow, "--result", "--json"]).json();
    assert_eq!(
        (&result["path"], &result["text"]),
        (&"notes.md".into(), &"The notes.\n".into())
    );
}

#[test]
fn the_help_is_no_wider_than_the_terminal() {
    let place = Place::new(FLOW, SLOW);
    for words in [
        &["--help"][..],
        &["run", "--help"],
        &["models", "add", "--help"],
    ] {
        let mut terminal = Terminal::start_sized(&place, words, (&[("NO_COLOR", "1")], (24, 80)));
        let (code, written) = terminal.all_written();
        assert_eq!(code, Some(0), "{written}");
        let wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("  a-society ");
        assert_eq!(written.lines().find(wide), None, "{words:?}");
        assert!(
            written.lines().any(|line| line.chars().count() > 60),
            "{words:?}"
        );
    }
}

#[test]
fn a_node_that_waits_for_consent_names_the_command_that_shows_its_call() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    let status = place.run(&["status", &flow]).out;
    let node = status
        .lines()
        .find(|line| line.starts_with("do (owner) waits for "));
    let (_, pasted) = node.and_then(|line| line.split_once("  (")).expect(&status);
    let words: Vec<&str> = pasted.trim_end_matches(')').split(' ').collect();
    assert_eq!((words[0], &words[2..]), ("show", &["--call", "1"][..]));
    let shown = place.run(&words).out;
    assert!(shown.contains("\n  │ echo one >> log.txt\n"), "{shown}");
}

#[test]
fn it_says_what_drives_a_flow_and_since_when_and_that_nobody_does() {
    let place = Place::new(FLOW, &SLOW.replace("every-ms: 8", "every-ms: 300"));
    let (mut child, flow) = place.begin();
    let pid = child.id().to_string();
    wait_until("it is driven", || {
        place.run(&["status", &flow]).out.contains("driven by")
    });
    let status = place.run(&["status", &flow]);
    let head = status.out.lines().next().unwrap();
    assert!(head.ends_with(" · driven by run"), "{status:?}");
    let is_age = |part: &str| {
        part.strip_suffix('s')
            .is_some_and(|age| age.parse::<u32>().is_ok())
    };
    assert!(head.split(" · ").nth(1).is_some_and(is_age), "{head}");
    let json = place.status(&flow);
    assert!(json["driven_by"].as_str().unwrap().contains(&pid), "{json}");
    child.kill().unwrap();
    child.wait().unwrap();
    let status = place.run(&["status", &flow]);
    assert!(!status.out.contains("driven by"), "{status:?}");
    assert!(status.out.contains("nobody drives it"), "{status:?}");
    assert_eq!(place.status(&flow)["driven_by"], serde_json::Value::Null);
}

#[test]
fn a_screen_that_is_read_aloud_gets_tables_as_names_and_values() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let listed = place.run(&["ls", "--plain"]).out;
    assert!(listed.contains(&format!("flow: demo/{flow}\n")), "{listed}");
    assert!(listed.contains("\nstate: waiting for you\n"), "{listed}");
    let shown = place.run(&["show", &flow, "--plain"]).out;
    assert!(shown.contains("\nstatus: waiting for you\n"), "{shown}");
    assert!(
        shown.contains("\nnodes: do: owner; waiting for you"),
        "{shown}"
    );
    assert!(
        shown.contains("\ncost: owner: model m; turns 1; in "),
        "{shown}"
    );
    // The configuration asks for the same, for every command.
    place.write("config.yaml", &format!("{config}ui: {{ plain: true }}\n"));
    // A second may have passed.
    let again = |words: &[&str]| steady(&place.run(words).out);
    assert_eq!(again(&["show", &flow]), steady(&shown));
    assert_eq!(again(&["ls"]), steady(&listed));
    place.write(
        "config.yaml",
        &format!("{config}ui: {{ plain: perhaps }}\n"),
    );
    let said = place.run(&["models", "ls"]);
    assert!(
        said.err.contains("`plain` must be `true` or `false`"),
        "{said:?}"
    );
}
