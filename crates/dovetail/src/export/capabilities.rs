//! What an exported FMU can do: what all inside can.

use dovetail_scenario::SteppedRun;
use serde::{Deserialize, Serialize};

/// What an exported FMU can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExportedCapabilities {
    /// Its state can be saved, restored and written down.
    pub state: bool,
    /// Derivatives of its outputs that it knows.
    pub output_derivatives: usize,
    /// Derivatives of outputs and of derivatives in the direction of inputs and states are known.
    pub directional_derivatives: bool,
}

impl ExportedCapabilities {
    /// Of a run that was set up as those of the FMU will be.
    pub fn of(run: &mut SteppedRun<'_>) -> Self {
        let knots = run.outputs();
        let slopes = !knots.is_empty() && knots.iter().all(|knot| knot.slope.is_finite());
        Self {
            state: run.can_checkpoint(),
            output_derivatives: usize::from(slopes),
            directional_derivatives: run.can_linearize(),
        }
    }

    /// Of a model for an integrator outside.
    pub fn of_equations() -> Self {
        Self {
            state: true,
            output_derivatives: 0,
            directional_derivatives: true,
        }
    }
}
