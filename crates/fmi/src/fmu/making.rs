//! Instances and systems of an FMU.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dovetail_core::{Capabilities, Precision, Presence, StepRule, System};

use super::error::{FmuError, InterfaceUse};
use super::instances::{InstanceSource, InstantiationArguments};
use super::{PreparedFmu, RunConditions};
use crate::abilities::{FmuCapabilities, InputMode};
use crate::call_error::CallError;
use crate::co_simulation::{CoSimulation, Span};
use crate::description::{Causality, Value, Variability, Variable, Version};
use crate::exchange::set_exact_starts;
use crate::fmi1::Instance1;
use crate::fmi2::Instance2;
use crate::fmi3::{CoSimulationOptions, Instance3};
use crate::fmu_instance::Instantiation;
use crate::instance::{Instance, Values};
use crate::journal::{Journal, Monitor};
use crate::layout;
use crate::library::Library;
use crate::model_exchange::{ModelExchange, Terms};

/// A system, and what can be known of it while it runs.
type MonitoredSystem = (Box<dyn System>, Arc<Monitor>);

/// A variable, as a position in the description, and the values that were given for it.
type Given = (usize, Vec<Value>);

impl PreparedFmu {
    /// A system of this name, and what can be known of it while it runs.
    pub fn system(
        &self,
        name: &str,
        conditions: &RunConditions,
    ) -> Result<(Box<dyn System>, Arc<Monitor>), FmuError> {
        let mut abilities = self.abilities.clone();
        abilities.step = self.step_rule(conditions.step);
        let fresh = InstanceSource::fresh();

        match self.system_with(name, &abilities, conditions, &fresh) {
            // An FMU that nobody has tried: once more, in a fresh instance and without asking.
            Err(FmuError::EarlyInputs(_)) if !self.only_once() => {
                abilities.early_inputs = false;
                self.system_with(name, &abilities, conditions, &fresh)
            }
            made => made,
        }
    }

    /// What a system of it can do in a run with steps of about this size, without making one.
    pub fn capabilities(&self, step: f64) -> Capabilities {
        let abilities = &self.abilities;
        let exchange = self.used == InterfaceUse::ModelExchange;

        Capabilities {
            trial: abilities.rollback || exchange,
            linearize: abilities.linearizes || exchange,
            evaluate: exchange,
            checkpoint: if exchange {
                abilities.serializes || self.is_memoryless()
            } else {
                abilities.outlives_process()
            },
            input_degree: abilities.input_degree(),
            output_derivatives: abilities.output_derivatives(),
            step_rule: self.step_rule(step),
            presence: Presence {
                initialization_mode: true,
                responds: exchange || abilities.event_mode,
                ticks: false,
            },
            precision: if exchange {
                Precision::default()
            } else {
                abilities.precision
            },
        }
    }

    /// The communication steps it takes in a run with steps of this size. A step inside the FMU is
    /// a wish where the FMU takes any: a run that does not fit is not refused for it.
    fn step_rule(&self, step: f64) -> StepRule {
        if self.needs_constant_step() {
            StepRule::Imposed(step)
        } else if self.internal_step_gives_way(step) {
            StepRule::Free
        } else {
            self.abilities.step
        }
    }

    /// Whether the step inside the FMU does not fit and need not be kept.
    fn internal_step_gives_way(&self, step: f64) -> bool {
        let inner = self.internal_step();
        inner.is_some_and(|inner| self.kind().variable_step && !self.fits(inner, step))
    }

    /// The step inside the FMU, where it declares one and nobody imposes another.
    pub fn internal_step(&self) -> Option<f64> {
        if !self.is_co_simulation() || self.settings.imposed_step.is_some() {
            return None;
        }
        self.kind().fixed_internal_step.filter(|size| *size > 0.0)
    }

    /// Whether steps and the whole run are made of the FMU's own steps.
    pub fn fits(&self, inner: f64, step: f64) -> bool {
        let whole = |length: f64| {
            let count = (length / inner).round();
            count >= 1.0 && (length - count * inner).abs() <= 1e-9 * length
        };
        whole(step) && whole(self.settings.stop - self.settings.start)
    }

    /// Whether all communication steps must be alike, and nobody has said how long.
    pub fn needs_constant_step(&self) -> bool {
        let kind = self.kind();
        let said = self.settings.imposed_step.or(kind.fixed_internal_step);
        self.is_co_simulation() && !kind.variable_step && said.is_none()
    }

