//! What a method asks of the systems of a run.

use dovetail_core::System;
use dovetail_methods::{Costarica, EstimatorOptions, INTEGRATOR_TOLERANCE, MethodKind};

use crate::options::RunOptions;

/// The solver of an FMU is asked for this part of the coupling tolerance.
const FMU_SHARE: f64 = 0.01;

/// A system behind COSTARICA, if it can be linearised.
pub(crate) fn estimate(system: Box<dyn System>, options: EstimatorOptions) -> Box<dyn System> {
    match Costarica::new(system, options) {
        Ok(wrapped) => Box::new(wrapped),
        Err(system) => system,
    }
}

/// What the solvers inside FMUs are asked for: far less than what the coupling is allowed to be off by, where the method
/// knows that; none: what an FMU itself proposes.
pub(crate) fn fmu_tolerance(kind: &dyn MethodKind, options: &RunOptions) -> Option<f64> {
    if options.settings.has(&INTEGRATOR_TOLERANCE) {
        return Some(options.integrator_tolerance());
    }
    let coupling = kind.tolerance(&options.settings)?;
    Some((FMU_SHARE * coupling).clamp(1e-12, 1e-4))
}
