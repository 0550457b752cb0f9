//! What a Hermite polynomial misses of a smooth signal, by where the signal was a step before.
//!
//! Over a step of size h a Hermite polynomial of degree 2r + 1 differs from a smooth signal by
//! `u^(2r+2) h^(2r+2)/(2r+2)! · W(s)`, with `W = (s(s−1))^(r+1)` on s in [0, 1]: r = 1 for cubics,
//! 2 for quintics. The high derivative is that of the polynomial that also meets value and slope at
//! the start of the step before.

use dovetail_core::{Knot, Signal};

/// The start of the step before, seen from a step.
pub(crate) struct Before {
    /// The size of the step before.
    pub size: f64,
    /// The signal at its start.
    pub knot: Knot,
}

/// `W` and its slope at the start of the step before.
pub(crate) struct Weight {
    pub value: f64,
    pub slope: f64,
}

impl Before {
    /// The start of the step before, in units of a step of `size` from its start.
    pub fn place(&self, size: f64) -> f64 {
        -self.size / size
    }

    /// `u^(2r+2) h^(2r+2)/(2r+2)!` in the middle of the step, whose input is the Hermite
    /// polynomial.
    pub fn height(&self, size: f64, input: &Signal, weight: Weight) -> f64 {
        let value_miss = self.knot.value - input.value(-self.size);
        let slope_miss = self.knot.slope - input.derivative(1, -self.size);
        let q = value_miss / weight.value;
        let bend = (size * slope_miss - q * weight.slope) / weight.value;

        // Where the slope at the start before is not known, the polynomial through its value must
        // do.
        if bend.is_finite() {
            q + bend * (0.5 - self.place(size))
        } else {
            q
        }
    }
}
