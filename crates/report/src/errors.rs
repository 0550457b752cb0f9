//! How far a run is from a reference.

/// The distance of one variable from its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorMeasures {
    /// `sqrt(mean (x − ref)²) / (max ref − min ref)` over the communication times, in percent;
    /// `None` where the reference is constant and missed.
    pub nrmse: Option<f64>,
    /// `‖x − ref‖ / ‖ref‖` in the time-weighted L2 norm (trapezoidal rule), in percent; `None`
    /// where the reference is zero and missed.
    pub l2: Option<f64>,
    /// The largest absolute error.
    pub max: f64,
}

/// The measure by which runs are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Relative to the range of the reference.
    #[default]
    Nrmse,
    /// Relative to the L2 norm of the reference.
    L2,
}

impl Measure {
    /// Its name in the head of a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nrmse => "NRMSE",
            Self::L2 => "L2 error",
        }
    }

    /// What its percentages are of.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Nrmse => "NRMSE in % of the range of the reference",
            Self::L2 => "L2 norm of the error in % of that of the reference",
        }
    }
}

impl ErrorMeasures {
    /// The error by one measure, in percent; none where the reference offers no scale.
    pub fn percent(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Nrmse => self.nrmse,
            Measure::L2 => self.l2,
        }
    }

    /// The error as a share of what the reference does, by one measure; by the other where that has
    /// no scale, or the error itself where the reference is zero.
    pub fn share(&self, measure: Measure) -> f64 {
        let percent = self.percent(measure).or(self.nrmse).or(self.l2);
        percent.map_or(self.max, |percent| percent / 100.0)
    }
}

/// Measures `values` against `reference`, both at `times`.
pub fn measure(times: &[f64], values: &[f64], reference: &[f64]) -> ErrorMeasures {
    assert!(
        times.len() == values.len() && values.len() == reference.len(),
        "BUG: one value for each time"
    );

    let pairs = values.iter().zip(reference);
    let differences: Vec<f64> = pairs.map(|(value, exact)| value - exact).collect();
    let distance = time_norm(times, &differences);
    let scale = time_norm(times, reference);

    ErrorMeasures {
        nrmse: percentage(root_mean_square(&differences), range(reference)),
        l2: percentage(distance, scale),
        max: largest_magnitude(&differences),
    }
}

fn largest_magnitude(values: &[f64]) -> f64 {
    values.iter().copied().map(f64::abs).fold(0.0, larger)
}

/// No error at all is no error on any scale; other errors need a scale.
fn percentage(error: f64, scale: f64) -> Option<f64> {
    if error == 0.0 {
        return Some(0.0);
    }

    let percent = 100.0 * error / scale;
    percent.is_finite().then_some(percent)
}

fn root_mean_square(differences: &[f64]) -> f64 {
    if differences.is_empty() {
        return 0.0;
    }

    let squares = differences.iter().map(|difference| difference * difference);
    let mean = squares.sum::<f64>() / differences.len() as f64;
    mean.sqrt()
}

fn range(values: &[f64]) -> f64 {
    let values = values.iter().copied();
    let highest = values.clone().fold(f64::NEG_INFINITY, larger);
    let lowest = values.fold(f64::INFINITY, smaller);

    // A constant that went through arithmetic (an interpolation, say) is still a constant.
    let rounding = 16.0 * f64::EPSILON * highest.abs().max(lowest.abs());
    let range = highest - lowest;
    if range <= rounding { 0.0 } else { range }
}

/// Unlike `f64::max`, lets a NaN through: it must not look like a small error.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// As [`larger`], of the other side.
fn smaller(a: f64, b: f64) -> f64 {
    -larger(-a, -b)
}

fn time_norm(times: &[f64], values: &[f64]) -> f64 {
    let intervals = times.windows(2).zip(values.windows(2));
    let integrals = intervals.map(|(t, x)| (t[1] - t[0]) * (x[0] * x[0] + x[1] * x[1]) / 2.0);
    integrals.sum::<f64>().sqrt()
}

/// The order of convergence that two errors show, `log(e_coarse / e_fine) / log(h_coarse /
/// h_fine)`; `None` where they do not show one: an error of zero, equal steps.
pub fn measured_order(
    error_coarse: f64,
    error_fine: f64,
    step_coarse: f64,
    step_fine: f64,
) -> Option<f64> {
    let numbers = [error_coarse, error_fine, step_coarse, step_fine];
    let usable = numbers.iter().all(|x| *x > 0.0 && x.is_finite());
    let order = (error_coarse / error_fine).ln() / (step_coarse / step_fine).ln();
    (usable && order.is_finite()).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12 * b)
    }

    #[test]
    fn measures_agree_with_those_worked_out_by_hand() {
        // Differences 0, 1, −2; squares 0, 1, 4; range 4.
        let found = measure(&[0.0, 1.0, 3.0], &[1.0, 3.0, 3.0], &[1.0, 2.0, 5.0]);
        assert!(close(found.nrmse, 100.0 * (5.0_f64 / 3.0).sqrt() / 4.0));
        // ∫ error² = 1·(0+1)/2 + 2·(1+4)/2 = 5.5; ∫ ref² = 1·(1+4)/2 + 2·(4+25)/2 = 31.5.
        assert!(close(found.l2, 100.0 * (5.5_f64 / 31.5).sqrt()));
        assert_eq!(found.max, 2.0);
    }

    #[test]
    fn a_reference_without_range_gives_zero_or_nothing() {
        let met = measure(&[0.0, 1.0], &[0.0, 0.0], &[0.0, 0.0]);
        assert_eq!(
            met,
            ErrorMeasures {
                nrmse: Some(0.0),
                l2: Some(0.0),
                max: 0.0
            }
        );
        let missed = measure(&[0.0, 1.0], &[0.0, 0.5], &[0.0, 0.0]);
        assert_eq!(
            missed,
            ErrorMeasures {
                nrmse: None,
                l2: None,
                max: 0.5
            }
        );
        let constant = measure(&[0.0, 1.0], &[2.0, 2.0], &[1.0, 1.0]);
        assert_eq!((constant.nrmse, constant.l2), (None, Some(100.0)));
    }

    #[test]
    fn a_nan_is_never_a_small_error() {
        let found = measure(&[0.0, 1.0, 2.0], &[1.0, f64::NAN, 1.0], &[1.0, 2.0, 3.0]);
        assert!(found.nrmse.is_none() && found.l2.is_none() && found.max.is_nan());
    }

    #[test]
    fn an_error_that_falls_fourfold_when_the_step_halves_shows_order_two() {
        assert_eq!(measured_order(4e-3, 1e-3, 0.2, 0.1), Some(2.0));
        assert_eq!(measured_order(0.0, 1e-3, 0.2, 0.1), None);
        assert_eq!(measured_order(1e-3, 0.0, 0.2, 0.1), None);
        assert_eq!(measured_order(1e-3, 1e-4, 0.1, 0.1), None);
    }
}
