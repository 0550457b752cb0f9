//! Backtracking along a step by quadratic and cubic models of `½‖F‖²`.
//!
//! Reference: Dennis & Schnabel (1996), *Numerical Methods for Unconstrained Optimization and
//! Nonlinear Equations*, algorithm A6.3.1, as in PETSc's `-snes_linesearch_type bt` of order 3.

/// What is known along a step: `½‖F‖²` and its slope at the start, and the last two lengths tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backtracking {
    start: f64,
    slope: f64,
    /// The reduction asked for, as a share of what the slope promises.
    sufficient: f64,
    length: f64,
    previous: Option<(f64, f64)>,
}

impl Backtracking {
    /// Begins with the full step; `slope` is negative.
    pub fn new(norm: f64, slope: f64, sufficient: f64) -> Self {
        Self {
            start: 0.5 * norm * norm,
            slope,
            sufficient,
            length: 1.0,
            previous: None,
        }
    }

    /// The share of the step to try.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Whether a residual of this norm is enough of a reduction; if not, the next length is
    /// shorter.
    pub fn accept(&mut self, norm: f64) -> bool {
        let value = 0.5 * norm * norm;
        if value <= self.start + self.sufficient * self.length * self.slope {
            return true;
        }

        let proposal = match self.previous {
            None => self.quadratic(value),
            Some(previous) => self.cubic(value, previous),
        };
        self.previous = Some((self.length, value));
        let proposal = if proposal.is_finite() { proposal } else { 0.0 };
        self.length = proposal.clamp(0.1 * self.length, 0.5 * self.length);

        false
    }

    /// Halves the length after a point that could not be evaluated.
    pub fn retreat(&mut self) {
        self.length *= 0.5;
        self.previous = None;
    }

    /// The minimum of the parabola through the start, its slope and the value at the current
    /// length.
    fn quadratic(&self, value: f64) -> f64 {
        let excess = self.excess(self.length, value);
        -0.5 * self.slope * self.length * self.length / excess
    }

    /// The minimum of the cubic through the start, its slope and the last two values.
    fn cubic(&self, value: f64, (previous_length, previous_value): (f64, f64)) -> f64 {
        let length = self.length;
        let slope = self.slope;
        let excess = self.excess(length, value) / (length * length);
        let previous_excess =
            self.excess(previous_length, previous_value) / (previous_length * previous_length);
        let distance = length - previous_length;
        let a = (excess - previous_excess) / distance;
        let b = (length * previous_excess - previous_length * excess) / distance;
        if a == 0.0 {
            return -0.5 * slope / b;
        }

        let discriminant = b * b - 3.0 * a * slope;
        (-b + discriminant.max(0.0).sqrt()) / (3.0 * a)
    }

    /// How far `value` at `length` is above the tangent at the start.
    fn excess(&self, length: f64, value: f64) -> f64 {
        value - self.start - length * self.slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `½‖F‖² = value(length)` as a norm.
    fn norm(value: f64) -> f64 {
        (2.0 * value).sqrt()
    }

    #[test]
    fn a_parabola_is_minimized_by_one_backtrack() {
        let value = |length: f64| 1.0 - length + 1.25 * length * length;
        let mut search = Backtracking::new(norm(value(0.0)), -1.0, 1e-4);
        assert!(!search.accept(norm(value(1.0))));
        assert!((search.length() - 0.4).abs() < 1e-12);
        assert!(search.accept(norm(value(search.length()))));
    }

    #[test]
    fn a_cubic_is_minimized_by_the_second() {
        let value = |length: f64| 1.0 - length + 10.0 * length * length + 20.0 * length.powi(3);
        let mut search = Backtracking::new(norm(value(0.0)), -1.0, 1e-4);
        assert!(!search.accept(norm(value(1.0))));
        assert!((search.length() - 0.1).abs() < 1e-12, "clamped");
        assert!(!search.accept(norm(value(0.1))));
        let minimum = (-20.0 + (400.0_f64 + 240.0).sqrt()) / 120.0;
        assert!((search.length() - minimum).abs() < 1e-12);
    }

    #[test]
    fn lengths_shrink_whatever_the_values() {
        let mut search = Backtracking::new(1.0, -1.0, 1e-4);
        for norm in [1.0, 2.0, f64::INFINITY, 1e200, 1.0] {
            let before = search.length();
            assert!(!search.accept(norm));
            assert!(search.length() <= 0.5 * before && search.length() >= 0.0999 * before);
        }
    }
}
