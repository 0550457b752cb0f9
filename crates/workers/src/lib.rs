//! Where systems live.
//!
//! [`SingleThread`] keeps them in the calling thread, [`Threads`] spreads them over threads of this process, [`Auto`] does either, whichever is
//! faster, [`Processes`] gives each a process of its own, and with the feature `mpi` `Ranks` spreads them over the ranks of an MPI program. Each
//! system is asked the same questions in the same order as under [`SingleThread`], so that a run does not depend on where its
//! systems live, to the last bit.

mod answering;
mod assignment;
mod auto;
mod conversation;
mod dictionary;
mod flat_systems;
mod handoff;
mod introduction;
mod message;
mod operator_workspaces;
mod partition;
mod processes;
mod question;
#[cfg(feature = "mpi")]
mod ranks;
mod remote_system;
mod remote_task;
mod single_thread;
mod slot;
mod stopwatch;
mod text_table;
mod threads;
mod wire;
mod words;

pub use auto::{Auto, AutoOptions};
pub use processes::{
    FinalNotes, NOTE_WORDS, ProcessError, ProcessLoss, ProcessPool, Processes, Remote, StartError,
    StopFlag, SystemEnd, SystemFactory, SystemRequest, TaskProcess, serve,
};
#[cfg(feature = "mpi")]
pub use ranks::{
    Making, Network, RankError, RankLoss, RankPlace, RankSystem, Ranks, ServiceError, ServiceLink,
    deal, dismiss_ranks, measure_on_ranks, serve_rank,
};
pub use single_thread::SingleThread;
pub use text_table::TextTable;
pub use threads::Threads;
pub use wire::{Reader, Writer};
