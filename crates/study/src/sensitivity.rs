//! How much of the variance of a result each factor is responsible for: Sobol indices, from the design of Saltelli.
//!
//! Saltelli, Annoni, Azzini, Campolongo, Ratto, Tarantola: Variance based sensitivity analysis of model output (2010),
//! cited as "(f)" after a row of its table 2; Janon, Klein, Lagnoux, Nodet, Prieur: Asymptotic normality and efficiency of two
//! Sobol index estimators (2014), cited as "(6)": what two runs that share a factor have in common.

use crate::design::Design;

/// The indices of one factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// The share of the variance that goes if the factor is known: its effect alone.
    pub first: f64,
    /// The share that is left if everything but the factor is known: with all its interactions.
    pub total: f64,
}

/// The indices of all factors for one result, of which each run has a value; none where it failed. Points with a failed
/// run are left out. None where the design does not permit it, fewer than two points are whole, or nothing varies.
pub fn sensitivities(design: &Design, values: &[Option<f64>]) -> Option<Vec<Sensitivity>> {
    if !design.is_saltelli() {
        return None;
    }

    let count = design.factors().len();
    let points: Vec<Vec<f64>> = values
        .chunks_exact(count + 2)
        .filter_map(|runs| runs.iter().copied().collect())
        .filter(|runs: &Vec<f64>| runs.iter().all(|value| value.is_finite()))
        .collect();
    let sampled = || points.iter().flat_map(|runs| &runs[..2]);
    let number = 2.0 * points.len() as f64;
    let mean = sampled().sum::<f64>() / number;
    let variance = sampled().map(|value| (value - mean).powi(2)).sum::<f64>() / number;
    if points.len() < 2 || variance.is_nan() || variance <= 0.0 {
        return None;
    }

    let of_factor = |factor: usize| {
        let average = |term: fn(f64, f64, f64) -> f64| {
            let terms = points.iter();
            let sum: f64 = terms
                .map(|runs| term(runs[0] - mean, runs[1] - mean, runs[2 + factor] - mean))
                .sum();
            sum / points.len() as f64
        };
        let common_mean = average(|_, b, changed| 0.5 * (b + changed)).powi(2);
        let covariance = average(|_, b, changed| b * changed) - common_mean;
        let common_variance =
            average(|_, b, changed| 0.5 * (b * b + changed * changed)) - common_mean;
        Sensitivity {
            first: covariance / common_variance, // (6)
            total: average(|a, _, changed| 0.5 * (a - changed).powi(2)) / variance, // (f)
        }
    };
    Some((0..count).map(of_factor).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DesignKind;

    fn design(kind: DesignKind, sample: usize) -> Design {
        let factors = ["a.x", "a.y", "a.z"].map(|name| {
            let range = format!(
                "{name}={0}:{1}",
                -std::f64::consts::PI,
                std::f64::consts::PI
            );
            range.parse().unwrap()
        });
        Design::new(kind, factors.into(), Some(sample), 0).unwrap()
    }

    fn ishigami(point: &[f64]) -> f64 {
        point[0].sin() + 7.0 * point[1].sin().powi(2) + 0.1 * point[2].powi(4) * point[0].sin()
    }

    #[test]
    fn the_function_of_ishigami_has_its_known_indices() {
        let design = design(DesignKind::Saltelli, 4096);
        let runs = 0..design.runs();
        let mut values: Vec<_> = runs.map(|run| Some(ishigami(&design.point(run)))).collect();
        values[77] = None; // a failed run
        let found = sensitivities(&design, &values).unwrap();
        // Saltelli et al., Global sensitivity analysis: the primer (2008), a = 7, b = 0.1.
        let known = [(0.3139, 0.5576), (0.4424, 0.4424), (0.0, 0.2437)];
        for (found, (first, total)) in found.iter().zip(known) {
            assert!((found.first - first).abs() < 0.005, "{found:?}, {first}");
            assert!((found.total - total).abs() < 0.005, "{found:?}, {total}");
        }
    }

    #[test]
    fn nothing_is_said_where_nothing_follows() {
        let saltelli = design(DesignKind::Saltelli, 4);
        assert_eq!(sensitivities(&saltelli, &[Some(1.0); 20]), None);
        assert_eq!(sensitivities(&saltelli, &[None; 20]), None);
        let sobol = design(DesignKind::Sobol, 4);
        assert_eq!(
            sensitivities(&sobol, &[Some(1.0), Some(2.0), None, None]),
            None
        );
    }
}
