//! A model that keeps failing is left alone by everybody for a while.
//!
//! | state | a request | it succeeds | it fails |
//! |---|---|---|---|
//! | closed | goes | stays closed | after [`limits::CIRCUIT_FAILURES`] in a row: open |
//! | open | waits until it is over, and then is the one that looks | – | – |
//! | one looks | waits for it, but not for ever | closed | open again |
//!
//! A request that the operator does not let wait looks at once, unless another one looks already.

use super::limits;
use crate::fault::{Remedy, RequestFault};

/// Whether requests for one model are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circuit(CircuitState);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CircuitState {
    Closed {
        failures: u32,
    },
    Open {
        until_ms: u64,
    },
    /// One request probes. If it reports nothing until then, the next one does.
    Looking {
        until_ms: u64,
    },
}

impl Default for Circuit {
    fn default() -> Self {
        Self(CircuitState::Closed { failures: 0 })
    }
}

/// The outcome of a request, as far as others are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The provider works.
    Works,
    /// It does not, for now.
    Fails {
        /// How long it asks to be left alone.
        retry_after_ms: Option<u64>,
    },
    /// Nothing was learned: the request was stopped.
    Unknown,
}

impl RequestOutcome {
    /// What a fault says about the provider. A request that is refused for what it is shows that
    /// the provider works.
    #[must_use]
    pub fn of(fault: &RequestFault) -> Self {
        match fault.class.remedy() {
            Remedy::Again => Self::Fails {
                retry_after_ms: fault.retry_after_ms,
            },
            Remedy::Once | Remedy::Compact | Remedy::Operator => Self::Works,
            Remedy::Nothing if fault.status.is_some() => Self::Works,
            Remedy::Nothing => Self::Unknown,
        }
    }
}

impl Circuit {
    /// How long a request must wait; nothing if it is admitted. An admitted caller must report the
    /// outcome.
    pub(crate) fn admit(&mut self, now_ms: u64) -> Option<u64> {
        match self.0 {
            CircuitState::Closed { .. } => None,
            CircuitState::Open { until_ms } | CircuitState::Looking { until_ms }
                if now_ms < until_ms =>
            {
                Some(until_ms - now_ms)
            }
            CircuitState::Open { .. } | CircuitState::Looking { .. } => {
                self.0 = CircuitState::Looking {
                    until_ms: now_ms.saturating_add(limits::CIRCUIT_OPEN_MS),
                };
                None
            }
        }
    }

    /// The same for a request that the operator does not let wait: it is the one that looks, before
    /// its time. Where another one looks already, it waits for that one like everybody.
    pub(crate) fn press(&mut self, now_ms: u64) -> Option<u64> {
        if let CircuitState::Open { .. } = self.0 {
            self.0 = CircuitState::Open { until_ms: now_ms };
        }
        self.admit(now_ms)
    }

    /// Takes the outcome of a request.
    pub(crate) fn hear(&mut self, outcome: RequestOutcome, now_ms: u64) {
        let open = CircuitState::Open {
            until_ms: now_ms.saturating_add(limits::CIRCUIT_OPEN_MS),
        };
        self.0 = match (self.0, outcome) {
            (_, RequestOutcome::Works) => CircuitState::Closed { failures: 0 },
            (state @ CircuitState::Closed { .. }, RequestOutcome::Unknown) => state,
            (CircuitState::Closed { failures }, RequestOutcome::Fails { .. }) => {
                let failures = failures.saturating_add(1);
                if failures >= limits::CIRCUIT_FAILURES {
                    open
                } else {
                    CircuitState::Closed { failures }
                }
            }
            (CircuitState::Looking { .. }, RequestOutcome::Fails { .. }) => open,
            // The next one looks at once.
            (CircuitState::Looking { .. }, RequestOutcome::Unknown) => {
                CircuitState::Open { until_ms: now_ms }
            }
            // A request that was sent before it opened brings no news.
            (
                state @ CircuitState::Open { .. },
                RequestOutcome::Fails { .. } | RequestOutcome::Unknown,
            ) => state,
        };
    }

    pub(super) fn is_closed(self) -> bool {
        matches!(self.0, CircuitState::Closed { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::FaultClass;

    const FAILS: RequestOutcome = RequestOutcome::Fails {
        retry_after_ms: None,
    };

    fn opened() -> Circuit {
        let mut circuit = Circuit::default();
        for _ in 0..limits::CIRCUIT_FAILURES {
            assert_eq!(circuit.admit(0), None);
            circuit.hear(FAILS, 0);
        }
        circuit
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_one_request_looks_again() {
        let mut circuit = opened();
        assert_eq!(circuit.admit(1_000), Some(59_000));
        assert_eq!(circuit.admit(60_000), None);
        assert_eq!(circuit.admit(60_000), Some(60_000), "only one looks");
        let mut failed = circuit;
        failed.hear(FAILS, 61_000);
        assert_eq!(failed.admit(61_000), Some(60_000));
        circuit.hear(RequestOutcome::Works, 61_000);
        assert_eq!((circuit.admit(61_000), circuit), (None, Circuit::default()));
    }

    #[test]
    fn a_request_that_is_not_let_wait_is_the_one_that_looks_and_there_is_only_one() {
        let mut circuit = opened();
        assert_eq!(circuit.press(1_000), None);
        assert_eq!(circuit.press(2_000), Some(59_000), "one looks already");
        assert_eq!(circuit.admit(2_000), Some(59_000));
        circuit.hear(FAILS, 3_000);
        assert_eq!(circuit.admit(3_000), Some(60_000), "open as long as ever");
        assert_eq!(circuit.press(3_000), None);
        circuit.hear(RequestOutcome::Works, 4_000);
        assert_eq!(circuit, Circuit::default());
        assert_eq!(circuit.press(4_000), None);
    }

    #[test]
    fn whoever_looks_and_is_never_heard_of_does_not_keep_it_open() {
        let mut circuit = opened();
        assert_eq!(circuit.admit(60_000), None);
        assert_eq!(circuit.admit(120_000), None);
        circuit.hear(RequestOutcome::Unknown, 121_000);
        assert_eq!(circuit.admit(121_000), None);
    }

    #[test]
    fn a_success_in_between_begins_the_count_anew() {
        let mut circuit = Circuit::default();
        for _ in 0..10 {
            for _ in 1..limits::CIRCUIT_FAILURES {
                circuit.hear(FAILS, 0);
            }
            circuit.hear(RequestOutcome::Works, 0);
        }
        assert_eq!(circuit.admit(0), None);
    }

    #[test]
    fn a_refused_request_shows_that_the_provider_works() {
        let outcome = |class, status| {
            RequestOutcome::of(&RequestFault {
                status,
                ..RequestFault::new(class, "x")
            })
        };
        assert_eq!(outcome(FaultClass::Server, Some(500)), FAILS);
        assert_eq!(
            outcome(FaultClass::BadRequest, Some(400)),
            RequestOutcome::Works
        );
        assert_eq!(
            outcome(FaultClass::WindowFull, Some(400)),
            RequestOutcome::Works
        );
        assert_eq!(outcome(FaultClass::Stopped, None), RequestOutcome::Unknown);
    }
}
