//! What inputs that move inside their bounds can do to a system.
//!
//! Let `x' = f(t, x, w)` with the true inputs `w` and `y' = f(t, y, v)` with known ones, from the
//! same start, and `|w - v| ≤ r(s)`. By the mean value theorem `e = x - y` obeys `|e|' ≤ M |e| + B
//! r(s)` (Dini derivatives), where `M` has upper bounds of `∂f_i/∂x_i` on its diagonal and of
//! `|∂f_i/∂x_j|` elsewhere, and `B` bounds `|∂f/∂w|`. Off its diagonal `M` is not negative, hence
//! `|e|` stays below the solution of the linear equation with `=` in the place of `≤`, from zero.

use super::field::FieldJacobian;
use super::input::Input;
use crate::interval::Interval;
use crate::rounding::above;

/// Beyond this, `‖M‖ H` is too much for a series.
const LARGEST_GROWTH: f64 = 16.0;
const MOST_TERMS: usize = 80;

/// Terms of the series that are a smaller part of its sum do not count any more.
const NEGLIGIBLE: f64 = 1e-13;

/// How far states can be after `size` from where they are with the known inputs; `None` if no bound
/// was found.
pub(super) fn deviations(
    jacobian: &FieldJacobian,
    inputs: &[&Input],
    size: Interval,
) -> Option<Vec<f64>> {
    let majorant = majorant(&jacobian.own);
    let norm = above(row_sums(&majorant).fold(0.0, f64::max) * size.hi);
    if norm.is_nan() || norm > LARGEST_GROWTH {
        return None;
    }

    let degree = inputs.iter().map(|input| input.radii().len()).max();
    let degree = degree.unwrap_or(0);
    // The Taylor coefficients of the solution: e_{k+1} = (M e_k + B r_k) / (k + 1), each times Hᵏ.
    let mut term = vec![Interval::ZERO; majorant.len()];
    let mut sum = term.clone();
    let mut power = Interval::ONE;

    for k in 0..MOST_TERMS {
        let order = Interval::point(k as f64 + 1.0);
        let next = |i: usize| {
            let forced = if k < degree {
                forcing(&jacobian.foreign[i], inputs, k)
            } else {
                0.0
            };
            let rate = product(&majorant[i], &term) + Interval::point(forced) * power;
            rate * size / order
        };
        term = (0..majorant.len()).map(next).collect();
        power = power * size;
        add(&mut sum, &term);
        let largest = term.iter().map(|t| t.magnitude()).fold(0.0, f64::max);
        let ratio = norm / (k as f64 + 2.0);
        let small = largest <= NEGLIGIBLE * smallest(&sum) || k + 1 == MOST_TERMS;
        if k >= degree && ratio < 0.5 && small {
            // What remains is less than a geometric series.
            return bounds(&sum, above(2.0 * largest * ratio));
        }
    }
    None
}

/// The sum of a series, of which `rest` remains, if it is finite.
fn bounds(sum: &[Interval], rest: f64) -> Option<Vec<f64>> {
    let bounds: Vec<f64> = sum.iter().map(|s| above(s.hi.max(0.0) + rest)).collect();
    bounds.iter().all(|b| b.is_finite()).then_some(bounds)
}

fn smallest(sum: &[Interval]) -> f64 {
    let positive = sum.iter().map(|s| s.hi).filter(|hi| *hi > 0.0);
    positive.fold(f64::INFINITY, f64::min)
}

fn add(sum: &mut [Interval], term: &[Interval]) {
    for (sum, &term) in sum.iter_mut().zip(term) {
        *sum = *sum + term;
    }
}

fn product(row: &[f64], vector: &[Interval]) -> Interval {
    let terms = row.iter().zip(vector);
    let terms = terms.map(|(&m, &e)| Interval::point(m) * e);
    terms.fold(Interval::ZERO, |sum, term| sum + term)
}

/// `M`.
fn majorant(slopes: &[Vec<Interval>]) -> Vec<Vec<f64>> {
    let rows = slopes.iter().enumerate();
    rows.map(|(i, row)| majorant_row(i, row)).collect()
}

fn majorant_row(i: usize, row: &[Interval]) -> Vec<f64> {
    row.iter()
        .enumerate()
        .map(|(j, slope)| if i == j { slope.hi } else { slope.magnitude() })
        .collect()
}

fn row_sums(matrix: &[Vec<f64>]) -> impl Iterator<Item = f64> {
    matrix
        .iter()
        .map(|row| row.iter().map(|m| m.abs()).sum::<f64>())
}

/// Coefficient `k` of `B r(s)`, one row.
fn forcing(row: &[Interval], inputs: &[&Input], k: usize) -> f64 {
    let term = |(slope, input): (&Interval, &&Input)| match input.radii().get(k) {
        Some(&radius) if radius != 0.0 => slope.magnitude() * radius,
        _ => 0.0,
    };
    above(row.iter().zip(inputs).map(term).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jacobian(own: f64, foreign: f64) -> FieldJacobian {
        FieldJacobian {
            own: vec![vec![Interval::point(own)]],
            foreign: vec![vec![Interval::point(foreign)]],
        }
    }

    #[test]
    fn a_damped_system_deviates_by_the_integral() {
        // e' = -2 e + 3 · 0.5, so e(1) = 0.75 (1 - exp(-2)).
        let input = Input::held(Interval::new(-0.5, 0.5));
        let bound = deviations(&jacobian(-2.0, -3.0), &[&input], Interval::ONE).unwrap()[0];
        let exact = 0.75 * (1.0 - (-2.0f64).exp());
        assert!(
            bound >= exact && bound < exact * (1.0 + 1e-7),
            "{bound} {exact}"
        );
    }

    #[test]
    fn a_bound_that_grows_with_time_counts_from_where_it_is() {
        // e' = s, so e(2) = 2.
        let input = Input::polynomial(&[Interval::ZERO, Interval::new(-1.0, 1.0)]);
        let bound = deviations(&jacobian(0.0, 1.0), &[&input], Interval::point(2.0)).unwrap()[0];
        assert!((2.0..2.000_001).contains(&bound), "{bound}");
    }

    #[test]
    fn a_majorant_that_is_too_large_gives_no_bound() {
        let input = Input::held(Interval::new(-0.5, 0.5));
        assert_eq!(
            deviations(&jacobian(1e3, 1.0), &[&input], Interval::ONE),
            None
        );
        assert_eq!(
            deviations(&jacobian(f64::INFINITY, 1.0), &[&input], Interval::ONE),
            None
        );
    }
}
