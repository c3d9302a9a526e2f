//! A flow with a long feed: answers of one role, one after another.

use std::path::Path;

use a_society_facts::Fact;
use a_society_facts::fact::turn::{ModelAnswered, StopReason, Usage};
use a_society_facts::id::TurnId;
use a_society_facts::message::AnswerText;
use serde_json::{Value, json};

use crate::ground::{ask, flow_in_a_turn, flow_ref, role, store};

/// How long an answer is: with it an item has about the size that a page counts with.
const ANSWER_BYTES: usize = 120;

/// Writes it into a workspace, and says its address.
pub(crate) fn long(root: &Path, answers: u32) -> Value {
    let store = store(&root.join(".a-society"));
    let mut flow = flow_in_a_turn(&store, 1);
    for request in 1..=answers {
        ask(&mut flow, request);
        let mut text = format!("Answer {request}. ");
        while text.len() < ANSWER_BYTES {
            text.push_str("The harbour was quiet. ");
        }
        text.truncate(ANSWER_BYTES);
        let answered = ModelAnswered {
            turn: TurnId(1),
            attempt: 1,
            role: role(),
            request,
            message: format!("a{request}").parse().unwrap(),
            text: AnswerText::Inline(text),
            calls: Vec::new(),
            stop: StopReason::End,
            usage: Usage::default(),
            provider_blocks: None,
            report: None,
        };
        flow.append(Fact::ModelAnswered(answered)).unwrap();
    }
    flow.sync().unwrap();
    flow.close().unwrap();
    let at = flow_ref(1);
    json!({ "project": at.project.to_string(), "flow": at.flow.to_string() })
}
