//! FMUs are tried out in child processes: what one of them does there harms nobody.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dovetail_fmi::{Experiment, ExperimentFailure, ExperimentRunner, FmuError, Observation, Unit};
use dovetail_workers::{Helper, Lost, ProcessPool, Refusal};
use serde::{Deserialize, Serialize};

use super::source::FmuOrigin;
use crate::process::child_task::{self, ChildTask};

/// So long an experiment may take, where the user has not set a limit.
const LIMIT: Duration = Duration::from_secs(60);

/// One experiment with an FMU, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbeTask {
    fmu: FmuOrigin,
    experiment: Experiment,
}

impl ChildTask for ProbeTask {
    const NAME: &'static str = "probe";
    type Answer = Result<Observation, ExperimentFailure>;

    fn carry_out(self) -> Self::Answer {
        let fmu = self.open()?;
        let FmuOrigin { settings, step, .. } = self.fmu;
        fmu.experiment(settings, step, &self.experiment)
    }
}

impl ProbeTask {
    /// The FMU; a process that tries one thing after the other opens it once.
    fn open(&self) -> Result<Arc<Unit>, FmuError> {
        static OPEN: Mutex<Option<Arc<Unit>>> = Mutex::new(None);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unit) = open.as_ref().filter(|unit| unit.path() == self.fmu.path) {
            return Ok(unit.clone());
        }
        Ok(open.insert(self.fmu.open()?).clone())
    }
}

/// Child processes in which one FMU is tried.
pub(crate) struct ChildExperiments<'a> {
    fleet: &'a ProcessPool,
    task: ProbeTask,
    /// The process of the last experiment, where it is fit for another.
    helper: Option<Helper>,
    /// Only one instance may be made in a process: the unit says so, or was found to be so.
    single: bool,
    found_single: bool,
    /// It did not answer in time.
    silent: Option<String>,
}

impl<'a> ChildExperiments<'a> {
    /// For an FMU; `single` where only one instance of it may be made in a process.
    pub fn new(fleet: &'a ProcessPool, fmu: &FmuOrigin, single: bool) -> Self {
        let experiment = Experiment::Start {
            early: true,
            offset: 0.0,
        };
        let task = ProbeTask {
            fmu: fmu.clone(),
            experiment,
        };
        Self {
            fleet,
            task,
            helper: None,
            single,
            found_single: false,
            silent: None,
        }
    }

    fn attempt(&mut self, experiment: &Experiment) -> Result<Observation, ExperimentFailure> {
        let mut helper = match self.helper.take() {
            Some(helper) => helper,
            None => self.fleet.helper().map_err(|error| {
                ExperimentFailure::Refused(format!(
                    "no process could be started to try it out in: {error}"
                ))
            })?,
        };
        let task = ProbeTask {
            experiment: experiment.clone(),
            ..self.task.clone()
        };
        let limit = self.fleet.limit().unwrap_or(LIMIT);
        let done = child_task::run(&mut helper, &task, limit).map_err(mishap)?;
        let spoiled = self.single
            || self.found_single
            || matches!(
                done,
                Err(ExperimentFailure::Crashed(_) | ExperimentFailure::NoInstance(_))
            );
        self.helper = Some(helper).filter(|_| !spoiled);
        done
    }
}

/// What a process that did not come back says of the FMU.
fn mishap(refusal: Refusal) -> ExperimentFailure {
    match refusal {
        Refusal::Said(why) => ExperimentFailure::Refused(why),
        Refusal::Lost(lost @ (Lost::Silent { .. } | Lost::Interrupted { .. })) => {
            ExperimentFailure::Silent(format!(
                "{} while it was tried out, and was ended",
                lost.briefly()
            ))
        }
        Refusal::Lost(lost) => {
            ExperimentFailure::Crashed(format!("{} while it was tried out", lost.briefly()))
        }
    }
}

impl ExperimentRunner for ChildExperiments<'_> {
    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, ExperimentFailure> {
        if let Some(why) = &self.silent {
            return Err(ExperimentFailure::Silent(why.clone())); // what hangs once is not waited for again
        }
        let again_in_one_process = self.helper.is_some();
        match self.attempt(experiment) {
            Err(ExperimentFailure::Silent(why)) => {
                self.silent = Some(why.clone());
                Err(ExperimentFailure::Silent(why))
            }
            // Perhaps only because it was not the first instance of that process.
            Err(ExperimentFailure::Crashed(why) | ExperimentFailure::NoInstance(why))
                if again_in_one_process =>
            {
                let alone = self.attempt(experiment);
                if alone.is_ok() {
                    self.found_single = true;
                }
                alone.map_err(|mishap| match mishap {
                    ExperimentFailure::Refused(_) | ExperimentFailure::NoInstance(_) => mishap,
                    _ => ExperimentFailure::Crashed(why),
                })
            }
            done => done,
        }
    }

    fn avoid_event_mode(&mut self) {
        self.task.fmu.settings.without_event_mode = true;
    }

    fn found_single(&self) -> bool {
        self.found_single
    }

    fn remark(&self) -> Option<String> {
        let text = "it fails when it is instantiated a second time in a process, although it does not say so: one instance is made";
        self.found_single.then(|| text.to_owned())
    }
}
