//! The units, shared among threads that live as long as the run.
//!
//! Every unit does its job from what is on the board alone, so the results do not depend on who does it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::Scope;

use super::board::Board;
use super::unit::{Job, Unit};

/// All units and the board between them.
pub(super) struct Workshop {
    units: Vec<Mutex<Unit>>,
    board: RwLock<Board>,
}

impl Workshop {
    pub fn new(units: Vec<Unit>, board: Board) -> Self {
        Self {
            units: units.into_iter().map(Mutex::new).collect(),
            board: RwLock::new(board),
        }
    }

    /// The share of one of `count` workers.
    fn work(&self, job: Job, worker: usize, count: usize) {
        let board = self.board.read().expect("BUG: a unit has panicked");
        for unit in self.units.iter().skip(worker).step_by(count) {
            unit.lock()
                .expect("BUG: a unit has panicked")
                .perform(job, &board);
        }
    }
}

/// Threads at work in a workshop; the caller's is one of them.
pub(super) struct Crew<'w> {
    workshop: &'w Workshop,
    others: Vec<(Sender<Job>, Receiver<()>)>,
}

impl<'w> Crew<'w> {
    /// Starts what `threads` there are beside the caller's, but not more than can be busy. They end with the crew.
    pub fn hire<'s>(workshop: &'w Workshop, threads: usize, scope: &'s Scope<'s, '_>) -> Self
    where
        'w: 's,
    {
        let count = threads.min(workshop.units.len()).max(1);
        let other = |worker: usize| {
            let (jobs, to_do) = channel();
            let (finished, done) = channel();
            scope.spawn(move || {
                while let Ok(job) = to_do.recv() {
                    workshop.work(job, worker, count);
                    if finished.send(()).is_err() {
                        break;
                    }
                }
            });
            (jobs, done)
        };
        Self {
            workshop,
            others: (1..count).map(other).collect(),
        }
    }

    /// Has every unit do a job.
    pub fn perform(&self, job: Job) {
        for (jobs, _) in &self.others {
            jobs.send(job).expect("BUG: a worker has gone");
        }
        self.workshop.work(job, 0, self.others.len() + 1);
        for (_, done) in &self.others {
            done.recv().expect("BUG: a worker has gone");
        }
    }

    pub fn board(&self) -> RwLockReadGuard<'_, Board> {
        self.workshop
            .board
            .read()
            .expect("BUG: a unit has panicked")
    }

    pub fn board_mut(&self) -> RwLockWriteGuard<'_, Board> {
        self.workshop
            .board
            .write()
            .expect("BUG: a unit has panicked")
    }

    /// One unit after the other.
    pub fn units(&self) -> impl Iterator<Item = MutexGuard<'_, Unit>> {
        self.workshop
            .units
            .iter()
            .map(|unit| unit.lock().expect("BUG: a unit has panicked"))
    }
}
