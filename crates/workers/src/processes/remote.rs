//! A system that lives in another process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dovetail_core::{Error, Remedy};

use crate::introduction::read_interface;
use crate::message::words;
use crate::processes::lost::ProcessLoss;
use crate::processes::memory::{Put, Take};
use crate::processes::process_pool::{Process, ProcessError, ProcessPool, kill_together};
use crate::question::{DONE, Question};
use crate::remote_system::{Link, RemoteSystem};
use crate::text_table::TextTable;
use crate::words::{PutWords, TakeWords};

/// What there is to say of a system when its run is over.
#[derive(Clone, Debug, Default)]
pub struct SystemEnd {
    /// What it has to report; empty until then.
    pub notes: Vec<u8>,
    /// How its process was lost while the system was ended.
    pub lost: Option<String>,
}

/// The end of a system, once it has come.
pub type FinalNotes = Arc<Mutex<SystemEnd>>;

/// What is to live in a process.
#[derive(Clone, Debug)]
pub struct SystemRequest {
    /// The system's name.
    pub name: String,
    /// What the process is started for; processes of earlier runs with the same job are used again.
    pub job: Vec<u8>,
    /// The system it is to make.
    pub make: Vec<u8>,
    /// The process is not used for another system afterwards.
    pub once: bool,
}

/// Why a system does not live in its process.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no process.
    #[error("the process of system `{system}` could not be started: {source}")]
    NoProcess {
        /// Whose.
        system: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// There is no system: in the words of the process.
    #[error("{0}")]
    Refused(String),
    /// The process ended, or had to be ended.
    #[error("system `{system}` could not be made: {lost}")]
    Lost {
        /// Which one.
        system: String,
        /// How.
        lost: ProcessLoss,
    },
}

impl StartError {
    /// What to try, or to look at.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Lost { lost, .. } => lost.remedies(),
            Self::NoProcess { .. } | Self::Refused(_) => Vec::new(),
        }
    }
}

/// A system that lives in another process. If that ends, or does not answer for too long, the next
/// answer is an error that says how it was [lost](ProcessLoss).
pub type Remote = RemoteSystem<ProcessLink>;

/// The way to a process in which one system lives.
pub struct ProcessLink {
    pool: ProcessPool,
    /// Present until the system is dropped.
    process: Option<Process>,
    end: FinalNotes,
    /// Whether the process may not be used again.
    once: bool,
}

impl SystemRequest {
    fn no_process(&self, source: std::io::Error) -> StartError {
        StartError::NoProcess {
            system: self.name.clone(),
            source,
        }
    }

    fn lost(&self, lost: ProcessLoss) -> StartError {
        StartError::Lost {
            system: self.name.clone(),
            lost,
        }
    }
}

impl Remote {
    /// Makes the systems, each in a process of its own, all at once.
    pub fn make(pool: &ProcessPool, orders: &[SystemRequest]) -> Result<Vec<Self>, StartError> {
        let began = Instant::now();
        let mut processes = Vec::with_capacity(orders.len());

        for order in orders {
            if pool.is_interrupted() {
                kill_together(processes);
                return Err(order.lost(ProcessLoss::interrupted(Duration::ZERO)));
            }
            let process = pool.process(&order.job);
            let mut process = process.map_err(|source| order.no_process(source))?;
            // One that is gone already is found out below.
            let _ = process.make(&order.make);
            processes.push(process);
        }

        // All answers are received before the first failure is reported: the other processes can
        // then be used again.
        let mut completed = Vec::with_capacity(orders.len());
        let mut waiting = processes.into_iter();
        for order in orders {
            let Some(process) = waiting.next() else { break };
            completed.push(Self::introduced(pool, process, order, began));
            if pool.is_interrupted() {
                kill_together(waiting.collect());
                return Err(order.lost(ProcessLoss::interrupted(Duration::ZERO)));
            }
        }
        completed.into_iter().collect()
    }

    fn introduced(
        pool: &ProcessPool,
        mut process: Process,
        order: &SystemRequest,
        began: Instant,
    ) -> Result<Self, StartError> {
        let face = match process.made(pool, began) {
            Ok(face) => face,
            Err(ProcessError::Said(why)) => {
                if !order.once {
                    pool.keep(process);
                }
                return Err(StartError::Refused(why));
            }
            Err(ProcessError::Lost(lost)) => return Err(order.lost(lost)),
        };
        let Some((interface, capabilities)) = read_interface(&face, pool.texts()) else {
            return Err(order.lost(process.lose(ProcessLoss::Confused)));
        };
        let memory = process.give_memory(words(&interface));
        memory.map_err(|source| order.no_process(source))?;

        let link = ProcessLink {
            pool: pool.clone(),
            process: Some(process),
            end: FinalNotes::default(),
            once: order.once,
        };
        Ok(Self::new(interface, capabilities, link))
    }

    /// Where its final notes will be found when the system is dropped.
    pub fn final_notes(&self) -> FinalNotes {
        self.link.end.clone()
    }
}

impl ProcessLink {
    fn process(&mut self) -> &mut Process {
        self.process
            .as_mut()
            .expect("BUG: the process is there until the system is dropped")
    }
}

impl Link for ProcessLink {
    type Loss = ProcessLoss;
    type Put<'a> = Put<'a>;
    type Take<'a> = Take<'a>;

    fn put(&mut self) -> Put<'_> {
        Put::new(self.process().body())
    }

    fn send(&mut self) -> Result<(), ProcessLoss> {
        self.process().request()
    }

    fn wait(&mut self, began: Instant) -> Result<(), ProcessLoss> {
        let watch = self.pool.watch(began);
        self.process().wait(watch)
    }

    fn take(&mut self) -> Take<'_> {
        Take::new(self.process().body())
    }

    fn confused(&mut self) -> ProcessLoss {
        self.process().lose(ProcessLoss::Confused)
    }

    fn failure(system: &str, time: f64, loss: ProcessLoss) -> Error {
        let remedies = loss.remedies();
        Error::system(system, time, loss).with(remedies)
    }

    fn texts(&self) -> TextTable {
        self.pool.texts()
    }
}

impl Drop for ProcessLink {
    /// The system leaves its process, which reports what it noted and is kept for the next one.
    fn drop(&mut self) {
        let Some(mut process) = self.process.take().filter(|process| !process.is_lost()) else {
            return;
        };
        Put::new(process.body()).word(Question::Leave as u64);

        if process
            .request()
            .and_then(|()| process.wait(self.pool.watch_leaving()))
            .is_err()
        {
            let lost = process.loss().map(ProcessLoss::briefly);
            let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            end.lost = lost;
            return;
        }

        let mut take = Take::new(process.body());
        if take.word() == DONE {
            let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            end.notes = take.bytes();
        }

        if !self.once {
            self.pool.keep(process);
        }
    }
}
