//! How everyone but its task holds a flow: a sender, and what the flow looks like.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use a_society_facts::Verb;
use a_society_facts::id::{ClientId, FlowId, RoleInstance, Seq};
use a_society_facts::view::flow::FlowState;
use a_society_flow::machine::Work;

use super::error::DriverError;
use super::inbox::Inbox;
use super::unrecorded_text::{Ahead, Onlooker, Onlookers};
use crate::control::message::Taken;

/// What a flow looks like from outside.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The last record.
    pub seq: Seq,
    /// The state of the flow.
    pub state: FlowState,
    /// What is pending.
    pub pending: Vec<Work>,
    /// How many turns run in this process.
    pub live: usize,
    /// The roles whose provider has been silent for a while, and for how many seconds. It is not recorded.
    pub silent: BTreeMap<RoleInstance, u64>,
    /// Why the flow is not driven any more, if it is not.
    pub ended: Option<String>,
    /// Whether its task is over.
    pub over: bool,
}

/// The last look of a flow, and a bell for those who wait for the next.
#[derive(Debug, Default)]
pub(super) struct FlowWindow {
    pub(super) seen: Mutex<Option<Arc<Seen>>>,
    pub(super) changed: Condvar,
    pub(super) onlookers: Onlookers,
}

/// A flow that some task of this process drives.
#[derive(Debug, Clone)]
pub struct FlowHandle {
    id: FlowId,
    inbox: SyncSender<Inbox>,
    window: Arc<FlowWindow>,
}

impl FlowHandle {
    pub(super) const fn new(id: FlowId, inbox: SyncSender<Inbox>, window: Arc<FlowWindow>) -> Self {
        Self { id, inbox, window }
    }

    /// The flow.
    #[must_use]
    pub const fn id(&self) -> &FlowId {
        &self.id
    }

    /// Hands a command of the operator in. What follows from it is durable when this returns.
    ///
    /// # Errors
    /// When the machine refuses, or the flow is not driven any more.
    pub fn obey(&self, command: Verb, client: Option<ClientId>) -> Result<Taken, DriverError> {
        let (answer, answered) = sync_channel(1);
        let sent = self.inbox.send(Inbox::Command {
            command: Box::new(command),
            client,
            answer,
        });
        sent.map_err(|_| DriverError::Gone)?;
        answered.recv().map_err(|_| DriverError::Gone)?
    }

    /// Starts nothing new; the flow's task ends when the turns that run have reached a recorded
    /// point.
    pub fn drain(&self) {
        // A task that is gone has nothing left to drain.
        drop(self.inbox.send(Inbox::Drain));
    }

    /// Notifies an observer whenever text streams, as long as it exists. Adding it twice has no effect.
    pub fn look_on(&self, onlooker: &Arc<dyn Onlooker>) {
        self.window.onlookers.add(onlooker);
    }

    /// What streamed and is in no record yet. A flow that has no time to say so in this long says
    /// nothing; then it is asked again.
    #[must_use]
    pub fn ahead(&self, longest: Duration) -> Vec<Ahead> {
        let (answer, answered) = sync_channel(1);
        let sent = self.inbox.try_send(Inbox::Ahead { answer });
        let said = sent.ok().and_then(|()| answered.recv_timeout(longest).ok());
        said.unwrap_or_default()
    }

    /// What the flow looks like now; `None` before its first look.
    #[must_use]
    pub fn seen(&self) -> Option<Arc<Seen>> {
        self.window
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits until the flow looks different from a record on, or for so long.
    #[must_use]
    pub fn wait(&self, after: Seq, longest: Duration) -> Option<Arc<Seen>> {
        self.wait_unless(after, longest, || false)
    }

    /// Waits as [`wait`](Self::wait) does, and no longer than until something else holds. Whatever makes it hold calls
    /// the [`waker`](Self::waker) afterwards.
    #[must_use]
    pub fn wait_unless(
        &self,
        after: Seq,
        longest: Duration,
        mut else_holds: impl FnMut() -> bool,
    ) -> Option<Arc<Seen>> {
        let seen = self
            .window
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let same = |seen: &mut Option<Arc<Seen>>| {
            seen.as_ref()
                .is_none_or(|seen| seen.seq <= after && !seen.over)
                && !else_holds()
        };
        let (seen, _) = self
            .window
            .changed
            .wait_timeout_while(seen, longest, same)
            .unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }

    /// Ends waits for something else than the flow. Returns whether the flow can still be waited for.
    pub fn waker(&self) -> impl Fn() -> bool + Send + 'static {
        let window = Arc::downgrade(&self.window);
        move || {
            let Some(window) = window.upgrade() else {
                return false;
            };
            // A wait that has just found that nothing holds is asleep once the lock is free.
            drop(window.seen.lock());
            window.changed.notify_all();
            true
        }
    }
}

/// Receives with a time limit, in the words of a flow's task.
pub(super) fn next<T>(from: &Receiver<T>, longest: Option<Duration>) -> Result<Option<T>, ()> {
    match longest {
        None => from.recv().map(Some).map_err(drop),
        Some(longest) => match from.recv_timeout(longest) {
            Ok(got) => Ok(Some(got)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_holds_at_any_moment_around_a_wait_ends_it_once_its_waker_is_called() {
        const FAR: Duration = Duration::from_secs(60);
        let (inbox, _requests) = sync_channel(1);
        let id = "20260527T143000123Z-a1b2c3".parse().unwrap();
        let handle = FlowHandle::new(id, inbox, Arc::default());
        let begun = Instant::now();
        for _ in 0..2_000 {
            let holds = Arc::new(AtomicBool::new(false));
            let (waker, set) = (handle.waker(), Arc::clone(&holds));
            let other = std::thread::spawn(move || {
                set.store(true, Ordering::SeqCst);
                waker()
            });
            let seen = handle.wait_unless(0, FAR, || holds.load(Ordering::SeqCst));
            assert!(seen.is_none() && other.join().unwrap());
        }
        // One that slept through its call would have slept for a minute.
        assert!(begun.elapsed() < FAR);
        let waker = handle.waker();
        drop(handle);
        assert!(!waker());
    }
}
