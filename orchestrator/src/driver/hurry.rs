//! A request that waits for its provider is tried at once, because the operator wants it.
//!
//! Nothing is recorded of that: the record of the next request says when it was asked, and the
//! failure before it says until when it would have waited. A process that dies in between begins the
//! turn's next try when it is back, and that asks at once, too. The early request counts as every
//! other among those that may fail, so that it does not allow more requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_facts::id::{ClientId, NodeId};
use a_society_facts::{Verb, Whom};
use a_society_flow::machine::{Brought, Commanded, Input, Task};
use a_society_roles::turn::step::{Choose, Compact, Step, Told};

use super::core::{Core, LiveTurn};
use super::error::DriverError;
use crate::limits::HURRIED_MAX;

/// How long a turn sleeps before it looks whether it should wake.
const LOOK: Duration = Duration::from_millis(20);

/// How a turn is woken that only lets time pass.
#[derive(Debug, Clone, Default)]
pub struct Nap {
    /// The turn is left at the next recorded point.
    over: StopSignal,
    /// What it waits with is tried now.
    hurried: Arc<AtomicBool>,
}

impl Nap {
    /// No time passes any more in this turn.
    pub(super) fn end(&self) {
        self.over.raise();
    }

    /// What it waits with is tried now.
    pub(super) fn hurry(&self) {
        self.hurried.store(true, Ordering::SeqCst);
    }

    /// Lets time pass, in short looks. Each is at least as long as it says, so that the whole is, too.
    pub(super) fn sleep(&self, time: Duration, stop: &StopSignal) {
        let mut left = time;
        let wakes = || {
            let hurried = self.hurried.load(Ordering::SeqCst);
            hurried || stop.is_raised() || self.over.is_raised()
        };
        while !left.is_zero() && !wakes() {
            let look = left.min(LOOK);
            std::thread::sleep(look);
            left = left.saturating_sub(look);
        }
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
const fn pace_after(step: &Step) -> Option<Pace> {
    match step {
        Step::Failed {
            retry_in_ms: Some(_),
            ..
        }
        | Step::Compact(Compact::Again(_))
        | Step::Choose(Choose::Again(_)) => Some(Pace::Waits),
        Step::Wait { .. } | Step::Discard { .. } | Step::Stalled { .. } => None,
        Step::Failed {
            retry_in_ms: None, ..
        }
        | Step::Compact(
            Compact::Ask { .. }
            | Compact::Wrong { .. }
            | Compact::Summary { .. }
            | Compact::Failed { .. },
        )
        | Step::Choose(
            Choose::Ask(_) | Choose::Wrong { .. } | Choose::Chosen { .. } | Choose::Failed { .. },
        )
        | Step::Ask(_)
        | Step::Draft { .. }
        | Step::Cut
        | Step::Answer { .. }
        | Step::Intend(_)
        | Step::Begin { .. }
        | Step::Consent(_)
        | Step::Start { .. }
        | Step::Finish { .. }
        | Step::Refuse { .. }
        | Step::Trust { .. }
        | Step::Absent { .. }
        | Step::End(_) => Some(Pace::Goes),
    }
}

impl LiveTurn {
    /// Applies a step to the turn's pace.
    pub(super) fn keep_pace(&mut self, step: &Step) {
        if let Some(pace) = pace_after(step) {
            self.pace = pace;
            self.nap.hurried.store(false, Ordering::SeqCst);
        }
    }

    /// The reply for a turn whose time has passed.
    pub(super) fn woken(&mut self) -> Told {
        if self.pace != Pace::Hurried {
            return Told::Done { call: None };
        }
        // Where it has to wait on, it may be hurried once more.
        self.pace = Pace::Waits;
        self.nap.hurried.store(false, Ordering::SeqCst);
        Told::Hurried
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
        match &self.task {
            Task::Node(node) => Some(node),
            Task::Reflection | Task::Feedback | Task::Send => None,
        }
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
