//! The systems of a checked model, whatever they are made of.

use std::sync::Arc;

use dovetail_core::{Capabilities, Interface, Mapped, Mapping, Restricted, Restrictions, System};
use dovetail_equations::{Definition, NativeSystem};
use dovetail_fmi::{CallLog, Conditions, Monitor, Prepared, UnitError, Use};
use dovetail_guaranteed::Boxes;

/// One system of a model.
#[derive(Debug)]
pub(crate) struct Part {
    pub model: PartModel,
    /// What happens to its inputs on their way in; empty where nothing does.
    pub mappings: Vec<Mapping>,
    pub restrictions: Option<Restrictions>,
}

/// What a system is made of.
#[derive(Debug)]
pub(crate) enum PartModel {
    /// Equations with the boxes of their states and parameters, of which `definition` has the middles.
    Equations {
        definition: Definition,
        boxes: Boxes,
    },
    Unit {
        name: String,
        prepared: Arc<Prepared>,
    },
}

/// A system, and what can be known of it while it runs.
pub(crate) type Made = (Box<dyn System>, Option<Arc<Monitor>>);

impl Part {
    pub fn name(&self) -> &str {
        match &self.model {
            PartModel::Equations { definition, .. } => &definition.name,
            PartModel::Unit { name, .. } => name,
        }
    }

    /// Its face, as it would be without mappings.
    pub fn interface(&self) -> Interface {
        match &self.model {
            PartModel::Equations { definition, .. } => definition.interface(),
            PartModel::Unit { name, prepared } => prepared.interface(name),
        }
    }

    /// The FMU, if it is one.
    pub fn unit(&self) -> Option<&Arc<Prepared>> {
        match &self.model {
            PartModel::Equations { .. } => None,
            PartModel::Unit { prepared, .. } => Some(prepared),
        }
    }

    /// What the system can do, without making it; `step` is about that of the run.
    pub fn capabilities(&self, step: f64) -> Capabilities {
        let own = match &self.model {
            PartModel::Equations { .. } => NativeSystem::CAPABILITIES,
            PartModel::Unit { prepared, .. } => prepared.capabilities(step),
        };
        self.restrictions
            .map_or(own, |restrictions| restrictions.restrict(own))
    }

    /// The system at its start values.
    pub fn system(&self, making: &Making) -> Result<Made, UnitError> {
        let (system, monitor): Made = match &self.model {
            PartModel::Equations { definition, .. } => {
                let tolerance = making.integrator_tolerance;
                (
                    Box::new(NativeSystem::new(&Definition {
                        tolerance,
                        ..definition.clone()
                    })),
                    None,
                )
            }
            PartModel::Unit { name, prepared } => {
                let experiment = prepared.unit().description().experiment;
                let conditions = Conditions {
                    step: making.step,
                    tolerance: making.integrator_tolerance,
                    // Of a unit for Model Exchange the solver is ours.
                    asked_tolerance: (prepared.used() == Use::CoSimulation)
                        .then(|| making.fmu_tolerance.or(experiment.tolerance))
                        .flatten(),
                    log: making.log.clone(),
                    inputs: making.inputs.as_ref().map(|inputs| self.mapped(inputs)),
                };
                let (system, monitor) = prepared.system(name, &conditions)?;
                (system, Some(monitor))
            }
        };
        let mut system = system;
        if !self.mappings.is_empty() {
            system = Box::new(Mapped::new(system, self.mappings.clone()));
        }
        if let Some(restrictions) = self.restrictions {
            system = Box::new(Restricted::new(system, restrictions));
        }
        Ok((system, monitor))
    }

    /// Values of inputs behind the mappings.
    fn mapped(&self, inputs: &[f64]) -> Vec<f64> {
        if self.mappings.is_empty() {
            return inputs.to_vec();
        }
        inputs
            .iter()
            .zip(&self.mappings)
            .map(|(value, mapping)| mapping.value(*value))
            .collect()
    }
}

/// How a system is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Making {
    /// About the step of the run.
    pub step: f64,
    /// Of our own integrators.
    pub integrator_tolerance: f64,
    /// What the solvers inside FMUs are asked for; none: what the FMU itself proposes.
    pub fmu_tolerance: Option<f64>,
    /// Where all calls of FMUs are written down.
    pub log: Option<Arc<CallLog>>,
    /// What is known of its inputs before the start, in front of the mappings; none: their start values.
    pub inputs: Option<Vec<f64>>,
}
