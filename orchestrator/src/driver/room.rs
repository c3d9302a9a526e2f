//! Room for turns: how many run at once in the process, over all its flows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Places for turns, shared by all clones.
#[derive(Debug, Clone)]
pub(crate) struct Room(Arc<Mutex<SharedPlaces>>);

/// What all flows of a process share.
struct SharedPlaces {
    free: usize,
    /// The bells of flows that wait for a place.
    waiting: Vec<RoomBell>,
}

/// Rings for a flow that waits for a place.
pub(super) type RoomBell = Arc<dyn Fn() + Send + Sync>;

impl std::fmt::Debug for SharedPlaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = self.waiting.len();
        write!(f, "{} free, {waiting} waiting", self.free)
    }
}

/// A place that a turn has; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct TakenPlace(Room);

impl Room {
    /// Room for so many turns.
    #[must_use]
    pub(crate) fn new(places: usize) -> Self {
        Self(Arc::new(Mutex::new(SharedPlaces {
            free: places,
            waiting: Vec::new(),
        })))
    }

    fn places(&self) -> MutexGuard<'_, SharedPlaces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many places are free.
    #[must_use]
    pub(crate) fn free(&self) -> usize {
        self.places().free
    }

    /// Rings this bell once, as soon as a place is free.
    fn ring_when_free(&self, bell: RoomBell) {
        let mut places = self.places();
        // A flow that is in the way of itself waits once.
        places.waiting.retain(|other| !Arc::ptr_eq(other, &bell));
        if places.free == 0 {
            places.waiting.push(bell);
        } else {
            drop(places);
            bell();
        }
    }

    /// How many flows wait for a place.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.places().waiting.len()
    }

    /// Takes a place, if one is free.
    #[must_use]
    pub(crate) fn take(&self) -> Option<TakenPlace> {
        let mut places = self.places();
        places.free = places.free.checked_sub(1)?;
        drop(places);
        Some(TakenPlace(self.clone()))
    }
}

/// The room of one flow: what the process has, and how many of its places the flow may take.
pub(super) struct TurnRoom {
    room: Room,
    at_once: usize,
    /// Whether work waits for room that other flows of the process take.
    crowded: bool,
    /// What wakes the flow then, if it has a thread.
    bell: Option<RoomBell>,
}

impl std::fmt::Debug for TurnRoom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnRoom")
            .field("room", &self.room)
            .field("at_once", &self.at_once)
            .field("crowded", &self.crowded)
            .finish_non_exhaustive()
    }
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
            bell: None,
        }
    }

    /// Rings this bell when a place comes back for which the flow waits.
    pub(super) fn ring(&mut self, bell: RoomBell) {
        self.bell = Some(bell);
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
    pub(super) fn crowd(&mut self) {
        if !std::mem::replace(&mut self.crowded, true)
            && let Some(bell) = &self.bell
        {
            self.room.ring_when_free(Arc::clone(bell));
        }
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
        let mut places = self.0.places();
        places.free += 1;
        let waiting = std::mem::take(&mut places.waiting);
        drop(places);
        // Who comes too late waits again.
        for bell in waiting {
            bell();
        }
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
    fn a_flow_that_waits_for_a_place_hears_once_that_one_is_free_also_if_it_came_back_meanwhile() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let process = Room::new(1);
        let rung = Arc::new(AtomicUsize::new(0));
        let mut own = TurnRoom::new(process.clone(), 1);
        let counted = Arc::clone(&rung);
        own.ring(Arc::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        }));
        let other = process.take();
        assert!(!own.look(0).has_place());
        own.crowd();
        own.crowd();
        assert_eq!(rung.load(Ordering::SeqCst), 0);
        drop(other);
        assert_eq!(rung.load(Ordering::SeqCst), 1);
        drop(process.take());
        assert_eq!(rung.load(Ordering::SeqCst), 1, "it waits no more");
        let other = process.take();
        assert!(!own.look(0).has_place());
        drop(other);
        own.crowd();
        assert_eq!(rung.load(Ordering::SeqCst), 2);
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
