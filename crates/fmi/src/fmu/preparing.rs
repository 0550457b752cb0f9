//! An FMU is laid out as it declares itself, and tried.

use std::collections::HashMap;
use std::sync::Arc;

use dovetail_core::StepRule;

use super::error::{FmuError, InterfaceUse, MOST_ELEMENTS};
use super::instances::InstanceSource;
use super::{Fmu, PreparedFmu, Probing, RunConditions, Settings};
use crate::abilities::{FmuCapabilities, InputMode};
use crate::description::{Causality, InterfaceDescription, Value, Variable};
use crate::experiment::{Experiment, ExperimentFailure, Observation};
use crate::layout::{self, Layout};
use crate::library::Library;
use crate::probe::ExperimentRunner;
use crate::settings::{self, SettingError};

/// Sizes of arrays that a user sets, by the references of their structural parameters.
type StructuralValues = HashMap<u32, usize>;

impl Fmu {
    /// Lays the FMU out and tries it, over steps of about `step`.
    pub fn prepare(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
        probing: Probing<'_>,
    ) -> Result<PreparedFmu, FmuError> {
        let mut prepared = self.lay_out(settings, step)?;
        let remarks = self.remarks(prepared.kind())?;
        prepared.warnings.splice(0..0, remarks);

        match probing {
            Probing::Declared => {}
            Probing::There(experiments) => prepared.probe(experiments, step)?,
            Probing::Here if prepared.only_once() => prepared.forgo_probe(),
            Probing::Here => self.probe_here(&mut prepared, step)?,
        }
        Ok(prepared)
    }

    /// What is odd about its library, and what else it needs.
    fn remarks(&self, kind: &InterfaceDescription) -> Result<Vec<String>, FmuError> {
        let version = self.description.version;
        let folder = self.archive.folder();
        let (_, odd) = Library::find(folder, version, &kind.model_identifier)?;
        let tool = kind.needs_execution_tool.then(|| {
            let tool = self.description.generation_tool.as_deref();
            let tool = tool.unwrap_or("the tool that made it");
            format!("it says that it needs {tool} on this machine")
        });

        Ok(odd.into_iter().chain(tool).collect())
    }

    fn probe_here(self: &Arc<Self>, prepared: &mut PreparedFmu, step: f64) -> Result<(), FmuError> {
        prepared.warn(
            "it was tried out in this process: no program is set that could serve as another one",
        );
        let untried = self.lay_out(prepared.settings.clone(), step)?;
        let mut experiments = InProcess {
            prepared: untried,
            step,
        };

        prepared.probe(&mut experiments, step)
    }

    /// Lays out an FMU that could not be tried, to show what it declares; `why` it cannot be run.
    pub fn describe(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
        why: &str,
    ) -> Result<PreparedFmu, FmuError> {
        let mut prepared = self.prepare(settings, step, Probing::Declared)?;
        prepared.abilities = prepared.abilities.without_promises(true);
        prepared.warn(format!("it cannot be run here: {why}"));
        prepared.unusable = Some(why.to_owned());
        Ok(prepared)
    }

    /// The FMU as it declares itself, before it is loaded.
    pub(crate) fn lay_out(
        self: &Arc<Self>,
        settings: Settings,
        step: f64,
    ) -> Result<PreparedFmu, FmuError> {
        let (used, kind) = self.choose(settings.interface)?;
        let structural = self.structural_values(&settings)?;
        let values = self.check_values(&settings.values, &structural)?;
        self.check_sizes(&structural)?;
        let mut layout = Layout::new(
            &self.description,
            &structural,
            &settings.continuous,
            &settings.recorded,
            &settings.tuned,
        );
        layout.take_starts(&self.description, &values);
        let abilities = match used {
            InterfaceUse::CoSimulation => {
                self.co_simulation_abilities(kind, &layout, &settings, step)
            }
            InterfaceUse::ModelExchange => FmuCapabilities::of_model_exchange(kind, &layout),
        };

        Ok(PreparedFmu {
            fmu: self.clone(),
            settings,
            used,
            values,
            declared: abilities.clone(),
            abilities,
            findings: Vec::new(),
            warnings: self.warnings_of(&layout),
            layout: Arc::new(layout),
            unusable: None,
        })
    }

    /// What a Co-Simulation FMU can do under these settings, as it declares.
    fn co_simulation_abilities(
        &self,
        kind: &InterfaceDescription,
        layout: &Layout,
        settings: &Settings,
        step: f64,
    ) -> FmuCapabilities {
        let mut abilities = FmuCapabilities::declared(&self.description, kind, layout, step);
        if settings.without_event_mode {
            abilities = abilities.without_event_mode(kind);
        }

        if let Some(size) = settings.imposed_step {
            abilities.step = StepRule::Imposed(size);
        }

        if abilities.step == StepRule::Free {
            abilities.sub_steps = settings.sub_steps.max(1);
        }

        if abilities.sub_steps > 1 {
            abilities.inputs = InputMode::Held; // the parts follow the inputs, not the FMU
        }
        abilities
    }

