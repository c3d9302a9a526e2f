//! The operator's words to a role at work: it gets them with the next request of the turn.
//!
//! The words are recorded when they come, and again as a message of the session when the role gets
//! them; between the two they wait. A process that dies in between sends them with the next request,
//! once. A turn that would end while words wait goes on with them instead, because the operator spoke
//! before it was over. With `--now` the answer that arrives is cut off first, and a request that waits
//! for its provider is made at once; a call that runs is not interrupted, since its effect by then
//! would be unknown: the calls after it do not run.

use a_society_facts::fact::Fact;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::fact::session::{MessageAdded, Origin};
use a_society_facts::fact::turn::{DraftKept, ModelFailed};
use a_society_facts::id::{NodeId, RoleInstance, TurnId};
use a_society_facts::message::Message;
use a_society_facts::view::flow::{self, RequestState};
use a_society_flow::machine::TurnTask;
use a_society_roles::turn::step::StepReply;

use super::attempt::Heard;
use super::core::Core;
use super::error::DriverError;
use crate::mint;

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

impl Core {
    /// Words that wait for a turn's role. Nothing waits for turns beside its own.
    fn unheard(&self, turn: TurnId, role: &RoleInstance) -> Vec<flow::OperatorMessage> {
        let main = self.state().main_turn_of(role);
        if main.is_none_or(|(id, _)| id != turn) {
            return Vec::new();
        }
        self.state().steers.get(role).cloned().unwrap_or_default()
    }

    /// Whether the operator interrupted and the role did not get it before the process ended: calls of
    /// an answer before that do not run now either.
    pub(super) fn is_interrupted(&self, turn: TurnId, role: &RoleInstance) -> bool {
        let unheard = self.unheard(turn, role);
        (unheard.iter()).any(|said| said.when == Some(SteerWhen::Interrupt))
    }

    /// Gives a turn the operator's words since its last step, if there are any.
    pub(super) fn steered(
        &mut self,
        turn: TurnId,
        when: Said,
    ) -> Result<Option<Heard>, DriverError> {
        let Some(live) = (self.live.get(turn)).filter(|live| live.control.hears()) else {
            return Ok(None);
        };
        live.control.go_on();
        let (role, node) = (live.subject.role().clone(), live.subject.node().cloned());
        let words = self.say_words(turn, &role, node.as_ref(), when)?;
        Ok((!words.is_empty()).then_some(Heard::Go(StepReply::Steered { kept: None, words })))
    }

    /// The answer was cut off: its text so far is kept, and the role gets the operator's words.
    pub(super) fn cut_off(&mut self, turn: TurnId) -> Result<Heard, DriverError> {
        let Some(live) = self.live.get(turn) else {
            return Ok(Heard::Over);
        };
        live.control.go_on();
        let (role, node) = (live.subject.role().clone(), live.subject.node().cloned());
        self.live.release(turn);
        let kept = self.keep_cut(turn, &role)?;
        let words = self.say_words(turn, &role, node.as_ref(), Said::Before)?;
        Ok(Heard::Go(StepReply::Steered { kept, words }))
    }

    /// Keeps what was streamed of a request that was cut off, and gives its text back. A request of
    /// which nothing arrived is over as one that failed.
    fn keep_cut(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
    ) -> Result<Option<String>, DriverError> {
        self.flush(turn)?;
        let open = self.state().turns.get(&turn);
        let asked = open.and_then(|open| Some((open.attempt, open.request.as_ref()?)));
        let Some((attempt, request)) = asked else {
            return Ok(None);
        };
        let (number, state, drafted) = (request.number, request.state, request.drafted_bytes);
        if state != RequestState::Asked {
            return Ok(None);
        }
        if drafted == 0 {
            self.append(Fact::ModelFailed(ModelFailed {
                turn,
                attempt,
                seat: role.clone().into(),
                request: number,
                class: "interrupted".to_owned(),
                error: "the operator spoke before anything was said".to_owned(),
                retry_in_ms: Some(0),
            }))?;
            return Ok(None);
        }
        let message = mint::name(self.mint.as_mut(), "m")?;
        self.append(Fact::DraftKept(DraftKept {
            turn,
            seat: role.clone().into(),
            request: number,
            message,
        }))?;
        let session = self.flow.views().session(role);
        let last = session.and_then(|session| session.messages.last());
        Ok(match last.map(|entry| &*entry.message) {
            Some(Message::Assistant { content }) => Some(content.clone()),
            Some(_) | None => None,
        })
    }

    /// Words that wait become messages of the session, in their order.
    fn say_words(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        node: Option<&NodeId>,
        when: Said,
    ) -> Result<Vec<String>, DriverError> {
        let unheard = self.unheard(turn, role);
        let requests = self
            .state()
            .turns
            .get(&turn)
            .map_or(0, |open| open.requests);
        let mut told = Vec::with_capacity(unheard.len());
        let count = unheard.len();
        for (place, said) in unheard.into_iter().enumerate() {
            let mut words = framed(&self.flow.whole_text(&said.text)?);
            if when == Said::AfterItsEnd && place + 1 == count {
                words.push_str(NOT_OVER);
            }
            self.append(Fact::MessageAdded(MessageAdded {
                seat: role.clone().into(),
                message: said.id,
                text: self.flow.keep_text(words.clone())?,
                origin: Origin::Steer,
                node: node.cloned(),
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
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        task: &TurnTask,
        mut packet: String,
    ) -> Result<String, DriverError> {
        let begins = (self.state().turns.get(&turn)).is_some_and(|open| open.requests == 0);
        if self.roles.hears(role) || !begins {
            return Ok(packet);
        }
        self.say_words(turn, role, task.node(), Said::Before)?;
        let session = self.flow.views().session(role);
        let entries = session.map_or(&[][..], |session| &session.messages);
        // Messages after the one that began the turn belong to it.
        let from = entries
            .iter()
            .rposition(|entry| entry.origin != Some(Origin::Steer));
        for entry in entries.iter().skip(from.map_or(0, |at| at + 1)) {
            let said = entry.whole(|text| self.flow.whole_text(text))?;
            if let Message::User { content } = &*said {
                packet.push_str("\n\n");
                packet.push_str(content);
            }
        }
        Ok(packet)
    }
}

/// Words of the operator, as a role reads them.
fn framed(words: &str) -> String {
    format!("<operator>{words}</operator>")
}
