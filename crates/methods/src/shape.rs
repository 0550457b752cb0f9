//! What inputs are made of over a step.

use dovetail_core::{Knot, Signal};

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

    /// The end of one variable in a vector that holds the values of all, then their slopes, then
    /// their curvatures.
    pub fn knot_of(self, stacked: &[f64], variable: usize) -> Knot {
        let count = stacked.len() / self.orders();
        let curvature = if self == Self::Quintic {
            stacked[2 * count + variable]
        } else {
            f64::NAN
        };
        Knot {
            value: stacked[variable],
            slope: stacked[count + variable],
            curvature,
        }
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
