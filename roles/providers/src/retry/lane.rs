//! The rate of one model, shared by all roles that ask it.
//!
//! When the provider answers that it was asked too often, all requests wait, in the order in which they
//! came, and each gets a slot of its own when the wait is over. A request that is refused keeps its
//! place before those that came later, so that none of them is served twice before it.
//!
//! A request that the operator forces goes before its time, alone; its outcome counts as any other. If
//! it is answered, the provider is available again and the rest of the wait is dropped; those still
//! waiting go one by one.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::circuit::{Circuit, RequestOutcome};
use super::limits;

/// One who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Whether a request may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may go. The caller must report the outcome.
    Go,
    /// Not yet, because of a limit of the provider; ask again then.
    Wait {
        /// After how long.
        ms: u64,
    },
    /// Not yet, because the model failed too often in a row; ask again then.
    Failing {
        /// After how long.
        ms: u64,
    },
}

/// The requests for one model.
#[derive(Debug, Clone, Default)]
pub struct Lane {
    circuit: Circuit,
    /// Until when no request may go.
    closed_until_ms: u64,
    /// When the first of those who wait may go, if nothing else keeps it.
    next_slot_ms: u64,
    /// Those who wait, the longest first.
    waiting: Vec<QueuedRequest>,
    /// Admitted requests whose outcome is not reported yet.
    under_way: BTreeMap<Ticket, Gone>,
    /// How many came so far.
    came: u64,
}

#[derive(Debug, Clone, Copy)]
struct QueuedRequest {
    ticket: Ticket,
    /// When it came, as a number that grows.
    came: u64,
    /// When it last got the answer to ask again.
    told_ms: u64,
}

#[derive(Debug, Clone, Copy)]
struct Gone {
    /// When it came, as a number that grows.
    came: u64,
    /// Whether it went before its time.
    is_pressed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Urgency {
    InTime,
    /// The operator does not let it wait.
    Pressed,
}

impl Lane {
    /// Asks to go before its time, because the operator wants it. It waits only where another one
    /// looks already whether the provider works.
    pub(crate) fn press(&mut self, ticket: Ticket, now_ms: u64) -> Admission {
        let place = self.waiting.iter().position(|it| it.ticket == ticket);
        self.go(ticket, place, now_ms, Urgency::Pressed)
    }

    /// Asks to go.
    pub(crate) fn ask(&mut self, ticket: Ticket, now_ms: u64) -> Admission {
        // A request that never asked again must not block the others for ever.
        let stays =
            |it: &QueuedRequest| it.told_ms.saturating_add(limits::CIRCUIT_OPEN_MS) > now_ms;
        self.waiting.retain(stays);
        let is_free = now_ms >= self.closed_until_ms && self.waiting.is_empty();
        let place = self.waiting.iter().position(|it| it.ticket == ticket);
        let place = match place {
            None if is_free => return self.go(ticket, None, now_ms, Urgency::InTime),
            None => self.enqueue(ticket),
            Some(place) => place,
        };
        let first_ms = self.closed_until_ms.max(self.next_slot_ms);
        let slot_ms = first_ms.saturating_add(limits::SLOT_MS.saturating_mul(place as u64));
        if slot_ms > now_ms {
            if let Some(waiting) = self.waiting.get_mut(place) {
                waiting.told_ms = slot_ms;
            }
            return Admission::Wait {
                ms: slot_ms - now_ms,
            };
        }
        self.go(ticket, Some(place), now_ms, Urgency::InTime)
    }

    /// Lets one go, unless the circuit keeps it.
    fn go(&mut self, ticket: Ticket, place: Option<usize>, now_ms: u64, how: Urgency) -> Admission {
        let kept = match how {
            Urgency::InTime => self.circuit.admit(now_ms),
            Urgency::Pressed => self.circuit.press(now_ms),
        };
        if let Some(ms) = kept {
            if let Some(waiting) = place.and_then(|place| self.waiting.get_mut(place)) {
                waiting.told_ms = now_ms.saturating_add(ms);
            }
            return Admission::Failing { ms };
        }
        let came = match place.filter(|place| *place < self.waiting.len()) {
            Some(place) => {
                self.next_slot_ms = now_ms.saturating_add(limits::SLOT_MS);
                self.waiting.remove(place).came
            }
            None => self.number(),
        };
        if self.under_way.len() < limits::WAITING {
            let is_pressed = how == Urgency::Pressed;
            self.under_way.insert(ticket, Gone { came, is_pressed });
        }
        Admission::Go
    }

