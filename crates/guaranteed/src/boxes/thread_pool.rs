//! The subsystems that are computed here, shared among threads that live as long as the run.
//!
//! Every subsystem does its job from what is in the shared step alone, so the results do not depend
//! on who does it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::Scope;

use super::jobs::{Job, Report};
use super::shared_step::SharedStep;
use super::subsystem::Subsystem;

/// All subsystems and the step that they share.
pub(super) struct SharedWork {
    subsystems: Vec<Mutex<Reporting>>,
    step: RwLock<SharedStep>,
}

/// A subsystem with what came of its last job.
struct Reporting {
    subsystem: Subsystem,
    report: Option<Report>,
}

impl SharedWork {
    pub fn new(subsystems: Vec<Subsystem>, step: SharedStep) -> Self {
        let reporting = |subsystem| Reporting {
            subsystem,
            report: None,
        };
        let subsystems = subsystems.into_iter().map(reporting);
        Self {
            subsystems: subsystems.map(Mutex::new).collect(),
            step: RwLock::new(step),
        }
    }

    /// The share of one of `count` workers.
    fn work(&self, job: Job, worker: usize, count: usize) {
        let step = self.step();
        for reporting in self.subsystems.iter().skip(worker).step_by(count) {
            let mut reporting = lock(reporting);
            reporting.report = Some(reporting.subsystem.perform(job, &step));
        }
    }

    fn step(&self) -> RwLockReadGuard<'_, SharedStep> {
        self.step.read().expect("BUG: a subsystem has panicked")
    }
}

fn lock(reporting: &Mutex<Reporting>) -> MutexGuard<'_, Reporting> {
    reporting.lock().expect("BUG: a subsystem has panicked")
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

    /// Has every subsystem do a job; what came of it, one subsystem after the other.
    pub fn perform(&self, job: Job) -> Vec<Report> {
        for (jobs, _) in &self.others {
            jobs.send(job).expect("BUG: a worker has gone");
        }

        self.work.work(job, 0, self.others.len() + 1);
        for (_, done) in &self.others {
            done.recv().expect("BUG: a worker has gone");
        }

        let subsystems = self.work.subsystems.iter();
        let report = |reporting| lock(reporting).report.take();
        subsystems.filter_map(report).collect()
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
}
