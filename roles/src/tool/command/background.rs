//! Commands in the background: they run beside a role's turn, and end with it.
//!
//! A turn may be left while the operator is asked, and taken up again; what it started runs on
//! meanwhile. So commands belong to their role within the flow, and not to who takes its turn.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_base::redact::Redactor;
use a_society_base::stop::StopSignal;
use a_society_base::thread::{self, NoThread};
use a_society_facts::id::RoleInstance;

use super::frame::GuardReport;
use super::held::{CommandText, HeldCommand};
use super::limits::{BACKGROUND_BYTES, BACKGROUND_COMMANDS};
use crate::consent::shown;
use crate::tool::output::Length;
use crate::tool::stopwatch::Stopwatch;

/// How much of a command its line in a list shows.
pub(super) const NAME_CHARS: usize = 60;

/// The commands that run in the background of one flow. Cheap to clone; when the last clone is gone,
/// all of them end.
#[derive(Clone, Default)]
pub struct Background(Arc<BackgroundRoles>);

#[derive(Default)]
struct BackgroundRoles(Mutex<BTreeMap<RoleInstance, Mine>>);

/// The commands of one role.
#[derive(Default)]
struct Mine {
    started: u32,
    live: BTreeMap<u32, Arc<BackgroundJob>>,
    /// Those that were ended with a turn and may still run.
    ending: Vec<Arc<BackgroundJob>>,
    /// Those that ended with a turn, in words, until they are reported.
    ended: Vec<String>,
}

/// A command in the background.
pub(in crate::tool) struct BackgroundJob {
    /// Its command, in one short line.
    name: String,
    stop: StopSignal,
    limit_ms: u64,
    state: Mutex<CommandState>,
    changed: Condvar,
}

struct CommandState {
    /// Its output that was not read yet.
    text: CommandText,
    begun: Stopwatch,
    end: Option<(GuardReport, Duration)>,
    /// Whether it ran when its turn ended.
    is_cut: bool,
}

/// What a command has to say.
pub(super) struct CommandNews {
    pub output: String,
    /// How long that was, if a part of it was dropped.
    pub full: Option<Length>,
    /// How it ended and how long it took, if it did.
    pub end: Option<(GuardReport, Duration)>,
    pub limit_ms: u64,
    pub runs_for: Duration,
}

impl Background {
    /// Why no more command may run beside this role's turn; nothing if one may.
    pub(super) fn refuses(&self, role: &RoleInstance) -> Option<String> {
        let live = self.live(role);
        let is_full = live.len() >= BACKGROUND_COMMANDS;
        is_full.then(|| {
            format!(
                "{BACKGROUND_COMMANDS} background commands run already: {}. End one with \
                 command_output and stop.",
                live.join(", ")
            )
        })
    }

    /// The commands that run, in words.
    pub(super) fn live(&self, role: &RoleInstance) -> Vec<String> {
        let roles = self.roles();
        let mine = roles.get(role).into_iter().flat_map(|mine| &mine.live);
        mine.map(|(number, job)| named(*number, job)).collect()
    }

    /// Lets a command go. It has a number from here on.
    pub(super) fn start(
        &self,
        role: &RoleInstance,
        held: HeldCommand,
        command: &str,
        redactor: &Redactor,
    ) -> Result<(u32, Arc<BackgroundJob>), NoThread> {
        let line: String = command.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = shown(&redactor.redact(&line));
        let job = Arc::new(BackgroundJob {
            name: line.chars().take(NAME_CHARS).collect(),
            stop: StopSignal::default(),
            limit_ms: held.time_limit_ms(),
            state: Mutex::new(CommandState {
                text: CommandText::new(redactor, BACKGROUND_BYTES),
                begun: Stopwatch::start(),
                end: None,
                is_cut: false,
            }),
            changed: Condvar::new(),
        });
        let runs = Arc::clone(&job);
        let _runs_on = thread::begin("background", move || {
            let heard = Arc::clone(&runs);
            let mut hear = |bytes: &[u8]| heard.state().text.push(bytes);
            let end = held.run_into(&mut hear, &runs.stop);
            runs.state().end = Some(end);
            runs.changed.notify_all();
        })?;
        let mut roles = self.roles();
        let mine = roles.entry(role.clone()).or_default();
        mine.started += 1;
        mine.live.insert(mine.started, Arc::clone(&job));
        Ok((mine.started, job))
    }