    /// What is left out of a layout, and what is doubtful about it.
    fn warnings_of(&self, layout: &Layout) -> Vec<String> {
        let left_out = layout
            .left_out
            .iter()
            .map(|text| format!("{text}; it is left out"));
        left_out.chain(layout.doubt(&self.description)).collect()
    }
}

/// Values that a user gives.
impl Fmu {
    fn check_values(
        &self,
        given: &[(String, Vec<Value>)],
        structural: &StructuralValues,
    ) -> Result<Vec<(usize, Vec<Value>)>, SettingError> {
        let size = |variable: &Variable| layout::size(&self.description, structural, variable);
        settings::check(&self.description, given, size)
    }

    fn structural_values(&self, settings: &Settings) -> Result<StructuralValues, SettingError> {
        match self.check_values(&settings.values, &HashMap::new()) {
            Ok(values) => Ok(layout::structural_values(&self.description, &values)),
            // A wrong count may be right once the structural parameters are known.
            Err(_) => self.structural_alone(settings),
        }
    }

    fn structural_alone(&self, settings: &Settings) -> Result<StructuralValues, SettingError> {
        let given = settings.values.iter();
        let structural = given.filter(|(name, _)| self.is_structural(name));
        let structural: Vec<_> = structural.cloned().collect();
        let values = settings::check(&self.description, &structural, |_| 1)?;
        Ok(layout::structural_values(&self.description, &values))
    }

    fn is_structural(&self, name: &str) -> bool {
        let variable = self.description.variable_named(name);
        variable.is_some_and(|variable| variable.causality == Causality::StructuralParameter)
    }

    /// Arrays whose sizes a user sets may grow beyond what can be connected.
    fn check_sizes(&self, structural: &StructuralValues) -> Result<(), FmuError> {
        for variable in &self.description.variables {
            let size = layout::size(&self.description, structural, variable);
            if size > MOST_ELEMENTS {
                let name = variable.name.clone();
                return Err(FmuError::TooManyElements { name, size });
            }
        }
        Ok(())
    }
}

/// The values that a model gives to a variable, in its type.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenVariable<'a> {
    /// The variable.
    pub variable: &'a Variable,
    /// The values, element by element.
    pub values: Vec<Value>,
    /// The sizes of an array in its directions; none for a scalar.
    pub sizes: Vec<usize>,
}

impl PreparedFmu {
    /// The values that the model gives to its variables, each once and in its type.
    pub fn checked_values(&self) -> Vec<GivenVariable<'_>> {
        let fmu = &self.fmu;
        let structural = fmu.structural_values(&self.settings);
        let structural = structural.unwrap_or_default();
        let checked = fmu.check_values(&self.settings.values, &structural);
        let given = checked.unwrap_or_default().into_iter();
        given
            .map(|(position, values)| {
                let variable = &fmu.description.variables[position];
                GivenVariable {
                    variable,
                    values,
                    sizes: layout::extents(&fmu.description, &structural, variable),
                }
            })
            .collect()
    }

    /// How the model uses it.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// There is no other process to try it in: nothing that it declares is used.
    fn forgo_probe(&mut self) {
        let co_simulation = self.is_co_simulation();
        self.abilities = self.abilities.clone().without_promises(co_simulation);
        self.warn(
            "it may be instantiated once in a process only, and there is no other process to try \
             it in: what it declares is not used",
        );
    }

    fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Tries `experiment` on an instance of this process.
    fn try_here(
        &self,
        experiment: &Experiment,
        step: f64,
    ) -> Result<Observation, ExperimentFailure> {
        self.check_library()?;
        let conditions = RunConditions::of_the_probe(step, &self.settings);
        self.experiment(experiment, &conditions, &InstanceSource::fresh())
    }
}

/// Experiments in this process.
struct InProcess {
    prepared: PreparedFmu,
    step: f64,
}

impl ExperimentRunner for InProcess {
    fn avoid_event_mode(&mut self) {
        let prepared = &mut self.prepared;
        prepared.settings.without_event_mode = true;
        let declared = prepared.declared.clone();
        prepared.declared = declared.without_event_mode(prepared.kind());
    }

    fn carry_out(&mut self, experiment: &Experiment) -> Result<Observation, ExperimentFailure> {
        self.prepared.try_here(experiment, self.step)
    }
}
