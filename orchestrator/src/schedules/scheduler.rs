//! Runs the schedules of one workspace: looks at what is due, begins it, and keeps what was decided.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use a_society_facts::At;
use a_society_facts::id::ClientId;
use a_society_roles::config::{ScheduleConfig, SchedulesConfig};
use a_society_state::Store;
use a_society_state::schedules::{
    FailedRun, MissedRuns, ScheduleFiles, ScheduleProgress, ScheduledRun, SchedulesLock,
};

use super::plan::{DuePlan, missed, next, plan};
use super::run::{NotRun, OwnRun, RunStanding, drive, names_of};
use crate::config::user::{self, ConfigError};
use crate::project::place::workspace_of;
use crate::workspace::begin::BegunFlow;

/// The longest time between two looks. Within it a changed configuration counts, and a clock that was set.
const LOOK_EVERY_MS: u64 = 10_000;

/// How many runs of all schedules are unfinished at once. Each has a driver with its threads.
const UNFINISHED_MAX: usize = 16;

/// How many runs of a schedule are listed.
const RUNS_KEPT: usize = 20;

/// What a look comes to, for the server around it.
#[derive(Debug, Default)]
pub struct ScheduleNews {
    /// What this process drives from now on.
    pub begun: Vec<BegunFlow>,
    /// What the operator should read.
    pub notes: Vec<String>,
}

/// Runs the schedules of one workspace, while no other process does.
#[derive(Debug)]
pub struct Scheduler {
    store: Store,
    files: ScheduleFiles,
    lock: Option<SchedulesLock>,
    /// All schedules of the last look.
    names: BTreeSet<String>,
    /// Schedules with nothing to do before a moment, by their names, with their timings.
    idle: BTreeMap<String, (String, At)>,
    /// Schedules whose unfinished runs were looked at by this process.
    taken_over: BTreeSet<String>,
    /// What was reported last about each, so that it is reported once.
    reported: BTreeMap<String, String>,
    last_look: At,
}

/// The schedules whose server is this workspace's.
pub(super) fn of_workspace(store: &Store) -> Result<BTreeMap<String, ScheduleConfig>, ConfigError> {
    let SchedulesConfig { mut schedules, .. } = user::schedules()?;
    schedules.retain(|_, schedule| is_ours(store, &schedule.workspace));
    Ok(schedules)
}

/// Whether a workspace of the configuration is this one.
pub(crate) fn is_ours(store: &Store, written: &Path) -> bool {
    let disk = store.ground().disk.as_ref();
    let ours = disk.whole(workspace_of(store)).ok();
    let named = user::absolute(written).ok();
    let named = named.and_then(|path| disk.whole(&path).ok());
    named.is_some() && named == ours
}

/// The key of the chats that a schedule begins.
pub(super) fn key_of(schedule: &str) -> String {
    format!("cron:{schedule}")
}

/// What the run of a due time was begun under.
pub(super) fn client_of(schedule: &str, due: At) -> Option<ClientId> {
    Some(names_of(&key_of(schedule), due).ok()?.client)
}

