//! How long one turn bears with its provider.

use a_society_facts::Hash;

use super::limits;
use crate::fault::{FaultClass, Remedy, RequestFault};

/// The failures that one turn has tolerated so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Patience {
    /// Failures of the present request before anything came.
    before: u32,
    /// Failures of the present request after an answer had begun.
    after: u32,
    /// Whether the present request was sent again after a conflict.
    conflicted: bool,
    /// Whether the session was compacted for this turn.
    compacted: bool,
    /// Failures of the whole turn.
    failures: u32,
    /// How long the turn has waited.
    waited_ms: u64,
}

/// What is to be done after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryVerdict {
    /// Wait, then send the same request again.
    Wait {
        /// How long.
        ms: u64,
    },
    /// The provider asks to be left alone for longer than a turn waits: the flow waits, visibly.
    Suspend {
        /// How long.
        ms: u64,
    },
    /// Compact the session, then ask again.
    Compact,
    /// The operator must do something.
    Operator,
    /// It will not succeed.
    GiveUp(Weary),
}

/// Why a request is not sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weary {
    /// No repetition helps.
    Useless,
    /// It failed as often as one request may.
    Request,
    /// As many requests of this turn failed as may.
    Turn,
    /// The turn has waited as long as it may.
    Waited,
}

impl Weary {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Useless => "sending it again would not help",
            Self::Request => "it failed as often as one request may",
            Self::Turn => "as many requests of this turn failed as may",
            Self::Waited => "the turn has waited as long as it may",
        }
    }
}

impl Patience {
    /// A request was answered: the next one starts anew, within what the turn has left.
    pub fn answered(&mut self) {
        (self.before, self.after, self.conflicted) = (0, 0, false);
        self.compacted = false;
    }

    /// The session was compacted, so that a window that is still full is not for lack of it.
    pub fn compacted(&mut self) {
        self.compacted = true;
    }

    /// What follows a failure. `dice` is any number of 64 bits, and each as likely as another, as
    /// [`dice`] gives them.
    pub fn failed(&mut self, fault: &RequestFault, dice: u64) -> RetryVerdict {
        self.failures = self.failures.saturating_add(1);
        match fault.class.remedy() {
            Remedy::Nothing => RetryVerdict::GiveUp(Weary::Useless),
            Remedy::Operator => RetryVerdict::Operator,
            Remedy::Compact if self.compacted => RetryVerdict::GiveUp(Weary::Useless),
            Remedy::Compact => {
                self.compacted = true;
                RetryVerdict::Compact
            }
            Remedy::Once if self.conflicted => RetryVerdict::GiveUp(Weary::Request),
            Remedy::Once => {
                self.conflicted = true;
                self.again(fault, dice)
            }
            Remedy::Again => self.again(fault, dice),
        }
    }

    fn again(&mut self, fault: &RequestFault, dice: u64) -> RetryVerdict {
        let (tries, most) = if fault.streamed {
            (&mut self.after, limits::RETRIES_AFTER)
        } else {
            (&mut self.before, limits::RETRIES_BEFORE)
        };
        *tries = tries.saturating_add(1);
        if *tries > most {
            return RetryVerdict::GiveUp(Weary::Request);
        }
        if self.failures >= limits::TURN_FAILURES {
            return RetryVerdict::GiveUp(Weary::Turn);
        }
        let ms = match fault.retry_after_ms {
            Some(asked) if asked > limits::LONGEST_RETRY_AFTER_MS => {
                return RetryVerdict::Suspend { ms: asked };
            }
            Some(asked) => asked + upto(limits::SPREAD_MS, dice),
            None => upto(longest(*tries), dice),
        };
        if self.waited_ms.saturating_add(ms) > limits::TURN_WAIT_MS {
            // Only a rate limit ends by itself, so that waiting elsewhere is worth something.
            return if fault.class == FaultClass::RateLimit {
                RetryVerdict::Suspend { ms }
            } else {
                RetryVerdict::GiveUp(Weary::Waited)
            };
        }
        self.waited_ms += ms;
        RetryVerdict::Wait { ms }
    }
}

/// A number made from these bytes, of all that there are and each as likely as another: it chooses
/// waits that differ from role to role without anything random, so that a turn can be replayed.
#[must_use]
pub fn dice(seed: &[u8]) -> u64 {
    let digits = Hash::of(seed).to_string();
    let thrown = digits
        .get(..16)
        .map(|digits| u64::from_str_radix(digits, 16));
    thrown.and_then(Result::ok).unwrap_or_default()
}

/// The longest wait after this many failures.
fn longest(tries: u32) -> u64 {
    let doublings = tries.saturating_sub(1).min(16);
    limits::CAP_MS.min(limits::BASE_MS << doublings)
}

