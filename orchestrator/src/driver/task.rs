//! The task that owns a flow: it handles one event at a time, and nothing else touches the flow.
//!
//! The flow's own thread handles commands and lets time pass. A turn's thread that finds the flow free
//! handles its step itself, because waking another thread takes longer than most steps.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::attempt::Heard;
use super::commands::Obeyed;
use super::core::Core;
use super::errand::{CommandAnswer, ErrandId};
use super::error::DriverError;
use super::handle::{FlowHandle, FlowWindow, Seen, next};
use super::inbox::{Answers, Duty, From, Inbox, ThreadReply};
use super::inline_turns::AtOnce;
use super::line::StepLine;
use super::turn_thread::TurnThreads;
use crate::control::server;
use crate::control::socket::ControlDoor;
use crate::limits::{INBOX_MAX, LOOK_US, REST_MS, TICK_MS, WAKE_LOOK_MS};

/// Why a turn failed whose thread ended by a fault of this program.
const BROKE: &str =
    "a fault of this program ended the turn; what it wrote to its error output says where";

/// A flow that is being driven.
#[derive(Debug)]
pub struct Driven {
    /// How everyone holds it.
    pub handle: FlowHandle,
    /// Its task; it ends when the flow is drained or over.
    pub task: JoinHandle<Result<(), DriverError>>,
}

/// Drives a flow on a thread of its own, and lets other processes of the operator in by its door.
///
/// # Errors
/// When the system has no thread left.
pub fn drive(core: Core, door: Option<ControlDoor>) -> Result<Driven, DriverError> {
    let (inbox, heard) = sync_channel(INBOX_MAX);
    let window = Arc::new(FlowWindow::default());
    let id = core.flow().id().clone();
    let handle = FlowHandle::new(id, inbox.clone(), Arc::clone(&window));
    if let Some(door) = &door {
        server::listen(door, handle.clone())?;
    }
    let line = StepLine::new(inbox);
    line.begin(Task::new(core, &line, window));
    let task = std::thread::Builder::new()
        .name("flow".to_owned())
        .spawn(move || run(&line, heard, door))?;
    Ok(Driven { handle, task })
}

/// The loop of the flow's thread: it handles commands, lets time pass, and handles the turns that did
/// not find the flow free.
fn run(
    line: &StepLine,
    heard: Receiver<Inbox>,
    door: Option<ControlDoor>,
) -> Result<(), DriverError> {
    let ended = work(line, &heard);
    let why = ended.as_ref().err().map(ToString::to_string);
    let mut task = line.end();
    if let Some(task) = &mut task {
        task.show(why, true);
        // Commands that wait for an errand learn that the flow is gone.
        task.asking.clear();
    }
    // The socket goes while the lock is held: a process that finds the lock free finds no socket of
    // ours, and the next one that takes the lock cannot lose its own. Senders that still wait in the
    // inbox learn that the flow is gone, and the door waits until every command has its answer.
    drop(heard);
    drop(door);
    match task {
        Some(task) => ended.and(task.core.close()),
        None => ended,
    }
}

fn work(line: &StepLine, heard: &Receiver<Inbox>) -> Result<(), DriverError> {
    loop {
        let (quiet, longest) = {
            let mut held = line.hold()?;
            let task = held.as_mut().ok_or(DriverError::Gone)?;
            let idle = task.go_on()?;
            if idle && (task.draining || task.core.state().status.is_over()) {
                return Ok(());
            }
            if !task.at_once.is_empty() {
                task.at_once.round(&mut task.core, &task.threads)?;
                if let Ok(said) = heard.try_recv() {
                    task.hear_all(said, heard, line)?;
                }
                task.tick()?;
                continue;
            }
            // A flow that waits for room is woken by the place that comes back.
            let quiet = idle || (task.rests() && task.core.is_crowded());
            (quiet, task.patience(quiet))
        };
        let said = next(heard, longest.map(Duration::from_millis));
        let mut held = line.hold()?;
        let task = held.as_mut().ok_or(DriverError::Gone)?;
        match said {
            Ok(Some(said)) => task.hear_all(said, heard, line)?,
            Ok(None) if quiet => task.core.rest()?,
            Ok(None) => task.core.sync_ended()?,
            Err(()) => return Ok(()),
        }
        task.tick()?;
    }
}

/// Turns that get an answer only after the sync they wait for.
type AwaitsSync = Vec<(Answers, Heard)>;

/// A flow that is driven, and what its turns wait for. The flow's thread and those of its turns hold it
/// by turns.
#[derive(Debug)]
pub(super) struct Task {
    core: Core,
    threads: TurnThreads,
    /// The threads whose turns are over and that do not know it yet: one that gets its next turn with the
    /// answer is woken once and not twice.
    done: Vec<Answers>,
    /// The turns that need no thread.
    at_once: AtOnce,
    /// The commands whose answers wait for an errand.
    asking: BTreeMap<ErrandId, SyncSender<CommandAnswer>>,
    window: Arc<FlowWindow>,
    /// When the flow was last shown, as its clock counts.
    shown_at_us: u64,
    draining: bool,
    /// Why a turn's thread could not go on with the flow; the flow's thread ends with it.
    failed: Option<DriverError>,
}

