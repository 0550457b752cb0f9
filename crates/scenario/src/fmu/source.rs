//! An FMU as a source of systems.

use std::path::PathBuf;
use std::sync::Arc;

use dovetail_core::{Capabilities, Interface, StepRule};
use dovetail_fmi::description::{Strictness, Value};
use dovetail_fmi::{
    Fmu, FmuError, InterfaceUse, PreparedFmu, ProbeResult, RunConditions, Settings,
};
use serde::{Deserialize, Serialize};

use super::unit_of_measure::unit_of_measure;
use crate::bytes::{from_bytes, to_bytes};
use crate::source::system_source::{
    BuildOptions, Built, Portable, SingleInstance, StartHabits, SystemSource, UnitOfMeasure,
};

/// The name of this kind of source.
pub(crate) const NAME: &str = "fmu";

/// Where an FMU comes from and how it is used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FmuOrigin {
    pub path: PathBuf,
    /// What the standard forbids is an error.
    pub strict: bool,
    pub settings: Settings,
    /// About the step of the run.
    pub step: f64,
}

impl FmuOrigin {
    /// Opens the file.
    pub fn open(&self) -> Result<Arc<Fmu>, FmuError> {
        let strictness = if self.strict {
            Strictness::Strict
        } else {
            Strictness::Lenient
        };
        Fmu::open(&self.path, strictness)
    }
}

/// An FMU that was tried out.
#[derive(Debug)]
pub(crate) struct FmuSource {
    name: String,
    prepared: Arc<PreparedFmu>,
    origin: FmuOrigin,
}

/// The same, for another process: it is not tried out again.
#[derive(Serialize, Deserialize)]
struct KnownFmu {
    name: String,
    origin: FmuOrigin,
    knowledge: ProbeResult,
}

impl FmuSource {
    pub fn new(name: &str, prepared: Arc<PreparedFmu>, origin: FmuOrigin) -> Self {
        Self {
            name: name.to_owned(),
            prepared,
            origin,
        }
    }

    /// Makes again what another process has tried out.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let KnownFmu {
            name,
            origin,
            knowledge,
        } = from_bytes(bytes)?;
        let fmu = origin.open().map_err(|error| error.to_string())?;
        let prepared = fmu.prepare_known(origin.settings.clone(), origin.step, &knowledge);
        let prepared = prepared.map_err(|error| error.to_string())?;

        Ok(Self::new(&name, Arc::new(prepared), origin))
    }

    pub fn prepared(&self) -> &PreparedFmu {
        &self.prepared
    }

    /// What is to be said of the FMU before a run.
    pub fn warnings(&self) -> Vec<String> {
        let file = self.prepared.fmu().warnings().iter();
        let all = file.chain(self.prepared.warnings());
        all.map(|text| format!("`{}`: {text}", self.name)).collect()
    }
}

impl SystemSource for FmuSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> Interface {
        self.prepared.interface(&self.name)
    }

    fn capabilities(&self, step: f64) -> Capabilities {
        self.prepared.capabilities(step)
    }

    fn build(&self, options: &BuildOptions) -> Result<Built, String> {
        let proposed = self.prepared.fmu().description().experiment.tolerance;
        // Under Model Exchange the solver is ours.
        let has_solver = self.prepared.used() == InterfaceUse::CoSimulation;
        let asked = options.fmu_tolerance.or(proposed);
        let conditions = RunConditions {
            step: options.step,
            tolerance: options.integrator_tolerance,
            asked_tolerance: asked.filter(|_| has_solver),
            log: options.log.clone(),
            inputs: options.inputs.clone(),
            states: options.states.clone(),
            goes_back: options.goes_back,
            course: options.course.clone(),
        };
        let built = self.prepared.system(&self.name, &conditions);
        let refused = |error| format!("the FMU of system `{}`: {error}", self.name);
        let (system, monitor) = built.map_err(refused)?;

        Ok(Built {
            system,
            monitor: Some(monitor),
        })
    }

    fn fmu(&self) -> Option<&PreparedFmu> {
        Some(&self.prepared)
    }

    fn portable(&self) -> Option<Portable> {
        let known = KnownFmu {
            name: self.name.clone(),
            origin: self.origin.clone(),
            knowledge: self.prepared.knowledge(),
        };
        Some(Portable {
            kind: NAME,
            bytes: to_bytes(&known),
        })
    }

    fn start_value(&self, variable: &str) -> Option<f64> {
        let settings = self.origin.settings.values.iter();
        // Later ones win.
        let set = settings.rev().find(|(name, _)| name == variable);
        let values = match set {
            Some((_, values)) => values,
            None => {
                let description = self.prepared.fmu().description();
                let mut known = description.variables.iter();
                &known.find(|known| known.name == variable)?.start
            }
        };
        match &values[..] {
            [Value::Float(number)] => Some(*number),
            [Value::Integer(number)] => Some(*number as f64),
            [Value::String(text)] => text.parse().ok(),
            _ => None,
        }
    }

    /// An input of an FMU has a start value.
    fn holds_open_inputs(&self) -> bool {
        true
    }

    fn unit_of_measure(&self, variable: &str) -> Option<UnitOfMeasure<'_>> {
        unit_of_measure(&self.prepared, variable)
    }

    fn start_habits(&self) -> StartHabits {
        let abilities = self.prepared.abilities();
        StartHabits {
            enters_with_inputs: abilities.enters_with_inputs,
            late_outputs: abilities.late_outputs,
        }
    }

    fn single_instance(&self) -> Option<SingleInstance> {
        self.prepared.only_once().then(|| SingleInstance {
            file: self.prepared.fmu().path().to_owned(),
            declared: self.prepared.declared().single,
        })
    }

    fn inner_step(&self) -> Option<f64> {
        self.prepared.internal_step()
    }

    fn unfitting_step(&self, step: f64) -> Option<f64> {
        let inner = self.prepared.internal_step()?;
        let free = self.prepared.capabilities(step).step_rule == StepRule::Free;
        let fits = self.prepared.fits(inner, step);
        (free && !fits).then_some(inner)
    }
}
