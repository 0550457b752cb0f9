//! The values of forms, and functions of them.

use super::{FormShape, sum_of_magnitudes};
use crate::functions::IntervalFunction;
use crate::interval::Interval;
use crate::rounding::above_terms;

impl FormShape {
    /// All values.
    pub fn range(self, form: &[f64]) -> Interval {
        Interval::point(form[0]) + self.deviation(form)
    }

    /// All values of forms one after the other.
    pub fn ranges(self, forms: &[f64]) -> Vec<Interval> {
        let forms = forms.chunks_exact(self.width());
        forms.map(|form| self.range(form)).collect()
    }

    /// All values, from the center.
    pub fn deviation(self, form: &[f64]) -> Interval {
        if let Some(exact) = self.single_deviation(form) {
            return exact;
        }

        let errors = sum_of_magnitudes(&form[self.first_error()..]);
        let (lo, hi) = if self.quadratic {
            self.quadratic_bounds(form, errors)
        } else {
            let linear = sum_of_magnitudes(&form[1..self.first_product()]);
            (-errors - linear, errors + linear)
        };
        let terms = self.width() + self.primaries;

        Interval::new(-above_terms(-lo, terms), above_terms(hi, terms))
    }

    /// The same where there is nothing to add up: at most one coefficient, and none of a product.
    fn single_deviation(self, form: &[f64]) -> Option<Interval> {
        let products = self.first_product()..self.first_error();
        let coefficients = form.iter().enumerate().skip(1);
        let mut present = coefficients.filter(|(_, coefficient)| **coefficient != 0.0);
        let Some((position, coefficient)) = present.next() else {
            return Some(Interval::ZERO);
        };

        let alone = present.next().is_none() && !products.contains(&position);
        let size = coefficient.abs();
        (alone && size.is_finite()).then(|| Interval::new(-size, size))
    }

    /// Bounds of what is linear and quadratic in primary symbols and within `errors`, to nearest.
    fn quadratic_bounds(self, form: &[f64], errors: f64) -> (f64, f64) {
        let mut lo = -errors;
        let mut hi = errors;

        for (symbol, row) in self.product_rows() {
            let row = &form[row];
            let (low, high) = range_of_parabola(form[symbol], row[0]);
            let mixed = sum_of_magnitudes(&row[1..]);
            lo += low - mixed;
            hi += high + mixed;
        }
        (lo, hi)
    }

    /// `out = function(a)`, by its expansion about the center: to first order, or to second where
    /// the form is.
    pub fn apply(
        self,
        function: IntervalFunction,
        a: &[f64],
        out: &mut [f64],
        scratch: &mut Vec<f64>,
    ) {
        let center = Interval::point(a[0]);
        let deviation = self.deviation(a);
        let here = function.expansion(center);
        let over = function.expansion(center + deviation);
        let remainder = if self.quadratic { over[3] } else { over[2] };
        let finite = here.iter().all(|c| c.is_finite()) && remainder.is_finite();
        if !finite {
            return self.set_constant(out, over[0]);
        }

        let (moved, squared) = self.split_scratch(a, scratch);
        self.set_constant(out, here[0]);
        self.add_scaled(out, here[1], moved);
        let square = deviation.square();

        if self.quadratic {
            self.add_product(squared, moved, moved, 1.0);
            self.add_scaled(out, here[2], squared);
            self.add_constant(out, remainder * (square * deviation));
        } else {
            self.add_constant(out, remainder * square);
        }
    }

    /// A copy of `a` with its center at zero, and a zero.
    fn split_scratch<'s>(
        self,
        a: &[f64],
        scratch: &'s mut Vec<f64>,
    ) -> (&'s mut [f64], &'s mut [f64]) {
        scratch.clear();
        scratch.extend_from_slice(a);
        scratch[0] = 0.0;
        scratch.resize(2 * self.width(), 0.0);
        scratch.split_at_mut(self.width())
    }
}

/// The bounds of `g s + q s²` for `s` in `[-1, 1]`, to nearest.
fn range_of_parabola(g: f64, q: f64) -> (f64, f64) {
    let left = q - g;
    let right = q + g;
    let low = left.min(right);
    let high = left.max(right);
    let has_vertex_within = g.abs() < 2.0 * q.abs();
    if !has_vertex_within {
        return (low, high);
    }

    // In this order nothing underflows that matters.
    let vertex = -g * (g / (4.0 * q));
    (low.min(vertex), high.max(vertex))
}
