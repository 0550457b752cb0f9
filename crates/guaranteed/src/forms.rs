//! Affine forms with global symbols, and second-order ones: polynomials in symbols from `[-1, 1]`,
//! plus an anonymous radius.
//!
//! A form is a slice of numbers: center, coefficients of the *primary* symbols ε (initial boxes and
//! uncertain parameters), coefficients of their products where the form is of second order,
//! coefficients of the *error* symbols η, and last a radius. It stands for all
//! `center + Σ gᵢ εᵢ + Σ qᵢⱼ εᵢ εⱼ + Σ eᵢ ηᵢ + [-radius, radius]`. Rounding errors go into the
//! radius.

pub(crate) mod linear;
mod product;
mod range;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::rounding::above;

/// Which coefficient of a form stands where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormShape {
    /// Primary symbols.
    pub primaries: usize,
    /// Whether products of two primary symbols are kept.
    pub quadratic: bool,
    /// Error symbols.
    pub errors: usize,
}

impl FormShape {
    /// Of intervals.
    pub const NO_SYMBOLS: Self = Self {
        primaries: 0,
        quadratic: false,
        errors: 0,
    };

    /// How many products of primary symbols are kept.
    pub fn products(self) -> usize {
        if self.quadratic {
            self.primaries * (self.primaries + 1) / 2
        } else {
            0
        }
    }

    /// Where products of primary symbols begin.
    fn first_product(self) -> usize {
        1 + self.primaries
    }

    /// Where the error symbols begin.
    pub fn first_error(self) -> usize {
        self.first_product() + self.products()
    }

    /// Where the radius is.
    pub fn radius(self) -> usize {
        self.first_error() + self.errors
    }

    /// How many numbers a form has.
    pub fn width(self) -> usize {
        self.radius() + 1
    }

    /// Where the products of each primary symbol are, counted from 1: with itself and with those
    /// after it.
    fn product_rows(self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let mut start = self.first_product();
        (1..=self.primaries).map(move |symbol| {
            let row = start..start + self.primaries + 1 - symbol;
            start = row.end;
            (symbol, row)
        })
    }

    /// The center and all coefficients; the radius.
    fn split(self, form: &[f64]) -> (&[f64], f64) {
        let radius = self.radius();
        (&form[..radius], form[radius])
    }

    /// The center and all coefficients; the radius.
    fn split_mut(self, form: &mut [f64]) -> (&mut [f64], &mut f64) {
        let (coefficients, rest) = form.split_at_mut(self.radius());
        (coefficients, &mut rest[0])
    }

    /// Makes it the constant `value`.
    pub fn set_constant(self, form: &mut [f64], value: Interval) {
        form.fill(0.0);
        form[0] = value.middle();
        form[self.radius()] = value.radius();
    }

    /// Nothing is known.
    pub fn set_unknown(self, form: &mut [f64]) {
        form.fill(0.0);
        form[self.radius()] = f64::INFINITY;
    }

    /// Adds to the radius.
    pub fn widen(self, form: &mut [f64], more: f64) {
        let radius = &mut form[self.radius()];
        *radius = above(*radius + more);
    }

    /// Adds to the radius of each of several forms, one after the other.
    pub fn widen_each(self, forms: &mut [f64], radii: &[f64]) {
        let forms = forms.chunks_exact_mut(self.width());
        for (form, &more) in forms.zip(radii) {
            self.widen(form, more);
        }
    }
}

fn sum_of_magnitudes(values: &[f64]) -> f64 {
    // Four sums at once, which the processor can add side by side.
    let mut sums = [0.0; 4];
    let chunks = values.chunks_exact(4);
    let rest: f64 = chunks.remainder().iter().map(|v| v.abs()).sum();

    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value.abs();
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests;
