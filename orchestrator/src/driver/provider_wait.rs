//! A turn while it waits: for its provider, for time to pass, and until it is stopped or hurried.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_roles::turn::step::{Choose, CompactStep, StepReply, TurnStep};

/// Wakes a turn that only lets time pass.
#[derive(Debug, Clone, Default)]
pub struct Nap(Arc<NapBell>);

#[derive(Debug, Default)]
struct NapBell {
    reasons: Mutex<Reasons>,
    rings: Condvar,
}

/// Why a turn wakes.
#[derive(Debug, Default)]
struct Reasons {
    /// The turn is left at the next recorded point.
    is_over: bool,
    /// What it waits with is tried now.
    is_hurried: bool,
    /// The turn is stopped.
    is_stopped: bool,
    /// Whether the turn's stop signal rings the bell.
    is_connected: bool,
}

impl NapBell {
    fn reasons(&self) -> MutexGuard<'_, Reasons> {
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, reason: impl FnOnce(&mut Reasons)) {
        reason(&mut self.reasons());
        self.rings.notify_all();
    }
}

impl Nap {
    /// No time passes any more in this turn.
    fn end(&self) {
        self.0.ring(|reasons| reasons.is_over = true);
    }

    /// What it waits with is tried now.
    fn hurry(&self) {
        self.0.ring(|reasons| reasons.is_hurried = true);
    }

    /// Nothing is tried before its time any more.
    fn calm(&self) {
        self.0.reasons().is_hurried = false;
    }

    /// Lets time pass until something wakes the turn.
    pub(super) fn sleep(&self, time: Duration, stop: &StopSignal) {
        let is_connected = std::mem::replace(&mut self.0.reasons().is_connected, true);
        if !is_connected {
            let bell = Arc::clone(&self.0);
            stop.when_raised(move || bell.ring(|reasons| reasons.is_stopped = true));
        }
        let sleeps =
            |reasons: &mut Reasons| !reasons.is_over && !reasons.is_hurried && !reasons.is_stopped;
        let reasons = self.0.reasons();
        drop(self.0.rings.wait_timeout_while(reasons, time, sleeps));
    }
}

/// Whether a turn waits for its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Pace {
    /// It does not wait for it.
    #[default]
    Goes,
    /// A request failed or is held back, and time passes until it is made.
    Waits,
    /// The operator ended that time, and the turn does not know it yet.
    Hurried,
}

/// The same after a step; `None` if it does not change.
const fn pace_after(step: &TurnStep) -> Option<Pace> {
    match step {
        TurnStep::Failed {
            retry_in_ms: Some(_),
            ..
        }
        | TurnStep::Compact(CompactStep::Again(_))
        | TurnStep::Choose(Choose::Again(_))
        | TurnStep::Held { .. } => Some(Pace::Waits),
        TurnStep::Wait { .. } | TurnStep::Discard { .. } | TurnStep::Stalled { .. } => None,
        TurnStep::Failed {
            retry_in_ms: None, ..
        }
        | TurnStep::Compact(
            CompactStep::Ask { .. }
            | CompactStep::Wrong { .. }
            | CompactStep::Summary { .. }
            | CompactStep::Failed { .. },
        )
        | TurnStep::Choose(
            Choose::Ask(_) | Choose::Wrong { .. } | Choose::Chosen { .. } | Choose::Failed { .. },
        )
        | TurnStep::Ask(_)
        | TurnStep::Draft { .. }
        | TurnStep::Cut
        | TurnStep::Answer { .. }
        | TurnStep::Intend(_)
        | TurnStep::Begin { .. }
        | TurnStep::Consent(_)
        | TurnStep::Start { .. }
        | TurnStep::Finish { .. }
        | TurnStep::Refuse { .. }
        | TurnStep::Trust { .. }
        | TurnStep::Absent { .. }
        | TurnStep::End(_) => Some(Pace::Goes),
    }
}

/// How a turn is stopped, interrupted, woken and tried again.
#[derive(Debug)]
pub(super) struct TurnControl {
    stop: StopSignal,
    nap: Nap,
    /// Whether it waits for its provider.
    pace: Pace,
    is_stopping: bool,
    /// Whether it gets the operator's words while it goes on.
    hears: bool,
    /// For how many seconds its provider has been silent, once that is long.
    silent_s: u64,
}

