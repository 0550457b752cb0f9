//! What inputs are made of over a step.

use dovetail_core::{Knot, Signal};

use crate::interface_vector::Stacking;

/// What inputs are made of over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The first step: no slope is known at its start.
    Parabola,
    /// From value and slope to value and slope.
    Cubic,
    /// Curvatures too.
    Quintic,
}

impl Shape {
    /// How many numbers an end has: values, slopes and, for quintics, curvatures.
    pub fn orders(self) -> usize {
        if self == Self::Quintic { 3 } else { 2 }
    }

    /// The end of one variable in a vector of just so many numbers for each.
    pub fn knot_of(self, stacked: &[f64], variable: usize) -> Knot {
        let variables = stacked.len() / self.orders();
        Stacking { variables }.knot(stacked, variable)
    }

    /// The signal from `start` to `end`.
    pub fn between(self, size: f64, start: Knot, end: Knot) -> Signal {
        match self {
            Self::Parabola => Signal::parabola_to(size, start.value, end),
            Self::Cubic => Signal::hermite(size, start, end),
            Self::Quintic => Signal::quintic(size, start, end),
        }
    }
}
