//! Due runs over changes of clocks, kills and gaps.

use std::collections::{BTreeMap, BTreeSet};

use a_society_roles::config::SchedulesConfig;
use proptest::prelude::*;

use super::*;

fn timing(when: &str) -> Timing {
    let text = format!("schedules: {{ a: {{ workspace: /w, flow: f.yaml, {when} }} }}");
    let config: SchedulesConfig = text.parse().unwrap();
    config.schedules["a"].timing.clone()
}

fn at(text: &str) -> At {
    text.parse().unwrap()
}

fn daily() -> Timing {
    timing("cron: '0 9 * * *'")
}

#[test]
fn nothing_is_due_before_its_time_and_a_due_run_begins_on_time() {
    let decided = at("2026-05-27T09:00:00.000Z");
    let plan_at = |now: &str| plan(&daily(), false, decided, at(now));
    assert_eq!(
        plan_at("2026-05-28T08:59:59.999Z"),
        DuePlan {
            run: None,
            missed: None,
            decided
        }
    );
    let due = at("2026-05-28T09:00:00.000Z");
    for now in ["2026-05-28T09:00:00.000Z", "2026-05-28T09:00:59.000Z"] {
        assert_eq!(
            plan_at(now),
            DuePlan {
                run: Some(due),
                missed: None,
                decided: due
            }
        );
    }
}

#[test]
fn what_was_missed_is_made_up_for_by_one_run_or_skipped() {
    let decided = at("2026-05-27T09:00:00.000Z");
    let now = at("2026-05-30T12:00:00.000Z");
    let missed = |made_up| MissedRuns {
        count: 3,
        first: at("2026-05-28T09:00:00.000Z"),
        last: at("2026-05-30T09:00:00.000Z"),
        made_up,
    };
    let last = at("2026-05-30T09:00:00.000Z");
    assert_eq!(
        plan(&daily(), true, decided, now),
        DuePlan {
            run: Some(last),
            missed: Some(missed(true)),
            decided: last
        }
    );
    assert_eq!(
        plan(&daily(), false, decided, now),
        DuePlan {
            run: None,
            missed: Some(missed(false)),
            decided: last
        }
    );
    assert_eq!(plan(&daily(), false, last, now).missed, None);
}

#[test]
fn a_run_on_time_makes_up_for_the_missed_ones_before_it() {
    let found = plan(
        &daily(),
        false,
        at("2026-05-27T09:00:00.000Z"),
        at("2026-05-29T09:00:10.000Z"),
    );
    assert_eq!(found.run, Some(at("2026-05-29T09:00:00.000Z")));
    let missed = found.missed.unwrap();
    assert_eq!((missed.count, missed.made_up), (1, true));
}

#[test]
fn a_clock_that_was_set_back_runs_nothing_again_and_a_clock_that_was_wrong_by_days_is_not_waited_for()
 {
    let decided = at("2026-05-28T09:00:00.000Z");
    for now in ["2026-05-28T08:30:00.000Z", "2026-05-27T10:00:00.000Z"] {
        assert_eq!(plan(&daily(), true, decided, at(now)).run, None);
    }
    let far = at("2099-01-01T09:00:00.000Z");
    let now = at("2026-05-28T09:00:05.000Z");
    assert_eq!(plan(&daily(), true, far, now).decided, now);
    assert_eq!(
        next(&daily(), far, now),
        Some(at("2026-05-29T09:00:00.000Z"))
    );
}

#[test]
fn a_moment_that_passed_before_a_server_saw_it_is_missed_and_not_forgotten() {
    let once = timing("at: 2026-05-28T09:00");
    let never = At::from_ms(i64::MIN);
    let now = at("2026-06-28T09:00:00.000Z");
    let due = at("2026-05-28T09:00:00.000Z");
    assert_eq!(plan(&once, true, never, now).run, Some(due));
    let skipped = plan(&once, false, never, now);
    assert_eq!((skipped.run, skipped.decided), (None, due));
    assert_eq!(plan(&once, true, due, now).run, None);
    assert_eq!(next(&once, due, now), None);
}

#[test]
fn very_many_missed_runs_are_counted_no_further() {
    let often = timing("cron: '@every 1s'");
    let found = plan(
        &often,
        true,
        at("2020-01-01T00:00:00.000Z"),
        at("2026-01-01T00:00:00.500Z"),
    );
    assert_eq!(found.missed.unwrap().count, MISSED_COUNTED_MAX);
    assert_eq!(found.run, Some(at("2026-01-01T00:00:00.000Z")));
}

/// What a process does at a moment, and whether it is killed before it could keep what it decided.
#[derive(Debug, Clone)]
struct Look {
    later_ms: i64,
    is_killed: bool,
}

fn look() -> impl Strategy<Value = Look> {
    let later = prop_oneof![
        4 => 0_i64..120_000,
        2 => 0_i64..7_200_000,
        1 => 0_i64..400_000_000,
        1 => -7_200_000_i64..0,
    ];
    (later, any::<bool>()).prop_map(|(later_ms, is_killed)| Look {
        later_ms,
        is_killed,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_due_time_begins_twice_and_none_is_lost_whatever_is_killed(
        which in 0_usize..4,
        makes_up in any::<bool>(),
        looks in proptest::collection::vec(look(), 1..40),
    ) {
        let whens = [
            "cron: '*/5 * * * *', time-zone: Europe/Berlin",
            "cron: '30 2 * * *', time-zone: Europe/Berlin",
            "cron: '@every 10m'",
            "at: 2026-03-29T03:30, time-zone: Europe/Berlin",
        ];
        let timing = timing(whens[which]);
        // The day on which the clocks of Berlin are set forward.
        let from = at("2026-03-28T22:00:00.000Z");
        let (mut now, mut latest, mut decided) = (from, from, from);
        // The flows that there are, by their due times, and how often one was begun.
        let mut flows: BTreeMap<At, u32> = BTreeMap::new();
        let mut missed: BTreeSet<At> = BTreeSet::new();
        for look in looks {
            now = At::from_ms(now.ms() + look.later_ms);
            latest = latest.max(now);
            let found = plan(&timing, makes_up, decided, now);
            if let Some(due) = found.run {
                prop_assert!(due <= now && due > from);
                // Its id is the due time: it is made if it is not there.
                flows.entry(due).or_insert(0);
                *flows.get_mut(&due).unwrap() += u32::from(flows[&due] == 0);
            }
            if look.is_killed {
                continue;
            }
            if let Some(found) = found.missed {
                let mut due = found.first;
                while due <= found.last {
                    missed.insert(due);
                    due = match timing.next_after(due) {
                        Some(next) => next,
                        None => break,
                    };
                }
            }
            prop_assert!(found.decided >= decided);
            decided = found.decided;
        }
        // One more server, which is not killed, decides all that is left.
        now = latest;
        let found = plan(&timing, makes_up, decided, now);
        if let Some(due) = found.run {
            *flows.entry(due).or_insert(0) += u32::from(!flows.contains_key(&due));
        }
        prop_assert!(flows.values().all(|times| *times <= 1));
        let mut due = timing.next_after(from);
        while let Some(at) = due.filter(|due| *due <= decided) {
            prop_assert!(flows.contains_key(&at) || missed.contains(&at), "{at} is neither");
            due = timing.next_after(at);
        }
        if makes_up {
            let last = timing.last_until(now).filter(|last| *last > from);
            prop_assert!(last.is_none_or(|last| flows.contains_key(&last)));
        }
    }
}
