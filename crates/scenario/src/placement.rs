//! Where the systems of a run live.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Duration;

use dovetail_core::{Notice, Remedy, System, Workers};
use dovetail_fmi::{NOTEBOOK_WORDS, calls_under_way};
use dovetail_methods::MethodKind;
use dovetail_workers::{NOTE_WORDS, ProcessPool, SingleThread, Threads};

use crate::diagnostic::Problem;
use crate::process::texts::TEXTS;

/// Where the systems of a run live. The numbers of a run do not depend on it.
#[derive(Clone, Debug, Default)]
pub enum Placement {
    /// In the calling thread, one after the other: nothing is faster for light systems.
    #[default]
    SingleThread,
    /// In so many threads, the calling one among them, or one for each core; no more than there are systems.
    Threads(Option<NonZeroUsize>),
    /// Each in a process of its own: none can take the program with it.
    Processes(ProcessPool),
}

impl Placement {
    /// In processes of `program`, which calls [`serve_worker`](crate::serve_worker) when it is started
    /// with these arguments. One that does not answer within `limit`, or for two seconds after `interrupted` is raised, is
    /// killed.
    pub fn processes(
        program: PathBuf,
        arguments: &[&str],
        limit: Option<Duration>,
        interrupted: &'static AtomicBool,
    ) -> Self {
        Self::Processes(helpers(program, arguments, limit, interrupted))
    }

    /// Puts the systems where they are to live.
    pub(crate) fn place(&self, systems: Vec<Box<dyn System>>) -> Result<Box<dyn Workers>, Problem> {
        match self {
            // Systems in processes are placed when they are made.
            Self::SingleThread | Self::Processes(_) => Ok(Box::new(SingleThread::new(systems))),
            Self::Threads(asked) => {
                let threads = asked
                    .or_else(|| available_parallelism().ok())
                    .unwrap_or(NonZeroUsize::MIN);
                let refused = |error| threads_not_started(threads, &error);
                let workers = Threads::new(systems, threads).map_err(refused)?;
                Ok(Box::new(workers))
            }
        }
    }

    /// What of the choice had no effect on a run of so many systems by this method.
    pub(crate) fn warning(&self, kind: &dyn MethodKind, systems: usize) -> Option<Notice> {
        let one_at_a_time = kind.properties().one_at_a_time;
        match self {
            Self::Threads(Some(threads)) if threads.get() > systems => {
                let text = format!(
                    "{threads} worker threads were lowered to {systems}: there are no more systems"
                );
                Some(Notice::from(text).with([Remedy::FewerWorkerThreads]))
            }
            Self::Threads(threads) if one_at_a_time && *threads != Some(NonZeroUsize::MIN) => {
                let name = kind.name();
                let text = format!("{name} asks one system at a time: one thread did all the work");
                Some(text.into())
            }
            _ => None,
        }
    }
}

fn threads_not_started(threads: NonZeroUsize, error: &std::io::Error) -> Problem {
    let message = format!(
        "{threads} worker threads could not be started: {error}; more than there are \
         cores bring nothing"
    );
    Problem::general(message).with([Remedy::FewerWorkerThreads])
}

/// Processes of `program`, as for [`Placement::processes`], in which FMUs are tried out before a run.
pub fn helpers(
    program: PathBuf,
    arguments: &[&str],
    limit: Option<Duration>,
    interrupted: &'static AtomicBool,
) -> ProcessPool {
    ProcessPool::new(program, arguments, TEXTS)
        .describing(|page| calls_under_way(Some(page)))
        .watched(limit, Some(interrupted))
}

const _: () = assert!(
    NOTE_WORDS >= NOTEBOOK_WORDS,
    "calls fit the page of a process"
);
