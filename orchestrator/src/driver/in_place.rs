//! A turn waits in place for the operator: its taker is kept, and gets the answer itself.
//!
//! While it waits it does not count as running: it has no place among those turns and no thread, and the flow may
//! rest or drain. Its record is that of every turn that was left, so that after a crash, or when it is denied
//! without guidance, it continues as those do.

use a_society_facts::id::{CallId, TurnId};
use a_society_facts::view::flow::CallState;
use a_society_roles::turn::step::StepReply;

use super::attempt::Heard;
use super::calls::start_call;
use super::core::Core;
use super::cut_calls::told_of_denial;
use super::error::DriverError;
use super::steer::is_interrupted;
use super::waiting::Waiting;

impl Core {
    /// A turn asks the operator, and is left or waits where it is.
    pub(super) fn wait_or_leave(
        &mut self,
        turn: TurnId,
        call: CallId,
        begins: Option<bool>,
    ) -> Heard {
        let keeps = self
            .live
            .get(turn)
            .is_some_and(|live| live.hosting.keeps_taker());
        let live = self.live.remove(turn).filter(|_| keeps);
        self.leave(turn);
        let Some(mut live) = live else {
            return Heard::Over;
        };
        live.hosting.free_place();
        self.waiting.keep(Waiting { live, call, begins });
        Heard::Wait
    }

    /// A turn goes on that waited in place; nothing of it is kept if its taker is not told the answer. Says whether
    /// it does.
    pub(super) fn wake(&mut self, turn: TurnId, attempt: u32) -> Result<bool, DriverError> {
        let Some(Waiting {
            mut live,
            call,
            begins,
        }) = self.waiting.remove(turn)
        else {
            return Ok(false);
        };
        let Some(open) = self.state().calls.get(&call).cloned() else {
            return Ok(false);
        };
        let denied = open.state == CallState::Denied && open.instead.is_some();
        if live.subject.attempt() != attempt || !(denied || open.state == CallState::Allowed) {
            return Ok(false);
        }
        live.hosting.take_place(self.room.take());
        if live.control.hears() && is_interrupted(&self.pen, turn, live.subject.role()) {
            live.control.cut();
        }
        let role = live.subject.role().clone();
        self.live.insert(live);
        let told = match begins {
            _ if denied => {
                let why = told_of_denial(&self.pen, &open)?;
                StepReply::Denied { call, why }
            }
            Some(is_watched) => {
                start_call(&mut self.pen, &role, call.clone(), None)?;
                StepReply::Begun { call, is_watched }
            }
            None => StepReply::Done { call: None },
        };
        self.waiting.wake(turn, told);
        Ok(true)
    }
}
