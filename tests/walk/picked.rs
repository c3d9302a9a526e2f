//! Choices that a role offers with its question: a number chooses, and a text is an answer still.

use std::thread::sleep;

use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::{Place, RUN};
use super::prompted::SETTLED;
use super::watched::Terminal;

const WORDS: [&str; 4] = ["run", "demo/flow.yaml", "--improve", "none"];
const USUAL: (u16, u16) = (24, 80);

/// A choice that does not fit a small screen.
const LONG: &str = "the bank's total and not that of the lines, because it is the one that was paid, and the difference is \
    booked to the account for rounding, from which it is taken again at the end of the year, and when that is not possible, \
    because the year is closed, then it goes to the account of the next year, and a line says so in the report, with the \
    date and the name of the person who decided it, and with a copy of this text";

/// A model that offers these choices, and closes with the answer.
fn offers(results: usize, choices: [&str; 2]) -> Vec<(Value, Vec<Value>)> {
    match results {
        0 => vec![call(
            0,
            "ask_operator",
            json!({ "question": "Which total?", "choices": choices }),
        )],
        1 => vec![call(1, "handoff", json!({ "type": "forward-pass-closed" }))],
        _ => Vec::new(),
    }
}

fn offering() -> Model {
    Model::start_with(|results| offers(results, ["the lines", "the bank"]))
}

/// What the operator answered, in the journal.
fn replies(place: &Place) -> Vec<String> {
    let journal = place.journal(&place.flow().unwrap());
    let records = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let replies = records.filter(|record| record["fact"] == "operator_replied");
    replies
        .map(|record| record["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_number_chooses_what_a_role_offers_once_it_could_be_read() {
    let model = offering();
    let place = with_model(&model);
    let mut terminal = Terminal::start(&place, &WORDS);
    terminal.shows("1-2 choose · r answer · l later");
    terminal.press("3");
    terminal.shows("that was typed before you could read the question");
    sleep(SETTLED);
    terminal.press("3");
    terminal.shows("3 does nothing here");
    sleep(SETTLED);
    terminal.press("12");
    terminal.shows("several keys at once answer nothing");
    assert_eq!(replies(&place), Vec::<String>::new());
    sleep(SETTLED);
    terminal.press("2");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert_eq!(replies(&place), ["the bank"]);
    let heard = model.heard();
    assert!(heard[1].contains("Choice 2: the bank."), "{}", heard[1]);
}

#[test]
fn a_text_answers_where_choices_are_offered() {
    let model = offering();
    let place = with_model(&model);
    let mut terminal = Terminal::start(&place, &WORDS);
    terminal.shows("1-2 choose · r answer · l later");
    sleep(SETTLED);
    terminal.press("r");
    terminal.writes("your answer (empty goes back)>", 1);
    // A digit is text where a text is typed.
    terminal.press("2 and 1, summed up\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert_eq!(replies(&place), ["2 and 1, summed up"]);
}

#[test]
fn a_choice_that_was_not_shown_is_not_chosen_before_it_was() {
    let model = Model::start_with(|results| offers(results, ["the lines", LONG]));
    let place = with_model(&model);
    let mut terminal = Terminal::start_sized(&place, &WORDS, (&[], (9, 44)));
    terminal.shows("a number chooses");
    sleep(SETTLED);
    terminal.press("2");
    terminal.writes("not all of it was shown; v shows the rest", 1);
    assert_eq!(replies(&place), Vec::<String>::new());
    sleep(SETTLED);
    terminal.press("v");
    terminal.shows("lines 1-");
    terminal.press("G");
    terminal.press("q");
    terminal.shows("choose");
    sleep(SETTLED);
    terminal.press("2");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert_eq!(replies(&place), [LONG]);
}

#[test]
fn whole_lines_choose_by_number_and_answer_in_words() {
    for (line, said) in [("2", "the bank"), ("neither of them", "neither of them")] {
        let model = offering();
        let place = with_model(&model);
        let words = [&WORDS[..], &["--plain"]].concat();
        let mut terminal = Terminal::start(&place, &words);
        terminal.writes("1. the lines", 1);
        terminal.writes("2. the bank", 1);
        sleep(SETTLED);
        terminal.press(&format!("{line}\n"));
        assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
        assert_eq!(replies(&place), [said]);
    }
}

#[test]
fn the_screen_of_all_flows_takes_a_number_for_the_chosen_question_alone() {
    let model = offering();
    let place = with_model(&model);
    let said = place.run(&[&RUN[..], &["--title", "First"]].concat());
    assert_eq!(said.code, 8, "{said:?}");
    let mut terminal = Terminal::start_sized(&place, &["watch"], (&[], USUAL));
    terminal.shows("answer: Which total?");
    terminal.press("2");
    terminal.shows("there is no node 2 here");
    assert_eq!(replies(&place), Vec::<String>::new());
    terminal.press("\u{1b}[B");
    terminal.shows("1-2 choose · r answer");
    terminal.press("2");
    terminal.shows("too soon");
    sleep(SETTLED);
    terminal.press("2");
    terminal.shows("answered");
    assert_eq!(replies(&place), ["the bank"]);
    terminal.press("q");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}

#[test]
fn programs_get_the_choices_and_a_command_for_each() {
    let model = offering();
    let place = with_model(&model);
    let said = place.run(&[&RUN[..], &["--json"]].concat());
    assert_eq!(said.code, 8, "{said:?}");
    let events = said.out.lines();
    let events = events.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ask = events.into_iter().find(|event| event["event"] == "ask");
    let ask = ask.unwrap();
    assert_eq!(ask["choices"], json!(["the lines", "the bank"]));
    let flow = place.flow().unwrap();
    let status = place.run(&["status", &flow, "--json"]).json();
    let waits = &status["waits"][0];
    assert_eq!(waits["choices"], ask["choices"]);
    assert_eq!(waits["keys"], ask["keys"], "both are made by one fold");
    let command = waits["keys"][1]["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(place.run(&words).code, 0, "{command}");
    assert_eq!(replies(&place), ["2"]);
}
