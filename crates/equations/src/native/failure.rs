//! Why the integration of a system given as equations failed.

use dovetail_core::{Error, Interface, MacroStep, Remedy};
use dovetail_numerics::IntegrationError;

/// Why an integration inside a system failed.
#[derive(Debug, thiserror::Error)]
enum IntegrationFailure {
    #[error(
        "the derivative of its state `{state}` is not a finite number there; look for a division \
         by zero or a root or logarithm of a negative number"
    )]
    NotFinite { state: String },
    #[error(
        "its integrator gave up after {limit} steps within one macro-step; \
         a smoother right-hand side may help"
    )]
    TooManySteps { limit: usize },
    #[error(
        "its integrator would need steps below {step:.1e} s, because of its state `{state}`: \
         the solution has a pole or a jump there"
    )]
    StepTooSmall { step: f64, state: String },
}

impl IntegrationFailure {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::TooManySteps { .. } => vec![Remedy::LooserIntegratorTolerance],
            Self::NotFinite { .. } | Self::StepTooSmall { .. } => Vec::new(),
        }
    }
}

pub(super) fn failure(interface: &Interface, step: MacroStep, error: IntegrationError) -> Error {
    let state = |component: usize| interface.states[component].clone();
    let (elapsed, reason) = match error {
        IntegrationError::NotFinite { time, component } => {
            let state = state(component);
            (time, IntegrationFailure::NotFinite { state })
        }
        IntegrationError::TooManySteps { time, limit } => {
            (time, IntegrationFailure::TooManySteps { limit })
        }
        IntegrationError::StepTooSmall {
            time,
            step,
            component,
        } => {
            let state = state(component);
            (time, IntegrationFailure::StepTooSmall { step, state })
        }
    };
    let remedies = reason.remedies();

    Error::system(&interface.name, step.start + elapsed, reason).with(remedies)
}