impl TurnControl {
    pub(super) fn new(hears: bool) -> Self {
        Self {
            stop: StopSignal::default(),
            nap: Nap::default(),
            pace: Pace::default(),
            is_stopping: false,
            hears,
            silent_s: 0,
        }
    }

    /// The signal that stops the taker while it waits for the outside world.
    pub(super) fn stop(&self) -> StopSignal {
        self.stop.clone()
    }

    pub(super) fn nap(&self) -> Nap {
        self.nap.clone()
    }

    /// No time passes any more in this turn.
    pub(super) fn end_nap(&self) {
        self.nap.end();
    }

    /// Stops what the turn waits for. A taker that is there is waited for until it has said how its call ended.
    pub(super) fn raise_stop(&mut self, has_taker: bool) {
        self.stop.raise();
        self.is_stopping |= has_taker;
    }

    pub(super) const fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    pub(super) const fn hears(&self) -> bool {
        self.hears
    }

    /// The operator spoke: the answer that arrives is cut off, and a request that waits is made at once.
    pub(super) fn interrupt(&mut self) {
        if self.hears {
            self.stop.cut();
            if self.waits() {
                self.hurry();
            }
        }
    }

    /// The operator spoke before the turn began or went on.
    pub(super) fn cut(&self) {
        self.stop.cut();
    }

    /// The role gets the operator's words.
    pub(super) fn go_on(&self) {
        self.stop.go_on();
    }

    pub(super) const fn set_silent(&mut self, seconds: u64) {
        self.silent_s = seconds;
    }

    pub(super) const fn silent_s(&self) -> u64 {
        self.silent_s
    }

    /// Applies a step to the turn's pace.
    pub(super) fn keep_pace(&mut self, step: &TurnStep) {
        if let Some(pace) = pace_after(step) {
            self.pace = pace;
            self.nap.calm();
        }
    }

    /// The reply for a turn whose time has passed.
    pub(super) fn woken(&mut self) -> StepReply {
        if self.pace != Pace::Hurried {
            return StepReply::Done { call: None };
        }
        // Where it has to wait on, it may be hurried once more.
        self.pace = Pace::Waits;
        self.nap.calm();
        StepReply::Hurried
    }

    /// Whether it waits for its provider, and is not stopped.
    pub(super) fn waits(&self) -> bool {
        self.pace != Pace::Goes && !self.is_stopping
    }

    /// Ends the time that passes until a request is made again.
    pub(super) fn hurry(&mut self) {
        self.pace = Pace::Hurried;
        self.nap.hurry();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_nap_ends_with_its_time_and_at_once_when_it_is_hurried_over_or_stopped() {
        let (nap, stop) = (Nap::default(), StopSignal::default());
        nap.sleep(Duration::from_millis(5), &stop);
        let wakes: [fn(&Nap, &StopSignal); 3] = [
            |nap, _| nap.hurry(),
            |nap, _| nap.end(),
            |_, stop| stop.raise(),
        ];
        for wake in wakes {
            let (nap, stop) = (Nap::default(), StopSignal::default());
            let (own, heard) = (nap.clone(), stop.clone());
            let asleep = std::thread::spawn(move || {
                let begun = Instant::now();
                own.sleep(Duration::from_secs(60), &heard);
                begun.elapsed()
            });
            wake(&nap, &stop);
            assert!(asleep.join().unwrap() < Duration::from_secs(30));
        }
        nap.hurry();
        nap.calm();
        nap.sleep(Duration::from_millis(5), &stop);
    }

    #[test]
    fn only_a_turn_that_hears_is_cut_off_and_only_one_that_waits_is_hurried() {
        let mut deaf = TurnControl::new(false);
        deaf.interrupt();
        assert!(!deaf.stop().is_cut());
        let mut hears = TurnControl::new(true);
        hears.interrupt();
        assert!(hears.stop().is_cut());
        assert!(matches!(hears.woken(), StepReply::Done { call: None }));
        hears.keep_pace(&TurnStep::Failed {
            class: String::new(),
            error: String::new(),
            retry_in_ms: Some(1),
        });
        assert!(hears.waits());
        hears.interrupt();
        assert!(matches!(hears.woken(), StepReply::Hurried));
        hears.raise_stop(true);
        assert!(hears.is_stopping() && !hears.waits());
    }
}
