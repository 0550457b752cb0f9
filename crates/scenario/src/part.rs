//! The systems of a checked model, whatever they are made of.

use std::sync::Arc;

use dovetail_core::{Interface, Mapped, Mapping, Restricted, Restrictions, System};
use dovetail_equations::{Definition, NativeSystem};
use dovetail_fmi::{Conditions, Monitor, Prepared, UnitError};
use dovetail_guaranteed::Boxes;

use crate::options::RunOptions;

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

    /// The system at its start values; `step` is about that of the run.
    pub fn system(&self, options: &RunOptions, step: f64) -> Result<Made, UnitError> {
        let (system, monitor): Made = match &self.model {
            PartModel::Equations { definition, .. } => {
                let tolerance = options.integrator_tolerance;
                (Box::new(NativeSystem::new(&Definition { tolerance, ..definition.clone() })), None)
            }
            PartModel::Unit { name, prepared } => {
                let given = options.given.iter().any(|key| key == "integrator-tolerance");
                let conditions = Conditions {
                    step,
                    tolerance: options.integrator_tolerance,
                    asked_tolerance: given.then_some(options.integrator_tolerance),
                    log: options.fmi_log.clone(),
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
}
