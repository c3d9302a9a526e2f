//! A turn waits in place for the operator: its taker is kept, and gets the answer itself.
//!
//! While it waits it does not count as running: it has no place among those turns and no thread, and the flow may
//! rest or drain. Its record is that of every turn that was left, so that after a crash, or when it is denied
//! without guidance, it continues as those do.

use a_society_facts::id::{CallId, TurnId};
use a_society_facts::view::flow::CallState;
use a_society_roles::turn::step::StepReply;

use super::core::{Core, LiveTurn};
use super::error::DriverError;
use super::step::Heard;

/// A turn whose taker waits for the operator.
#[derive(Debug)]
pub(super) struct Waiting {
    live: LiveTurn,
    /// The call that is asked about.
    call: CallId,
    /// Whether the call begins as soon as it is allowed, and whether what it does may be taken back.
    begins: Option<bool>,
}

/// The reply to a turn that has waited.
#[derive(Debug)]
pub(super) struct Woken {
    pub(super) turn: TurnId,
    pub(super) told: StepReply,
}

impl Core {
    /// A turn asks the operator, and is left or waits where it is.
    pub(super) fn wait_or_leave(&mut self, turn: TurnId, call: CallId) -> Heard {
        let keeps = self.live.get(&turn).is_some_and(|live| live.keeps);
        let live = self.live.remove(&turn).filter(|_| keeps);
        self.leave(turn);
        let Some(mut live) = live else {
            return Heard::Over;
        };
        live.free_place();
        let begins = None;
        self.in_place.insert(turn, Waiting { live, call, begins });
        Heard::Wait
    }

    /// A call that is asked about begins as soon as it is allowed.
    pub(super) fn begins_when_allowed(&mut self, turn: TurnId, is_watched: bool) {
        if let Some(waiting) = self.in_place.get_mut(&turn) {
            waiting.begins = Some(is_watched);
        }
    }

    /// Whether the taker of a turn is kept.
    pub(super) fn is_in_place(&self, turn: TurnId) -> bool {
        self.in_place.contains_key(&turn) || self.woken.iter().any(|woken| woken.turn == turn)
    }

    /// A turn goes on that waited in place; nothing of it is kept if its taker is not told the answer. Says whether
    /// it does.
    pub(super) fn wake(&mut self, turn: TurnId, attempt: u32) -> Result<bool, DriverError> {
        let Some(Waiting {
            mut live,
            call,
            begins,
        }) = self.in_place.remove(&turn)
        else {
            return Ok(false);
        };
        let Some(open) = self.state().calls.get(&call).cloned() else {
            return Ok(false);
        };
        let denied = open.state == CallState::Denied && open.instead.is_some();
        if live.attempt != attempt || !(denied || open.state == CallState::Allowed) {
            return Ok(false);
        }
        live.take_place(self.place());
        if live.hears && self.is_interrupted(turn, &live.role) {
            live.stop.cut();
        }
        self.live.insert(turn, live);
        let told = match begins {
            _ if denied => {
                let why = self.told_of_denial(&open)?;
                StepReply::Denied { call, why }
            }
            Some(is_watched) => {
                self.start_call(turn, call.clone(), None)?;
                StepReply::Begun { call, is_watched }
            }
            None => StepReply::Done { call: None },
        };
        self.woken.push(Woken { turn, told });
        Ok(true)
    }
}