    fn number(&mut self) -> u64 {
        self.came += 1;
        self.came
    }

    /// Puts one at the end, and returns its place.
    fn enqueue(&mut self, ticket: Ticket) -> usize {
        let came = self.number();
        let place = self.waiting.len();
        if place < limits::WAITING {
            self.waiting.push(QueuedRequest {
                ticket,
                came,
                told_ms: self.closed_until_ms.max(self.next_slot_ms),
            });
        }
        place
    }

    /// One does not want to go any more.
    pub(crate) fn leave(&mut self, ticket: Ticket) {
        self.waiting.retain(|it| it.ticket != ticket);
        self.under_way.remove(&ticket);
    }

    /// Takes the outcome of a request.
    pub(crate) fn hear(&mut self, ticket: Ticket, outcome: RequestOutcome, now_ms: u64) {
        self.circuit.hear(outcome, now_ms);
        let gone = self.under_way.remove(&ticket);
        if outcome == RequestOutcome::Works && gone.is_some_and(|gone| gone.is_pressed) {
            self.closed_until_ms = self.closed_until_ms.min(now_ms);
        }
        let RequestOutcome::Fails {
            retry_after_ms: Some(ms),
        } = outcome
        else {
            return;
        };
        // A longer limit suspends the flow that met it, with the time on every screen. Closing the lane for it would
        // hold the others without a word; each of them asks once, and learns its own limit.
        if ms > limits::LONGEST_RETRY_AFTER_MS {
            return;
        }
        self.closed_until_ms = self.closed_until_ms.max(now_ms.saturating_add(ms));
        if let Some(Gone { came, .. }) = gone
            && self.waiting.len() < limits::WAITING
        {
            let place = self.waiting.partition_point(|it| it.came < came);
            let told_ms = self.closed_until_ms;
            let waiting = QueuedRequest {
                ticket,
                came,
                told_ms,
            };
            self.waiting.insert(place, waiting);
        }
        for waiting in &mut self.waiting {
            waiting.told_ms = waiting.told_ms.max(self.closed_until_ms);
        }
    }

    fn is_idle(&self, now_ms: u64) -> bool {
        let nobody = self.waiting.is_empty() && self.under_way.is_empty();
        nobody && self.circuit.is_closed() && now_ms >= self.closed_until_ms
    }
}

/// Which lane.
#[derive(Debug, Clone, Copy)]
pub struct LaneName<'a> {
    /// The provider, as it is configured.
    pub provider: &'a str,
    /// The model, as the provider names it.
    pub model: &'a str,
}

/// The lanes of all models, shared by all roles.
#[derive(Debug, Default)]
pub struct Lanes(Mutex<BTreeMap<(String, String), Lane>>);

impl Lanes {
    /// Asks to go.
    pub fn ask(&self, lane: LaneName<'_>, ticket: Ticket, now_ms: u64) -> Admission {
        self.lane_of(lane, now_ms, |lane| lane.ask(ticket, now_ms))
    }

    /// Asks to go before its time.
    pub fn press(&self, lane: LaneName<'_>, ticket: Ticket, now_ms: u64) -> Admission {
        self.lane_of(lane, now_ms, |lane| lane.press(ticket, now_ms))
    }

    fn lane_of(
        &self,
        LaneName { provider, model }: LaneName<'_>,
        now_ms: u64,
        asks: impl FnOnce(&mut Lane) -> Admission,
    ) -> Admission {
        let mut lanes = self.lanes();
        if lanes.len() >= limits::LANES {
            lanes.retain(|_, lane| !lane.is_idle(now_ms));
        }
        let lane = lanes.entry((provider.to_owned(), model.to_owned()));
        asks(lane.or_default())
    }

