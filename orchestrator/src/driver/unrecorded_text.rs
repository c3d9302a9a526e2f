//! Streamed text that is in no record yet, for those of this process who look on.
//!
//! A batch of streamed text waits longer than a reader does. An onlooker is notified that text
//! streamed, and asks for the pending text when it has time: a slow one does not hold the flow up, and
//! a flow without onlookers does nothing for it.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use a_society_facts::id::{RoleInstance, Seq};

/// An observer of a flow while it moves.
pub trait Onlooker: Debug + Send + Sync {
    /// Text streamed. This is called by the flow's own task, and must not wait for anything.
    fn streamed(&self);
}

/// Text that streamed after a record and is in none yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ahead {
    /// Who speaks.
    pub role: RoleInstance,
    /// The record of a draft that it goes on from.
    pub after: Seq,
    /// The text.
    pub text: String,
}

/// Those who look on.
#[derive(Debug, Default)]
pub(super) struct Onlookers(Mutex<Vec<Weak<dyn Onlooker>>>);

impl Onlookers {
    /// One more, if it is not there yet.
    pub(super) fn add(&self, onlooker: &Arc<dyn Onlooker>) {
        let mut list = self.list();
        list.retain(|known| known.strong_count() > 0);
        let new = Arc::downgrade(onlooker);
        if !list.iter().any(|known| known.ptr_eq(&new)) {
            list.push(new);
        }
    }

    /// Text streamed.
    pub(super) fn tell(&self) {
        for onlooker in self.list().iter().filter_map(Weak::upgrade) {
            onlooker.streamed();
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<Weak<dyn Onlooker>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
