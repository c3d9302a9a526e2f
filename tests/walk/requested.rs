//! Requests as they left for a model, written anew from the journal alone: to the byte.

use a_society_facts::Fact;
use serde_json::Value;

use super::models::{Model, with_model, with_model_on};
use super::place::{Place, RUN, SLOW};

/// The records that say that a model was asked.
fn requested(place: &Place, flow: &str) -> Vec<u64> {
    let log = place.run(&["log", flow, "--json"]).out;
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records
        .filter(|record| record["fact"] == "model_requested")
        .map(|record| record["seq"].as_u64().unwrap())
        .collect()
}

fn walked(place: &Place) -> String {
    let flow = place.run_until_it_waits();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    flow
}

#[test]
fn every_request_is_written_anew_to_the_byte_also_over_a_death_and_in_a_fork() {
    let model = Model::start();
    let place = with_model(&model);
    // The flow was driven by two processes: one up to its question, one from there on.
    let flow = walked(&place);
    let (asked, heard) = (requested(&place, &flow), model.heard());
    assert_eq!((asked.len(), heard.len()), (4, 4));
    let last = asked.last().unwrap().to_string();
    let forked = place.run(&["fork", &flow, "--at", &last, "--name", "Again", "--json"]);
    assert_eq!(forked.code, 0, "{forked:?}");
    let forked: Value = serde_json::from_str(&forked.out).unwrap();
    // What the program prints is compared without the path of the test.
    let here = place.workspace.path().display().to_string();
    let heard: Vec<String> = (heard.iter())
        .map(|left| left.replace(&here, "WORKSPACE"))
        .collect();
    for flow in [flow.as_str(), forked["flow"].as_str().unwrap()] {
        for (seq, left) in asked.iter().zip(&heard) {
            let said = place.run(&["session", "request", flow, &seq.to_string()]);
            assert_eq!(said.code, 0, "{said:?}");
            assert_eq!(said.out, *left, "{flow} {seq}");
            assert!(said.err.contains("the bytes that left"), "{}", said.err);
        }
    }
    // Nothing was asked of the model for that.
    assert_eq!(model.heard().len(), 4);
}

/// Holds every request of a flow, written anew from the journal, to what left: the same bytes, in the
/// same order, however the configuration changed meanwhile.
pub(super) fn holds_what_left(place: &Place, flow: &str, left: &[String]) {
    let here = place.workspace.path().display().to_string();
    let asked = requested(place, flow);
    assert_eq!(asked.len(), left.len(), "{asked:?}");
    for (seq, left) in asked.iter().zip(left) {
        let said = place.run(&["session", "request", flow, &seq.to_string()]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.err.contains("the bytes that left"), "{seq}: {said:?}");
        assert_eq!(said.out, left.replace(&here, "WORKSPACE"), "{flow} {seq}");
    }
}

#[test]
fn a_request_is_written_anew_when_model_role_and_configuration_are_gone() {
    for wire in ["anthropic", "openai-responses", "openai-chat"] {
        let model = Model::start_refusing(|_| Vec::new(), |_| Some((401, "{}".to_owned())));
        let place = with_model_on(&model, wire);
        let flow = place.run_until_it_waits();
        place.write("config.yaml", "providers: {}\n");
        place.write("demo/flow.yaml", "roles: {}\n");
        holds_what_left(&place, &flow, &model.heard());
    }
}

/// The records that say that a model was asked, whole.
fn records(place: &Place, flow: &str) -> Vec<Value> {
    let log = place.run(&["log", flow, "--json"]).out;
    let records = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let asked = |record: &Value| record["fact"] == "model_requested";
    records.filter(asked).collect()
}

