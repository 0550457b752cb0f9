//! Where the systems of a run live.

use std::num::NonZeroUsize;

use dovetail_core::{SingleThread, System, Workers};
use dovetail_workers::Threads;

use crate::diagnostic::Problem;

/// Where the systems of a run live. The numbers of a run do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// In the calling thread, one after the other: nothing is faster for light systems.
    #[default]
    SingleThread,
    /// In so many threads, the calling one among them; no more than there are systems.
    Threads(NonZeroUsize),
}

impl Placement {
    /// Threads, one for each core.
    pub fn all_cores() -> Self {
        Self::Threads(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// Puts the systems where they are to live.
    pub(crate) fn place(self, systems: Vec<Box<dyn System>>) -> Result<Box<dyn Workers>, Problem> {
        match self {
            Self::SingleThread => Ok(Box::new(SingleThread::new(systems))),
            Self::Threads(threads) => match Threads::new(systems, threads) {
                Ok(workers) => Ok(Box::new(workers)),
                Err(error) => Err(Problem::general(format!("{threads} threads could not be started: {error}"))
                    .help("choose a smaller --worker-threads; more than there are cores bring nothing")),
            },
        }
    }
}
