//! What stops a flow that uses more than intended: the default budget.

use super::models::{Model, with_model};
use super::place::Place;

/// With a model that answers, and this under `limits` of the configuration.
fn with_limits(model: &Model, limits: &str) -> Place {
    let place = with_model(model);
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    place.write("config.yaml", &format!("{config}limits: {{ {limits} }}\n"));
    place
}

/// Makes the flow's file set a budget of its own.
fn with_budget_of_its_own(place: &Place, tokens: u64) {
    let path = place.workspace.path().join("demo/flow.yaml");
    let file = std::fs::read_to_string(path).unwrap();
    place.write(
        "demo/flow.yaml",
        &format!("budget: {{ tokens: {tokens} }}\n{file}"),
    );
}

/// Runs the flow with these words, and gives how many requests came to the model.
fn asked(place: &Place, model: &Model, words: &[&str]) -> usize {
    let before = model.requests();
    let run = ["run", "demo/flow.yaml", "--until-waiting"];
    let said = place.run(&[&run, words].concat());
    assert!(matches!(said.code, 9 | 11), "{said:?}");
    model.requests() - before
}

#[test]
fn a_flow_that_nothing_is_said_about_asks_before_it_passes_the_usual_budget() {
    let model = Model::start();
    let place = with_limits(&model, "tokens: 2500");
    assert_eq!(asked(&place, &model, &[]), 0, "no request left");
    let flow = place.flow().unwrap();
    let status = place.run(&["status", &flow]).out;
    assert!(status.contains("the flow has 2.5k left"), "{status}");
    assert!(status.contains("tokens"), "{status}");
    let raised = place.run(&["budget", &flow, "tokens", "none"]);
    assert_eq!(raised.code, 0, "{raised:?}");
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert!(said.code == 9 && model.requests() > 0, "{said:?}");
}

#[test]
fn the_usual_budget_gives_way_to_that_of_the_file_and_both_to_what_is_typed() {
    let model = Model::start();
    let place = with_limits(&model, "tokens: 2500");
    assert!(asked(&place, &model, &["--budget", "1_000_000"]) > 0);
    assert!(asked(&place, &model, &["--budget", "none"]) > 0);

    with_budget_of_its_own(&place, 1_000_000);
    assert!(asked(&place, &model, &[]) > 0, "the file allows it");
    assert_eq!(asked(&place, &model, &["--budget", "2500"]), 0);

    let place = with_limits(&model, "tokens: none");
    with_budget_of_its_own(&place, 2500);
    assert_eq!(asked(&place, &model, &[]), 0, "the file forbids it");
    assert!(asked(&place, &model, &["--budget", "none"]) > 0);
    let said = place.run(&["run", "demo/flow.yaml", "--budget", "much"]);
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn a_budget_of_none_outlasts_the_process_that_began_the_flow() {
    let model = Model::start();
    let place = with_limits(&model, "tokens: 2500");
    with_budget_of_its_own(&place, 2500);
    assert!(asked(&place, &model, &["--budget", "none"]) > 0);
    let flow = place.flow().unwrap();
    let before = model.requests();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let said = place.run(&["resume", &flow, "--improve", "none", "--feedback", "no"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(model.requests() > before);
}

#[test]
fn how_many_answers_a_turn_may_have_is_the_operators_to_say() {
    let model = Model::start();
    let place = with_limits(&model, "answers: 1");
    let run = ["run", "demo/flow.yaml", "--until-waiting"];
    assert_eq!(place.run(&run).code, 9);
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting"]);
    assert_eq!(said.code, 12, "{said:?}");
    assert_eq!(model.requests(), 1);
    assert!(
        said.err.contains("1 answers in this turn") || said.err.contains("1 answer in this turn"),
        "{}",
        said.err
    );
}

#[test]
fn limits_that_mean_nothing_are_refused_before_a_flow_begins() {
    let model = Model::start();
    let place = with_limits(&model, "tokens: lots, turns: 3");
    for words in [&["run", "demo/flow.yaml"][..], &["models", "ls"]] {
        let said = place.run(words);
        assert_eq!(said.code, 1, "{words:?}: {said:?}");
        for fault in ["`tokens` must be a whole number", "turns"] {
            assert!(said.err.contains(fault), "{words:?}: {}", said.err);
        }
    }
    assert_eq!((model.requests(), place.flow()), (0, None));
}
