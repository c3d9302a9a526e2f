//! Room for turns: how many run at once in the process, over all its flows.

use std::sync::{Arc, Mutex, PoisonError};

/// Places for turns, shared by all clones.
#[derive(Debug, Clone)]
pub struct Room(Arc<Mutex<usize>>);

/// A place that a turn has; given back when it is dropped.
#[derive(Debug)]
pub struct TakenPlace(Room);

impl Room {
    /// Room for so many turns.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self(Arc::new(Mutex::new(places)))
    }

    /// How many places are free.
    #[must_use]
    pub fn free(&self) -> usize {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, if one is free.
    #[must_use]
    pub fn take(&self) -> Option<TakenPlace> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(TakenPlace(self.clone()))
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
}
