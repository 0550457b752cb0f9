//! Steps that are given up, because someone who waits for their end does not want to wait longer.
//!
//! A run is interrupted between its steps. One step may take for ever without any call of it doing
//! so: an FMU that returns early again and again, an integrator that crawls. Then the next call is
//! not made.

use std::sync::atomic::{AtomicBool, Ordering};

static ABANDONED: AtomicBool = AtomicBool::new(false);
static LOADING_ABANDONED: AtomicBool = AtomicBool::new(false);

/// From now on no archive is unpacked: what is under way ends with an error, and leaves nothing.
pub fn abandon_loading() {
    LOADING_ABANDONED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_loading_abandoned() -> bool {
    LOADING_ABANDONED.load(Ordering::Relaxed)
}

/// From now on no function of an FMU is called in this process, but those that free what it has.
pub fn abandon_steps() {
    ABANDONED.store(true, Ordering::Relaxed);
}

/// Functions of FMUs may be called again, in a program that makes another run.
pub fn permit_steps() {
    ABANDONED.store(false, Ordering::Relaxed);
}

#[inline]
pub(crate) fn is_abandoned() -> bool {
    ABANDONED.load(Ordering::Relaxed)
}