    /// Takes the outcome of a request.
    pub fn hear(
        &self,
        LaneName { provider, model }: LaneName<'_>,
        ticket: Ticket,
        outcome: RequestOutcome,
        now_ms: u64,
    ) {
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.get_mut(&(provider.to_owned(), model.to_owned())) {
            lane.hear(ticket, outcome, now_ms);
        }
    }

    /// One does not want to go any more.
    pub fn leave(&self, LaneName { provider, model }: LaneName<'_>, ticket: Ticket) {
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.get_mut(&(provider.to_owned(), model.to_owned())) {
            lane.leave(ticket);
        }
    }

    fn lanes(&self) -> MutexGuard<'_, BTreeMap<(String, String), Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_MS: u64 = 7_000;

    /// Roles that always want to ask again, against a provider that answers one request in each
    /// period. Returns when each role was answered.
    fn contested(roles: usize, until_ms: u64) -> Vec<Vec<u64>> {
        let mut lane = Lane::default();
        let mut answered = vec![Vec::new(); roles];
        let mut next = vec![0; roles];
        let mut free_at_ms = 0;
        for now_ms in 0..until_ms {
            for role in 0..roles {
                if next[role] > now_ms {
                    continue;
                }
                let ticket = Ticket(role as u64);
                match lane.ask(ticket, now_ms) {
                    Admission::Wait { ms } | Admission::Failing { ms } => next[role] = now_ms + ms,
                    Admission::Go if now_ms >= free_at_ms => {
                        free_at_ms = now_ms + PERIOD_MS;
                        answered[role].push(now_ms);
                        lane.hear(ticket, RequestOutcome::Works, now_ms);
                        next[role] = now_ms + 1;
                    }
                    Admission::Go => {
                        let retry_after_ms = Some(free_at_ms - now_ms);
                        lane.hear(ticket, RequestOutcome::Fails { retry_after_ms }, now_ms);
                        next[role] = now_ms + 1;
                    }
                }
            }
        }
        answered
    }

    #[test]
    fn two_who_share_a_rate_take_turns_and_neither_starves() {
        for (role, times) in contested(2, 40 * PERIOD_MS).iter().enumerate() {
            assert!(times.len() > 15, "role {role}: {times:?}");
            let longest = times
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .max()
                .unwrap();
            // Twice the wait that the provider asks for, and the slots between the two.
            assert!(
                longest <= 2 * PERIOD_MS + 4 * limits::SLOT_MS,
                "role {role}: {longest}"
            );
        }
    }

    #[test]
    fn many_who_share_a_rate_are_all_served_alike() {
        let answered = contested(8, 80 * PERIOD_MS);
        let counts: Vec<usize> = answered.iter().map(Vec::len).collect();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(*least >= 8 && most - least <= 2, "{counts:?}");
    }

    #[test]
    fn a_limit_that_suspends_its_flow_holds_no_other() {
        let mut lane = Lane::default();
        let (limited, other) = (Ticket(1), Ticket(2));
        assert_eq!(lane.ask(limited, 0), Admission::Go);
        let retry_after_ms = Some(limits::LONGEST_RETRY_AFTER_MS + 1);
        lane.hear(limited, RequestOutcome::Fails { retry_after_ms }, 0);
        assert_eq!(lane.ask(other, 1), Admission::Go);
    }

    #[test]
    fn one_who_left_keeps_nobody_waiting() {
        let mut lane = Lane::default();
        let failed = RequestOutcome::Fails {
            retry_after_ms: Some(PERIOD_MS),
        };
        let (first, second, third) = (Ticket(1), Ticket(2), Ticket(3));
        assert_eq!(lane.ask(third, 0), Admission::Go);
        lane.hear(third, failed, 0);
        lane.leave(third);
        assert_eq!(lane.ask(first, 0), Admission::Wait { ms: 7_000 });
        assert_eq!(lane.ask(second, 0), Admission::Wait { ms: 7_250 });
        lane.leave(first);
        assert_eq!(lane.ask(second, 7_000), Admission::Go);
        assert!(!lane.is_idle(7_000));
        lane.hear(second, RequestOutcome::Unknown, 7_000);
        assert!(lane.is_idle(7_000));
    }

