//! FMUs are tried out in child processes: what one of them does there harms nobody.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dovetail_fmi::description::Strictness;
use dovetail_fmi::{Experiment, Laboratory, Mishap, Observation, Settings, Unit, UnitError};
use dovetail_workers::{Fleet, Helper, Lost, Refusal};
use serde::{Deserialize, Serialize};

use crate::errand::{self, Errand};

/// So long an experiment may take, where the user has not set a limit.
const LIMIT: Duration = Duration::from_secs(60);

/// One experiment with an FMU, for another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbeErrand {
    path: PathBuf,
    strict: bool,
    settings: Settings,
    step: f64,
    experiment: Experiment,
}

impl ProbeErrand {
    /// Carries it out in this process.
    pub fn carry_out(self) -> Result<Observation, Mishap> {
        self.open()?
            .experiment(self.settings, self.step, &self.experiment)
    }

    /// The FMU; a process that tries one thing after the other opens it once.
    fn open(&self) -> Result<Arc<Unit>, UnitError> {
        static OPEN: Mutex<Option<Arc<Unit>>> = Mutex::new(None);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unit) = open.as_ref().filter(|unit| unit.path() == self.path) {
            return Ok(unit.clone());
        }
        let strictness = if self.strict {
            Strictness::Strict
        } else {
            Strictness::Lenient
        };
        Ok(open.insert(Unit::open(&self.path, strictness)?).clone())
    }
}

/// Child processes in which one FMU is tried.
pub(crate) struct ChildLaboratory<'a> {
    fleet: &'a Fleet,
    errand: ProbeErrand,
    /// The process of the last experiment, where it is fit for another.
    helper: Option<Helper>,
    /// Only one instance may be made in a process: the unit says so, or was found to be so.
    single: bool,
    found_single: bool,
    /// It did not answer in time.
    silent: Option<String>,
}

impl<'a> ChildLaboratory<'a> {
    /// For the FMU in a file, to be used so.
    pub fn new(
        fleet: &'a Fleet,
        path: &Path,
        strictness: Strictness,
        settings: &Settings,
        step: f64,
        single: bool,
    ) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (strict, settings) = (strictness == Strictness::Strict, settings.clone());
        let experiment = Experiment::Start {
            early: true,
            offset: 0.0,
        };
        let errand = ProbeErrand {
            path,
            strict,
            settings,
            step,
            experiment,
        };
        Self {
            fleet,
            errand,
            helper: None,
            single,
            found_single: false,
            silent: None,
        }
    }

    fn attempt(&mut self, experiment: &Experiment) -> Result<Observation, Mishap> {
        let mut helper = match self.helper.take() {
            Some(helper) => helper,
            None => self.fleet.helper().map_err(|error| {
                Mishap::Refused(format!(
                    "no process could be started to try it out in: {error}"
                ))
            })?,
        };
        let errand = ProbeErrand {
            experiment: experiment.clone(),
            ..self.errand.clone()
        };
        let errand = Errand::Probe(Box::new(errand));
        let limit = self.fleet.limit().unwrap_or(LIMIT);
        let done: Result<Observation, Mishap> =
            errand::run(&mut helper, &errand, limit).map_err(mishap)?;
        let spoiled = self.single
            || self.found_single
            || matches!(done, Err(Mishap::Crashed(_) | Mishap::NoInstance(_)));
        self.helper = Some(helper).filter(|_| !spoiled);
        done
    }
}

/// What a process that did not come back says of the FMU.
fn mishap(refusal: Refusal) -> Mishap {
    match refusal {
        Refusal::Said(why) => Mishap::Refused(why),
        Refusal::Lost(lost @ (Lost::Silent { .. } | Lost::Interrupted { .. })) => Mishap::Silent(
            format!("{} while it was tried out, and was ended", lost.briefly()),
        ),
        Refusal::Lost(lost) => {
            Mishap::Crashed(format!("{} while it was tried out", lost.briefly()))
        }
    }
}

impl Laboratory for ChildLaboratory<'_> {
    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, Mishap> {
        if let Some(why) = &self.silent {
            return Err(Mishap::Silent(why.clone())); // what hangs once is not waited for again
        }
        let again_in_one_process = self.helper.is_some();
        match self.attempt(experiment) {
            Err(Mishap::Silent(why)) => {
                self.silent = Some(why.clone());
                Err(Mishap::Silent(why))
            }
            // Perhaps only because it was not the first instance of that process.
            Err(Mishap::Crashed(why) | Mishap::NoInstance(why)) if again_in_one_process => {
                let alone = self.attempt(experiment);
                if alone.is_ok() {
                    self.found_single = true;
                }
                alone.map_err(|mishap| match mishap {
                    Mishap::Refused(_) | Mishap::NoInstance(_) => mishap,
                    _ => Mishap::Crashed(why),
                })
            }
            done => done,
        }
    }

    fn avoid_event_mode(&mut self) {
        self.errand.settings.without_event_mode = true;
    }

    fn found_single(&self) -> bool {
        self.found_single
    }

    fn remark(&self) -> Option<String> {
        let text = "it fails when it is instantiated a second time in a process, although it does not say so: one instance is made";
        self.found_single.then(|| text.to_owned())
    }
}
