//! Turns that never wait are taken by the flow's task itself, step by step and side by side.
//!
//! A turn on a thread of its own costs two switches of threads for each step, which is more than a
//! step of a script takes. Here each turn goes on until it needs a sync, and then all of them share
//! one. A turn that lets time pass, or whose step names files, goes on on a thread of its own.

use a_society_roles::turn::step::{StepReply, TurnStep};

use super::attempt::{Heard, Start};
use super::core::Core;
use super::error::DriverError;
use super::inbox::{Duty, From};
use super::turn_thread::TurnThreads;
use crate::limits::STEPS_AT_ONCE;

/// The turns that the task takes itself, each with the reply for its next step.
#[derive(Debug, Default)]
pub(super) struct AtOnce {
    turns: Vec<(Start, StepReply)>,
}

/// How a turn's share of a round ended.
enum Share {
    /// It goes on in the next round.
    Next(Start, StepReply),
    /// It goes on on a thread of its own.
    Apart(Start, From),
    /// It is over.
    Over,
}

impl AtOnce {
    /// A turn begins.
    pub(super) fn begin(&mut self, start: Start) {
        self.turns.push((start, StepReply::Begin));
    }

    /// Whether none is under way.
    pub(super) const fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Takes every turn as far as it goes without a sync, and then makes one for all of them.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn round(
        &mut self,
        core: &mut Core,
        threads: &TurnThreads,
    ) -> Result<(), DriverError> {
        for (start, told) in std::mem::take(&mut self.turns) {
            match share(core, start, told)? {
                Share::Next(start, told) => self.turns.push((start, told)),
                Share::Apart(start, from) => {
                    // No command waits for a turn.
                    drop(threads.run_or_fail(core, Duty::Turn(start, from))?);
                }
                Share::Over => {}
            }
        }
        core.sync_owed()
    }
}

fn share(core: &mut Core, mut start: Start, mut told: StepReply) -> Result<Share, DriverError> {
    for _ in 0..STEPS_AT_ONCE {
        let step = start.taker.next(told);
        if matches!(step, TurnStep::Wait { .. }) {
            return Ok(Share::Apart(start, From::Step(Box::new(step))));
        }
        let owed = core.syncs_owed();
        match core.hear(start.turn, start.attempt, step)? {
            Heard::Over => return Ok(Share::Over),
            Heard::Look(look) => return Ok(Share::Apart(start, From::Look(look))),
            Heard::Go(next) => told = next,
        }
        if core.syncs_owed() > owed {
            break;
        }
    }
    Ok(Share::Next(start, told))
}
