//! How fast an error can grow: the majorant of the Jacobian, and the bound it gives.

use super::jacobian::SparseRow;
use crate::interval::Interval;
use crate::rounding::{above, add_above};

/// Iterations of the power method: the rate only guides the choice of steps.
const POWER_ITERATIONS: usize = 40;

/// No weight is smaller than this part of the largest.
const LEAST_WEIGHT: f64 = 1e-9;

/// The series of an exponential is given up after so many terms.
const MOST_TERMS: usize = 200;

/// For each state, the states it depends on and bounds of the rates, nonnegative: `M⁺`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Majorant {
    /// Row by row: `(column, bound)`; on the diagonal negative rates count as zero.
    pub rows: Vec<Vec<(usize, f64)>>,
}

impl Majorant {
    /// Of a Jacobian.
    pub fn of(rows: &[SparseRow]) -> Self {
        let rows = rows.iter().enumerate();
        Self {
            rows: rows.map(|(state, row)| majorant_row(state, row)).collect(),
        }
    }

    /// `M⁺ v`, rounded up.
    fn applied(&self, v: &[f64]) -> Vec<f64> {
        self.product(v).into_iter().map(above).collect()
    }

    /// `M⁺ v`, to nearest.
    fn product(&self, v: &[f64]) -> Vec<f64> {
        let product = |row: &Vec<(usize, f64)>| row.iter().map(|&(j, m)| m * v[j]).sum();
        self.rows.iter().map(product).collect()
    }

    /// The largest sum of a row, to nearest.
    fn norm(&self) -> f64 {
        let sum = |row: &Vec<(usize, f64)>| row.iter().map(|&(_, m)| m).sum::<f64>();
        self.rows.iter().map(sum).fold(0.0, f64::max)
    }
}

/// The power method.
impl Majorant {
    /// Improves an estimate of the Perron vector, `M⁺ w = λ w`, and returns one of `λ`: units in
    /// which all states grow alike.
    pub fn balance(&self, weights: &mut Vec<f64>) -> f64 {
        if weights.len() != self.rows.len() {
            weights.clear();
            weights.resize(self.rows.len(), 1.0);
        }

        for _ in 0..POWER_ITERATIONS {
            let next = self.product(weights);
            let size = maximum(&next);
            if !(size > 0.0 && size.is_finite()) {
                return size;
            }
            let largest = maximum(weights);
            // The mean of old and new, which does not alternate.
            for (w, n) in weights.iter_mut().zip(&next) {
                *w = *w / largest + n / size;
            }
        }
        self.largest_rate(weights)
    }

    /// The largest of `(M⁺ w) / w`, for weights that are not too different.
    fn largest_rate(&self, weights: &mut [f64]) -> f64 {
        let floor = LEAST_WEIGHT * maximum(weights);
        for w in weights.iter_mut() {
            *w = w.max(floor);
        }

        let products = self.product(weights);
        let rates = products.iter().zip(weights.iter()).map(|(p, w)| p / w);
        rates.fold(0.0, f64::max)
    }
}

/// The bound of an error.
impl Majorant {
    /// A bound of `exp(M⁺ h) d` for `d ≥ 0`; infinite where the series does not converge soon.
    pub fn grown(&self, h: f64, d: &[f64]) -> Vec<f64> {
        let norm = above(self.norm() * h);
        let mut sum = d.to_vec();
        let mut term = d.to_vec();

        for k in 1..MOST_TERMS {
            term = self.next_term(&term, h, k);
            add_above(&mut sum, &term);
            let largest = maximum(&term);
            if !largest.is_finite() {
                break;
            }
            let ratio = norm / (k as f64 + 1.0);
            if ratio < 0.5 && is_negligible(largest, &sum) {
                // The rest is at most a geometric series in the maximum norm.
                let rest = above(2.0 * largest * ratio);
                return sum.iter().map(|s| above(s + rest)).collect();
            }
        }
        vec![f64::INFINITY; d.len()]
    }

    /// Term `k` of the series from the one before.
    fn next_term(&self, term: &[f64], h: f64, k: usize) -> Vec<f64> {
        let products = self.applied(term);
        products.iter().map(|t| above(t * h / k as f64)).collect()
    }
}

/// Whether a term no longer counts. Sums of nothing but underflow are as good as zero.
fn is_negligible(term: f64, sums: &[f64]) -> bool {
    let positive = sums.iter().copied().filter(|s| *s > 0.0);
    let smallest = positive.fold(f64::INFINITY, f64::min);
    term <= (1e-12 * smallest).max(1e-280)
}

fn maximum(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn majorant_row(state: usize, row: &SparseRow) -> Vec<(usize, f64)> {
    let bound = |&(other, range): &(usize, Interval)| {
        if other == state {
            (other, range.hi.max(0.0))
        } else {
            (other, range.magnitude())
        }
    };
    row.iter().map(bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of an oscillator, `x' = v`, `v' = -w² x`.
    fn oscillator(frequency: f64) -> Majorant {
        Majorant {
            rows: vec![vec![(1, 1.0)], vec![(0, frequency * frequency)]],
        }
    }

    #[test]
    fn states_are_measured_in_units_in_which_they_grow_alike() {
        let mut weights = Vec::new();
        let rate = oscillator(64.0).balance(&mut weights);
        assert!((rate / 64.0 - 1.0).abs() < 0.01, "{rate}");
        assert!(
            (weights[1] / weights[0] / 64.0 - 1.0).abs() < 0.01,
            "{weights:?}"
        );
    }

    #[test]
    fn errors_grow_like_the_exponential() {
        let grown = oscillator(2.0).grown(0.5, &[1.0, 0.0]);
        let exact = [1f64.cosh(), 2.0 * 1f64.sinh()];
        for (grown, exact) in grown.iter().zip(exact) {
            assert!(
                *grown >= exact && *grown < exact * (1.0 + 1e-9),
                "{grown} {exact}"
            );
        }
    }

    #[test]
    fn what_does_not_converge_is_unbounded() {
        assert!(
            oscillator(1e6)
                .grown(1.0, &[1.0, 1.0])
                .iter()
                .all(|e| e.is_infinite())
        );
    }
}
