//! The operator's words to a role at work: it gets them with the next request of the turn.
//!
//! The words are recorded when they come, and again as a message of the session when the role gets
//! them; between the two they wait. A process that dies in between sends them with the next request,
//! once. A turn that would end while words wait goes on with them instead, because the operator spoke
//! before it was over. With `--now` the answer that arrives is cut off first, and a request that waits
//! for its provider is made at once; a call that runs is not interrupted, since its effect by then
//! would be unknown: the calls after it do not run.

use a_society_facts::Fact;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::fact::session::{MessageAdded, Origin};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::message::Message;
use a_society_facts::view::flow;
use a_society_roles::turn::step::StepReply;

use super::attempt::Onward;
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::pen::FlowPen;

/// Where in a turn a role gets words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Before its next request.
    Before,
    /// After the role's ending.
    AfterItsEnd,
}

/// The note with words that come after a role's ending.
const NOT_OVER: &str =
    "\n\nYour turn has not ended; nothing was handed off. Take this in, and end the turn again.";

/// Gives a turn the operator's words since its last step, if there are any.
pub(super) fn steered(
    pen: &mut FlowPen,
    live: &LiveTurn,
    when: Said,
) -> Result<Option<Onward>, DriverError> {
    if !live.control.hears() {
        return Ok(None);
    }
    live.control.go_on();
    let words = say_words(pen, &live.subject, when)?;
    Ok((!words.is_empty()).then_some(Onward::Go(StepReply::Steered { kept: None, words })))
}

/// The answer was cut off: its text so far is kept, and the role gets the operator's words.
pub(super) fn cut_off(pen: &mut FlowPen, live: &mut LiveTurn) -> Result<Onward, DriverError> {
    live.control.go_on();
    let kept = live.keep_cut(pen)?;
    let words = say_words(pen, &live.subject, Said::Before)?;
    Ok(Onward::Go(StepReply::Steered { kept, words }))
}

/// Words that wait for a turn's role. Nothing waits for turns beside its own.
fn unheard(pen: &FlowPen, turn: TurnId, role: &RoleInstance) -> Vec<flow::OperatorMessage> {
    let main = pen.state().main_turn_of(role);
    if main.is_none_or(|(id, _)| id != turn) {
        return Vec::new();
    }
    pen.state().steers.get(role).cloned().unwrap_or_default()
}

/// Whether the operator interrupted and the role did not get it before the process ended: calls of
/// an answer before that do not run now either.
pub(super) fn is_interrupted(pen: &FlowPen, turn: TurnId, role: &RoleInstance) -> bool {
    let unheard = unheard(pen, turn, role);
    (unheard.iter()).any(|said| said.when == Some(SteerWhen::Interrupt))
}

/// Words that wait become messages of the session, in their order.
fn say_words(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    when: Said,
) -> Result<Vec<String>, DriverError> {
    let unheard = unheard(pen, whose.turn(), whose.role());
    let requests = pen.request_of(whose.turn());
    let mut told = Vec::with_capacity(unheard.len());
    let count = unheard.len();
    for (place, said) in unheard.into_iter().enumerate() {
        let mut words = framed(&pen.flow.whole_text(&said.text)?);
        if when == Said::AfterItsEnd && place + 1 == count {
            words.push_str(NOT_OVER);
        }
        let text = pen.flow.keep_text(words.clone())?;
        pen.append(Fact::MessageAdded(MessageAdded {
            role: whose.role().clone(),
            message: said.id,
            text,
            origin: Origin::Steer,
            node: whose.node().cloned(),
            client: None,
            request: Some(requests.saturating_add(1)),
        }))?;
        told.push(words);
    }
    Ok(told)
}

/// The words that a turn begins with, for a role that gets none later: with what the operator said
/// before it began.
pub(super) fn with_words(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    mut packet: String,
) -> Result<String, DriverError> {
    let open = pen.open_turn(whose.turn());
    let begins = open.is_some_and(|open| open.requests == 0);
    if pen.roles.hears(whose.role()) || !begins {
        return Ok(packet);
    }
    say_words(pen, whose, Said::Before)?;
    let session = pen.session(whose.role());
    let entries = session.map_or(&[][..], |session| &session.messages);
    // Messages after the one that began the turn belong to it.
    let from = entries
        .iter()
        .rposition(|entry| entry.origin != Some(Origin::Steer));
    for entry in entries.iter().skip(from.map_or(0, |at| at + 1)) {
        let said = entry.whole(|text| pen.flow.whole_text(text))?;
        if let Message::User { content } = &*said {
            packet.push_str("\n\n");
            packet.push_str(content);
        }
    }
    Ok(packet)
}

/// Words of the operator, as a role reads them.
fn framed(words: &str) -> String {
    format!("<operator>{words}</operator>")
}
