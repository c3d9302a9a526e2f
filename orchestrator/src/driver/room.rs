//! Room for turns: how many run at once in the process, over all its flows.

use std::sync::{Arc, Mutex, PoisonError};

/// Places for turns, shared by all clones.
#[derive(Debug, Clone)]
pub(crate) struct Room(Arc<Mutex<usize>>);

/// A place that a turn has; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct TakenPlace(Room);

impl Room {
    /// Room for so many turns.
    #[must_use]
    pub(crate) fn new(places: usize) -> Self {
        Self(Arc::new(Mutex::new(places)))
    }

    /// How many places are free.
    #[must_use]
    pub(crate) fn free(&self) -> usize {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, if one is free.
    #[must_use]
    pub(crate) fn take(&self) -> Option<TakenPlace> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(TakenPlace(self.clone()))
    }
}

/// The room of one flow: what the process has, and how many of its places the flow may take.
#[derive(Debug)]
pub(super) struct TurnRoom {
    room: Room,
    at_once: usize,
    /// Whether work waits for room that other flows of the process take.
    crowded: bool,
}

/// The places that were free for a flow when it was looked at.
#[derive(Debug)]
pub(super) struct FreePlaces {
    left: usize,
    /// Whether the process has fewer than the flow may take.
    is_shared: bool,
}

impl FreePlaces {
    pub(super) const fn has_place(&self) -> bool {
        self.left > 0
    }

    /// Whether none is left because of other flows.
    pub(super) const fn is_taken_by_others(&self) -> bool {
        self.is_shared && self.left == 0
    }

    pub(super) const fn take(&mut self) {
        self.left = self.left.saturating_sub(1);
    }
}

impl TurnRoom {
    pub(super) const fn new(room: Room, at_once: usize) -> Self {
        Self {
            room,
            at_once,
            crowded: false,
        }
    }

    /// The flow runs so many turns at once, but one at the least.
    pub(super) const fn limit(&mut self, at_once: usize) {
        self.at_once = if at_once == 0 { 1 } else { at_once };
    }

    /// Takes its places from this room from now on.
    #[cfg(test)]
    pub(super) fn share(&mut self, room: Room) {
        self.room = room;
    }

    /// The places that are free for a flow of which so many turns run.
    pub(super) fn look(&mut self, live: usize) -> FreePlaces {
        self.crowded = false;
        let own = self.at_once.saturating_sub(live);
        let free = self.room.free();
        FreePlaces {
            left: own.min(free),
            is_shared: free < own,
        }
    }

    /// Work waits for a place that another flow has.
    pub(super) const fn crowd(&mut self) {
        self.crowded = true;
    }

    pub(super) const fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Takes a place, if one is free.
    pub(super) fn take(&self) -> Option<TakenPlace> {
        self.room.take()
    }
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        let mut free = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *free += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_once_and_comes_back_when_its_turn_is_over() {
        let room = Room::new(2);
        let (first, second) = (room.take(), room.clone().take());
        assert!(first.is_some() && second.is_some());
        assert!(room.take().is_none());
        drop(first);
        assert_eq!(room.free(), 1);
        assert!(room.take().is_some());
    }

    #[test]
    fn a_flow_takes_no_more_than_its_own_places_nor_than_are_free() {
        let process = Room::new(2);
        let mut own = TurnRoom::new(process.clone(), 3);
        let mut free = own.look(1);
        free.take();
        assert!(free.has_place());
        free.take();
        assert!(!free.has_place() && !free.is_taken_by_others());
        let other = process.take();
        let mut free = own.look(0);
        free.take();
        assert!(free.is_taken_by_others());
        own.crowd();
        drop(other);
        assert!(own.is_crowded() && own.look(0).has_place() && !own.is_crowded());
        own.limit(0);
        assert!(own.look(0).has_place() && !own.look(1).has_place());
    }
}
