//! Who wants runs to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is raised once runs are to end: all those of a program, or one of several in one process.
#[derive(Clone, Debug)]
pub enum StopFlag {
    /// The program is asked to end.
    Program(&'static AtomicBool),
    /// One run is.
    Run(Arc<AtomicBool>),
}

impl StopFlag {
    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        match self {
            Self::Program(flag) => flag.load(Ordering::Relaxed),
            Self::Run(flag) => flag.load(Ordering::Relaxed),
        }
    }
}

impl From<&'static AtomicBool> for StopFlag {
    fn from(flag: &'static AtomicBool) -> Self {
        Self::Program(flag)
    }
}

impl From<Arc<AtomicBool>> for StopFlag {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self::Run(flag)
    }
}
