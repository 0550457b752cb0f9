//! Experiments with an FMU in this process, one after the other.
//!
//! Each has a fresh instance, or one that is kept and reset between experiments. Resetting is
//! mandatory in the standards, and does not work in many FMUs: whoever asks for it has verified it
//! before, with [`verify_reset`](TestBench::verify_reset).

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::Use;
use super::{Conditions, Settings, Unit};
use crate::call_error::CallError;
use crate::component::{FmiVersion, KeptComponent};
use crate::experiment::{Baseline, Course, Experiment, ExperimentFailure, Observation};
use crate::fmi2::Fmi2;
use crate::fmi3::Fmi3;
use crate::fmu_instance::FmuInstance;
use crate::journal::CallLog;

/// So many steps are taken with an instance before it is reset to see whether that works.
const DIRTY_STEPS: usize = 2;

/// The instance that an experiment is carried out on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InstanceChoice {
    /// One that is made for it, and freed after it.
    Fresh,
    /// One that is made for it, and kept.
    FreshToKeep,
    /// The one that was kept, reset.
    Kept,
}

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempted {
    /// What was seen.
    pub seen: Result<Observation, ExperimentFailure>,
    /// Whether its instance was kept, fit for another experiment if it can be reset.
    pub kept: bool,
}

/// What a component was instantiated with, beside what is the same for all of an FMU.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InstantiationArguments {
    pub used: Use,
    pub event_mode: bool,
    pub early_return: bool,
    pub intermediate: Vec<u32>,
}

struct Kept<V: FmiVersion> {
    component: KeptComponent<V>,
    arguments: InstantiationArguments,
}

/// Room for one instance of a version of the standard.
struct Slot<V: FmiVersion>(RefCell<Option<Kept<V>>>);

impl<V: FmiVersion> Slot<V> {
    fn empty() -> Self {
        Self(RefCell::new(None))
    }

    /// The instance of this choice.
    fn instance(
        &self,
        choice: InstanceChoice,
        arguments: InstantiationArguments,
        instantiate: impl FnOnce() -> Result<FmuInstance<V>, CallError>,
    ) -> Result<FmuInstance<V>, CallError> {
        let kept = self.0.take();
        let instance = if choice == InstanceChoice::Kept {
            kept.filter(|kept| kept.arguments == arguments)
                .ok_or_else(nothing_kept)?
                .component
                .reset()?
        } else {
            // One after the other: some FMUs can do no more.
            drop(kept);
            instantiate()?
        };
        if choice != InstanceChoice::Fresh {
            let component = KeptComponent::of(&instance);
            self.0.replace(Some(Kept {
                component,
                arguments,
            }));
        }
        Ok(instance)
    }

    fn is_fit(&self) -> bool {
        let kept = self.0.borrow();
        kept.as_ref().is_some_and(|kept| kept.component.is_fit())
    }
}

fn nothing_kept() -> CallError {
    CallError::NotInstantiated {
        function: "reset",
        message: None,
    }
}

/// Where the instances of experiments come from.
pub(super) struct InstanceSource {
    choice: Cell<InstanceChoice>,
    two: Slot<Fmi2>,
    three: Slot<Fmi3>,
}

impl InstanceSource {
    /// Every experiment has an instance of its own.
    pub fn fresh() -> Self {
        Self {
            choice: Cell::new(InstanceChoice::Fresh),
            two: Slot::empty(),
            three: Slot::empty(),
        }
    }

    pub fn instance2(
        &self,
        arguments: InstantiationArguments,
        instantiate: impl FnOnce() -> Result<FmuInstance<Fmi2>, CallError>,
    ) -> Result<FmuInstance<Fmi2>, CallError> {
        let choice = self.choice.get();
        self.two.instance(choice, arguments, instantiate)
    }

    pub fn instance3(
        &self,
        arguments: InstantiationArguments,
        instantiate: impl FnOnce() -> Result<FmuInstance<Fmi3>, CallError>,
    ) -> Result<FmuInstance<Fmi3>, CallError> {
        let choice = self.choice.get();
        self.three.instance(choice, arguments, instantiate)
    }

    /// Whether the instance that was kept may be reset: all its calls did what they were asked for.
    fn is_fit(&self) -> bool {
        self.two.is_fit() || self.three.is_fit()
    }

    /// Frees the instance that was kept.
    fn free(&self) {
        drop(self.two.0.take());
        drop(self.three.0.take());
    }
}

/// Tries one FMU in this process.
pub struct TestBench {
    unit: Arc<Unit>,
    instances: InstanceSource,
    log: Option<Arc<CallLog>>,
}

impl TestBench {
    /// For an FMU, whose calls are written down where there is a log.
    pub fn new(unit: Arc<Unit>, log: Option<Arc<CallLog>>) -> Self {
        Self {
            unit,
            instances: InstanceSource::fresh(),
            log,
        }
    }

    /// The FMU.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Carries an experiment out, over steps of about `step`.
    pub fn carry_out(
        &mut self,
        settings: &Settings,
        step: f64,
        experiment: &Experiment,
        choice: InstanceChoice,
    ) -> Attempted {
        self.instances.choice.set(choice);
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
        let prepared = self.unit.lay_out(settings.clone(), step)?;
        prepared.check_library()?;
        let conditions = Conditions {
            log: self.log.clone(),
            ..Conditions::of_the_probe(step, settings)
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
        course: Option<Course>,
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
        let size = self.unit.lay_out(settings.clone(), step)?.probe_step(step);
        let room = ((settings.stop - settings.start) / size) as usize;
        Ok(vec![size; room.clamp(1, DIRTY_STEPS)])
    }

    /// Frees the instance that was kept, if there is one.
    pub fn free_instance(&mut self) {
        self.instances.free();
    }
}
