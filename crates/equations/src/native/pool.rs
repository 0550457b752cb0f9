//! Rooms to work in, handed from system to system, one for each lane.

use std::sync::{Mutex, PoisonError};

/// Beyond so many, a lane takes any.
const MOST: usize = 64;

/// What is not in use. A lane gets back what it had before: what was found there is then known,
/// and nothing more is made once every lane has had its turn.
pub(super) struct Pool<T> {
    idle: Mutex<Vec<Idle<T>>>,
}

struct Idle<T> {
    /// The lane that had it last.
    lane: usize,
    item: Box<T>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self {
            idle: Mutex::default(),
        }
    }
}

impl<T> Pool<T> {
    /// The one that this lane had last, made where there is none.
    pub fn take(&self, lane: usize, make: impl FnOnce() -> Box<T>) -> Box<T> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let own = idle.iter().rposition(|idle| idle.lane == lane);
        let any = (idle.len() >= MOST).then(|| idle.len() - 1);
        let found = own.or(any).map(|place| idle.swap_remove(place).item);
        drop(idle);
        found.unwrap_or_else(make)
    }

    /// It is not in use any more.
    pub fn give(&self, lane: usize, item: Box<T>) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Idle { lane, item });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_gets_back_what_it_had() {
        let pool = Pool::default();
        pool.give(0, Box::new(1));
        assert_eq!(*pool.take(1, || Box::new(2)), 2, "the other is not its own");
        pool.give(1, Box::new(2));
        assert_eq!(*pool.take(0, || Box::new(3)), 1);
        assert_eq!(*pool.take(1, || Box::new(3)), 2);
    }

    #[test]
    fn there_are_never_too_many() {
        let pool = Pool::default();
        (0..MOST).for_each(|lane| pool.give(lane, Box::new(0)));
        assert_eq!(*pool.take(MOST, || Box::new(1)), 0);
    }
}
