//! Where the systems of a run live.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use dovetail_core::{Notice, Remedy, System, Workers};
use dovetail_fmi::{NOTEBOOK_WORDS, calls_under_way};
use dovetail_methods::MethodKind;
#[cfg(feature = "mpi")]
use dovetail_workers::Network;
use dovetail_workers::{
    Auto, AutoOptions, NOTE_WORDS, ProcessPool, SingleThread, StopFlag, Threads,
};

use crate::diagnostic::Problem;
use crate::process::texts::TEXTS;

/// Where the systems of a run live. The numbers of a run do not depend on it.
#[derive(Clone, Debug, Default)]
pub enum Placement {
    /// In the calling thread or in several, whichever is faster: that is measured in the first steps.
    #[default]
    Auto,
    /// In the calling thread, one after the other.
    SingleThread,
    /// In so many threads, the calling one among them, or one for each core; no more than there are systems.
    Threads(Option<NonZeroUsize>),
    /// Each in a process of its own: none can take the program with it.
    Processes(ProcessPool),
    /// On the ranks of an MPI program, of which this one is the first.
    #[cfg(feature = "mpi")]
    Ranks(RankPlacement),
}

/// How systems are spread over ranks.
#[cfg(feature = "mpi")]
#[derive(Clone, Copy, Debug)]
pub struct RankPlacement {
    /// All ranks; the others call [`serve_rank`](crate::serve_rank).
    pub network: &'static Network,
    /// Whether this rank has no systems of its own.
    pub orchestrator_only: bool,
}

#[cfg(feature = "mpi")]
impl RankPlacement {
    /// The ranks that have systems.
    pub(crate) fn owners(&self) -> std::ops::Range<usize> {
        usize::from(self.orchestrator_only)..self.network.size()
    }
}

impl Placement {
    /// In processes of `program`, which calls [`serve_worker`](crate::serve_worker) when it is started
    /// with these arguments. One that does not answer within `limit`, or for two seconds after `interrupted` is raised, is
    /// killed.
    pub fn processes(
        program: PathBuf,
        arguments: &[&str],
        limit: Option<Duration>,
        interrupted: impl Into<StopFlag>,
    ) -> Self {
        Self::Processes(helpers(program, arguments, limit, interrupted))
    }

    /// Puts the systems where they are to live. Those of one group may share memory, and are asked one after the other
    /// unless threads were asked for.
    pub(crate) fn place(
        &self,
        systems: Vec<Box<dyn System>>,
        groups: Vec<usize>,
        kind: &dyn MethodKind,
    ) -> Result<Box<dyn Workers>, Problem> {
        match self {
            Self::Auto => {
                let options = AutoOptions {
                    groups,
                    one_at_a_time: kind.properties().one_at_a_time,
                    threads: None,
                };
                Ok(Box::new(Auto::new(systems, options)))
            }
            Self::SingleThread => Ok(Box::new(SingleThread::new(systems))),
            // Systems elsewhere are placed when they are made.
            Self::Processes(_) => Ok(Box::new(SingleThread::new(systems))),
            #[cfg(feature = "mpi")]
            Self::Ranks(_) => Ok(Box::new(SingleThread::new(systems))),
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
            #[cfg(feature = "mpi")]
            Self::Ranks(ranks) => ranks.warning(kind, systems),
            _ => None,
        }
    }
}

#[cfg(feature = "mpi")]
impl RankPlacement {
    /// What of the ranks had no effect on so many systems.
    pub fn idle_warning(&self, systems: usize) -> Option<Notice> {
        let ranks = self.owners().len();
        if self.network.size() == 1 {
            let text = "there is only one rank, and all systems ran on it";
            return Some(Notice::from(text.to_owned()).with([Remedy::MoreRanks]));
        }
        if ranks > systems {
            let idle = ranks - systems;
            let text =
                format!("{idle} of {ranks} ranks had nothing to do: there are {systems} systems");
            return Some(text.into());
        }
        None
    }

    fn warning(&self, kind: &dyn MethodKind, systems: usize) -> Option<Notice> {
        let idle = self.idle_warning(systems);
        if idle.is_some() {
            return idle;
        }

        let ranks = self.owners().len();
        let name = kind.name();
        let one_at_a_time = kind.properties().one_at_a_time && ranks > 1;
        one_at_a_time.then(|| {
            let text = format!("{name} asks one system at a time: the ranks took turns");
            text.into()
        })
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
    interrupted: impl Into<StopFlag>,
) -> ProcessPool {
    ProcessPool::new(program, arguments, TEXTS)
        .describing(|page| calls_under_way(Some(page)))
        .watched(limit, Some(interrupted.into()))
}

const _: () = assert!(
    NOTE_WORDS >= NOTEBOOK_WORDS,
    "calls fit the page of a process"
);
