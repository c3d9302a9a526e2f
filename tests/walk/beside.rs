//! What a model gets of long outputs and of commands that run beside its turn, as its requests say it.

use serde_json::json;

use super::models::{Model, call, with_model};
use super::place::RUN;

/// What the command beside the turn is called in the system's list.
fn word() -> String {
    format!("a-society-walks-beside-{}", std::process::id())
}

/// How many processes have the word in their command line.
fn alive() -> usize {
    let word = word();
    let listed = std::fs::read_dir("/proc").unwrap();
    let lines =
        listed.filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok());
    let is_one = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(&word);
    lines.filter(is_one).count()
}

#[test]
fn the_middle_of_a_long_output_is_read_by_the_next_call() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "Grep", json!({ "query": "wide" }))],
        1 => {
            let kept = json!({ "pattern": "^a.txt:150:", "path": "record/.outputs" });
            vec![call(1, "grep", kept)]
        }
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let line = format!("wide {}\n", "x".repeat(380));
    place.write("demo/a.txt", &line.repeat(200));
    let said = place.run(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let heard = model.heard();
    let cut = heard.get(1).unwrap();
    assert!(cut.contains("left out; all of it: record/.outputs/"));
    assert!(!cut.contains("a.txt:150:"), "the middle was shown at once");
    let middle = heard.get(2).unwrap();
    assert!(middle.contains(".txt:150:a.txt:150:wide xxx"));
}

#[test]
fn a_command_beside_the_turn_is_heard_of_and_ends_with_it() {
    let model = Model::start_with(|results| match results {
        0 => {
            let command = format!("echo up; exec -a {} sleep 600", word());
            let given = json!({ "command": command, "run_in_background": true });
            vec![call(0, "Bash", given)]
        }
        1 => vec![call(1, "BashOutput", json!({ "bash_id": "c1" }))],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let said = place.run(&RUN);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(said.err.contains("in the background"), "{}", said.err);
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let heard = model.heard();
    let begun = heard.get(1).unwrap();
    assert!(
        begun.contains("[c1 runs; read it with command_output]"),
        "{begun}"
    );
    // Its output comes once: with its beginning, or, on a busy machine, when it is asked for.
    let read = heard.get(2).unwrap();
    assert_eq!(read.matches(r"]\nup\n").count(), 1, "{read}");
    assert_eq!(
        read.contains(r" s]\n(no new output)\n"),
        begun.contains(r"]\nup\n"),
        "{read}"
    );
    assert_eq!(alive(), 0);
}
