//! Reaching a taker that waits for the outside world.
//!
//! A taker that waits cannot be reached through its own interface. The driver of the flow keeps a clone of
//! the signal that the taker was made with, and raises it first; the step that the taker then returns
//! says how far it came.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Says once and for ever that a turn is to stop. It can also say that only the answer that arrives
/// is to be cut off, because the operator has something to say first.
#[derive(Clone, Default)]
pub struct StopSignal(Arc<Mutex<StopState>>);

#[derive(Default)]
struct StopState {
    is_raised: bool,
    listeners: Vec<Box<dyn FnOnce() + Send>>,
    /// Whether the answer that arrives, or the next one, is cut off.
    is_cut: bool,
    /// The signal of the answer that arrives.
    answer: Option<StopSignal>,
}

impl StopSignal {
    /// Raises the signal. Whatever waits ends now.
    pub fn raise(&self) {
        let (listeners, answer) = {
            let mut state = self.state();
            state.is_raised = true;
            (std::mem::take(&mut state.listeners), state.answer.take())
        };
        if let Some(answer) = answer {
            answer.raise();
        }
        for listener in listeners {
            listener();
        }
    }

    /// Cuts the answer off that arrives, or the next one, until [`Self::go_on`]. The turn does not stop.
    pub fn cut(&self) {
        let answer = {
            let mut state = self.state();
            state.is_cut = true;
            state.answer.take()
        };
        if let Some(answer) = answer {
            answer.raise();
        }
    }

    /// Answers arrive again.
    pub fn go_on(&self) {
        self.state().is_cut = false;
    }

    /// Whether answers are cut off.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.state().is_cut
    }

    /// The signal of the answer that is asked for next: raised when the turn stops, and when the answer
    /// is cut off. One answer arrives at a time.
    #[must_use]
    pub fn of_answer(&self) -> Self {
        let answer = Self::default();
        let mut state = self.state();
        if state.is_raised || state.is_cut {
            drop(state);
            answer.raise();
        } else {
            state.answer = Some(answer.clone());
        }
        answer
    }

    /// Whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.state().is_raised
    }

    /// Calls back when it is raised; at once, if it was raised already.
    pub fn when_raised(&self, listener: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        if state.is_raised {
            drop(state);
            listener();
        } else {
            state.listeners.push(Box::new(listener));
        }
    }

    fn state(&self) -> MutexGuard<'_, StopState> {
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
    #[test]
    fn an_answer_is_cut_off_and_the_turn_goes_on_with_the_next() {
        let turn = StopSignal::default();
        let first = turn.of_answer();
        turn.cut();
        assert!(first.is_raised() && turn.is_cut() && !turn.is_raised());
        assert!(turn.of_answer().is_raised(), "the words were not heard yet");
        turn.go_on();
        let second = turn.of_answer();
        assert!(!second.is_raised() && !turn.is_cut());
        turn.raise();
        assert!(second.is_raised() && turn.of_answer().is_raised());
    }
}
