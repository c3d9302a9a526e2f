//! The words of what the operator is asked about, and of what answered.

use super::super::phrase;
use super::{Effect, Words};
use crate::fact::operator::{ConsentRequested, ConsentResolved, ConsentRuled};

pub(super) fn requested<'a>(f: &ConsentRequested) -> Effect<'a> {
    let (text, note) = phrase::asked(f);
    Words::event("Asks for consent", text, "consent.requested")
        .at(f.node.as_ref())
        .about(&f.consent)
        .asking(note)
        .open(format!("consent:{}", f.consent))
}

pub(super) fn resolved<'a>(f: &ConsentResolved) -> Effect<'a> {
    let (label, text) = phrase::consent(f);
    Words::event(label, text, "consent.resolved")
        .about(&f.consent)
        .answering(f.answer, f.by.as_ref())
        .close(format!("consent:{}", f.consent))
}

pub(super) fn ruled<'a>(f: &ConsentRuled) -> Effect<'a> {
    let (label, note) = phrase::ruled(f);
    Words::event(label, phrase::by_rule(f), "consent.ruled")
        .at(f.node.as_ref())
        .asking(note)
        .say()
}
