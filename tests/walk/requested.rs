//! Requests as they left for a model, written anew from the journal: to the byte, as long as what they
//! are made of is there.

use serde_json::Value;

use super::models::{Model, with_model};
use super::place::{FLOW, Place, SLOW};

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
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 8, "{said:?}");
    let flow = place.flow().unwrap();
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
    // What the program prints is told without the place of the test.
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

#[test]
fn a_request_that_would_go_elsewhere_now_is_shown_and_not_said_to_be_the_same() {
    let model = Model::start();
    let place = with_model(&model);
    let flow = walked(&place);
    let seq = requested(&place, &flow)[1].to_string();
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
fn a_record_that_is_no_request_and_a_role_without_a_model_are_refused_in_words() {
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
    let place = Place::new(FLOW, SLOW);
    let said = place.run(&["run", "demo/flow.yaml", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let flow = place.flow().unwrap();
    let seq = requested(&place, &flow)[0].to_string();
    let said = place.run(&["session", "request", &flow, &seq]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(
        said.err.contains("no model takes the turns"),
        "{}",
        said.err
    );
}
