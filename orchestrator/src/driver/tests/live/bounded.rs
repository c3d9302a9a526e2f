//! Flows of a model that patches several files, or comes to a bound of its turn or of its flow.

use a_society_facts::Verb;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::message::Message;
use a_society_flow::machine::OperatorQuestion;
use a_society_providers::StreamArrival;

use super::super::super::core::Core;
use super::super::model::{calls, closes};
use super::models::{OnDisk, READS, results, scenario};
use super::scripts::{forward, whom};
use super::{SLICES, every_prefix_goes_on};

/// What the last call gave.
fn heard(said: &[Message]) -> String {
    let results = said.iter().rev().filter_map(|message| match message {
        Message::ToolResult { content, .. } => Some(content.as_str()),
        _ => None,
    });
    results.take(1).collect()
}

/// Changes one file, adds another and deletes a third.
fn patches(said: &[Message]) -> Vec<StreamArrival> {
    const PATCH: &str = concat!(
        r#"{"input":"*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n"#,
        r#"*** Add File: c.txt\n+c\n*** Delete File: b.txt\n*** End Patch"}"#,
    );
    match results(said) {
        0 => calls(&READS[..2]),
        2 => calls(&[("apply_patch", PATCH)]),
        _ => {
            assert!(!heard(said).contains("was not read"), "{}", heard(said));
            closes()
        }
    }
}

#[test]
fn a_patch_of_several_files_goes_on_behind_every_record() {
    every_prefix_goes_on::<OnDisk>(&scenario("patches", patches, forward), SLICES / 2);
}

/// What the operator says to a role that repeats itself.
const CLOSE: &str = "It stays as it is; close.";

/// Reads one file again and again, until the operator says something.
fn repeats(said: &[Message]) -> Vec<StreamArrival> {
    let is_told = |message: &Message| match message {
        Message::User { content } => content.contains(CLOSE),
        _ => false,
    };
    if said.iter().any(is_told) {
        return closes();
    }
    calls(&[READS[0]])
}

fn says_to_go_on(core: &mut Core, question: &OperatorQuestion, put: &dyn Fn(&str, Option<&str>)) {
    match question {
        OperatorQuestion::Text { node, .. } => {
            let command = Verb::Reply {
                to: whom(node.as_ref()),
                text: CLOSE.to_owned(),
                asked: None,
            };
            core.obey(command, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

#[test]
fn a_turn_that_repeats_a_call_and_is_asked_about_goes_on_behind_every_record() {
    every_prefix_goes_on::<OnDisk>(&scenario("repeats", repeats, says_to_go_on), SLICES / 2);
}

/// Reads three files one after another, and closes.
fn reads_on(said: &[Message]) -> Vec<StreamArrival> {
    match results(said) {
        read @ 0..=2 => calls(&[READS[read]]),
        _ => closes(),
    }
}

fn lifts_the_budget(
    core: &mut Core,
    question: &OperatorQuestion,
    put: &dyn Fn(&str, Option<&str>),
) {
    match question {
        OperatorQuestion::Text {
            reason: WaitReason::Budget,
            ..
        }
        | OperatorQuestion::Unpause { .. } => {
            let lifted = Verb::Budget {
                role: None,
                measure: Measure::Tokens,
                limit: None,
            };
            core.obey(lifted, None).unwrap();
        }
        _ => forward(core, question, put),
    }
}

#[test]
fn a_flow_whose_tokens_are_used_up_goes_on_behind_every_record() {
    let mut scenario = scenario("uses up its tokens", reads_on, lifts_the_budget);
    scenario.tokens = Some(25);
    every_prefix_goes_on::<OnDisk>(&scenario, SLICES / 2);
}
