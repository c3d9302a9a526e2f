//! Decisions in the words of the page.

use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::view::flow::{DecidedMatter, Decider, FlowDecision};
use a_society_facts::words::capital;
use a_society_facts::words::choices::{self, ANSWERED, Choice};
use a_society_facts::words::permissions::{self, allowed_by, denied_by};
use a_society_facts::words::retrospective::{self, RETROSPECTIVE};
use a_society_facts::words::status::CANCELLED;

use super::words;
use crate::protocol::row::{Decided, FlowRef};

/// A decision in a flow.
pub(crate) fn decided(flow: &FlowRef, made: &FlowDecision) -> Decided {
    let (words, detail) = match &made.what {
        DecidedMatter::Call { answer, .. } => (call(*answer, &made.by), None),
        DecidedMatter::Handoff { approved } => (
            choices::done(Choice::of_handoff(*approved)).to_owned(),
            None,
        ),
        DecidedMatter::Answer => (ANSWERED.to_owned(), None),
        DecidedMatter::Permissions(mode) => {
            let mode = permissions::mode(*mode).to_owned();
            ("changed permissions".to_owned(), Some(mode))
        }
        DecidedMatter::Configuration => ("configured".to_owned(), None),
        DecidedMatter::Retrospective(mode) => {
            let order = retrospective::order(*mode).to_owned();
            (RETROSPECTIVE.to_owned(), Some(order))
        }
        DecidedMatter::Report { granted: true } => (choices::done(Choice::Grant).to_owned(), None),
        DecidedMatter::Report { granted: false } => {
            (choices::done(Choice::Refuse).to_owned(), None)
        }
        DecidedMatter::Change { applied: true } => ("change applied".to_owned(), None),
        DecidedMatter::Change { applied: false } => ("change declined".to_owned(), None),
        DecidedMatter::Cancellation => (CANCELLED.to_owned(), None),
    };
    let words = match made.by {
        Decider::Beforehand => format!("{words}, chosen beforehand"),
        Decider::Operator { .. } | Decider::Rule(_) | Decider::FullAccess | Decider::Grant => words,
    };
    Decided {
        at: words::at(made.at),
        flow: flow.clone(),
        role: made.role.as_ref().map(ToString::to_string),
        words: capital(&words),
        detail: detail.unwrap_or_else(|| match made.what.call() {
            // What would be run is shown as it is.
            Some(_) => words::short(&made.about),
            None => words::short_question(&made.about),
        }),
    }
}

/// What was decided about a call, with who decided it where the operator was not asked.
fn call(answer: ConsentAnswer, by: &Decider) -> String {
    let who = by.words(answer);
    match (by, answer) {
        (
            Decider::Rule(_) | Decider::FullAccess,
            ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow,
        ) => allowed_by(&who),
        (Decider::Rule(_) | Decider::FullAccess, ConsentAnswer::Deny) => denied_by(&who),
        (Decider::Rule(_) | Decider::FullAccess, ConsentAnswer::Withdrawn)
        | (Decider::Operator { .. } | Decider::Grant | Decider::Beforehand, _) => {
            permissions::answer(answer).to_owned()
        }
    }
}
