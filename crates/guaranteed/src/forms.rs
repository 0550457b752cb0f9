//! Affine forms with global symbols, and second-order ones: polynomials in symbols from `[-1, 1]`, plus an anonymous radius.
//!
//! A form is a slice of numbers: centre, coefficients of the *primary* symbols ε (initial boxes and uncertain parameters),
//! coefficients of their products where the form is of second order, coefficients of the *error* symbols η, and last a radius.
//! It stands for all `centre + Σ gᵢ εᵢ + Σ qᵢⱼ εᵢ εⱼ + Σ eᵢ ηᵢ + [-radius, radius]`. Rounding errors go into the radius.

use crate::functions::Function;
use crate::interval::Interval;
use crate::rounding::{UNIT, above, above_terms, below};

/// Which coefficient of a form stands where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormShape {
    /// Primary symbols.
    pub primaries: usize,
    /// Whether products of two primary symbols are kept.
    pub quadratic: bool,
    /// Error symbols.
    pub errors: usize,
}

impl FormShape {
    /// How many products of primary symbols are kept.
    pub fn products(self) -> usize {
        if self.quadratic {
            self.primaries * (self.primaries + 1) / 2
        } else {
            0
        }
    }

    /// Where the error symbols begin.
    pub fn first_error(self) -> usize {
        1 + self.primaries + self.products()
    }

    /// Where the radius is.
    pub fn radius(self) -> usize {
        self.first_error() + self.errors
    }

