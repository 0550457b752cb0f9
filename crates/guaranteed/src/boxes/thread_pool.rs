//! The subsystems, shared among threads that live as long as the run.
//!
//! Every subsystem does its job from what is in the shared step alone, so the results do not depend
//! on who does it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::Scope;

use super::shared_step::SharedStep;
use super::subsystem::{Job, Subsystem};

/// All subsystems and the step that they share.
pub(super) struct SharedWork {
    subsystems: Vec<Mutex<Subsystem>>,
    step: RwLock<SharedStep>,
}

impl SharedWork {
    pub fn new(subsystems: Vec<Subsystem>, step: SharedStep) -> Self {
        Self {
            subsystems: subsystems.into_iter().map(Mutex::new).collect(),
            step: RwLock::new(step),
        }
    }

    /// The share of one of `count` workers.
    fn work(&self, job: Job, worker: usize, count: usize) {
        let step = self.step();
        for subsystem in self.subsystems.iter().skip(worker).step_by(count) {
            lock(subsystem).perform(job, &step);
        }
    }

    fn step(&self) -> RwLockReadGuard<'_, SharedStep> {
        self.step.read().expect("BUG: a subsystem has panicked")
    }
}

fn lock(subsystem: &Mutex<Subsystem>) -> MutexGuard<'_, Subsystem> {
    subsystem.lock().expect("BUG: a subsystem has panicked")
}

/// Threads at work; the caller's is one of them.
pub(super) struct ThreadPool<'w> {
    work: &'w SharedWork,
    others: Vec<(Sender<Job>, Receiver<()>)>,
}

impl<'w> ThreadPool<'w> {
    /// Starts what `threads` there are beside the caller's, but not more than can be busy. They end
    /// with the pool.
    pub fn start<'s>(work: &'w SharedWork, threads: usize, scope: &'s Scope<'s, '_>) -> Self
    where
        'w: 's,
    {
        let count = threads.min(work.subsystems.len()).max(1);
        let other = |worker: usize| {
            let (jobs, to_do) = channel();
            let (finished, done) = channel();
            scope.spawn(move || {
                while let Ok(job) = to_do.recv() {
                    work.work(job, worker, count);
                    if finished.send(()).is_err() {
                        break;
                    }
                }
            });
            (jobs, done)
        };

        Self {
            work,
            others: (1..count).map(other).collect(),
        }
    }

    /// Has every subsystem do a job.
    pub fn perform(&self, job: Job) {
        for (jobs, _) in &self.others {
            jobs.send(job).expect("BUG: a worker has gone");
        }

        self.work.work(job, 0, self.others.len() + 1);
        for (_, done) in &self.others {
            done.recv().expect("BUG: a worker has gone");
        }
    }

    pub fn step(&self) -> RwLockReadGuard<'_, SharedStep> {
        self.work.step()
    }

    pub fn step_mut(&self) -> RwLockWriteGuard<'_, SharedStep> {
        self.work
            .step
            .write()
            .expect("BUG: a subsystem has panicked")
    }

    /// One subsystem after the other.
    pub fn subsystems(&self) -> impl Iterator<Item = MutexGuard<'_, Subsystem>> {
        self.work.subsystems.iter().map(lock)
    }
}
