//! The turns whose takers are kept while they wait for the operator, and the replies that wake them.

use std::collections::BTreeMap;

use a_society_facts::id::{CallId, TurnId};
use a_society_roles::turn::step::StepReply;

use super::live_turn::LiveTurn;

/// A turn whose taker waits for the operator.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) live: LiveTurn,
    /// The call that is asked about.
    pub(super) call: CallId,
    /// Whether the call begins as soon as it is allowed, and whether what it does may be taken back.
    pub(super) begins: Option<bool>,
}

/// The reply to a turn that has waited.
#[derive(Debug)]
pub(super) struct Woken {
    pub(super) turn: TurnId,
    pub(super) told: StepReply,
}

/// The turns that wait in place, and those that have waited and did not get their replies yet.
#[derive(Debug, Default)]
pub(super) struct WaitingTurns {
    waiting: BTreeMap<TurnId, Waiting>,
    woken: Vec<Woken>,
}

impl WaitingTurns {
    /// A turn waits until the call is decided.
    pub(super) fn keep(&mut self, waiting: Waiting) {
        self.waiting.insert(waiting.live.subject.turn(), waiting);
    }

    /// Whether the taker of a turn is kept.
    pub(super) fn contains(&self, turn: TurnId) -> bool {
        self.waiting.contains_key(&turn) || self.woken.iter().any(|woken| woken.turn == turn)
    }

    /// A turn does not wait any more. A reply that it has got already is kept for it.
    pub(super) fn remove(&mut self, turn: TurnId) -> Option<Waiting> {
        self.waiting.remove(&turn)
    }

    /// A turn that waited gets this reply.
    pub(super) fn wake(&mut self, turn: TurnId, told: StepReply) {
        self.woken.push(Woken { turn, told });
    }

    /// The replies for turns that have waited.
    pub(super) fn take_woken(&mut self) -> Vec<Woken> {
        std::mem::take(&mut self.woken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::attempt::TurnAttempt;
    use crate::driver::live_turn::TurnSubject;
    use crate::driver::provider_wait::TurnControl;

    fn waits(turns: &mut WaitingTurns, turn: TurnId) {
        let whose = TurnAttempt { turn, attempt: 1 };
        let subject = TurnSubject::new(whose, "owner".parse().unwrap(), None);
        turns.keep(Waiting {
            live: LiveTurn::new(subject, TurnControl::new(false), None),
            call: "1.1".parse().unwrap(),
            begins: Some(true),
        });
    }

    #[test]
    fn a_taker_is_kept_from_its_question_until_it_has_its_reply() {
        let mut turns = WaitingTurns::default();
        let turn = TurnId(1);
        assert!(!turns.contains(turn));
        waits(&mut turns, turn);
        assert!(turns.contains(turn) && !turns.contains(TurnId(2)));
        assert_eq!(turns.remove(turn).unwrap().begins, Some(true));
        assert!(!turns.contains(turn));
        turns.wake(turn, StepReply::Done { call: None });
        assert!(turns.contains(turn));
        assert_eq!(turns.take_woken().len(), 1);
        assert!(!turns.contains(turn) && turns.take_woken().is_empty());
    }

    #[test]
    fn a_turn_that_is_left_keeps_the_reply_that_it_has_got() {
        let mut turns = WaitingTurns::default();
        turns.wake(TurnId(1), StepReply::Busy);
        assert!(turns.remove(TurnId(1)).is_none());
        assert!(turns.contains(TurnId(1)));
    }
}