impl Scheduler {
    /// For this workspace. Nothing is run before the first look.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self {
            files: ScheduleFiles::new(store),
            store: store.clone(),
            lock: None,
            names: BTreeSet::new(),
            idle: BTreeMap::new(),
            taken_over: BTreeSet::new(),
            reported: BTreeMap::new(),
            last_look: At::from_ms(i64::MIN),
        }
    }

    /// Begins what is due, and returns when to look again, in milliseconds.
    pub fn look(&mut self, news: &mut ScheduleNews) -> u64 {
        let now = self.store.ground().clock.now();
        let schedules = match of_workspace(&self.store) {
            Ok(schedules) => schedules,
            // Without a home there is no configuration.
            Err(ConfigError::Nowhere) => return LOOK_EVERY_MS,
            Err(error) => {
                self.report("", &format!("no schedule runs: {error}"), news);
                return LOOK_EVERY_MS;
            }
        };
        if schedules.is_empty() || !self.is_ours(news) {
            return LOOK_EVERY_MS;
        }
        if now < self.last_look {
            // What was idle until a moment of the other clock may be due sooner.
            self.idle.clear();
        }
        self.last_look = now;
        self.names = schedules.keys().cloned().collect();
        self.idle.retain(|name, _| schedules.contains_key(name));
        for (name, schedule) in &schedules {
            let timing = schedule.timing.to_string();
            let is_idle = |(of, until): &(String, At)| *of == timing && now < *until;
            if self.idle.get(name).is_some_and(is_idle) {
                continue;
            }
            match self.take(name, schedule, now, news) {
                Ok(Some(until)) => drop(self.idle.insert(name.clone(), (timing, until))),
                Ok(None) => drop(self.idle.remove(name)),
                Err(NotRun::Unfit(why) | NotRun::Later(why)) => {
                    self.idle.remove(name);
                    let text =
                        format!("the schedule {name} did not run, and is tried again: {why}");
                    self.report(name, &text, news);
                }
            }
        }
        let soonest = self.idle.values().map(|(_, until)| until.ms());
        let soonest = soonest.min().map_or(LOOK_EVERY_MS, |until| {
            u64::try_from(until.saturating_sub(now.ms())).unwrap_or(0)
        });
        soonest.min(LOOK_EVERY_MS)
    }

    /// Whether this process runs the schedules.
    fn is_ours(&mut self, news: &mut ScheduleNews) -> bool {
        if self.lock.is_some() {
            return true;
        }
        match self.files.lock("run") {
            Ok(Some(lock)) => {
                self.lock = Some(lock);
                true
            }
            Ok(None) => {
                let text = "another server of this workspace runs its schedules; this one does when that ends";
                self.report("", text, news);
                false
            }
            Err(error) => {
                self.report("", &format!("no schedule runs: {error}"), news);
                false
            }
        }
    }

    fn report(&mut self, about: &str, text: &str, news: &mut ScheduleNews) {
        let last = self.reported.insert(about.to_owned(), text.to_owned());
        if last.as_deref() != Some(text) {
            news.notes.push(text.to_owned());
        }
    }

    /// Does what there is to do for a schedule. Returns until when there is nothing more; never, if it has no due time
    /// left, and nothing if it has to be looked at again soon.
    fn take(
        &mut self,
        name: &str,
        schedule: &ScheduleConfig,
        now: At,
        news: &mut ScheduleNews,
    ) -> Result<Option<At>, NotRun> {
        let mut progress = self.progress(name, schedule, now)?;
        if !self.taken_over.contains(name) {
            self.take_over(name, &progress, news)?;
            self.taken_over.insert(name.to_owned());
        }
        let found = plan(&schedule.timing, schedule.makes_up, progress.decided, now);
        if found.run.is_some() || found.missed.is_some() {
            let found = match found.run {
                Some(due) if !self.has_room(name, schedule, &progress)? => {
                    if schedule.makes_up {
                        let text =
                            format!("the schedule {name} waits until an earlier run is finished");
                        self.report(name, &text, news);
                        return Ok(None);
                    }
                    without_room(schedule, &progress, due)
                }
                Some(_) | None => found,
            };
            self.decide(name, schedule, &mut progress, found, news)?;
        }
        let until = next(&schedule.timing, progress.decided, now);
        Ok(Some(until.unwrap_or(At::from_ms(i64::MAX))))
    }

    /// What was decided about a schedule so far. One that is new, or has another timing by now, counts from now on; a
    /// single moment counts even if it is past.
    fn progress(
        &self,
        name: &str,
        schedule: &ScheduleConfig,
        now: At,
    ) -> Result<ScheduleProgress, NotRun> {
        let timing = schedule.timing.to_string();
        let kept = self.files.read(name)?;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.timing == timing) {
            return Ok(kept.clone());
        }
        let from = if schedule.timing.is_once() {
            At::from_ms(i64::MIN)
        } else {
            now
        };
        let mut progress = ScheduleProgress::from(timing, from);
        progress.runs = kept.map_or_else(Vec::new, |kept| kept.runs);
        self.files.keep(name, &progress)?;
        Ok(progress)
    }

    /// Drives the runs on that a process left when it ended.
    fn take_over(
        &self,
        name: &str,
        progress: &ScheduleProgress,
        news: &mut ScheduleNews,
    ) -> Result<(), NotRun> {
        for run in &progress.runs {
            let flow = run.address();
            let Some(client) = client_of(name, run.due) else {
                continue;
            };
            if RunStanding::of(&self.store, &flow, &client)? == RunStanding::Undriven {
                match drive(&self.store, &flow) {
                    Ok(driven) => news.begun.push(BegunFlow { flow, driven }),
                    Err(NotRun::Unfit(why) | NotRun::Later(why)) => {
                        news.notes.push(format!("{flow} does not go on: {why}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether one more run may begin.
    fn has_room(
        &self,
        name: &str,
        schedule: &ScheduleConfig,
        progress: &ScheduleProgress,
    ) -> Result<bool, NotRun> {
        let own = self.unfinished(name, progress)?.len();
        if own >= schedule.at_once {
            return Ok(false);
        }
        let mut all = own;
        for other in self.names.iter().filter(|other| *other != name) {
            if let Some(progress) = self.files.read(other)? {
                all += self.unfinished(other, &progress)?.len();
            }
        }
        Ok(all < UNFINISHED_MAX)
    }

    fn unfinished<'p>(
        &self,
        name: &str,
        progress: &'p ScheduleProgress,
    ) -> Result<Vec<&'p ScheduledRun>, NotRun> {
        let mut found = Vec::new();
        for run in &progress.runs {
            let Some(client) = client_of(name, run.due) else {
                continue;
            };
            let standing = RunStanding::of(&self.store, &run.address(), &client)?;
            if standing != RunStanding::Finished {
                found.push(run);
            }
        }
        Ok(found)
    }

    /// Begins the run, and keeps what is decided by it.
    fn decide(
        &mut self,
        name: &str,
        schedule: &ScheduleConfig,
        progress: &mut ScheduleProgress,
        mut found: DuePlan,
        news: &mut ScheduleNews,
    ) -> Result<(), NotRun> {
        if let Some(due) = found.run {
            match self.begin(name, schedule, due, news) {
                Ok(run) => self.add_run(name, progress, run)?,
                Err(NotRun::Unfit(why)) => {
                    let text = format!("the schedule {name} could not run at {due}: {why}");
                    self.report(name, &text, news);
                    progress.failed = Some(FailedRun { due, why });
                    // Nothing made up for those before it.
                    if let Some(missed) = &mut found.missed {
                        missed.made_up = false;
                    }
                }
                Err(later @ NotRun::Later(_)) => return Err(later),
            }
        }
        if let Some(missed) = found.missed {
            self.report(name, &words_of_missed(name, &missed), news);
            progress.missed = Some(missed);
        }
        progress.decided = found.decided;
        self.files.keep(name, progress)?;
        Ok(())
    }

    /// Adds a run, and takes out the first ones that are finished if there are too many.
    fn add_run(
        &self,
        name: &str,
        progress: &mut ScheduleProgress,
        run: ScheduledRun,
    ) -> Result<(), NotRun> {
        if !progress.runs.contains(&run) {
            progress.runs.push(run);
        }
        while progress.runs.len() > RUNS_KEPT {
            let unfinished = self.unfinished(name, progress)?;
            let is_finished = |run: &ScheduledRun| !unfinished.contains(&run);
            let first = progress.runs.iter().position(is_finished).unwrap_or(0);
            progress.runs.remove(first);
        }
        Ok(())
    }

    fn begin(
        &self,
        name: &str,
        schedule: &ScheduleConfig,
        due: At,
        news: &mut ScheduleNews,
    ) -> Result<ScheduledRun, NotRun> {
        let names = names_of(&key_of(name), due);
        let own = OwnRun {
            store: &self.store,
            names: names.map_err(|bad| NotRun::Unfit(bad.to_string()))?,
            from: &schedule.from,
            title: format!("{name} {due}"),
            input: schedule.input.as_deref(),
            mode: schedule.mode,
        };
        let (flow, begun) = own.begin()?;
        news.begun.extend(begun);
        Ok(ScheduledRun {
            due,
            project: flow.project,
            flow: flow.flow,
        })
    }
}

/// A due time at which there was no room is missed, with those before it.
fn without_room(schedule: &ScheduleConfig, progress: &ScheduleProgress, due: At) -> DuePlan {
    DuePlan {
        run: None,
        missed: missed(&schedule.timing, progress.decided, due, false),
        decided: due,
    }
}

fn words_of_missed(name: &str, missed: &MissedRuns) -> String {
    let MissedRuns {
        count,
        first,
        last,
        made_up,
    } = missed;
    let then = if *made_up {
        "one run makes up for them"
    } else {
        "they are skipped"
    };
    format!("the schedule {name} missed {count}, from {first} to {last}; {then}")
}