#[test]
fn what_requests_are_made_of_is_recorded_once_for_a_session_and_its_tools_once_for_a_flow() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = walked(&place);
    let records = records(&place, &flow);
    let frames: Vec<&Value> = records.iter().map(|record| &record["frame"]).collect();
    let said: Vec<bool> = frames.iter().map(|frame| frame.is_object()).collect();
    // The second process finds it in the journal.
    assert_eq!(said, [true, false, false, false], "{frames:?}");
    let frame = frames[0];
    assert_eq!(
        (&frame["wire"], &frame["model"]),
        (&"anthropic".into(), &"m".into())
    );
    let tools = frame["tools"].as_array().unwrap();
    let blobs: Vec<&Value> = tools
        .iter()
        .filter(|part| part["blob"].is_string())
        .collect();
    assert_eq!(blobs.len(), 1, "{tools:?}");
    // The folder is named in one place: the part that varies.
    let here = place.workspace.path().display().to_string();
    let journal = place.journal(&flow);
    let (with, without): (Vec<&str>, Vec<&str>) = journal
        .lines()
        .partition(|line| line.contains("# Environment"));
    assert_eq!(
        with.iter()
            .map(|line| line.matches(&here).count())
            .sum::<usize>(),
        1
    );
    // What the operator is shown of a call names the folder too, and no model reads it.
    let told = |line: &&&str| !line.contains("consent_requested");
    let elsewhere = without
        .iter()
        .filter(told)
        .filter(|line| line.contains(&here));
    let elsewhere: Vec<_> = elsewhere.collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    let log = place.run(&["log", &flow, "--json"]).out;
    assert!(log.contains(r#""sources":[{"part":"role""#), "{log}");
}

#[test]
fn a_journal_that_does_not_say_what_requests_were_made_of_is_read_with_todays_configuration() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = walked(&place);
    let (asked, heard) = (requested(&place, &flow), model.heard());
    place.rewrite_journal(&flow, |fact| {
        if let Fact::ModelRequested(asked) = fact {
            asked.frame = None;
        }
    });
    holds_what_left(&place, &flow, &heard);
    let seq = asked[1].to_string();
    let said = place.run(&["session", "request", &flow, &seq, "--comparable"]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(
        said.err
            .contains("does not say what this request was made of"),
        "{said:?}"
    );
    let config = place.workspace.path().join("config.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let other = text.replace(
        "  m: {",
        "  other: { provider: p, id: o, window: 100000 }\n  m: {",
    );
    std::fs::write(&config, other.replace("\nmodel: m", "\nmodel: other")).unwrap();
    let said = place.run(&["session", "request", &flow, &seq, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let told: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        (&told["same"], &told["model"]),
        (&Value::from(false), &Value::from("m"))
    );
    let why = told["differs"].as_str().unwrap();
    assert!(
        why.contains("sent to m") && why.contains("ask other"),
        "{why}"
    );
    assert_eq!(told["body"]["model"], "o");
    assert!(told["body"].to_string().contains("Keep a log"));
}

#[test]
fn requests_of_two_runs_are_the_same_without_what_varies_and_differ_where_a_packet_does() {
    let comparable = |work: &str| {
        let model = Model::start();
        let place = with_model(&model);
        place.write(
            "demo/flow.yaml",
            &super::models::FLOW.replace("Keep a log", work),
        );
        let flow = walked(&place);
        let seq = requested(&place, &flow)[1].to_string();
        let said = place.run(&["session", "request", &flow, &seq, "--comparable"]);
        assert_eq!(said.code, 0, "{said:?}");
        let here = place.workspace.path().display().to_string();
        assert!(!said.out.contains("# Environment") && !said.out.contains(&here));
        assert!(!said.out.contains("It is 20"), "{}", said.out);
        assert!(said.out.contains("[exit 0]"), "{}", said.out);
        said.out
    };
    let (one, other) = (comparable("Keep a log"), comparable("Keep a log"));
    assert_eq!(one, other);
    assert_ne!(one, comparable("Keep the log"));
}

#[test]
fn what_a_script_and_a_command_were_told_is_written_anew_and_its_hash_changes_with_it() {
    const MIXED: &str = r"workflow:
  name: Mixed
  nodes:
    - { id: ask, role: owner, work: [ Ask ] }
    - { id: count, role: counter }
    - { id: close, role: owner }
  edges:
    - { from: ask, to: count }
    - { from: count, to: close }
roles:
  owner: { executor: scripted }
  counter: { executor: command, command: { run: [sh, -c, 'echo made by $A_SOCIETY_NODE.'] } }
";
    let hashes = |file: &str| {
        let place = Place::new(file, SLOW);
        let said = place.run(&RUN);
        assert_eq!(said.code, 0, "{said:?}");
        let flow = place.flow().unwrap();
        let mut hashes = Vec::new();
        for record in records(&place, &flow) {
            let seq = record["seq"].to_string();
            let said = place.run(&["session", "request", &flow, &seq]);
            assert!(said.err.contains("the bytes that left"), "{said:?}");
            let told: Value = serde_json::from_str(&said.out).unwrap();
            let told = told["told"][0].as_str().unwrap().to_owned();
            assert!(told.starts_with("You are at node"), "{told}");
            let said = place.run(&["session", "request", &flow, &seq, "--comparable", "--json"]);
            hashes.push(said.json()["comparable"].clone());
        }
        hashes
    };
    let (one, other) = (hashes(MIXED), hashes(MIXED));
    assert_eq!(one, other);
    let changed = hashes(&MIXED.replace("[ Ask ]", "[ Ask again ]"));
    assert_ne!(one[0], changed[0]);
}

#[test]
fn a_record_that_is_no_request_is_refused_in_words() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = walked(&place);
    for seq in ["1", "100000"] {
        let said = place.run(&["session", "request", &flow, seq]);
        assert_eq!(said.code, 6, "{said:?}");
        assert!(
            said.err.contains("is no request to a model"),
            "{}",
            said.err
        );
    }
}

#[test]
fn a_request_whose_blob_is_lost_is_refused_in_words() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = walked(&place);
    let seq = requested(&place, &flow)[0].to_string();
    for blob in std::fs::read_dir(place.folder(&flow).join("blobs")).unwrap() {
        std::fs::remove_file(blob.unwrap().path()).unwrap();
    }
    let said = place.run(&["session", "request", &flow, &seq]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(
        said.err.contains("what it was made of cannot be had")
            && said.err.contains("a-society verify"),
        "{said:?}"
    );
}
