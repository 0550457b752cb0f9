//! All subsystems: those that are computed here, and those that are elsewhere.

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use serde::{Deserialize, Serialize};

use super::jobs::{Job, Report, StateReport};
use super::scheme::Scheme;
use super::shared_step::{SharedStep, StepShare};
use super::subsystem::{StateSet, Subsystem};
use super::thread_pool::ThreadPool;
use crate::api::Integrator;
use crate::distribution::{Distribution, Share};
use crate::interval::Interval;
use crate::places::{Answer, BadMessage, Question, Subject, read};
use crate::problem::Problem;
use crate::system_part::ProblemPart;

/// All subsystems at work.
pub(super) struct Subsystems<'w> {
    problem: &'w Problem,
    distribution: &'w Distribution,
    pool: ThreadPool<'w>,
}

impl<'w> Subsystems<'w> {
    /// Those that are computed here are in the pool; the other places get to know what all are to
    /// be like.
    pub fn new(
        problem: &'w Problem,
        distribution: &'w Distribution,
        choices: Choices,
        pool: ThreadPool<'w>,
    ) -> Self {
        distribution.tell(|_| BoxMessage::Make(choices));
        Self {
            problem,
            distribution,
            pool,
        }
    }

    pub fn step(&self) -> RwLockReadGuard<'_, SharedStep> {
        self.pool.step()
    }

    pub fn step_mut(&self) -> RwLockWriteGuard<'_, SharedStep> {
        self.pool.step_mut()
    }

    /// Whether a place no longer answers: nothing can be proved any more.
    pub fn has_lost_a_place(&self) -> bool {
        self.distribution.lost().is_some()
    }

    /// Has every subsystem do a job; what came of it, one subsystem after the other.
    fn perform(&self, job: Job) -> Vec<Report> {
        self.distribution.ask(|share| BoxMessage::Perform {
            job,
            step: self.step().share(job, share),
        });
        let own = self.pool.perform(job);
        self.distribution
            .of_systems(own, |system| Report::unknown(job, system))
    }

    /// The Picard boxes of all systems, or the first state for which there is none.
    pub fn picard_boxes(&self) -> Result<Vec<Interval>, usize> {
        let mut boxes = Vec::with_capacity(self.problem.dimension());
        for (system, report) in self.problem.systems.iter().zip(self.perform(Job::Picard)) {
            let Report::Picard(found) = report else {
                unreachable!("BUG: not a report of Picard boxes");
            };
            boxes.extend(found.map_err(|state| system.states.start + state)?);
        }
        Ok(boxes)
    }

    /// The Taylor coefficients of all states that follow those in the shared step.
    pub fn coefficients(&self, capacity: usize) -> Vec<Interval> {
        let reports = self.perform(Job::Coefficient { capacity }).into_iter();
        let found = |report| match report {
            Report::Coefficient(found) => found,
            _ => unreachable!("BUG: not a report of coefficients"),
        };
        reports.flat_map(found).collect()
    }

    /// Integrates all systems over the step; or names the first state of one that could not be.
    pub fn advance(&self) -> Result<(), usize> {
        let reports = self.perform(Job::Advance);
        let mut systems = self.problem.systems.iter().zip(reports);
        let failed = systems.find(|(_, report)| !matches!(report, Report::Arrived(true)));
        failed.map_or(Ok(()), |(system, _)| Err(system.states.start))
    }

    /// Goes on to the end of the step; what is known of all states there.
    pub fn accept(&self) -> Vec<StateReport> {
        let reports = self.perform(Job::Accept).into_iter();
        let states = |report| match report {
            Report::Accepted(states) => states,
            _ => unreachable!("BUG: not a report of states"),
        };
        reports.flat_map(states).collect()
    }
}

/// What all subsystems are like.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Choices {
    pub integrator: Integrator,
    /// The degree of the polynomials that inputs are.
    pub extrapolation: Option<usize>,
}

impl Choices {
    /// The subsystems of a part.
    pub fn subsystems(self, part: &ProblemPart) -> Vec<Subsystem> {
        let scheme = Scheme::from(self.integrator);
        let (state_set, degree) = self
            .extrapolation
            .map_or((StateSet::Box, 0), |degree| (StateSet::Affine, degree));
        let systems = part.systems.iter();
        systems
            .map(|system| Subsystem::new(part, system, scheme, state_set, degree))
            .collect()
    }
}

/// What another place gets to know or is asked.
#[derive(Serialize, Deserialize)]
enum BoxMessage {
    /// Subsystems like this are wanted.
    Make(Choices),
    /// They are to do a job.
    Perform { job: Job, step: StepShare },
}

impl Question for BoxMessage {
    const SUBJECT: Subject = Subject::Boxes;
}

/// The place's side: subsystems that do jobs as another process asks for them.
pub(crate) struct BoxPlace {
    subsystems: Vec<Subsystem>,
    step: SharedStep,
}

impl BoxPlace {
    /// Without subsystems, yet.
    pub fn new(part: &ProblemPart) -> Self {
        Self {
            subsystems: Vec::new(),
            step: SharedStep::new(part.start_time, &part.start),
        }
    }

    /// Reads a message; the answer to it, if it has one.
    pub fn answer(
        &mut self,
        share: &Share,
        message: &mut &[u8],
    ) -> Result<Option<Answer>, BadMessage> {
        Ok(match read(message)? {
            BoxMessage::Make(choices) => {
                self.subsystems = choices.subsystems(&share.part);
                None
            }
            BoxMessage::Perform { job, step } => {
                self.step.update(&step, share);
                let subsystems = self.subsystems.iter_mut();
                let reports = subsystems.map(|subsystem| subsystem.perform(job, &self.step));
                Some(Answer::of(&reports.collect::<Vec<Report>>()))
            }
        })
    }
}
