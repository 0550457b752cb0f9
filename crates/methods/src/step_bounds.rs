//! Between which sizes steps are chosen.

use serde::{Deserialize, Serialize};

/// Between which sizes steps are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepBounds {
    /// None is shorter.
    pub shortest: f64,
    /// None is longer.
    pub longest: f64,
    /// The length of the run that sizes are parts of, where the run may go on beyond it; infinite: all of it.
    pub span: f64,
}

impl Default for StepBounds {
    fn default() -> Self {
        Self {
            shortest: 0.0,
            longest: f64::INFINITY,
            span: f64::INFINITY,
        }
    }
}
