//! Sums and multiples of forms of one shape. Results are enclosures; what is not finite makes the
//! radius so.

use super::{FormShape, sum_of_magnitudes};
use crate::interval::Interval;
use crate::rounding::{UNIT, above};

/// `out += factor · a`, to nearest.
fn add_multiple(out: &mut [f64], factor: f64, a: &[f64]) {
    for (o, &a) in out.iter_mut().zip(a) {
        *o += factor * a;
    }
}

/// What is added.
impl FormShape {
    /// Adds `value`.
    pub fn add_constant(self, form: &mut [f64], value: Interval) {
        form[0] += value.middle();
        let rounding = UNIT * form[0].abs();
        let radius = &mut form[self.radius()];
        *radius = above(*radius + value.radius() + rounding);
    }

    /// `out += factor · a`, where `factor` is a small integer or a power of two.
    pub fn add(self, out: &mut [f64], a: &[f64], factor: f64) {
        let (a, a_radius) = self.split(a);
        let (out, radius) = self.split_mut(out);
        add_multiple(out, factor, a);
        let size = factor.abs();
        let scaling = if size == 1.0 {
            0.0
        } else {
            UNIT * size * sum_of_magnitudes(a)
        };
        let rounding = UNIT * sum_of_magnitudes(out) + scaling;

        *radius = above(*radius + size * a_radius + rounding);
    }

    /// `out += scale · a`.
    pub fn add_scaled(self, out: &mut [f64], scale: Interval, a: &[f64]) {
        let middle = scale.middle();
        let size = middle.abs();
        let spread = scale.radius();
        let (a, a_radius) = self.split(a);
        let (out, radius) = self.split_mut(out);
        let mut reach = 0.0;

        for (o, &a) in out.iter_mut().zip(a) {
            *o += middle * a;
            reach += a.abs();
        }

        let rounding = UNIT * (size * reach + sum_of_magnitudes(out));
        *radius = above(*radius + size * a_radius + spread * (reach + a_radius) + rounding);
    }
}

/// What is set.
impl FormShape {
    /// `out = a + sign · b`.
    pub fn set_sum(self, out: &mut [f64], a: &[f64], b: &[f64], sign: f64) {
        let (a, a_radius) = self.split(a);
        let (b, b_radius) = self.split(b);
        let (out, radius) = self.split_mut(out);

        for ((o, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *o = a + sign * b;
        }
        *radius = above(a_radius + b_radius + UNIT * sum_of_magnitudes(out));
    }

    /// `out = scale · a`.
    pub fn set_scaled(self, out: &mut [f64], scale: Interval, a: &[f64]) {
        let middle = scale.middle();
        let spread = scale.radius();
        let (a, a_radius) = self.split(a);
        let (out, radius) = self.split_mut(out);

        for (o, &a) in out.iter_mut().zip(a) {
            *o = middle * a;
        }

        let reach = if spread > 0.0 {
            sum_of_magnitudes(a) + a_radius
        } else {
            0.0
        };
        let rounding = UNIT * sum_of_magnitudes(out);
        *radius = above(middle.abs() * a_radius + spread * reach + rounding);
    }

    /// `out = out / divisor`, for a divisor that is a small positive integer.
    pub fn divide(self, out: &mut [f64], divisor: f64) {
        let (out, radius) = self.split_mut(out);
        for o in out.iter_mut() {
            *o /= divisor;
        }
        *radius = above(*radius / divisor + UNIT * sum_of_magnitudes(out));
    }
}

/// A term of a linear combination of forms.
pub(crate) struct Term<'f> {
    pub scale: Interval,
    pub form: &'f [f64],
    /// The sum of the magnitudes of the form's center and coefficients.
    pub magnitude: f64,
}

/// Linear combinations.
impl FormShape {
    /// `out = Σ scale · form`.
    pub fn set_combination<'f>(self, out: &mut [f64], terms: impl Iterator<Item = Term<'f>>) {
        out.fill(0.0);
        let (out, radius) = self.split_mut(out);
        let mut lost = 0.0;
        let mut size = 0.0;
        let mut count = 2.0;

        for term in terms {
            let middle = term.scale.middle();
            let spread = term.scale.radius();
            let (form, form_radius) = self.split(term.form);
            add_multiple(out, middle, form);
            size += middle.abs() * term.magnitude;
            lost += spread * (term.magnitude + form_radius) + middle.abs() * form_radius;
            count += 1.0;
        }
        // A sum of n products is wrong by n units of the sum of their magnitudes at most, to first
        // order.
        *radius = above(lost + count * UNIT * size);
    }

    /// The sum of the magnitudes of the center and of all coefficients.
    pub fn magnitude_of(self, form: &[f64]) -> f64 {
        above(sum_of_magnitudes(&form[..self.radius()]))
    }

    /// `out = Σ weights[k] · series[k]`, for forms one after the other in `series`.
    pub fn combine(self, out: &mut [f64], series: &[f64], weights: &[Interval]) {
        out.fill(0.0);
        let (out, radius) = self.split_mut(out);
        let mut lost = 0.0;

        // The highest first: the smallest terms are added first.
        for (form, weight) in series.chunks_exact(self.width()).zip(weights).rev() {
            let (form, form_radius) = self.split(form);
            let middle = weight.middle();
            let size = middle.abs();
            add_multiple(out, middle, form);
            let reach = sum_of_magnitudes(form);
            let rounding = UNIT * (size * reach + sum_of_magnitudes(out));
            lost += rounding + weight.radius() * (reach + form_radius) + size * form_radius;
        }
        *radius = above(lost);
    }
}