    pub(super) fn system_with(
        &self,
        name: &str,
        abilities: &FmuCapabilities,
        conditions: &RunConditions,
        instances: &InstanceSource,
    ) -> Result<MonitoredSystem, FmuError> {
        let journal = Journal::new(name, conditions.log.clone());
        let starts = conditions.inputs.clone().unwrap_or_else(|| self.starts());
        let early = abilities.early_inputs.then_some(&starts[..]);

        match self.fmu.description.version {
            Version::One => {
                let instance = self.instance1(journal, early, instances)?;
                Ok(self.system_of(name, instance, abilities, conditions))
            }
            Version::Two => {
                let instance = self.instance2(journal, early, instances)?;
                Ok(self.system_of(name, instance, abilities, conditions))
            }
            Version::Three => {
                let instance = self.instance3(journal, early, instances)?;
                Ok(self.system_of(name, instance, abilities, conditions))
            }
        }
    }

    fn system_of<I: Instance + 'static>(
        &self,
        name: &str,
        instance: I,
        abilities: &FmuCapabilities,
        conditions: &RunConditions,
    ) -> MonitoredSystem {
        let monitor = instance.journal().monitor.clone();
        let layout = self.layout.clone();
        let abilities = abilities.clone();
        let version = self.fmu.description.version;
        let stop = match conditions.course.open_end {
            true => f64::INFINITY,
            false => self.settings.stop,
        };
        let span = Span {
            stop,
            told_stop: match self.settings.open_ended {
                true => f64::INFINITY,
                false => stop,
            },
            tolerance: conditions.asked_tolerance,
            goes_back: conditions.goes_back,
            course: conditions.course.clone(),
        };
        let system: Box<dyn System> = match self.used {
            InterfaceUse::CoSimulation => Box::new(CoSimulation::new(
                name, instance, layout, abilities, version, span,
            )),
            InterfaceUse::ModelExchange => {
                let terms = self.terms(span, conditions);
                Box::new(ModelExchange::new(name, instance, layout, abilities, terms))
            }
        };

        (system, monitor)
    }

    fn terms(&self, span: Span, conditions: &RunConditions) -> Terms {
        Terms {
            span,
            stride: conditions.step,
            tolerance: conditions.tolerance,
            states: conditions.states.clone(),
            indicators: self.indicators(),
            completes: self.kind().needs_completed_step,
            restores: self.kind().state,
            memoryless: self.is_memoryless(),
        }
    }

    /// Whether a Model Exchange FMU has nothing that an event could change: no indicators, nothing discrete but constants and
    /// inputs, and no wish to hear of completed steps.
    fn is_memoryless(&self) -> bool {
        let changes = |variable: &Variable| {
            variable.variability == Variability::Discrete && variable.causality != Causality::Input
        };
        let variables = &self.fmu.description.variables;

        self.indicators() == 0
            && !self.kind().needs_completed_step
            && !variables.iter().any(changes)
    }

    /// How many event indicators it has.
    fn indicators(&self) -> usize {
        let description = &self.fmu.description;
        if description.version != Version::Three {
            return description.structure.indicator_count;
        }

        let structural = layout::structural_values(description, &self.values);
        let indicators = description.structure.event_indicators.iter();
        let size =
            |&index: &usize| layout::size(description, &structural, &description.variables[index]);

        indicators.map(size).sum()
    }
}

/// Instances.
impl PreparedFmu {
    pub(super) fn instance1(
        &self,
        journal: Arc<Journal>,
        early: Option<&[f64]>,
        instances: &InstanceSource,
    ) -> Result<Instance1, FmuError> {
        let library = self.library_for(&journal)?;
        // 1.0 asks for the folder of the whole FMU.
        let location = file_uri(self.fmu.archive.folder());
        let from = self.instantiation(&library, &location, journal);
        let instantiate = || Instance1::instantiate(from);
        let instance = instances.instance1(self.arguments(), instantiate)?;
        self.with_starts(instance, early)
    }

    pub(super) fn instance2(
        &self,
        journal: Arc<Journal>,
        early: Option<&[f64]>,
        instances: &InstanceSource,
    ) -> Result<Instance2, FmuError> {
        let library = self.library_for(&journal)?;
        let resources = file_uri(&self.resources());
        let from = self.instantiation(&library, &resources, journal);
        let instantiate = || Instance2::instantiate(from);
        let instance = instances.instance2(self.arguments(), instantiate)?;
        self.with_starts(instance, early)
    }

    pub(super) fn instance3(
        &self,
        journal: Arc<Journal>,
        early: Option<&[f64]>,
        instances: &InstanceSource,
    ) -> Result<Instance3, FmuError> {
        let library = self.library_for(&journal)?;
        // 3.0 asks for a path that ends in a separator.
        let resources = format!("{}/", self.resources().display());
        let from = self.instantiation(&library, &resources, journal);
        let instantiate = || Instance3::instantiate(from, &self.co_simulation_options());
        let instance = instances.instance3(self.arguments(), instantiate)?;
        self.with_starts(instance, early)
    }

    fn library_for(&self, journal: &Journal) -> Result<Arc<Library>, FmuError> {
        let library = self.fmu.library(&self.kind().model_identifier)?;
        if let Some(oddity) = &library.oddity {
            journal.note_odd_library(oddity);
        }
        Ok(library)
    }

