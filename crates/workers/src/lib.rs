//! Where systems live.
//!
//! [`SingleThread`] keeps them in the calling thread, [`Threads`] spreads them over threads of this process, [`Processes`] gives each a process of its
//! own. Each system is asked the same questions in the same order as under
//! [`SingleThread`], so that a run does not depend on where its
//! systems live, to the last bit.

mod handoff;
mod partition;
mod processes;
mod single_thread;
mod slot;
mod stopwatch;
mod threads;

pub use processes::{
    FinalNotes, NOTE_WORDS, ProcessError, ProcessLoss, ProcessPool, Processes, Reader, Remote,
    StartError, SystemEnd, SystemFactory, SystemRequest, TaskProcess, TextTable, Writer, serve,
};
pub use single_thread::SingleThread;
pub use threads::Threads;
