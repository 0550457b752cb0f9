//! Where the systems of a run live.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use dovetail_core::{SingleThread, System, Workers};
use dovetail_workers::Threads;

use crate::diagnostic::Problem;

/// Where the systems of a run live. The numbers of a run do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// In the calling thread, one after the other: nothing is faster for light systems.
    #[default]
    SingleThread,
    /// In so many threads, the calling one among them, or one for each core; no more than there are systems.
    Threads(Option<NonZeroUsize>),
}

impl Placement {
    /// Puts the systems where they are to live.
    pub(crate) fn place(self, systems: Vec<Box<dyn System>>) -> Result<Box<dyn Workers>, Problem> {
        match self {
            Self::SingleThread => Ok(Box::new(SingleThread::new(systems))),
            Self::Threads(asked) => {
                let threads = asked.or_else(|| available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
                let refused = |error| {
                    Problem::general(format!("the threads of --worker-threads {threads} could not be started: {error}"))
                        .help("choose fewer; more than there are cores bring nothing")
                };
                let workers = Threads::new(systems, threads).map_err(refused)?;
                Ok(Box::new(workers))
            }
        }
    }

    /// What of the choice had no effect on a run of so many systems by this method.
    pub(crate) fn warning(self, method: &str, systems: usize) -> Option<String> {
        match self {
            Self::Threads(Some(threads)) if threads.get() > systems => {
                Some(format!("--worker-threads {threads} was lowered to {systems}: there are no more systems"))
            }
            Self::Threads(threads) if method == "gauss-seidel" && threads != Some(NonZeroUsize::MIN) => {
                Some("gauss-seidel asks one system at a time: one thread did all the work".to_owned())
            }
            _ => None,
        }
    }
}
