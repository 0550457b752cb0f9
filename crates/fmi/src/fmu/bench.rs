//! Experiments with an FMU in this process, one after the other.
//!
//! Each has a fresh instance, or one that is kept and reset between experiments. Resetting is
//! mandatory in the standards, and does not work in many FMUs: whoever asks for it has verified it
//! before, with [`verify_reset`](TestBench::verify_reset).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::instances::{InstanceChoice, InstanceSource};
use super::{Fmu, RunConditions, Settings};
use crate::experiment::{Baseline, Experiment, ExperimentFailure, InputCourse, Observation};
use crate::journal::CallLog;

/// So many steps are taken with an instance before it is reset to see whether that works.
const DIRTY_STEPS: usize = 2;

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempted {
    /// What was seen.
    pub seen: Result<Observation, ExperimentFailure>,
    /// Whether its instance was kept, fit for another experiment if it can be reset.
    pub kept: bool,
}

/// Tries one FMU in this process.
pub struct TestBench {
    fmu: Arc<Fmu>,
    instances: InstanceSource,
    log: Option<Arc<CallLog>>,
}

impl TestBench {
    /// For an FMU, whose calls are written down where there is a log.
    pub fn new(fmu: Arc<Fmu>, log: Option<Arc<CallLog>>) -> Self {
        Self {
            fmu,
            instances: InstanceSource::fresh(),
            log,
        }
    }

    /// The FMU.
    pub fn fmu(&self) -> &Fmu {
        &self.fmu
    }

    /// Carries an experiment out, over steps of about `step`.
    pub fn carry_out(
        &mut self,
        settings: &Settings,
        step: f64,
        experiment: &Experiment,
        choice: InstanceChoice,
    ) -> Attempted {
        self.instances.choose(choice);
        let seen = self.attempt(settings, step, experiment);
        let done = seen.as_ref().is_ok_and(|seen| !seen.refused_early);
        let kept = done && self.instances.is_fit();

        if !kept {
            self.instances.free();
        }
        Attempted { seen, kept }
    }

    fn attempt(
        &self,
        settings: &Settings,
        step: f64,
        experiment: &Experiment,
    ) -> Result<Observation, ExperimentFailure> {
        let prepared = self.fmu.lay_out(settings.clone(), step)?;
        prepared.check_library()?;
        let conditions = RunConditions {
            log: self.log.clone(),
            ..RunConditions::of_the_probe(step, settings)
        };

        prepared.experiment(experiment, &conditions, &self.instances)
    }

    /// Whether an instance that has been used starts, once it is reset, exactly as a fresh one did.
    /// It is used for steps under this course of the inputs, where one is given; that these fail
    /// is an error.
    pub fn verify_reset(
        &mut self,
        settings: &Settings,
        step: f64,
        baseline: &Baseline,
        course: Option<InputCourse>,
    ) -> Result<bool, ExperimentFailure> {
        if let Some(course) = course {
            let steps = Experiment::Steps {
                early: baseline.early,
                course,
                sizes: self.dirty_steps(settings, step)?,
            };
            let choice = if self.instances.is_fit() {
                InstanceChoice::Kept
            } else {
                InstanceChoice::FreshToKeep
            };
            self.carry_out(settings, step, &steps, choice).seen?;
        }

        let start = Experiment::Start {
            early: baseline.early,
            offset: 0.0,
        };
        let again = self.carry_out(settings, step, &start, InstanceChoice::Kept);
        Ok(again.kept && again.seen.is_ok_and(|seen| seen.equals(&baseline.seen)))
    }

    /// The sizes of the steps that make an instance dirty: as many as the run has room for.
    fn dirty_steps(&self, settings: &Settings, step: f64) -> Result<Vec<f64>, ExperimentFailure> {
        let size = self.fmu.lay_out(settings.clone(), step)?.probe_step(step);
        let room = ((settings.stop - settings.start) / size) as usize;
        Ok(vec![size; room.clamp(1, DIRTY_STEPS)])
    }

    /// Frees the instance that was kept, if there is one.
    pub fn free_instance(&mut self) {
        self.instances.free();
    }
}
