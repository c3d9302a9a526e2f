//! What all flows of the workspace cost since local midnight.
//!
//! A flow that began today counts whole, and one without a fact of today not at all. Only a flow that went on over
//! midnight is read, once, beside the screen: what it had cost at midnight is taken off what it costs now.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use a_society_facts::At;
use a_society_facts::view::FactView as _;
use a_society_facts::view::FlowScreen;
use a_society_state::index::Row;
use a_society_state::{FlowRef, Store};

use crate::cli::own_command;
use crate::text::DAY_MS;

/// So many flows are read for it at once; what is left is read when the list is made again.
const READ_MAX: usize = 64;

/// The count of a day.
pub(super) struct Today {
    wanted: Option<SyncSender<(FlowRef, At)>>,
    read: Receiver<(FlowRef, At, u64)>,
    /// How far the local clock is ahead of the world's.
    ahead_ms: i64,
    midnight: At,
    /// What the flows that went on over midnight had cost by then; absent while that is read.
    before: BTreeMap<FlowRef, Option<u64>>,
    micros: Option<u64>,
}

impl Today {
    pub(super) fn new(store: &Store) -> Self {
        let (wanted, asked) = sync_channel::<(FlowRef, At)>(READ_MAX);
        let (tell, read) = sync_channel(READ_MAX);
        let store = store.clone();
        let reader = std::thread::Builder::new().name("today".to_owned());
        let begun = reader.spawn(move || {
            while let Ok((flow, midnight)) = asked.recv() {
                let micros = cost_before(&store, &flow, midnight);
                if tell.send((flow, midnight, micros)).is_err() {
                    return;
                }
            }
        });
        Self {
            // Without a thread such flows are never known, and no sum is shown.
            wanted: begun.is_ok().then_some(wanted),
            read,
            ahead_ms: own_command::ahead_of_utc_ms(),
            midnight: At::from_ms(0),
            before: BTreeMap::new(),
            micros: None,
        }
    }

    /// The sum, once it is known.
    pub(super) const fn micros(&self) -> Option<u64> {
        self.micros
    }

    /// Counts these flows.
    pub(super) fn count(&mut self, rows: &[Row], now: At) {
        let midnight = midnight(now, self.ahead_ms);
        if midnight != self.midnight {
            (self.midnight, self.before) = (midnight, BTreeMap::new());
        }
        for (flow, at, micros) in self.read.try_iter() {
            if at == midnight {
                self.before.insert(flow, Some(micros));
            }
        }
        let mut sum = Some(0_u64);
        for row in rows {
            let Some(summary) = &row.summary else {
                continue;
            };
            let is_of_today = |at: Option<At>| at.is_some_and(|at| at >= midnight);
            if !is_of_today(summary.updated_at) || summary.cost_micros == 0 {
                continue;
            }
            // A fork begins with what its parent had spent.
            let began = is_of_today(summary.created_at) && summary.parent.is_none();
            let before = if began {
                Some(0)
            } else {
                self.before(&row.flow)
            };
            let more = before.map(|before| summary.cost_micros.saturating_sub(before));
            sum = sum.zip(more).map(|(sum, more)| sum.saturating_add(more));
        }
        self.micros = sum;
    }

    /// What a flow had cost at midnight; it is read if that is not known.
    fn before(&mut self, flow: &FlowRef) -> Option<u64> {
        if let Some(before) = self.before.get(flow) {
            return *before;
        }
        let wanted = self.wanted.as_ref()?;
        if wanted.try_send((flow.clone(), self.midnight)).is_ok() {
            self.before.insert(flow.clone(), None);
        }
        None
    }
}

/// The last midnight of a clock that is so far ahead of the world's.
fn midnight(now: At, ahead_ms: i64) -> At {
    let local = now.ms().saturating_add(ahead_ms);
    At::from_ms(local - local.rem_euclid(DAY_MS) - ahead_ms)
}

/// What a flow had cost before a moment. Of a damaged one as far as it can be read.
fn cost_before(store: &Store, flow: &FlowRef, moment: At) -> u64 {
    let Ok(mut follower) = store.follow(flow) else {
        return 0;
    };
    let mut screen = FlowScreen::default();
    let mut before = None;
    let read = follower.read(&mut |recorded| {
        if before.is_none() && recorded.at >= moment {
            before = Some(screen.flow.account.spent.cost_micros);
        }
        screen.apply(recorded);
    });
    drop(read);
    before.unwrap_or(screen.flow.account.spent.cost_micros)
}

#[cfg(test)]
mod tests {
    use a_society_facts::view::FlowSummary;

    use super::*;

    #[test]
    fn what_was_spent_before_midnight_does_not_count_and_a_sum_is_shown_once_it_is_known() {
        let (now, midnight) = (At::from_ms(10 * DAY_MS + 5_000), 10 * DAY_MS);
        let row = |tail: &str, created: i64, updated: i64, cost_micros: u64| Row {
            flow: FlowRef {
                project: "demo".parse().unwrap(),
                flow: format!("20260527T143000123Z-{tail}").parse().unwrap(),
            },
            summary: Some(FlowSummary {
                created_at: Some(At::from_ms(created)),
                updated_at: Some(At::from_ms(updated)),
                cost_micros,
                ..FlowSummary::default()
            }),
            damage: None,
            damage_word: None,
            held_by: None,
        };
        let rows = [
            row("a00001", midnight + 1, midnight + 2, 5),
            row("a00002", 1, midnight - 1, 1_000),
            row("a00003", 1, midnight + 3, 70),
            row("a00004", 1, midnight + 3, 0),
        ];
        let (wanted, asked) = sync_channel(READ_MAX);
        let (tell, read) = sync_channel(READ_MAX);
        let mut today = Today {
            wanted: Some(wanted),
            read,
            ahead_ms: 0,
            midnight: At::from_ms(0),
            before: BTreeMap::new(),
            micros: None,
        };
        today.count(&rows, now);
        assert_eq!(today.micros(), None, "one of them is not read yet");
        today.count(&rows, now);
        let (flow, at) = asked.try_recv().unwrap();
        assert!(asked.try_recv().is_err(), "it is asked for once");
        assert_eq!((&flow, at.ms()), (&rows[2].flow, midnight));
        tell.send((flow, at, 40)).unwrap();
        today.count(&rows, now);
        assert_eq!(today.micros(), Some(35));
        today.count(&rows[..2], At::from_ms(now.ms() + DAY_MS));
        assert_eq!(today.micros(), Some(0), "another day has begun");
    }

    #[test]
    fn a_day_begins_at_midnight_of_the_local_clock() {
        const HOUR_MS: i64 = 60 * 60 * 1_000;
        let noon = At::from_ms(10 * DAY_MS + 12 * HOUR_MS);
        for (ahead, began) in [(0, 12), (2, 14), (-5, 7), (13, 1), (-12, 24)] {
            let midnight = midnight(noon, ahead * HOUR_MS);
            assert_eq!(noon.ms() - midnight.ms(), began % 24 * HOUR_MS, "{ahead}");
        }
    }
}