/// A number from 0 to `most`, each as likely as another.
fn upto(most: u64, dice: u64) -> u64 {
    let scaled = u128::from(dice) * (u128::from(most) + 1);
    u64::try_from(scaled >> 64).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(class: FaultClass, streamed: bool, retry_after_ms: Option<u64>) -> RequestFault {
        RequestFault {
            streamed,
            retry_after_ms,
            ..RequestFault::new(class, "x")
        }
    }

    /// The verdicts on the same fault, again and again, until one is final.
    fn verdicts(fault: &RequestFault, dice: u64) -> Vec<RetryVerdict> {
        let mut patience = Patience::default();
        let mut verdicts = Vec::new();
        while verdicts.len() < 100 {
            verdicts.push(patience.failed(fault, dice));
            if !matches!(verdicts.last(), Some(RetryVerdict::Wait { .. })) {
                break;
            }
        }
        verdicts
    }

    #[test]
    fn every_class_is_retried_as_its_remedy_says() {
        for class in FaultClass::ALL {
            let first = verdicts(&fault(class, false, None), 0)[0];
            let expected = match class.remedy() {
                Remedy::Again | Remedy::Once => RetryVerdict::Wait { ms: 0 },
                Remedy::Compact => RetryVerdict::Compact,
                Remedy::Operator => RetryVerdict::Operator,
                Remedy::Nothing => RetryVerdict::GiveUp(Weary::Useless),
            };
            assert_eq!(first, expected, "{class}");
        }
    }

    #[test]
    fn waits_grow_up_to_their_cap_and_the_dice_choose_below_it() {
        let longest = verdicts(&fault(FaultClass::Server, false, None), u64::MAX);
        let wait = |ms| RetryVerdict::Wait { ms };
        assert_eq!(
            longest,
            [
                wait(1_000),
                wait(2_000),
                wait(4_000),
                wait(8_000),
                wait(16_000),
                RetryVerdict::GiveUp(Weary::Request)
            ]
        );
        let half = verdicts(&fault(FaultClass::Server, false, None), u64::MAX / 2);
        assert_eq!(half[2], wait(2_000));
        assert_eq!(
            (super::longest(7), super::longest(u32::MAX)),
            (60_000, 60_000)
        );
    }

    #[test]
    fn dice_choose_waits_over_all_their_range() {
        let waits: Vec<u64> = (0..1_000_u32)
            .map(|throw| upto(999, dice(&throw.to_le_bytes())))
            .collect();
        for tenth in 0..10 {
            let within = waits.iter().filter(|wait| **wait / 100 == tenth).count();
            assert!((60..=140).contains(&within), "{tenth}: {within}");
        }
    }

    #[test]
    fn less_is_tried_after_an_answer_had_begun() {
        let tried = verdicts(&fault(FaultClass::CutOff, true, None), 0);
        assert_eq!(tried.len(), 4);
        assert_eq!(tried[3], RetryVerdict::GiveUp(Weary::Request));
        let conflict = verdicts(&fault(FaultClass::Conflict, false, None), 0);
        assert_eq!(
            conflict,
            [
                RetryVerdict::Wait { ms: 0 },
                RetryVerdict::GiveUp(Weary::Request)
            ]
        );
    }

    #[test]
    fn what_the_provider_asks_is_never_shortened() {
        for dice in [0, 1, u64::MAX / 3, u64::MAX] {
            let verdict = verdicts(&fault(FaultClass::RateLimit, false, Some(7_000)), dice)[0];
            let RetryVerdict::Wait { ms } = verdict else {
                panic!("{verdict:?}");
            };
            assert!((7_000..=8_000).contains(&ms), "{ms}");
        }
        for asked in [300_001, 86_400_000, u64::MAX] {
            let verdict = verdicts(&fault(FaultClass::RateLimit, false, Some(asked)), 5)[0];
            assert_eq!(verdict, RetryVerdict::Suspend { ms: asked });
        }
    }

    #[test]
    fn a_turn_bears_so_much_and_no_more_however_its_requests_take_turns() {
        let mut patience = Patience::default();
        let mut failures = 0;
        let last = loop {
            failures += 1;
            let verdict = patience.failed(&fault(FaultClass::Server, false, None), 0);
            if !matches!(verdict, RetryVerdict::Wait { .. }) {
                break verdict;
            }
            patience.answered();
        };
        assert_eq!((failures, last), (12, RetryVerdict::GiveUp(Weary::Turn)));
        let mut patience = Patience::default();
        let slow = fault(FaultClass::Overloaded, false, Some(290_000));
        assert!(matches!(
            patience.failed(&slow, 0),
            RetryVerdict::Wait { .. }
        ));
        assert!(matches!(
            patience.failed(&slow, 0),
            RetryVerdict::Wait { .. }
        ));
        assert_eq!(
            patience.failed(&slow, 0),
            RetryVerdict::GiveUp(Weary::Waited)
        );
    }

    #[test]
    fn a_window_that_is_still_full_after_compaction_is_the_end() {
        let mut patience = Patience::default();
        let full = fault(FaultClass::WindowFull, false, None);
        assert_eq!(patience.failed(&full, 0), RetryVerdict::Compact);
        assert_eq!(
            patience.failed(&full, 0),
            RetryVerdict::GiveUp(Weary::Useless)
        );
    }
}
