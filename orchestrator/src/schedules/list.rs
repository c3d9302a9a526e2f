//! The schedules of a workspace, each with its last run and what was missed.

use a_society_facts::At;
use a_society_state::schedules::{FailedRun, MissedRuns, ScheduleFiles, ScheduledRun};
use a_society_state::{Error, FlowRef, Store, index};

use super::plan::next;
use super::scheduler::of_workspace;
use crate::config::user::ConfigError;

/// A schedule in the list.
#[derive(Debug, Clone)]
pub struct ScheduleRow {
    /// Its name.
    pub name: String,
    /// When it is due.
    pub timing: String,
    /// When the next run is due, if there is one. It may be past: then a server runs it as soon as it can.
    pub next: Option<At>,
    /// The last run, with what its flow is doing now; nothing if it was removed.
    pub last: Option<(ScheduledRun, Option<String>)>,
    /// What was missed last.
    pub missed: Option<MissedRuns>,
    /// What could not begin last.
    pub failed: Option<FailedRun>,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum NotListed {
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// What was decided cannot be read.
    #[error(transparent)]
    State(#[from] Error),
}

/// The schedules of this workspace, by their names.
///
/// # Errors
/// When the configuration cannot be used, or what was decided cannot be read.
pub fn schedules(store: &Store) -> Result<Vec<ScheduleRow>, NotListed> {
    let now = store.ground().clock.now();
    let files = ScheduleFiles::new(store);
    let mut rows = Vec::new();
    for (name, schedule) in of_workspace(store)? {
        let timing = schedule.timing.to_string();
        let kept = files.read(&name)?;
        let is_same = kept.as_ref().is_some_and(|kept| kept.timing == timing);
        let decided = match &kept {
            Some(kept) if is_same => kept.decided,
            Some(_) | None if schedule.timing.is_once() => At::from_ms(i64::MIN),
            Some(_) | None => now,
        };
        let last = kept.as_ref().and_then(|kept| kept.runs.last()).cloned();
        let last = last.map(|run| {
            let standing = standing_of(store, &run.address(), now);
            (run, standing)
        });
        let (missed, failed) = kept.map_or((None, None), |kept| (kept.missed, kept.failed));
        rows.push(ScheduleRow {
            next: next(&schedule.timing, decided, now),
            name,
            timing,
            last,
            missed,
            failed,
        });
    }
    Ok(rows)
}

fn standing_of(store: &Store, flow: &FlowRef, now: At) -> Option<String> {
    let rows = index::rows(store, std::slice::from_ref(flow));
    rows.first()?.standing_words(now)
}
