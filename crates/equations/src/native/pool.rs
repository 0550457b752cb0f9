//! Rooms to work in, handed from system to system.

use std::sync::{Mutex, PoisonError};

/// What is not in use. There are as many as were ever in use at once: one for each thread.
pub(super) struct Pool<T> {
    idle: Mutex<Vec<Box<T>>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self {
            idle: Mutex::default(),
        }
    }
}

impl<T> Pool<T> {
    /// One that is not in use, made where there is none.
    pub fn take(&self, make: impl FnOnce() -> Box<T>) -> Box<T> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        idle.unwrap_or_else(make)
    }

    /// It is not in use any more.
    pub fn give(&self, item: Box<T>) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(item);
    }
}
