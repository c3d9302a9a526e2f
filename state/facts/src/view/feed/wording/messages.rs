//! The words of messages that no model produced.

use super::{FeedEffect, ItemWords, shown, shown_whole};
use crate::fact::session::{MessageAdded, MessageInjected, Origin, Speaker};
use crate::view::feed::item::ItemKind;

/// Most messages are the other side of something that is shown already.
pub(super) fn message<'a>(f: &MessageAdded) -> FeedEffect<'a> {
    match f.origin {
        Origin::Injection => ItemWords::of(
            ItemKind::User,
            "Note",
            shown_whole(&f.text),
            "session.injected",
        )
        .at(f.node.as_ref())
        .say(),
        Origin::Runtime => ItemWords::event("Note of the runtime", shown(&f.text), "session.note")
            .at(f.node.as_ref())
            .say(),
        Origin::Steer => steer_heard(f),
        Origin::Entry
        | Origin::Reply
        | Origin::Repair
        | Origin::Continuation
        | Origin::Consultation
        | Origin::Improvement
        | Origin::Compaction => FeedEffect::Silent,
    }
}

/// A message that the operator put into the session, of any speaker.
pub(super) fn injected<'a>(f: &MessageInjected) -> FeedEffect<'a> {
    let (kind, label) = match f.speaker {
        Speaker::User => (ItemKind::User, "Note"),
        Speaker::Assistant => (ItemKind::Assistant, "Note as the role's own"),
        Speaker::System => (ItemKind::User, "Note of the system"),
    };
    ItemWords::of(kind, label, shown_whole(&f.text), "session.injected").say()
}

/// The operator's message to a role at work, resolved when the role gets it.
fn steer_heard<'a>(f: &MessageAdded) -> FeedEffect<'a> {
    let text = match f.request {
        Some(request) => format!("Heard at request {request}."),
        None => "Heard.".to_owned(),
    };
    ItemWords::of(ItemKind::User, "You, heard", text, "human.steer_heard")
        .at(f.node.as_ref())
        .about(&f.message)
        .close(format!("steer:{}", f.message))
}
