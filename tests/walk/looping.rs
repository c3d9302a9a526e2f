//! A model that makes no progress: it is warned, then the operator is asked, and it goes on after the
//! answer.

use serde_json::{Value, json};

use super::models::{Model, SPOKEN, call, with_model};

/// Lists the same folder for ever.
fn looks_for_ever(shown: usize) -> Vec<(Value, Vec<Value>)> {
    vec![call(
        shown % SPOKEN,
        "list_directory",
        json!({ "path": "." }),
    )]
}

/// Lists the same folder seven times.
fn looks_seven_times(shown: usize) -> Vec<(Value, Vec<Value>)> {
    if shown < 7 {
        looks_for_ever(shown)
    } else {
        Vec::new()
    }
}

const NOTE: &str = "[Third time with the same result. Do something else, ask, or hand off.]";

#[test]
fn the_same_call_with_the_same_result_is_said_at_the_third_time_and_pauses_the_turn_at_the_fifth() {
    let model = Model::start_with(looks_for_ever);
    let place = with_model(&model);
    let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
    assert_eq!(said.code, 12, "{said:?}");
    assert!(said.err.contains("the same result 5 times"), "{}", said.err);
    let heard = model.heard();
    let notes: Vec<usize> = heard
        .iter()
        .map(|body| body.matches(NOTE).count())
        .collect();
    assert_eq!(notes, [0, 0, 0, 1, 1], "five requests, and no sixth");
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["reply", &flow, "Try again."]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(said.code, 12, "{said:?}");
    assert_eq!(model.requests(), 10, "it counts anew after the answer");
}

#[test]
fn a_turn_that_paused_because_it_went_nowhere_comes_to_its_end_after_an_answer() {
    let model = Model::start_with(looks_seven_times);
    let place = with_model(&model);
    let flow = place.run_until_it_waits();
    assert_eq!(place.run(&["reply", &flow, "Look twice more."]).code, 0);
    let end = ["resume", &flow, "--improve", "none", "--feedback", "no"];
    let said = place.run(&end);
    assert_eq!(said.code, 0, "{said:?}");
}
