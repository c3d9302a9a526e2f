//! The interface of everything that takes a turn.

use a_society_base::redact::Redactor;

use super::step::{StepReply, TurnStep};

/// Takes one turn, step by step.
///
/// `next` may wait for the outside world: a process, a model. It is called on a thread that may
/// wait. A taker that is dropped ends whatever it still runs. While the operator is asked there is no taker: a new one
/// goes on from the record, as after a crash.
pub trait Taker: Send + std::fmt::Debug {
    /// The next step, given the result of the last one.
    fn next(&mut self, told: StepReply) -> TurnStep;

    /// Whether `next` never waits, so that it needs no thread of its own. Time that passes is a
    /// step of its own.
    fn is_prompt(&self) -> bool {
        false
    }

    /// What finds the secrets that this taker knows. Without one, secrets are found by their form.
    fn redactor(&self) -> Option<Redactor> {
        None
    }
}