impl Task {
    /// The task of a flow whose turns reach it on this line.
    pub(super) fn new(mut core: Core, line: &StepLine, window: Arc<FlowWindow>) -> Self {
        core.ring_for_room(line.bell());
        Self {
            core,
            threads: TurnThreads::new(line.clone()),
            done: Vec::new(),
            at_once: AtOnce::default(),
            asking: BTreeMap::new(),
            window,
            shown_at_us: 0,
            draining: false,
            failed: None,
        }
    }

    /// Handles one step on the thread of its turn, and starts what follows from it. Returns whether the
    /// flow's own thread has something to do now.
    pub(super) fn hear_here(&mut self, said: Inbox) -> bool {
        let heard = self.try_here(said);
        heard.unwrap_or_else(|why| {
            self.failed = Some(why);
            true
        })
    }

    fn try_here(&mut self, said: Inbox) -> Result<bool, DriverError> {
        if self.failed.is_some() {
            return Ok(true);
        }
        let mut waiting = Vec::new();
        self.hear(said, &mut waiting)?;
        self.answer(waiting)?;
        let idle = self.go_on()?;
        self.tell_onlookers();
        Ok(idle || !self.at_once.is_empty())
    }

    /// Starts what is to be started, and says whether the flow is idle.
    fn go_on(&mut self) -> Result<bool, DriverError> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        self.core.advance_apart()?;
        let (starts, errands) = (self.core.take_begun(), self.core.take_errands());
        let ends = starts.is_empty() && errands.is_empty();
        for errand in errands {
            self.start(Duty::Errand(errand))?;
        }
        for start in starts {
            if start.taker.is_prompt() {
                self.at_once.begin(start);
            } else {
                self.start(Duty::Turn(start, From::Beginning))?;
            }
        }
        for thread in self.done.drain(..) {
            // A thread that is gone needs no answer.
            drop(thread.send(ThreadReply::Heard(Heard::Over)));
        }
        let idle = self.rests() && !self.core.is_crowded();
        if idle {
            // Nothing is shown before it is durable.
            self.core.sync()?;
        } else if ends && self.at_once.is_empty() {
            // No turn follows whose first request would do it.
            self.core.sync_ended()?;
        }
        self.show_sometimes(idle);
        Ok(idle)
    }

    /// Whether nothing runs that it would have to wait for.
    fn rests(&self) -> bool {
        let core = &self.core;
        core.live_turns() == 0 && core.errands.commands() == 0 && !core.is_restoring()
    }

    fn tick(&mut self) -> Result<(), DriverError> {
        self.core.tick()?;
        self.tell_onlookers();
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn is_durable(&self) -> bool {
        self.core.flow().durable() == self.core.flow().position().seq
    }

    fn tell_onlookers(&mut self) {
        if self.core.live.take_streamed() {
            self.window.onlookers.tell();
        }
    }

    /// Starts a turn or an errand on the thread of one that is over, or on another.
    fn start(&mut self, duty: Duty) -> Result<(), DriverError> {
        let mut next = Box::new(duty);
        while let Some(thread) = self.done.pop() {
            match thread.send(ThreadReply::Next(next)) {
                Ok(()) => return Ok(()),
                Err(SendError(ThreadReply::Next(back))) => next = back,
                Err(SendError(ThreadReply::Heard(_))) => return Ok(()),
            }
        }
        match self.threads.run_or_fail(&mut self.core, *next)? {
            Some((id, failed)) => self.answer_command(id, failed),
            None => Ok(()),
        }
    }

    /// How long the flow's thread waits for the next event. An idle flow waits as long as it takes, and
    /// writes its views when none comes at once.
    fn patience(&self, quiet: bool) -> Option<u64> {
        match (quiet, self.core.rests()) {
            (false, _) => Some(TICK_MS),
            (true, false) => Some(REST_MS),
            (true, true) => self.core.wakes_at().map(|at| {
                let left = at.ms().saturating_sub(self.core.flow().now().ms());
                // The machine may sleep, and its clock may be set.
                u64::try_from(left).unwrap_or(0).min(WAKE_LOOK_MS)
            }),
        }
    }

    /// Handles all events of the inbox. Turns that wait for a sync share one.
    fn hear_all(
        &mut self,
        first: Inbox,
        heard: &Receiver<Inbox>,
        line: &StepLine,
    ) -> Result<(), DriverError> {
        let mut waiting = Vec::new();
        let mut next = Some(first);
        // What comes in meanwhile has its turn, too, and those who wait do not wait for ever.
        for _ in 0..=INBOX_MAX {
            let Some(said) = next.take() else { break };
            let is_step = Inbox::is_queued(&said);
            self.hear(said, &mut waiting)?;
            if is_step {
                line.heard_queued();
            }
            next = heard.try_recv().ok();
        }
        self.answer(waiting)
    }

    fn answer(&mut self, waiting: AwaitsSync) -> Result<(), DriverError> {
        self.core.sync_owed()?;
        for (answer, heard) in waiting {
            self.tell(answer, heard);
        }
        Ok(())
    }

    /// Answers the thread of a turn, after the sync that its step owes if it owes one.
    fn tell_when_durable(
        &mut self,
        owed: usize,
        answer: Answers,
        heard: Heard,
        waiting: &mut AwaitsSync,
    ) {
        if self.core.syncs_owed() > owed {
            waiting.push((answer, heard));
        } else {
            self.tell(answer, heard);
        }
    }

    /// Answers a turn's thread. One whose turn is over is answered later, with its next turn if there is
    /// one.
    fn tell(&mut self, answer: Answers, heard: Heard) {
        match heard {
            Heard::Over => self.done.push(answer),
            // A thread that is gone needs no answer.
            Heard::Go(_) | Heard::Look(_) => drop(answer.send(ThreadReply::Heard(heard))),
        }
    }

    fn hear(&mut self, said: Inbox, waiting: &mut AwaitsSync) -> Result<(), DriverError> {
        match said {
            Inbox::Command {
                command,
                client,
                answer,
            } => {
                let result = match self.core.obey_apart(*command, client) {
                    Ok(Obeyed::Later(errand)) => {
                        self.asking.insert(errand, answer);
                        return Ok(());
                    }
                    Ok(Obeyed::Now(taken)) => Ok(taken),
                    Err(error) => Err(error),
                };
                self.say_taken(&answer, result)
            }
            Inbox::Report { id, report, answer } => {
                let taken = self.core.report(id, report)?;
                self.done.push(answer);
                taken.map_or(Ok(()), |taken| self.answer_command(id, taken))
            }
            Inbox::Lost { id } => {
                let taken = self.core.lose(id, BROKE.to_owned())?;
                taken.map_or(Ok(()), |taken| self.answer_command(id, taken))
            }
            Inbox::Step {
                turn,
                attempt,
                step,
                answer,
            } => {
                let owed = self.core.syncs_owed();
                let heard = self.core.hear(turn, attempt, step)?;
                if let Some(answer) = answer {
                    self.tell_when_durable(owed, answer, heard, waiting);
                }
                Ok(())
            }
            Inbox::Found {
                turn,
                attempt,
                found,
                answer,
            } => {
                let owed = self.core.syncs_owed();
                let heard = self.core.found(turn, attempt, *found)?;
                self.tell_when_durable(owed, answer, heard, waiting);
                Ok(())
            }
            Inbox::Broke { turn, attempt } => self.core.broke(turn, attempt, BROKE.to_owned()),
            Inbox::Ahead { answer } => {
                // The client may have lost patience.
                drop(answer.send(self.core.ahead()?));
                Ok(())
            }
            Inbox::Look => Ok(()),
            Inbox::Drain => {
                self.draining = true;
                self.core.drain();
                Ok(())
            }
        }
    }

    /// Answers a command that waited for an errand.
    fn answer_command(&mut self, id: ErrandId, taken: CommandAnswer) -> Result<(), DriverError> {
        match self.asking.remove(&id) {
            Some(answer) => self.say_taken(&answer, taken),
            None => Ok(()),
        }
    }

    fn say_taken(
        &self,
        answer: &SyncSender<CommandAnswer>,
        taken: CommandAnswer,
    ) -> Result<(), DriverError> {
        let stopped = self.core.flow().poison().map(str::to_owned);
        // The client may have gone; its command has taken effect all the same.
        drop(answer.send(taken));
        match stopped {
            Some(why) => Err(a_society_state::Error::Poisoned { why }.into()),
            None => Ok(()),
        }
    }

    /// A look costs a copy of the whole state, so a flow that moves shows itself a few times in a
    /// blink, and always when it comes to rest.
    fn show_sometimes(&mut self, idle: bool) {
        let now_us = self.core.flow().elapsed_us();
        if idle || now_us.saturating_sub(self.shown_at_us) >= LOOK_US {
            self.shown_at_us = now_us;
            self.show(None, false);
        }
    }

    fn show(&self, ended: Option<String>, over: bool) {
        let mut seen = self
            .window
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let seq = self.core.flow().position().seq;
        // Nothing is shown that a power cut could take back. A flow that moves syncs often.
        if !over && self.core.flow().durable() < seq {
            return;
        }
        let live = self.core.live_turns();
        let silent = self.core.silent();
        let same = seen.as_ref().is_some_and(|seen| {
            seen.seq == seq && seen.live == live && seen.over == over && seen.silent == silent
        });
        if same {
            return;
        }
        *seen = Some(Arc::new(Seen {
            seq,
            state: self.core.state().clone(),
            pending: self.core.pending(),
            live,
            silent,
            ended,
            over,
        }));
        drop(seen);
        self.window.changed.notify_all();
    }
}
