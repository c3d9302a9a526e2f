//! The words of what the operator is asked about, and of what answered.

use super::super::item::ConsentReply;
use super::super::phrase;
use super::{FeedEffect, ItemWords};
use crate::fact::operator::{ConsentRequested, ConsentResolved, ConsentRuled};

pub(super) fn requested<'a>(f: &ConsentRequested) -> FeedEffect<'a> {
    let (text, note) = phrase::asked(f);
    ItemWords::event("Asks for consent", text, "consent.requested")
        .at(f.node.as_ref())
        .about(&f.consent)
        .asking(note)
        .open(format!("consent:{}", f.consent))
}

pub(super) fn resolved<'a>(f: &ConsentResolved) -> FeedEffect<'a> {
    let (label, text) = phrase::consent(f);
    let reply = ConsentReply {
        answer: f.answer,
        by: f.by.clone(),
        beforehand: f.beforehand,
    };
    ItemWords::event(&label, text, "consent.resolved")
        .about(&f.consent)
        .answering(reply)
        .close(format!("consent:{}", f.consent))
}

pub(super) fn ruled<'a>(f: &ConsentRuled) -> FeedEffect<'a> {
    let (label, note) = phrase::ruled(f);
    ItemWords::event(&label, phrase::by_rule(f), "consent.ruled")
        .at(f.node.as_ref())
        .asking(note)
        .say()
}
