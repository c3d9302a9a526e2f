//! Flows that go on elsewhere: exported and imported, in a workspace that was renamed or copied, and forked. What
//! their models then write is where it should be, and what waited for consent is asked about anew.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::models::{Model, Script, call, with_model};
use super::place::Place;
use super::told::copied;

/// Where a flow goes on.
struct Elsewhere {
    /// Keeps its workspace.
    _place: Option<Place>,
    _folder: Option<tempfile::TempDir>,
    path: PathBuf,
    flow: String,
}

/// How a flow gets elsewhere.
type Way = fn(&Place, &Model, &str) -> Elsewhere;

fn imported(place: &Place, model: &Model, flow: &str) -> Elsewhere {
    assert_eq!(place.run(&["export", flow, "flow.tar.zst"]).code, 0);
    let other = with_model(model);
    let path = other.workspace.path().to_owned();
    let name = "flow.tar.zst";
    std::fs::copy(place.workspace.path().join(name), path.join(name)).unwrap();
    assert_eq!(other.run(&["import", name]).code, 0);
    Elsewhere {
        _place: Some(other),
        _folder: None,
        path,
        flow: flow.to_owned(),
    }
}

fn moved_to(place: &Place, flow: &str, brings: fn(&Path, &Path)) -> Elsewhere {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("elsewhere");
    brings(place.workspace.path(), &path);
    Elsewhere {
        _place: None,
        _folder: Some(folder),
        path,
        flow: flow.to_owned(),
    }
}

fn is_copied(place: &Place, _: &Model, flow: &str) -> Elsewhere {
    moved_to(place, flow, copied)
}

fn is_renamed(place: &Place, _: &Model, flow: &str) -> Elsewhere {
    moved_to(place, flow, |from, to| {
        copied(from, to);
        // The test's own folder stays, or nothing could be removed at its end.
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            }
        }
    })
}

fn is_forked(place: &Place, _: &Model, flow: &str) -> Elsewhere {
    let said = place.run(&["fork", flow, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    Elsewhere {
        _place: None,
        _folder: None,
        path: place.workspace.path().to_owned(),
        flow: said.json()["flow"].as_str().unwrap().to_owned(),
    }
}

/// A flow that waits, and goes on elsewhere.
struct Journey {
    place: Place,
    model: Model,
    there: Elsewhere,
}

impl Journey {
    fn begin(script: Script, way: Way) -> Self {
        let model = Model::start_with(script);
        let place = with_model(&model);
        let flow = place.run_until_it_waits();
        let there = way(&place, &model, &flow);
        Self {
            place,
            model,
            there,
        }
    }

    /// The exit code of the program there.
    fn run(&self, words: &[&str]) -> Option<i32> {
        let mut command = self.place.workspace.command(words);
        let output = command.current_dir(&self.there.path).output().unwrap();
        output.status.code()
    }

    fn status(&self) -> String {
        let mut command = self.place.workspace.command(&["status", &self.there.flow]);
        let output = command.current_dir(&self.there.path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn goes_on(&self) -> Option<i32> {
        let flow = &self.there.flow;
        self.run(&["resume", flow, "--until-waiting", "--improve", "none"])
    }
}

/// Asks, writes into the record folder, and closes.
fn asks_and_writes(results: usize) -> Vec<(Value, Vec<Value>)> {
    let (tool, input) = match results {
        0 => ("ask_operator", json!({ "question": "Go on?" })),
        1 => (
            "write_file",
            json!({ "path": "record/log.md", "content": "Kept there.\n" }),
        ),
        _ => ("handoff", json!({ "type": "forward-pass-closed" })),
    };
    vec![call(results, tool, input)]
}

#[test]
fn a_model_writes_into_the_record_folder_of_its_flow_wherever_that_goes_on() {
    for (name, way) in [
        ("imported", imported as Way),
        ("renamed", is_renamed),
        ("forked", is_forked),
    ] {
        let journey = Journey::begin(asks_and_writes, way);
        let flow = &journey.there.flow;
        assert_eq!(journey.run(&["reply", flow, "yes"]), Some(0), "{name}");
        assert_eq!(journey.goes_on(), Some(0), "{name}");
        let state = journey.there.path.join(".a-society/state/demo");
        let kept = std::fs::read_to_string(state.join(flow).join("record/log.md"));
        assert_eq!(kept.unwrap(), "Kept there.\n", "{name}");
        let heard = journey.model.heard();
        assert_eq!(heard.len(), 3, "{name}: no request was spent on a repair");
        let old = journey
            .place
            .workspace
            .path()
            .to_string_lossy()
            .into_owned();
        let knows_of_it = heard[1..].iter().any(|body| body.contains(&old));
        assert_eq!(knows_of_it, name == "forked", "{name}");
    }
}

/// Writes a file that does not exist yet.
fn writes_anew(results: usize) -> Vec<(Value, Vec<Value>)> {
    let input = json!({ "path": "a.txt", "content": "New.\n" });
    match results {
        0 => vec![call(0, "write_file", input)],
        _ => Vec::new(),
    }
}

/// Runs a command.
fn runs_once(results: usize) -> Vec<(Value, Vec<Value>)> {
    let input = json!({ "command": "echo New. > a.txt" });
    match results {
        0 => vec![call(0, "run_command", input)],
        _ => Vec::new(),
    }
}

#[test]
fn a_call_that_waited_is_asked_about_anew_where_its_flow_goes_on_and_is_not_refused() {
    for (name, script, way) in [
        ("a file, imported", writes_anew as Script, imported as Way),
        ("a file, copied", writes_anew, is_copied),
        ("a command, imported", runs_once, imported),
        ("a command, copied", runs_once, is_copied),
    ] {
        let journey = Journey::begin(script, way);
        let flow = &journey.there.flow;
        assert_eq!(journey.run(&["allow", flow]), Some(0), "{name}");
        assert_eq!(journey.goes_on(), Some(9), "{name}: it is asked about anew");
        let why = "You allowed this before, and its folder or its walls are not what they were";
        assert!(journey.status().contains(why), "{name}");
        assert_eq!(journey.model.requests(), 1, "{name}: nothing was refused");
        let file = journey.there.path.join("demo/a.txt");
        assert!(!file.exists(), "{name}");
        assert_eq!(journey.run(&["allow", flow]), Some(0), "{name}");
        assert_eq!(journey.goes_on(), Some(0), "{name}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "New.\n", "{name}");
        assert!(!journey.place.workspace.path().join("demo/a.txt").exists());
        assert_eq!(journey.model.requests(), 2, "{name}");
        assert_eq!(journey.run(&["verify", flow]), Some(0), "{name}");
    }
}
