//! Which run of a schedule is due, and which were missed: computed, without a clock or a disk.

use a_society_facts::At;
use a_society_roles::config::Timing;
use a_society_state::schedules::MissedRuns;

/// A run that begins so late after its due time is on time: a server looks every few seconds, and one that is started
/// again takes a moment.
const ON_TIME_MS: i64 = 60_000;

/// What is decided so far ahead of the clock was decided while the clock was wrong. Less is a clock that was set right,
/// and is waited for.
const AHEAD_MS_MAX: i64 = 24 * 3_600_000;

/// How many missed due times are counted one by one.
pub(super) const MISSED_COUNTED_MAX: u64 = 1_000;

/// What there is to do for a schedule at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DuePlan {
    /// The due time whose run begins.
    pub(super) run: Option<At>,
    /// What was missed, this run among it if it begins late.
    pub(super) missed: Option<MissedRuns>,
    /// What is decided when that is done.
    pub(super) decided: At,
}

/// What there is to do at a moment, when everything up to another is decided.
pub(super) fn plan(timing: &Timing, makes_up: bool, decided: At, now: At) -> DuePlan {
    let decided = believed(decided, now);
    let Some(last) = timing.last_until(now).filter(|last| *last > decided) else {
        return DuePlan {
            run: None,
            missed: None,
            decided,
        };
    };
    let is_on_time = now.ms().saturating_sub(last.ms()) <= ON_TIME_MS;
    let begins = is_on_time || makes_up;
    let until = if is_on_time { before(last) } else { last };
    DuePlan {
        run: begins.then_some(last),
        missed: missed(timing, decided, until, begins),
        decided: last,
    }
}

/// What is decided, unless the clock was wrong when it was.
fn believed(decided: At, now: At) -> At {
    let ahead = decided.ms().saturating_sub(now.ms());
    if ahead > AHEAD_MS_MAX { now } else { decided }
}

/// When the next run is due, with those that are not decided yet.
pub(super) fn next(timing: &Timing, decided: At, now: At) -> Option<At> {
    timing.next_after(believed(decided, now))
}

fn before(at: At) -> At {
    At::from_ms(at.ms().saturating_sub(1))
}

/// The due times after a moment, up to another.
pub(super) fn missed(timing: &Timing, after: At, until: At, made_up: bool) -> Option<MissedRuns> {
    let first = timing.next_after(after).filter(|first| *first <= until)?;
    let last = timing.last_until(until)?;
    let (mut count, mut at) = (1, first);
    while at < last && count < MISSED_COUNTED_MAX {
        at = timing.next_after(at)?;
        count += 1;
    }
    Some(MissedRuns {
        count,
        first,
        last,
        made_up,
    })
}

#[cfg(test)]
mod tests;
