//! A request that waits for its provider is tried at once, because the operator wants it.
//!
//! Nothing is recorded of that: the record of the next request says when it was asked, and the
//! failure before it says until when it would have waited. A process that dies in between begins the
//! turn's next try when it is back, and that asks at once, too. The early request counts as every
//! other among those that may fail, so that it does not allow more requests.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_facts::id::{ClientId, NodeId};
use a_society_facts::{Verb, Whom};
use a_society_flow::machine::{Brought, Commanded, Input, TurnTask};
use a_society_roles::turn::step::{Choose, CompactStep, StepReply, TurnStep};

use super::core::{Core, LiveTurn};
use super::error::DriverError;
use crate::limits::HURRIED_MAX;

/// Wakes a turn that only lets time pass.
#[derive(Debug, Clone, Default)]
pub struct Nap(Arc<Bell>);

#[derive(Debug, Default)]
struct Bell {
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

impl Bell {
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
    pub(super) fn end(&self) {
        self.0.ring(|reasons| reasons.is_over = true);
    }

    /// What it waits with is tried now.
    pub(super) fn hurry(&self) {
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
pub(super) enum Pace {
    /// It does not wait for it.
    #[default]
    Goes,
    /// A request failed, and time passes until it is made again.
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
        | TurnStep::Choose(Choose::Again(_)) => Some(Pace::Waits),
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

impl LiveTurn {
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
    fn waits(&self) -> bool {
        self.pace != Pace::Goes && !self.told_to_stop
    }

    /// Ends the time that passes until a request is made again, if any does.
    pub(super) fn hurry_if_it_waits(&mut self) {
        if self.waits() {
            self.hurry();
        }
    }

    fn hurry(&mut self) {
        self.pace = Pace::Hurried;
        self.nap.hurry();
    }

    pub(super) fn node(&self) -> Option<&NodeId> {
        self.task.as_ref().and_then(TurnTask::node)
    }

    fn is(&self, whom: &Whom) -> bool {
        match whom {
            Whom::Node(node) => self.node() == Some(node),
            Whom::Role(role) => self.role == *role,
            Whom::Only => true,
        }
    }

    /// Whose it is, in words.
    fn named(&self) -> String {
        match self.node() {
            Some(node) => format!("{node} ({})", self.role),
            None => self.role.to_string(),
        }
    }
}

impl Core {
    /// Tries the request at once that waits for its provider. Nothing of it is recorded, so that the client's name is known
    /// for as long as the process drives the flow: after that nothing waits.
    ///
    /// # Errors
    /// When no turn waits so, or several do and none was named.
    pub(super) fn retry_now(
        &mut self,
        to: Whom,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        if client.as_ref().is_some_and(|id| self.hurried.contains(id)) {
            return Ok(0);
        }
        let meant = |live: &LiveTurn| live.waits() && live.is(&to);
        let named = |of: &dyn Fn(&LiveTurn) -> bool| {
            let turns = self.live.values().filter(|live| of(live));
            turns.map(LiveTurn::named).collect()
        };
        match self.live.values().filter(|live| meant(live)).count() {
            0 if self.wakes_at().is_some() => {
                return self.command(Input::Commanded(Commanded {
                    client,
                    verb: Verb::Retry { to },
                    brought: Brought::Nothing,
                }));
            }
            0 => return Err(DriverError::NothingWaits(named(&LiveTurn::waits))),
            1 => {}
            _ => return Err(DriverError::ManyTries(named(&meant))),
        }
        if let Some(live) = self.live.values_mut().find(|live| meant(live)) {
            live.hurry();
        }
        if let Some(client) = client {
            self.hurried.push_back(client);
            if self.hurried.len() > HURRIED_MAX {
                self.hurried.pop_front();
            }
        }
        Ok(0)
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
}