    #[test]
    fn one_who_never_asks_again_keeps_nobody_waiting_for_ever() {
        let mut lane = Lane::default();
        let (gone, other) = (Ticket(1), Ticket(2));
        lane.ask(gone, 0);
        let retry_after_ms = Some(PERIOD_MS);
        lane.hear(gone, RequestOutcome::Fails { retry_after_ms }, 0);
        assert_eq!(lane.ask(other, 0), Admission::Wait { ms: 7_250 });
        assert_eq!(lane.ask(other, 7_250), Admission::Go);
        lane.hear(other, RequestOutcome::Works, 7_300);
        assert_eq!(lane.ask(other, 80_000), Admission::Go);
    }

    #[test]
    fn one_that_is_not_let_wait_goes_alone_and_opens_the_lane_only_if_it_is_answered() {
        let mut lane = Lane::default();
        let asked = |ms| RequestOutcome::Fails {
            retry_after_ms: Some(ms),
        };
        let (first, second) = (Ticket(1), Ticket(2));
        assert_eq!(lane.ask(first, 0), Admission::Go);
        lane.hear(first, asked(40_000), 0);
        assert_eq!(lane.ask(second, 0), Admission::Wait { ms: 40_250 });
        // Refused again: no other goes, and it keeps its place before the one that came later.
        assert_eq!(lane.press(first, 5_000), Admission::Go);
        assert_eq!(lane.ask(second, 5_000), Admission::Wait { ms: 35_000 });
        lane.hear(first, asked(50_000), 6_000);
        assert_eq!(lane.ask(first, 6_000), Admission::Wait { ms: 50_000 });
        assert_eq!(lane.ask(second, 6_000), Admission::Wait { ms: 50_250 });
        // Answered: the next request of the same role does not wait for the rest of the time.
        assert_eq!(lane.press(first, 7_000), Admission::Go);
        lane.hear(first, RequestOutcome::Works, 8_000);
        assert_eq!(lane.ask(second, 8_000), Admission::Go);
        lane.hear(second, RequestOutcome::Works, 8_500);
        assert_eq!(lane.ask(first, 8_500), Admission::Go);
    }

    #[test]
    fn one_that_is_not_let_wait_waits_for_another_that_looks() {
        let mut lane = Lane::default();
        let fails = RequestOutcome::Fails {
            retry_after_ms: None,
        };
        for ticket in (0..u64::from(limits::CIRCUIT_FAILURES)).map(Ticket) {
            assert_eq!(lane.ask(ticket, 0), Admission::Go);
            lane.hear(ticket, fails, 0);
        }
        let (one, other) = (Ticket(10), Ticket(11));
        assert_eq!(lane.ask(one, 1_000), Admission::Failing { ms: 59_000 });
        assert_eq!(lane.press(one, 1_000), Admission::Go);
        assert_eq!(lane.press(other, 2_000), Admission::Failing { ms: 59_000 });
        lane.hear(one, RequestOutcome::Works, 3_000);
        assert_eq!(lane.press(other, 3_000), Admission::Go);
    }

    fn of(model: &str) -> LaneName<'_> {
        let provider = "p";
        LaneName { provider, model }
    }

    #[test]
    fn lanes_of_different_models_do_not_wait_for_one_another() {
        let lanes = Lanes::default();
        let ticket = Ticket(1);
        assert_eq!(lanes.ask(of("a"), ticket, 0), Admission::Go);
        let failed = RequestOutcome::Fails {
            retry_after_ms: Some(PERIOD_MS),
        };
        lanes.hear(of("a"), ticket, failed, 0);
        assert_eq!(lanes.ask(of("a"), ticket, 0), Admission::Wait { ms: 7_000 });
        assert_eq!(lanes.ask(of("b"), ticket, 0), Admission::Go);
        lanes.leave(of("a"), ticket);
        for at in 0..2_000 {
            let model = format!("m{at}");
            lanes.ask(of(&model), ticket, 0);
            lanes.leave(of(&model), ticket);
        }
        assert!(lanes.lanes().len() <= limits::LANES + 1);
    }
}
