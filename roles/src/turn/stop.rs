//! Reaching a taker that waits for the outside world.
//!
//! A taker that waits cannot be told anything through [`super::taker::Taker::next`]. Whoever
//! drives the flow keeps a clone of the signal that the taker was made with, and raises it first;
//! the step that the taker then returns says how far it came.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Says once and for ever that a turn is to stop.
#[derive(Clone, Default)]
pub struct StopSignal(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_raised: bool,
    listeners: Vec<Box<dyn FnOnce() + Send>>,
}

impl StopSignal {
    /// Raises the signal. Whatever waits ends now.
    pub fn raise(&self) {
        let listeners = {
            let mut state = self.state();
            state.is_raised = true;
            std::mem::take(&mut state.listeners)
        };
        for listener in listeners {
            listener();
        }
    }

    /// Whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.state().is_raised
    }

    /// Calls back when it is raised; at once, if it was raised already.
    pub(crate) fn when_raised(&self, listener: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        if state.is_raised {
            drop(state);
            listener();
        } else {
            state.listeners.push(Box::new(listener));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopSignal")
            .field(&self.is_raised())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn whoever_listens_hears_the_signal_once_however_late_it_listens() {
        let signal = StopSignal::default();
        let (tell, heard) = mpsc::channel();
        let early = tell.clone();
        signal.when_raised(move || early.send("early").unwrap());
        assert!(heard.try_recv().is_err() && !signal.is_raised());
        signal.clone().raise();
        signal.raise();
        signal.when_raised(move || tell.send("late").unwrap());
        assert_eq!(heard.iter().collect::<Vec<_>>(), ["early", "late"]);
    }
}
