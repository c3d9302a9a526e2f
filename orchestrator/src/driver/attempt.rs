//! One attempt of a turn: its name, what starts it, and what it does after each of its steps.

use a_society_base::stop::StopSignal;
use a_society_facts::id::TurnId;
use a_society_flow::machine::TurnEnding;
use a_society_roles::turn::step::StepReply;
use a_society_roles::turn::taker::Taker;

use super::provider_wait::Nap;
use super::step_findings::StepLook;

/// Which attempt of which turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TurnAttempt {
    pub(super) turn: TurnId,
    pub(super) attempt: u32,
}

/// A turn that must now be taken.
#[derive(Debug)]
pub struct Start {
    /// The turn.
    pub turn: TurnId,
    /// Which try.
    pub attempt: u32,
    /// What takes it: a model, a script, a command, a person.
    pub taker: Box<dyn Taker>,
    /// The signal that stops it while it waits for the outside world.
    pub stop: StopSignal,
    /// How it is woken while it only lets time pass.
    pub nap: Nap,
}

/// What a turn's thread does after a step.
#[derive(Debug)]
pub(crate) enum Heard {
    /// It goes on.
    Go(StepReply),
    /// It looks at what the step names outside of the flow, and reports what it found.
    Look(Box<StepLook>),
    /// The turn is over, or another try of it counts.
    Over,
}

/// What follows from a step for its turn.
#[derive(Debug)]
pub(super) enum Onward {
    /// It goes on with this reply.
    Go(StepReply),
    /// It ends so.
    Ends(TurnEnding),
    /// It fails for this reason.
    Fails(String),
    /// It stays open and does not run here any more, as when the operator is asked first.
    Leaves,
}

impl Onward {
    /// It goes on, and there is nothing to reply.
    pub(super) const GOES_ON: Self = Self::Go(StepReply::Done { call: None });
}
