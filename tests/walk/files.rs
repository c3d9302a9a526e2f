//! Flow files from the command line: checked, drawn, walked.

use super::place::{FLOW, Place, SLOW};

const BROKEN: &str = "\
workflow:
  name: Broken
  nodes:
    - { id: ask, role: owner }
    - { id: write, role: writer }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: wirte }
    - { from: write, to: close }
    - { from: close, to: write }
";

#[test]
fn check_says_everything_that_is_wrong_at_once() {
    let place = Place::new(BROKEN, "script: [ { say: 3 } ]\nx: 1\n");
    let said = place.run(&["check", "demo/flow.yaml"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!(said.whole());
    let json = place.run(&["check", "demo/flow.yaml", "--json"]);
    assert_eq!((json.code, &json.json()["sound"]), (1, &false.into()));
    assert!(json.json()["diagnostics"][0]["line"].is_u64(), "{json:?}");
}

#[test]
fn a_sound_file_is_said_to_be_sound_and_drawn_in_three_ways() {
    let place = Place::new(FLOW, SLOW);
    let said = place.run(&["check", "demo/flow.yaml"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "demo/flow.yaml: sound\n")
    );
    for format in ["text", "mermaid", "dot"] {
        let said = place.run(&["graph", "demo/flow.yaml", "--format", format]);
        assert_eq!(said.code, 0, "{said:?}");
        insta::assert_snapshot!(format!("graph_{format}"), said.out);
    }
    let said = place.run(&["schema"]);
    assert_eq!(said.json()["title"], "a-society flow file");
}

#[test]
fn what_is_no_flow_file_is_refused_in_words() {
    let place = Place::new(BROKEN, SLOW);
    place.write("bytes", "x");
    std::fs::write(place.workspace.path().join("bytes"), [0xff, 0xfe]).unwrap();
    for (words, code, says) in [
        (&["run", "demo/flow.yaml"][..], 1, "error[flow-file-unfit]"),
        (&["run", "nowhere.yaml"], 3, "error["),
        (&["check", "bytes"], 1, "error[file-unfit]"),
        (&["run", "demo"], 1, "error[project-unfit]"),
        (&["graph", "demo/flow.yaml"], 1, "error[flow-file-unfit]"),
        (&["resume", "zzz"], 3, "error[flow-not-found]"),
        (&["reply", "zzz", "x"], 3, "error[flow-not-found]"),
    ] {
        let said = place.run(words);
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(said.err.contains(says), "{words:?}: {}", said.err);
    }
    // People read the cause once, with its place, and programs, which get no such lines, under why.
    let cause = |said: &str| said.matches("wirte").count();
    let said = place.run(&["run", "demo/flow.yaml"]);
    assert!(!said.err.contains("why: "), "{}", said.err);
    assert!(
        said.err.contains("\nerror[flow-file-unfit]: "),
        "{}",
        said.err
    );
    assert!(cause(&said.err) > 0, "{}", said.err);
    let said = place.run(&["run", "demo/flow.yaml", "--json"]);
    assert!(
        said.err.contains(r#""why":""#) && cause(&said.err) > 0,
        "{}",
        said.err
    );
    place.write("script.yaml", "default: sideways\n");
    place.write("flow.yaml", FLOW);
    let said = place.run(&["run", "flow.yaml", "--script", "script.yaml"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(
        said.err.matches("must be one of").count(),
        1,
        "{}",
        said.err
    );
}

#[test]
fn a_flow_runs_to_its_end_with_the_script_beside_it() {
    let place = Place::new(FLOW, SLOW);
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let last: serde_json::Value = serde_json::from_str(said.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["event"], &last["status"]),
        (&"end".into(), &"completed".into())
    );
    let events = said
        .out
        .lines()
        .filter(|line| line.contains(r#""event":"handoff""#));
    assert_eq!(events.count(), 2, "{}", said.out);
    let flow = place.flow().unwrap();
    assert_eq!(place.outcome(&flow)["notes"], "The notes.");
    assert_eq!(
        place.run(&["resume", &flow]).code,
        0,
        "what is over stays over"
    );
}

#[test]
fn without_a_workspace_one_is_made_here_and_that_is_said() {
    let place = Place::new(FLOW, SLOW);
    std::fs::remove_dir_all(place.workspace.path().join(".a-society")).unwrap();
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.contains("created workspace WORKSPACE/.a-society"),
        "{}",
        said.err
    );
}

#[test]
fn the_demo_and_a_new_workspace_run_at_once() {
    let place = Place::new(FLOW, SLOW);
    let said = place.run(&["demo", "--headless", "--dir", "try-it"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("back to"),
        "work is sent back: {}",
        said.out
    );
    assert!(
        said.err.contains("What to look at:") && !said.err.contains("http"),
        "{}",
        said.err
    );
    assert_eq!(place.run(&["init", "new"]).code, 0);
    let said = place.run(&["run", "new", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let again = place.run(&["init", "new"]);
    assert_eq!(again.code, 6, "{again:?}");
}
