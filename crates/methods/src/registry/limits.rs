//! What can be asked of systems whose answers come from solvers of their own.

use dovetail_core::Capabilities;

use crate::step_bounds::StepBounds;

/// What can be asked of the systems of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Errors smaller than this cannot be told from noise.
    pub tolerance: f64,
    /// Shorter steps move systems by chance; in longer ones a system that cannot report what
    /// happens in them may miss it.
    pub steps: StepBounds,
}

/// A tolerance that a step can keep is so many times the noise of what it is judged by.
const ABOVE_NOISE: f64 = 100.0;
/// A step is so many times what moves a system.
const ABOVE_RESOLUTION: f64 = 10.0;
/// The shortest step that Co-Simulation FMUs are asked for, as a part of the run.
const LEAST_STEP: f64 = 1e-8;
/// The longest step that they are asked for: that of methods with a fixed step, by default.
const LONGEST_STEP: f64 = 1.0 / 500.0;

impl Limits {
    /// For these systems, over a run of length `span`.
    pub fn of(capabilities: &[Capabilities], span: f64) -> Self {
        let precisions = || capabilities.iter().map(|c| c.precision);
        let noise = precisions().map(|p| p.noise).fold(0.0, f64::max);
        let resolution = precisions().map(|p| p.resolution).fold(0.0, f64::max);
        // Co-Simulation FMUs without event mode: their solvers are not made for next to nothing,
        // and what switches in them goes unreported.
        let silent = capabilities.iter().any(|c| !c.presence.responds);
        let [least, longest] = if silent {
            [LEAST_STEP * span, LONGEST_STEP * span]
        } else {
            [0.0, f64::INFINITY]
        };
        let steps = StepBounds {
            shortest: (ABOVE_RESOLUTION * resolution).max(least),
            longest,
            span,
        };

        Self {
            tolerance: ABOVE_NOISE * noise,
            steps,
        }
    }
}
