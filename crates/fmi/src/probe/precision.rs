//! How far the answers of a Co-Simulation FMU can be relied on.

use dovetail_core::Precision;

use super::{MOVING, Probe};
use crate::experiment::{Experiment, ExperimentFailure, InputCourse, Observation};
use crate::measures::{relative_distance, resolution};

/// Below this, relative, what one step and two halves of it differ by is rounding.
const ROUNDING: f64 = 1e-13;
/// Steps that become shorter by this factor, after a whole one, show how short a step may be.
const SHORTER: f64 = 0.1;
const MOST_SHORTER: usize = 9;

impl Probe<'_> {
    /// What one step and two halves of it differ by, and how short a step still moves the FMU as it
    /// should; under inputs that move it, if it takes them.
    pub(super) fn precision(&mut self, baseline: &[f64]) -> Precision {
        let moved = self.one_step(InputCourse::Moved(MOVING));
        let (offset, course) = match moved {
            Ok(_) => (MOVING, InputCourse::Moved(MOVING)),
            Err(_) => (0.0, InputCourse::Held),
        };
        let whole = moved.unwrap_or_else(|_| baseline.to_vec());

        Precision {
            noise: self.noise(course, &whole),
            resolution: self.resolution(offset),
        }
    }

    /// What `whole`, a step in which the inputs do this, and two halves of it differ by.
    fn noise(&mut self, course: InputCourse, whole: &[f64]) -> f64 {
        let half = 0.5 * self.size;
        let halves = self.try_out(Experiment::Steps {
            early: self.early(),
            course,
            sizes: vec![half, half],
        });
        let last = |seen: &Observation| {
            let reading = seen.readings.last()?;
            Some(relative_distance(whole, reading))
        };
        let noise = halves.ok().as_ref().and_then(last).unwrap_or(0.0);

        if noise > ROUNDING { noise } else { 0.0 }
    }

    fn resolution(&mut self, offset: f64) -> f64 {
        let sizes = self.shorter_sizes();
        let shorter = self.try_shorter(offset, &sizes);
        shorter.map_or(0.0, |seen| resolution(&seen.readings, &sizes[1..]))
    }

    fn try_shorter(
        &mut self,
        offset: f64,
        sizes: &[f64],
    ) -> Result<Observation, ExperimentFailure> {
        self.try_out(Experiment::ShorterSteps {
            early: self.early(),
            tried: self.abilities.rollback,
            offset,
            sizes: sizes.to_vec(),
        })
    }

    /// A whole step, and shorter and shorter ones.
    fn shorter_sizes(&self) -> Vec<f64> {
        let shorter = |power: usize| self.size * SHORTER.powi(power as i32);
        (0..=MOST_SHORTER).map(shorter).collect()
    }
}
