//! How the thread of a turn reaches its flow: directly while the flow is free, else through the inbox.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a_society_facts::id::TurnId;
use a_society_roles::turn::step::TurnStep;

use super::core::Core;
use super::errand::{Errand, ErrandId, Report};
use super::error::DriverError;
use super::inbox::{Inbox, ThreadReply};
use super::room::RoomBell;
use super::step_findings::StepFindings;
use super::task::Task;

/// A line to a flow's task. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct StepLine {
    inbox: SyncSender<Inbox>,
    /// How many steps are in the inbox or being handled from it. While there are any, every other step
    /// goes there as well: those of one turn stay in order, and turns that wait together share a sync.
    queued: Arc<AtomicUsize>,
    /// The task; absent before it begins and after its end.
    task: Arc<Mutex<Option<Task>>>,
}

impl StepLine {
    /// A line to the task that will read this inbox.
    pub(super) fn new(inbox: SyncSender<Inbox>) -> Self {
        Self {
            inbox,
            queued: Arc::default(),
            task: Arc::default(),
        }
    }

    /// What wakes the task, so that it looks what there is to start.
    pub(super) fn bell(&self) -> RoomBell {
        let inbox = self.inbox.clone();
        // One whose inbox is full is awake, and a flow that is gone waits for nothing.
        Arc::new(move || drop(inbox.try_send(Inbox::Look)))
    }

    /// The task begins.
    pub(super) fn begin(&self, task: Task) {
        if let Ok(mut held) = self.task.lock() {
            *held = Some(task);
        }
    }

    /// The task ends, even if a fault of the program interrupted it.
    pub(super) fn end(&self) -> Option<Task> {
        let mut held = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        held.take()
    }

    /// Holds the task. No other thread does anything with the flow meanwhile.
    ///
    /// # Errors
    /// When a fault of the program interrupted the task, so that its state cannot be relied on.
    pub(super) fn hold(&self) -> Result<MutexGuard<'_, Option<Task>>, DriverError> {
        self.task.lock().map_err(|_| DriverError::Gone)
    }

    /// A step that was sent to the inbox has been handled.
    pub(super) fn heard_queued(&self) {
        self.queued.fetch_sub(1, Ordering::SeqCst);
    }

    /// Says a step for which no answer is needed. Nothing is returned when the flow is gone.
    pub(super) fn tell(&self, turn: TurnId, attempt: u32, step: TurnStep) -> Option<()> {
        self.say(Inbox::Step {
            turn,
            attempt,
            step,
            answer: None,
        })
    }

    /// Sends a step and waits for the answer. There is none when the flow is gone.
    pub(super) fn ask(&self, turn: TurnId, attempt: u32, step: TurnStep) -> Option<ThreadReply> {
        let (answer, answered) = sync_channel(1);
        self.say(Inbox::Step {
            turn,
            attempt,
            step,
            answer: Some(answer),
        })?;
        answered.recv().ok()
    }

    /// Reports what the step of a turn names, and waits for the answer to the step. There is none when the flow is gone.
    pub(super) fn found(
        &self,
        turn: TurnId,
        attempt: u32,
        found: StepFindings,
    ) -> Option<ThreadReply> {
        let (answer, answered) = sync_channel(1);
        self.say(Inbox::Found {
            turn,
            attempt,
            found: Box::new(found),
            answer,
        })?;
        answered.recv().ok()
    }

    /// Runs an errand and reports its result. A fault of the program that ends this thread is reported, too. There is
    /// no answer when the flow is gone.
    pub(super) fn run(&self, errand: Errand<Core>) -> Option<ThreadReply> {
        let id = errand.id;
        let _reported = Reported { line: self, id };
        let (id, report) = errand.run();
        self.report(id, report)
    }

    fn report(&self, id: ErrandId, report: Report<Core>) -> Option<ThreadReply> {
        let (answer, answered) = sync_channel(1);
        self.say(Inbox::Report { id, report, answer })?;
        answered.recv().ok()
    }

    /// The thread of an errand ended by a fault of the program.
    fn lost(&self, id: ErrandId) {
        // A flow that is gone does not wait.
        drop(self.inbox.send(Inbox::Lost { id }));
    }

    /// The thread of a turn ended by a fault of the program.
    pub(super) fn broke(&self, turn: TurnId, attempt: u32) {
        // A flow that is gone does not wait.
        drop(self.inbox.send(Inbox::Broke { turn, attempt }));
    }

    fn say(&self, said: Inbox) -> Option<()> {
        let Some(said) = self.say_directly(said) else {
            return Some(());
        };
        self.queued.fetch_add(1, Ordering::SeqCst);
        self.inbox.send(said).ok()
    }

    /// Handles the step on this thread if the flow is free; gives it back if it is not.
    fn say_directly(&self, said: Inbox) -> Option<Inbox> {
        let Ok(mut held) = self.task.try_lock() else {
            return Some(said);
        };
        // This turn's earlier steps were sent before, so they are counted here.
        let is_next = self.queued.load(Ordering::SeqCst) == 0;
        let Some(task) = held.as_mut().filter(|_| is_next) else {
            return Some(said);
        };
        let leaves_work = task.hear_here(said);
        drop(held);
        if leaves_work {
            // A flow's thread that finds its inbox full looks anyway.
            drop(self.inbox.try_send(Inbox::Look));
        }
        None
    }
}