    /// The command that has this number, as a model writes it.
    pub(in crate::tool) fn find(
        &self,
        role: &RoleInstance,
        id: &str,
    ) -> Option<(u32, Arc<BackgroundJob>)> {
        let number = id.trim().strip_prefix('c').unwrap_or(id).parse().ok()?;
        let roles = self.roles();
        let job = roles.get(role)?.live.get(&number)?;
        Some((number, Arc::clone(job)))
    }

    /// A command has ended, and that was reported.
    pub(super) fn forget(&self, role: &RoleInstance, number: u32) {
        if let Some(mine) = self.roles().get_mut(role) {
            mine.live.remove(&number);
        }
    }

    /// The role's turn is over: its commands end. Waits until they have, also for those that another
    /// caller is ending.
    pub(crate) fn end(&self, role: &RoleInstance) {
        let ending = match self.roles().get_mut(role) {
            Some(mine) => mine.end(),
            None => return,
        };
        for job in &ending {
            job.await_end(None, &StopSignal::default());
        }
        if let Some(mine) = self.roles().get_mut(role) {
            mine.ending.retain(|job| job.state().end.is_none());
        }
    }

    /// The commands of the role that ended with its last turn, in words, such as `c4 (npm run dev)`.
    /// They are reported once.
    #[must_use]
    pub fn ended_with_turn(&self, role: &RoleInstance) -> Vec<String> {
        self.end(role);
        let mut roles = self.roles();
        let mine = roles.get_mut(role);
        mine.map(|mine| std::mem::take(&mut mine.ended))
            .unwrap_or_default()
    }

    /// A stop of the turn ends the role's commands.
    pub(crate) fn end_at(&self, role: &RoleInstance, stop: &StopSignal) {
        let (roles, role) = (Arc::downgrade(&self.0), role.clone());
        stop.when_raised(move || {
            let Some(roles) = roles.upgrade() else {
                return;
            };
            let jobs: Vec<Arc<BackgroundJob>> = {
                let table = roles.0.lock().unwrap_or_else(PoisonError::into_inner);
                let mine = table.get(&role).into_iter();
                mine.flat_map(|mine| mine.live.values().cloned()).collect()
            };
            for job in jobs {
                job.end_with_turn();
            }
        });
    }

    fn roles(&self) -> MutexGuard<'_, BTreeMap<RoleInstance, Mine>> {
        (self.0.0).lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").finish_non_exhaustive()
    }
}

impl Drop for BackgroundRoles {
    fn drop(&mut self) {
        let roles = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for job in roles.values().flat_map(|mine| mine.live.values()) {
            job.stop.raise();
        }
    }
}

impl Mine {
    /// Tells all that run to end, and gives those that are to be waited for. They are named at once, so
    /// that the next turn can name them when it begins.
    fn end(&mut self) -> Vec<Arc<BackgroundJob>> {
        for (number, job) in std::mem::take(&mut self.live) {
            job.end_with_turn();
            // What had ended by itself did not end with the turn.
            if job.state().is_cut {
                self.ended.push(named(number, &job));
            }
            self.ending.push(job);
        }
        self.ending.clone()
    }
}

impl BackgroundJob {
    /// Ends it.
    pub(super) fn end(&self) {
        self.stop.raise();
    }

    /// Waits until it has ended; so long at most, and not beyond a stop of the turn.
    pub(super) fn await_end(self: &Arc<Self>, at_most: Option<Duration>, stop: &StopSignal) {
        let job = Arc::downgrade(self);
        stop.when_raised(move || {
            if let Some(job) = job.upgrade() {
                // With the lock, so that the wait has begun or looks once more.
                let _state = job.state();
                job.changed.notify_all();
            }
        });
        let waits = |state: &mut CommandState| state.end.is_none() && !stop.is_raised();
        match at_most {
            Some(time) => drop(self.changed.wait_timeout_while(self.state(), time, waits)),
            None => drop(self.changed.wait_while(self.state(), waits)),
        }
    }

    /// What it wrote since it was asked last, and how it ended if it did.
    pub(super) fn news(&self) -> CommandNews {
        let mut state = self.state();
        let is_over = state.end.is_some();
        let (output, full) = state.text.take(is_over);
        CommandNews {
            output,
            full,
            end: state.end.clone(),
            limit_ms: self.limit_ms,
            runs_for: state.begun.elapsed(),
        }
    }

    /// Ends it because its turn is over.
    fn end_with_turn(&self) {
        let mut state = self.state();
        state.is_cut |= state.end.is_none();
        drop(state);
        self.stop.raise();
    }

    fn state(&self) -> MutexGuard<'_, CommandState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(number: u32, job: &BackgroundJob) -> String {
    format!("c{number} ({})", job.name)
}