    /// How many numbers a form has.
    pub fn width(self) -> usize {
        self.radius() + 1
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

/// How far the parts of a form reach.
#[derive(Clone, Copy)]
struct Reach {
    linear: f64,
    products: f64,
    errors: f64,
    radius: f64,
}

impl Reach {
    fn symbols(self) -> f64 {
        self.linear + self.products + self.errors
    }
}

/// Arithmetic on forms of one shape. Results are enclosures; what is not finite makes the radius so.
impl FormShape {
    fn reach(self, form: &[f64]) -> Reach {
        let (products, errors) = (1 + self.primaries, self.first_error());
        Reach {
            linear: sum_of_magnitudes(&form[1..products]),
            products: sum_of_magnitudes(&form[products..errors]),
            errors: sum_of_magnitudes(&form[errors..self.radius()]),
            radius: form[self.radius()],
        }
    }

    /// Makes it the constant `value`.
    pub fn set_constant(self, form: &mut [f64], value: Interval) {
        form.fill(0.0);
        form[0] = value.middle();
        form[self.radius()] = value.radius();
    }

    /// Adds `value`.
    pub fn add_constant(self, form: &mut [f64], value: Interval) {
        let middle = value.middle();
        form[0] += middle;
        form[self.radius()] = above(form[self.radius()] + value.radius() + UNIT * form[0].abs());
    }

    /// `out += factor · a`, where `factor` is a small integer or a power of two.
    pub fn add(self, out: &mut [f64], a: &[f64], factor: f64) {
        let radius = self.radius();
        let (coefficients, rest) = out.split_at_mut(radius);
        for (o, &a) in coefficients.iter_mut().zip(&a[..radius]) {
            *o += factor * a;
        }
        let scaling = if factor.abs() == 1.0 {
            0.0
        } else {
            UNIT * factor.abs() * sum_of_magnitudes(&a[..radius])
        };
        let rounding = UNIT * sum_of_magnitudes(coefficients) + scaling;
        rest[0] = above(rest[0] + factor.abs() * a[radius] + rounding);
    }

    /// `out += scale · a`.
    pub fn add_scaled(self, out: &mut [f64], scale: Interval, a: &[f64]) {
        let radius = self.radius();
        let (middle, spread) = (scale.middle(), scale.radius());
        let (coefficients, rest) = out.split_at_mut(radius);
        let mut reach = 0.0;
        for (o, &a) in coefficients.iter_mut().zip(&a[..radius]) {
            *o += middle * a;
            reach += a.abs();
        }
        let rounding = UNIT * (middle.abs() * reach + sum_of_magnitudes(coefficients));
        rest[0] =
            above(rest[0] + middle.abs() * a[radius] + spread * (reach + a[radius]) + rounding);
    }

    /// `out = a + sign · b`.
    pub fn set_sum(self, out: &mut [f64], a: &[f64], b: &[f64], sign: f64) {
        let radius = self.radius();
        let (coefficients, rest) = out.split_at_mut(radius);
        for ((o, &a), &b) in coefficients.iter_mut().zip(&a[..radius]).zip(&b[..radius]) {
            *o = a + sign * b;
        }
        rest[0] = above(a[radius] + b[radius] + UNIT * sum_of_magnitudes(coefficients));
    }

    /// `out = scale · a`.
    pub fn set_scaled(self, out: &mut [f64], scale: Interval, a: &[f64]) {
        let radius = self.radius();
        let (middle, spread) = (scale.middle(), scale.radius());
        let (coefficients, rest) = out.split_at_mut(radius);
        for (o, &a) in coefficients.iter_mut().zip(&a[..radius]) {
            *o = middle * a;
        }
        let reach = if spread > 0.0 {
            sum_of_magnitudes(&a[..radius]) + a[radius]
        } else {
            0.0
        };
        rest[0] = above(
            middle.abs() * a[radius] + spread * reach + UNIT * sum_of_magnitudes(coefficients),
        );
    }

    /// `out = Σ scale · form`, for terms that tell the sum of the magnitudes of their form, too.
    pub fn set_combination<'f>(
        self,
        out: &mut [f64],
        terms: impl Iterator<Item = (Interval, &'f [f64], f64)>,
    ) {
        let radius = self.radius();
        out.fill(0.0);
        let (coefficients, rest) = out.split_at_mut(radius);
        let (mut lost, mut size, mut count) = (0.0, 0.0, 2.0);
        for (scale, form, reach) in terms {
            let (middle, spread) = (scale.middle(), scale.radius());
            for (o, &c) in coefficients.iter_mut().zip(&form[..radius]) {
                *o += middle * c;
            }
            size += middle.abs() * reach;
            lost += spread * (reach + form[radius]) + middle.abs() * form[radius];
            count += 1.0;
        }
        // A sum of n products is wrong by n units of the sum of their magnitudes at most, to first order.
        rest[0] = above(lost + count * UNIT * size);
    }

    /// The sum of the magnitudes of the centre and of all coefficients.
    pub fn reach_of(self, form: &[f64]) -> f64 {
        above(sum_of_magnitudes(&form[..self.radius()]))
    }

    /// `out = Σ weights[k] · series[k]`, for forms one after the other in `series`.
    pub fn combine(self, out: &mut [f64], series: &[f64], weights: &[Interval]) {
        let radius = self.radius();
        out.fill(0.0);
        let (coefficients, rest) = out.split_at_mut(radius);
        let mut lost = 0.0;
        // The highest first: the smallest terms are added first.
        for (form, weight) in series.chunks_exact(self.width()).zip(weights).rev() {
            let middle = weight.middle();
            for (o, &c) in coefficients.iter_mut().zip(&form[..radius]) {
                *o += middle * c;
            }
            let reach = sum_of_magnitudes(&form[..radius]);
            let rounding = UNIT * (middle.abs() * reach + sum_of_magnitudes(coefficients));
            lost +=
                rounding + weight.radius() * (reach + form[radius]) + middle.abs() * form[radius];
        }
        rest[0] = above(lost);
    }

    /// `out = out / divisor`, for a divisor that is a small positive integer.
    pub fn divide(self, out: &mut [f64], divisor: f64) {
        let radius = self.radius();
        let (coefficients, rest) = out.split_at_mut(radius);
        coefficients.iter_mut().for_each(|o| *o /= divisor);
        rest[0] = above(rest[0] / divisor + UNIT * sum_of_magnitudes(coefficients));
    }

    /// `out += factor · a · b`, where `factor` is a small integer.
    pub fn add_product(self, out: &mut [f64], a: &[f64], b: &[f64], factor: f64) {
        let radius = self.radius();
        let (left, right) = (self.reach(a), self.reach(b));
        let size = factor.abs();
        let (a0, b0) = (a[0], b[0]);
        out[0] += factor * (a0 * b0);
        for i in 1..radius {
            out[i] += factor * (a0 * b[i] + b0 * a[i]);
        }
        let beyond = if self.quadratic {
            self.add_products_of_symbols(out, a, b, factor);
            left.linear * right.products
                + left.products * right.symbols()
                + left.errors * (right.linear + right.products)
                + right.errors * left.linear
        } else {
            let all = (left.linear + left.errors) * (right.linear + right.errors);
            all - self.halves_of_squares(out, a, b, factor, 1..radius)
        };
        let squares = if self.quadratic {
            let errors = self.first_error()..radius;
            left.errors * right.errors - self.halves_of_squares(out, a, b, factor, errors)
        } else {
            0.0
        };
        let anonymous = left.radius * (b0.abs() + right.symbols() + right.radius)
            + right.radius * (a0.abs() + left.symbols());
        let products = (a0.abs() + left.symbols()) * (b0.abs() + right.symbols());
        let rounding = UNIT * (5.0 * size * products + 2.0 * sum_of_magnitudes(&out[..radius]));
        let grown = out[radius] + size * (above(beyond + squares) + anonymous) + rounding;
        out[radius] = above(grown);
    }

    /// Squares of a symbol lie in `[0, 1]`: half of their factors belongs to the centre. Returns how much the radius shrinks by it.
    fn halves_of_squares(
        self,
        out: &mut [f64],
        a: &[f64],
        b: &[f64],
        factor: f64,
        range: std::ops::Range<usize>,
    ) -> f64 {
        let (mut sum, mut magnitude) = (0.0, 0.0);
        let count = range.len() as f64;
        for (a, b) in a[range.clone()].iter().zip(&b[range]) {
            let product = a * b;
            sum += product;
            magnitude += product.abs();
        }
        let centre = 0.5 * sum;
        out[0] += factor * centre;
        // What rounding may have done to the centre stays in the radius.
        (below(0.5 * magnitude) - above((count + 4.0) * UNIT * magnitude)).max(0.0)
            - above((count + 4.0) * UNIT * magnitude)
    }

    /// Products of primary symbols, in the order (1,1), (1,2), …, (2,2), …
    fn add_products_of_symbols(self, out: &mut [f64], a: &[f64], b: &[f64], factor: f64) {
        let count = self.primaries;
        let mut at = 1 + count;
        for i in 1..=count {
            let (ai, bi) = (factor * a[i], factor * b[i]);
            out[at] += ai * b[i];
            at += 1;
            let rest = count - i;
            let (out, a, b) = (
                &mut out[at..at + rest],
                &a[i + 1..=count],
                &b[i + 1..=count],
            );
            for ((o, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *o += ai * b + bi * a;
            }
            at += rest;
        }
    }

    /// All values.
    pub fn range(self, form: &[f64]) -> Interval {
        Interval::point(form[0]) + self.deviation(form)
    }

    /// All values, from the centre.
    pub fn deviation(self, form: &[f64]) -> Interval {
        let errors = sum_of_magnitudes(&form[self.first_error()..]);
        let (mut lo, mut hi) = (-errors, errors);
        if self.quadratic {
            let mut at = 1 + self.primaries;
            for i in 1..=self.primaries {
                let (low, high) = range_of_parabola(form[i], form[at]);
                let rest = self.primaries - i;
                let mixed = sum_of_magnitudes(&form[at + 1..at + 1 + rest]);
                lo += low - mixed;
                hi += high + mixed;
                at += 1 + rest;
            }
        } else {
            let linear = sum_of_magnitudes(&form[1..1 + self.primaries]);
            lo -= linear;
            hi += linear;
        }
        let terms = self.width() + self.primaries;
        Interval::new(-above_terms(-lo, terms), above_terms(hi, terms))
    }

    /// `out = function(a)`, by its expansion about the centre: to first order, or to second where the form is.
    pub fn apply(self, function: Function, a: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        let (centre, deviation) = (Interval::point(a[0]), self.deviation(a));
        let (here, over) = (
            function.expansion(centre),
            function.expansion(centre + deviation),
        );
        let highest = if self.quadratic { over[3] } else { over[2] };
        if !(here.iter().all(|c| c.is_finite()) && highest.is_finite()) {
            return self.set_constant(out, over[0]);
        }
        scratch.clear();
        scratch.extend_from_slice(a);
        scratch[0] = 0.0;
        scratch.resize(2 * self.width(), 0.0);
        let (moved, squared) = scratch.split_at_mut(self.width());
        self.set_constant(out, here[0]);
        self.add_scaled(out, here[1], moved);
        let square = deviation.square();
        if self.quadratic {
            self.add_product(squared, moved, moved, 1.0);
            self.add_scaled(out, here[2], squared);
            self.add_constant(out, over[3] * (square * deviation));
        } else {
            self.add_constant(out, over[2] * square);
        }
    }

    /// Nothing is known.
    pub fn set_unknown(self, form: &mut [f64]) {
        form.fill(0.0);
        form[self.radius()] = f64::INFINITY;
    }
}

/// The bounds of `g s + q s²` for `s` in `[-1, 1]`, to nearest.
fn range_of_parabola(g: f64, q: f64) -> (f64, f64) {
    let ends = (q - g, q + g);
    let (mut low, mut high) = (ends.0.min(ends.1), ends.0.max(ends.1));
    // The vertex, if it lies within.
    if g.abs() < 2.0 * q.abs() {
        // In this order nothing underflows that matters.
        let vertex = -g * (g / (4.0 * q));
        low = low.min(vertex);
        high = high.max(vertex);
    }
    (low, high)
}

#[cfg(test)]
mod tests;