/// An errand on a thread, which reports nothing when the thread panics.
struct Reported<'l> {
    line: &'l StepLine,
    id: ErrandId,
}

impl Drop for Reported<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.line.lost(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;
    use std::time::Duration;

    use a_society_in_memory::FaultyDisk;
    use a_society_roles::turn::step::StepReply;

    use super::*;
    use crate::driver::attempt::{Heard, Start};
    use crate::driver::tests::{HELLO, SCRIPT, begin};

    /// A flow whose first turn is about to be taken, and its inbox, without a reader.
    fn begun(disk: &FaultyDisk) -> (StepLine, Receiver<Inbox>, Start) {
        let mut core = begin(disk, HELLO, SCRIPT);
        let start = core.advance().unwrap().remove(0);
        let (inbox, heard) = sync_channel(4);
        let line = StepLine::new(inbox);
        line.begin(Task::new(core, &line, Arc::default()));
        (line, heard, start)
    }

    #[test]
    fn a_step_is_heard_synced_and_answered_on_the_thread_of_its_turn_while_the_flow_is_free() {
        let disk = FaultyDisk::new();
        let (line, heard, mut start) = begun(&disk);
        let step = start.taker.next(StepReply::Begin);
        assert!(matches!(step, TurnStep::Ask(_)), "{step:?}");
        let answer = line.ask(start.turn, start.attempt, step);
        assert!(
            matches!(answer, Some(ThreadReply::Heard(Heard::Go(_)))),
            "{answer:?}"
        );
        assert!(heard.try_recv().is_err());
        let mut held = line.hold().unwrap();
        assert!(held.as_mut().unwrap().is_durable());
    }

    #[test]
    fn a_step_goes_to_the_inbox_while_the_flow_is_held_and_those_after_it_follow_it_there() {
        let disk = FaultyDisk::new();
        let (line, heard, mut start) = begun(&disk);
        let step = start.taker.next(StepReply::Begin);
        let (turn, attempt) = (start.turn, start.attempt);
        let held = line.hold().unwrap();
        let asking = line.clone();
        let asks = std::thread::spawn(move || asking.ask(turn, attempt, step));
        let first = heard.recv_timeout(Duration::from_secs(60)).unwrap();
        drop(held);
        // The flow is free now, and the first step is not handled yet.
        line.tell(turn, attempt, TurnStep::Stalled { seconds: 7 })
            .unwrap();
        let second = heard.try_recv().unwrap();
        assert!(matches!(
            second,
            Inbox::Step {
                step: TurnStep::Stalled { .. },
                ..
            }
        ));
        for said in [first, second] {
            line.hold().unwrap().as_mut().unwrap().hear_here(said);
            line.heard_queued();
        }
        assert!(matches!(
            asks.join().unwrap(),
            Some(ThreadReply::Heard(Heard::Go(_)))
        ));
        line.tell(turn, attempt, TurnStep::Stalled { seconds: 0 })
            .unwrap();
        assert!(heard.try_recv().is_err(), "nothing waits any more");
    }

    #[test]
    fn a_fault_of_the_program_ends_the_flow_and_no_turn_waits_for_it() {
        let disk = FaultyDisk::new();
        let (line, heard, mut start) = begun(&disk);
        let broken = line.clone();
        let fault = std::thread::spawn(move || {
            let _held = broken.hold().unwrap();
            panic!("a fault");
        });
        assert!(fault.join().is_err());
        assert!(matches!(line.hold(), Err(DriverError::Gone)));
        drop(heard);
        let step = start.taker.next(StepReply::Begin);
        assert!(line.ask(start.turn, start.attempt, step).is_none());
        assert!(line.end().is_some());
    }
}
