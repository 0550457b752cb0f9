//! Estimators that stand in for systems.

use dovetail_core::System;
use dovetail_methods::{Costarica, EstimatorOptions};

/// A system behind COSTARICA, if it can be linearized.
pub(crate) fn estimated_by(system: Box<dyn System>, options: EstimatorOptions) -> Box<dyn System> {
    match Costarica::new(system, options) {
        Ok(wrapped) => Box::new(wrapped),
        Err(system) => system,
    }
}
