//! Errors of inputs that systems delay.
//!
//! What is wrong with such an input moves no state now: the system remembers it, and it comes back
//! later. A step is judged by it as if it were an error of a state.

use serde::{Deserialize, Serialize};

use super::local_error::TERMS;
use crate::coupling::Coupling;
use crate::ranges::Ranges;

/// Which part of the error of a step is meant.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Interpolation,
    Ends,
    Foreseen,
}

/// The coupling variables that feed delayed inputs, and the errors of these.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct DelayedErrors {
    variables: Vec<usize>,
    errors: [Vec<f64>; 3],
}

impl DelayedErrors {
    pub fn of(coupling: &Coupling<'_>) -> Self {
        let variables: Vec<usize> = coupling.delayed_variables().collect();
        let zeros = vec![0.0; variables.len()];
        Self {
            variables,
            errors: [zeros.clone(), zeros.clone(), zeros],
        }
    }

    /// The largest of these disturbances in the middle and at the end of a step.
    pub fn note(&mut self, part: Part, size: f64, disturbances: &[[f64; TERMS]]) {
        for (error, &variable) in self.errors[part as usize].iter_mut().zip(&self.variables) {
            let disturbance = &disturbances[variable];
            let middle = value(disturbance, 0.5 * size);
            *error = middle.abs().max(value(disturbance, size).abs());
        }
    }

    /// The largest as a part of the range of its variable.
    pub fn share(&self, part: Part, ranges: &Ranges) -> f64 {
        let mut largest: f64 = 0.0;
        for (error, &variable) in self.errors[part as usize].iter().zip(&self.variables) {
            let scale = ranges.scale(variable);
            if scale > 0.0 {
                largest = largest.max(error / scale);
            }
        }
        largest
    }
}

fn value(coefficients: &[f64], elapsed: f64) -> f64 {
    let from_last = coefficients.iter().rev();
    from_last.fold(0.0, |sum, coefficient| sum * elapsed + coefficient)
}
