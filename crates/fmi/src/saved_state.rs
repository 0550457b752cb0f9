//! The place of a saved state: an instance restores it, and a batch that steps the instance may save it.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::ffi::FmuState;

/// Null, or a state of one component, which is used by one thread at a time.
#[derive(Clone)]
pub(crate) struct SavedState(Arc<AtomicPtr<c_void>>);

impl SavedState {
    pub fn none() -> Self {
        Self(Arc::new(AtomicPtr::new(null_mut())))
    }

    /// For functions of the FMU, which write it. It stays where it is.
    pub fn place(&self) -> *mut FmuState {
        self.0.as_ptr()
    }

    /// The state was freed.
    pub fn clear(&self) {
        self.0.store(null_mut(), Ordering::Relaxed);
    }

    pub fn state(&self) -> FmuState {
        self.0.load(Ordering::Relaxed)
    }
}
