//! How fast an error can grow: the majorant of the Jacobian, and the bound it gives.

use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Program};

use crate::interval::Interval;
use crate::rounding::above;

/// For each state, the states it depends on and bounds of the rates, nonnegative: `M⁺`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Majorant {
    /// Row by row: `(column, bound)`; on the diagonal negative rates count as zero.
    pub rows: Vec<Vec<(usize, f64)>>,
}

impl Majorant {
    /// Of a Jacobian, row by row as `(column, range)`.
    pub fn of(rows: &[Vec<(usize, Interval)>]) -> Self {
        Self {
            rows: majorant_of(rows),
        }
    }

    /// `M⁺ v`, rounded up.
    fn applied(&self, v: &[f64]) -> Vec<f64> {
        self.rows
            .iter()
            .map(|row| above(row.iter().map(|&(j, m)| m * v[j]).sum::<f64>()))
            .collect()
    }

    /// Improves an estimate of the Perron vector, `M⁺ w = λ w`, and returns one of `λ`: units in which all states grow alike.
    pub fn balance(&self, weights: &mut Vec<f64>) -> f64 {
        if weights.len() != self.rows.len() {
            weights.clear();
            weights.resize(self.rows.len(), 1.0);
        }
        for _ in 0..40 {
            let next = self.product(weights);
            let (size, largest) = (maximum(&next), maximum(weights));
            if !(size > 0.0 && size.is_finite()) {
                return size;
            }
            // The mean of old and new, which does not alternate.
            weights
                .iter_mut()
                .zip(&next)
                .for_each(|(w, n)| *w = *w / largest + n / size);
        }
        let floor = 1e-9 * maximum(weights);
        weights.iter_mut().for_each(|w| *w = w.max(floor));
        let rates = self.product(weights);
        maximum(
            &rates
                .iter()
                .zip(weights.iter())
                .map(|(r, w)| r / w)
                .collect::<Vec<_>>(),
        )
    }

    fn product(&self, v: &[f64]) -> Vec<f64> {
        self.rows
            .iter()
            .map(|row| row.iter().map(|&(j, m)| m * v[j]).sum())
            .collect()
    }

    /// A bound of `exp(M⁺ h) d` for `d ≥ 0`; infinite where the series does not converge soon.
    pub fn grown(&self, h: f64, d: &[f64]) -> Vec<f64> {
        const MOST_TERMS: usize = 200;
        let norm = above(
            self.rows
                .iter()
                .map(|row| row.iter().map(|&(_, m)| m).sum::<f64>())
                .fold(0.0, f64::max)
                * h,
        );
        let mut sum = d.to_vec();
        let mut term = d.to_vec();
        for k in 1..MOST_TERMS {
            term = self
                .applied(&term)
                .iter()
                .map(|t| above(t * h / k as f64))
                .collect();
            sum.iter_mut()
                .zip(&term)
                .for_each(|(s, t)| *s = above(*s + t));
            let largest = term.iter().copied().fold(0.0, f64::max);
            if !largest.is_finite() {
                break;
            }
            let ratio = norm / (k as f64 + 1.0);
            let smallest = sum
                .iter()
                .copied()
                .filter(|s| *s > 0.0)
                .fold(f64::INFINITY, f64::min);
            // Sums of nothing but underflow are as good as zero.
            if ratio < 0.5 && largest <= (1e-12 * smallest).max(1e-280) {
                // The rest is at most a geometric series in the maximum norm.
                let rest = above(2.0 * largest * ratio);
                return sum.iter().map(|s| above(s + rest)).collect();
            }
        }
        vec![f64::INFINITY; d.len()]
    }
}