    /// An instance that knows its parameters and, unless they come later, its inputs.
    fn with_starts<I: Instance>(
        &self,
        mut instance: I,
        early: Option<&[f64]>,
    ) -> Result<I, FmuError> {
        self.set_values(&mut instance)?;
        self.set_inputs(&mut instance, early)?;
        Ok(instance)
    }

    /// What tells its instances from others of the same FMU.
    fn arguments(&self) -> InstantiationArguments {
        let options = self.co_simulation_options();
        InstantiationArguments {
            used: self.used,
            event_mode: options.event_mode,
            early_return: options.early_return,
            intermediate: options.intermediate.to_vec(),
        }
    }

    fn resources(&self) -> PathBuf {
        self.fmu.archive.folder().join("resources")
    }

    fn instantiation<'a>(
        &'a self,
        library: &'a Library,
        resources: &'a str,
        journal: Arc<Journal>,
    ) -> Instantiation<'a> {
        Instantiation {
            library,
            co_simulation: self.is_co_simulation(),
            token: &self.fmu.description.token,
            resources,
            journal,
        }
    }

    fn co_simulation_options(&self) -> CoSimulationOptions<'_> {
        let able = self.abilities_of_instances();
        let follows = self.declared.inputs == InputMode::Intermediate;

        CoSimulationOptions {
            event_mode: self.kind().event_mode && able.event_mode,
            early_return: able.returns_early,
            intermediate: if follows {
                &self.layout.followed_inputs
            } else {
                &[]
            },
        }
    }

    /// What instances are made for: as declared, but for what the probe could not make them with.
    fn abilities_of_instances(&self) -> &FmuCapabilities {
        if self.settings.without_event_mode {
            &self.abilities
        } else {
            &self.declared
        }
    }

    /// Parameters and start values: structural ones in a mode of their own, the others before
    /// initialization.
    fn set_values<I: Instance>(&self, instance: &mut I) -> Result<(), CallError> {
        let (structural, plain) = self.structural_and_plain_values();
        if !structural.is_empty() {
            if let Some(configuration) = instance.configuration() {
                configuration.enter_configuration()?;
            }
            self.set_starts(instance, &structural)?;
            if let Some(configuration) = instance.configuration() {
                configuration.exit_configuration()?;
            }
        }
        self.set_starts(instance, &plain)
    }

    /// The values that were given, of structural parameters and of all others but inputs.
    fn structural_and_plain_values(&self) -> (Vec<&Given>, Vec<&Given>) {
        let variables = &self.fmu.description.variables;
        let is_structural =
            |(index, _): &&Given| variables[*index].causality == Causality::StructuralParameter;
        let is_input = |index: &usize| self.layout.elements_of_inputs.contains_key(index);
        let (structural, mut plain): (Vec<_>, Vec<_>) = self.values.iter().partition(is_structural);
        plain.retain(|(index, _)| !is_input(index));

        (structural, plain)
    }

    fn set_starts(&self, instance: &mut impl Values, given: &[&Given]) -> Result<(), CallError> {
        for (index, values) in given {
            let variable = &self.fmu.description.variables[*index];
            instance.set_start(variable.value_type, variable.reference, values)?;
        }
        Ok(())
    }

    /// Inputs before initialization mode. FMI 3.0 provides for it; 2.0 does not, and many exporters
    /// count on it.
    fn set_inputs(
        &self,
        instance: &mut impl Values,
        values: Option<&[f64]>,
    ) -> Result<(), FmuError> {
        let Some(values) = values else { return Ok(()) };
        match self.set_all_inputs(instance, values) {
            Err(error @ CallError::Refused { .. }) => Err(FmuError::EarlyInputs(error)),
            set => Ok(set?),
        }
    }

    fn set_all_inputs(&self, instance: &mut impl Values, values: &[f64]) -> Result<(), CallError> {
        let at = |positions: &[usize]| -> Vec<f64> {
            positions.iter().map(|&position| values[position]).collect()
        };
        let layout = &self.layout;
        instance.set_floats(&layout.smooth_inputs, &at(&layout.smooth_input_positions))?;

        for group in &layout.other_inputs {
            instance.set_values(group.kind, &group.references, &at(&group.positions))?;
        }
        set_exact_starts(instance, layout, |position| values[position])
    }

    /// The start values of the inputs.
    pub(crate) fn starts(&self) -> Vec<f64> {
        self.layout.inputs.iter().map(|input| input.start).collect()
    }
}

/// `file:///path%20with%20spaces`.
fn file_uri(path: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");

    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte as char);
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded() {
        assert_eq!(file_uri(Path::new("/a b/ü")), "file:///a%20b/%C3%BC");
    }
}
