//! A request is going to leave, for a turn or beside one: whether it may, and its record.

use std::sync::Arc;

use a_society_facts::fact::Fact;
use a_society_facts::fact::request::RequestFrame;
use a_society_facts::fact::turn::{ModelFailed, ModelRequested};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_flow::machine::TurnEnding;
use a_society_roles::turn::step::{Asking, StepReply, TriedRequest, Worst};

use super::attempt::Heard;
use super::budget::Short;
use super::core::Core;
use super::error::DriverError;
use super::steer::Said;
use super::withhold::by_form;

impl Core {
    /// Whether the turn must end instead of asking: its answers are counted, and its money is. Or it asks
    /// something else, because the operator spoke.
    pub(super) fn may_not_ask(
        &mut self,
        turn: TurnId,
        attempt: u32,
        worst: Worst,
    ) -> Result<Option<Heard>, DriverError> {
        let answers = self.request_of(turn);
        let live = self.live.get(turn);
        if let Some(most) = live.and_then(|live| live.bounds.exhausted(answers)) {
            let why = format!(
                "it gave {most} answers in this turn and did not end it (turn_limit). \
                 Reply with what it should do, or retry, and it goes on with as many again"
            );
            self.fail_turn(turn, attempt, why)?;
            return Ok(Some(Heard::Over));
        }
        match self.short_of(turn, attempt, worst)? {
            Some(short) => Ok(Some(short)),
            None => self.steered(turn, Said::Before),
        }
    }

    /// The reply for a turn whose next request the budget does not allow.
    pub(super) fn short_of(
        &mut self,
        turn: TurnId,
        attempt: u32,
        worst: Worst,
    ) -> Result<Option<Heard>, DriverError> {
        Ok(match self.over_budget(turn, worst) {
            None => None,
            Some(Short::Busy) => Some(Heard::Go(StepReply::Busy)),
            Some(Short::Of(lack)) => {
                self.conclude(turn, attempt, TurnEnding::BudgetReached { lack })?;
                self.leave(turn);
                Some(Heard::Over)
            }
        })
    }

    pub(super) fn ask(&mut self, turn: TurnId, asking: Asking) -> Result<(), DriverError> {
        let role = self.role_of(turn)?;
        let frame = self.changed_frame(turn, &role, asking.frame)?;
        let attempt = self.attempt_of(turn)?;
        let request = self.request_of(turn) + 1;
        let fact = ModelRequested {
            turn,
            attempt,
            seat: role.into(),
            request,
            model: asking.model,
            hash: asking.hash,
            frame,
        };
        self.append(Fact::ModelRequested(fact))?;
        // The request counts as spent from here on, so this is durable before it is sent; and so
        // are all messages to the role before it.
        self.syncs.owe();
        Ok(())
    }

    /// A request beside a turn is going to leave. What it is made of is always recorded.
    pub(super) fn ask_aside(
        &mut self,
        turn: TurnId,
        aside: TurnId,
        role: RoleInstance,
        asking: Asking,
    ) -> Result<(), DriverError> {
        let frame = asking.frame.map(|said| self.kept_frame(turn, &said));
        self.append(Fact::ModelRequested(ModelRequested {
            turn: aside,
            attempt: 1,
            seat: role.into(),
            request: self.request_of(aside) + 1,
            model: asking.model,
            hash: asking.hash,
            frame: frame.transpose()?.map(Box::new),
        }))?;
        self.syncs.owe();
        Ok(())
    }

    /// The last request of a turn aside failed and is retried.
    pub(super) fn fail_aside(
        &mut self,
        aside: TurnId,
        role: &RoleInstance,
        tried: TriedRequest,
    ) -> Result<(), DriverError> {
        self.append(Fact::ModelFailed(ModelFailed {
            turn: aside,
            attempt: 1,
            seat: role.clone().into(),
            request: self.request_of(aside),
            class: tried.class,
            error: tried.error,
            retry_in_ms: Some(tried.retry_in_ms),
        }))
    }

    /// How many requests a turn has made.
    pub(super) fn request_of(&self, turn: TurnId) -> u32 {
        let open = self.state().turns.get(&turn);
        open.map_or(0, |open| open.requests)
    }

    /// What the next request of a turn is made of, if the journal does not say so of its session yet.
    fn changed_frame(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        said: Option<Arc<RequestFrame>>,
    ) -> Result<Option<Box<RequestFrame>>, DriverError> {
        let Some(said) = said else { return Ok(None) };
        let live = self.live.get_mut(turn);
        if live.is_some_and(|live| !live.speech.change_frame(&said)) {
            return Ok(None);
        }
        let kept = self.kept_frame(turn, &said)?;
        let session = self.flow.views().session(role);
        let known = session.and_then(|session| session.frame.as_deref());
        Ok((known != Some(&kept)).then(|| Box::new(kept)))
    }

    /// What a request is made of as the journal holds it: without secrets, its longer texts as blobs.
    fn kept_frame(
        &mut self,
        turn: TurnId,
        said: &RequestFrame,
    ) -> Result<RequestFrame, DriverError> {
        let live = self.live.get(turn);
        let redactor = live.map_or_else(by_form, |live| live.speech.redactor().clone());
        Ok(self.kept_texts.frame(&self.flow, &redactor, said)?)
    }
}
