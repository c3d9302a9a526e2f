//! How the thread of a turn reaches its flow: directly while the flow is free, else through the inbox.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a_society_facts::id::TurnId;
use a_society_roles::turn::step::Step;

use super::error::DriverError;
use super::task::{Inbox, Task};
use super::turn_thread::Answer;

/// A line to a flow's task. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Line {
    inbox: SyncSender<Inbox>,
    /// How many steps are in the inbox or being heard from it. While there are any, every other step
    /// goes there as well: those of one turn stay in order, and turns that wait together share a sync.
    queued: Arc<AtomicUsize>,
    /// The task; absent before it begins and after its end.
    task: Arc<Mutex<Option<Task>>>,
}

impl Line {
    /// A line to the task that will hear this inbox.
    pub(super) fn new(inbox: SyncSender<Inbox>) -> Self {
        Self {
            inbox,
            queued: Arc::default(),
            task: Arc::default(),
        }
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

    /// A step that was sent to the inbox has been heard.
    pub(super) fn heard_queued(&self) {
        self.queued.fetch_sub(1, Ordering::SeqCst);
    }

    /// Says a step for which no answer is needed. Nothing is returned when the flow is gone.
    pub(super) fn tell(&self, turn: TurnId, attempt: u32, step: Step) -> Option<()> {
        self.say(Inbox::Step {
            turn,
            attempt,
            step,
            answer: None,
        })
    }

    /// Says a step and waits for the answer. There is none when the flow is gone.
    pub(super) fn ask(&self, turn: TurnId, attempt: u32, step: Step) -> Option<Answer> {
        let (answer, answered) = sync_channel(1);
        self.say(Inbox::Step {
            turn,
            attempt,
            step,
            answer: Some(answer),
        })?;
        answered.recv().ok()
    }

    /// The thread of a turn ended by a fault of the program.
    pub(super) fn broke(&self, turn: TurnId, attempt: u32) {
        // A flow that is gone waits for nobody.
        drop(self.inbox.send(Inbox::Broke { turn, attempt }));
    }

    fn say(&self, said: Inbox) -> Option<()> {
        let Some(said) = self.say_directly(said) else {
            return Some(());
        };
        self.queued.fetch_add(1, Ordering::SeqCst);
        self.inbox.send(said).ok()
    }

    /// Has the step heard on this thread if the flow is free; gives it back if it is not.
    fn say_directly(&self, said: Inbox) -> Option<Inbox> {
        let Ok(mut held) = self.task.try_lock() else {
            return Some(said);
        };
        // What this turn said before was sent before, so it counts here.
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