fn maximum(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Derivatives of all systems on intervals.
pub(crate) struct Jacobian {
    systems: Vec<SystemJacobian>,
    parameters: Vec<Dual<Interval>>,
}

struct SystemJacobian {
    evaluator: Evaluator<Dual<Interval>>,
    /// The states that the program depends on.
    leaves: Vec<usize>,
    results: Vec<Dual<Interval>>,
    states: Vec<Dual<Interval>>,
}

impl Jacobian {
    pub fn new(
        programs: &[Arc<Program>],
        leaves: &[Vec<usize>],
        parameters: &[Interval],
        dimension: usize,
    ) -> Self {
        let parameters: Vec<Dual<Interval>> =
            parameters.iter().map(|&p| Dual::constant(p)).collect();
        let system = |(program, leaves): (&Arc<Program>, &Vec<usize>)| SystemJacobian {
            evaluator: Evaluator::new(
                Arc::clone(program),
                &Dual::constant(Interval::ZERO),
                &parameters,
            ),
            leaves: leaves.clone(),
            results: vec![Dual::constant(Interval::ZERO); program.results()],
            states: vec![Dual::constant(Interval::ZERO); dimension],
        };
        let systems = programs.iter().zip(leaves).map(system).collect();
        Self {
            systems,
            parameters,
        }
    }

    /// The entries over a box, row by row as `(column, range)`.
    pub fn over(
        &mut self,
        time: Interval,
        switches: &[Interval],
        states: &[Interval],
    ) -> Vec<Vec<(usize, Interval)>> {
        let switches: Vec<Dual<Interval>> = switches.iter().map(|&s| Dual::constant(s)).collect();
        let mut rows = Vec::new();
        for system in &mut self.systems {
            system.evaluator.set_time(&Dual::constant(time));
            system.evaluator.set_switches(&switches);
            system
                .states
                .iter_mut()
                .zip(states)
                .for_each(|(dual, &x)| *dual = Dual::constant(x));
            let first = rows.len();
            rows.resize(first + system.results.len(), Vec::new());
            for &leaf in &system.leaves {
                system.states[leaf].derivative = Interval::ONE;
                system.evaluator.set_states(&system.states);
                system.evaluator.run(&mut system.results);
                system.states[leaf].derivative = Interval::ZERO;
                for (row, result) in rows[first..].iter_mut().zip(&system.results) {
                    if result.derivative != Interval::ZERO {
                        row.push((leaf, result.derivative));
                    }
                }
            }
        }
        rows
    }

    /// How the derivatives of all states vary with each parameter that is not a point: the hull of its effects.
    pub fn by_parameters(
        &mut self,
        time: Interval,
        switches: &[Interval],
        states: &[Interval],
        parameters: &[Interval],
    ) -> Vec<(usize, Interval)> {
        let constant = |values: &[Interval]| {
            values
                .iter()
                .map(|&v| Dual::constant(v))
                .collect::<Vec<_>>()
        };
        let (switches, states, mut varied) =
            (constant(switches), constant(states), constant(parameters));
        let open: Vec<usize> = (0..parameters.len())
            .filter(|&i| !parameters[i].is_point())
            .collect();
        let mut effects: Vec<(usize, Interval)> =
            open.iter().map(|&index| (index, Interval::ZERO)).collect();
        for system in self.systems.iter_mut().filter(|_| !open.is_empty()) {
            system.evaluator.set_time(&Dual::constant(time));
            system.evaluator.set_switches(&switches);
            system.evaluator.set_states(&states);
            for (index, effect) in &mut effects {
                varied[*index].derivative = Interval::ONE;
                system.evaluator.set_parameters(&varied);
                system.evaluator.run(&mut system.results);
                varied[*index].derivative = Interval::ZERO;
                *effect = system
                    .results
                    .iter()
                    .fold(*effect, |hull, result| hull.hull(result.derivative));
            }
            system.evaluator.set_parameters(&self.parameters);
        }
        effects
    }

    /// The majorant over a box.
    pub fn majorant(
        &mut self,
        time: Interval,
        switches: &[Interval],
        states: &[Interval],
    ) -> Majorant {
        Majorant::of(&self.over(time, switches, states))
    }
}

fn majorant_of(rows: &[Vec<(usize, Interval)>]) -> Vec<Vec<(usize, f64)>> {
    let bound = |i: usize, j: usize, range: Interval| {
        if i == j {
            range.hi.max(0.0)
        } else {
            range.magnitude()
        }
    };
    let row = |(i, row): (usize, &Vec<(usize, Interval)>)| {
        row.iter().map(|&(j, r)| (j, bound(i, j, r))).collect()
    };
    rows.iter().enumerate().map(row).collect()
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
