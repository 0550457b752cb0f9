//! Parameters that bring a model nearest to measured data.
//!
//! Residuals are divided by the scatter of their column, so that columns of different units count alike: at first by how far the
//! measured values are apart, and where there are several columns then by what each is found to be missed by, until both agree. That
//! is the estimate of maximum likelihood for noise whose strength is not known. Nothing here knows how a model is run.

mod certainty;
mod levenberg_marquardt;
mod measured;
mod page;
mod student;

use std::num::NonZeroUsize;

use nalgebra::DVector;

use certainty::{Certainty, Estimated, certainty, correlation};
use levenberg_marquardt::{
    Bounds, Evaluated, Interrupted, Minimum, NoMinimum, Residuals, minimize,
};

use crate::StudyError;
use crate::design::{Design, DesignKind};
use crate::factor::{Factor, Values};
use crate::parallel::in_order;

pub use certainty::CONFIDENCE;
pub use measured::{Measured, MeasuredColumn};
pub use page::fit_page;

/// Iterations of one minimization.
const MOST_ITERATIONS: usize = 50;
/// So often the weights of columns are found again at most.
const MOST_ROUNDS: usize = 5;
/// Weights that change by less than this part are settled.
const SETTLED: f64 = 0.05;
/// A column is never taken to be more exact than this part of its extent: runs are not either.
const LEAST_SCATTER: f64 = 1e-6;

/// A parameter that is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct FitParameter {
    /// `system.name`.
    pub name: String,
    /// The least value that it may have.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Where to start.
    pub start: f64,
}

impl FitParameter {
    /// What a factor says, which has to be a range; the search starts at `start`, or where that is not within the range in its
    /// middle.
    pub fn new(factor: &Factor, start: Option<f64>) -> Result<Self, StudyError> {
        let Values::Range { low, high, .. } = factor.values else {
            let name = &factor.name;
            return Err(StudyError::new(format!(
                "`{name}` is fitted within bounds: write {name}=LO:HI"
            )));
        };
        let within = start.filter(|start| (low..=high).contains(start));
        Ok(Self {
            name: factor.name.clone(),
            low,
            high,
            start: within.unwrap_or(low + 0.5 * (high - low)),
        })
    }
}

/// What a model says at a point: for each measured value, column by column, the value that it has instead, or why there is none.
/// Nothing where the user has had enough.
pub type Prediction = Option<Result<Vec<f64>, String>>;

/// Why there is no fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// The user has had enough.
    #[error("it was interrupted")]
    Interrupted,
    /// The data cannot determine what is asked for.
    #[error("{0}")]
    Data(String),
    /// The model cannot be run where the search has to begin, or beside it.
    #[error("the model cannot be run with {point}: {reason}")]
    Run {
        /// The values.
        point: String,
        /// Why.
        reason: String,
    },
}

/// A fit that is to be made.
pub struct Fitting<'a> {
    /// What is fitted.
    pub parameters: &'a [FitParameter],
    /// What was measured.
    pub measured: &'a Measured,
    /// What the model says instead.
    pub predict: &'a (dyn Fn(&[f64]) -> Prediction + Sync),
    /// So many runs at a time.
    pub jobs: NonZeroUsize,
    /// The search starts at the best of so many points besides.
    pub sample: usize,
    /// Names the choice of these points.
    pub seed: u64,
    /// Is told after each run how many there were.
    pub progress: &'a dyn Fn(usize),
}

/// A fitted parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedParameter {
    /// `system.name`.
    pub name: String,
    /// Where the search began.
    pub start: f64,
    /// The value that was found.
    pub value: f64,
    /// Its standard error; none where the data do not determine it, or it is at its bound.
    pub standard_error: Option<f64>,
    /// Its [`CONFIDENCE`] interval, likewise.
    pub confidence: Option<(f64, f64)>,
    /// Whether it is at one of its bounds.
    pub at_bound: bool,
}

/// A measured column beside the model.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedColumn {
    /// The variable.
    pub name: String,
    /// The unit in which it is compared, where it has one.
    pub unit: Option<String>,
    /// How many values were measured.
    pub count: usize,
    /// The root of the mean square of what the model misses, at the start.
    pub before: f64,
    /// The same with the fitted parameters.
    pub after: f64,
}

/// A fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// All parameters.
    pub parameters: Vec<FittedParameter>,
    /// Their covariance; none where nothing is known of a parameter.
    pub covariance: Vec<Vec<Option<f64>>>,
    /// Their correlation.
    pub correlation: Vec<Vec<Option<f64>>>,
    /// All columns.
    pub columns: Vec<FittedColumn>,
    /// The root of the mean square of all residuals, each as a part of how far the values of its column are apart.
    pub residual: f64,
    /// The same at the start.
    pub residual_before: f64,
    /// How many runs it took.
    pub runs: usize,
    /// How many iterations.
    pub iterations: usize,
    /// Whether a least sum of squares was found; otherwise the search was ended.
    pub converged: bool,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Makes a fit.
pub fn fit(fitting: &Fitting<'_>) -> Result<Fitted, FitError> {
    let wanted = fitting.parameters.len();
    let given = fitting.measured.values();
    if given < wanted {
        let why = format!("{given} measured values cannot determine {wanted} parameters");
        return Err(FitError::Data(why));
    }

    let mut misses = Misses::new(fitting);
    let named = |trouble| named(fitting, trouble);
    let start = misses.best_start().map_err(named)?;
    let before = misses.unweighted(&start).map_err(named)?;
    let mut minimum = misses.least(&start).map_err(named)?;
    let mut iterations = minimum.iterations;
    for _ in 0..MOST_ROUNDS {
        if !misses.reweigh(&minimum.residuals) {
            break;
        }
        let from = minimum.parameters.clone();
        minimum = misses.least(&from).map_err(named)?;
        iterations += minimum.iterations;
    }
    Ok(misses.fitted(&start, &before, minimum, iterations))
}

/// Trouble with the values where it was.
fn named(fitting: &Fitting<'_>, trouble: NoMinimum) -> FitError {
    match trouble {
        NoMinimum::Interrupted => FitError::Interrupted,
        NoMinimum::NotComputed(point, reason) => {
            let parameters = fitting.parameters.iter().zip(&point);
            let values =
                parameters.map(|(parameter, value)| format!("{} = {value}", parameter.name));
            let values: Vec<String> = values.collect();
            FitError::Run {
                point: values.join(", "),
                reason,
            }
        }
    }
}

/// What the model misses, weighed.
struct Misses<'a> {
    fitting: &'a Fitting<'a>,
    bounds: Bounds,
    /// How far the values of each column are apart.
    extents: Vec<f64>,
    /// What the residuals of each column are divided by.
    scales: Vec<f64>,
    runs: usize,
}

impl<'a> Misses<'a> {
    fn new(fitting: &'a Fitting<'a>) -> Self {
        let extents = fitting.measured.columns.iter().map(MeasuredColumn::extent);
        let extents: Vec<f64> = extents.collect();
        let parameters = || fitting.parameters.iter();
        Self {
            fitting,
            bounds: Bounds {
                low: parameters().map(|parameter| parameter.low).collect(),
                high: parameters().map(|parameter| parameter.high).collect(),
            },
            scales: extents.clone(),
            extents,
            runs: 0,
        }
    }

    /// The least sum of squares with the weights that hold, from here.
    fn least(&mut self, from: &[f64]) -> Result<Minimum, NoMinimum> {
        let bounds = self.bounds.clone();
        minimize(self, from, &bounds, MOST_ITERATIONS)
    }

    /// The given start, or a better one of a sample.
    fn best_start(&mut self) -> Result<Vec<f64>, NoMinimum> {
        let parameters = self.fitting.parameters;
        let mut points = vec![parameters.iter().map(|p| p.start).collect()];
        points.extend(self.sampled());
        if points.len() == 1 {
            return Ok(points.remove(0));
        }

        let found = self.at(&points)?;
        let sums = found
            .iter()
            .map(|found| found.as_ref().map(DVector::norm_squared));
        let sums = sums
            .zip(&points)
            .filter_map(|(sum, point)| Some((sum.ok()?, point)));
        let best = sums.min_by(|one, other| one.0.total_cmp(&other.0));
        Ok(best.map_or(&points[0], |(_, point)| point).clone())
    }

    /// A latin hypercube in the bounds.
    fn sampled(&self) -> Vec<Vec<f64>> {
        let factors = self.fitting.parameters.iter().map(|parameter| Factor {
            name: parameter.name.clone(),
            values: Values::Range {
                low: parameter.low,
                high: parameter.high,
                count: None,
            },
        });
        let Fitting { sample, seed, .. } = *self.fitting;
        let design = Design::new(
            DesignKind::LatinHypercube,
            factors.collect(),
            Some(sample),
            seed,
        );
        let Ok(design) = design else {
            return Vec::new(); // no sample was asked for
        };
        (0..design.runs()).map(|run| design.point(run)).collect()
    }

    /// The residuals at a point in the units of their columns.
    fn unweighted(&mut self, point: &[f64]) -> Result<DVector<f64>, NoMinimum> {
        let found = self.at(&[point.to_vec()])?.remove(0);
        let found = found.map_err(|why| NoMinimum::NotComputed(point.to_vec(), why))?;
        Ok(self.in_units(&found))
    }

    fn in_units(&self, residuals: &DVector<f64>) -> DVector<f64> {
        let mut residuals = residuals.clone();
        for (column, range) in self.ranges().into_iter().enumerate() {
            residuals.as_mut_slice()[range]
                .iter_mut()
                .for_each(|r| *r *= self.scales[column]);
        }
        residuals
    }

    /// Where the residuals of each column are.
    fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        let mut end = 0;
        let columns = self.fitting.measured.columns.iter();
        let range = |column: &MeasuredColumn| {
            let start = end;
            end += column.values.len();
            start..end
        };
        columns.map(range).collect()
    }

    /// Weighs every column by what it is missed by. False where that changes nothing.
    fn reweigh(&mut self, residuals: &DVector<f64>) -> bool {
        if self.scales.len() == 1 {
            return false;
        }
        let missed = rms_of_columns(&self.in_units(residuals), &self.ranges());
        let floors = self.extents.iter().map(|extent| LEAST_SCATTER * extent);
        let found = missed
            .iter()
            .zip(floors)
            .map(|(missed, floor)| missed.max(floor));
        let found: Vec<f64> = found.collect();
        // What all have in common changes nothing.
        let ratio = |column: usize| found[column] / self.scales[column];
        let settled =
            (1..found.len()).all(|column| (ratio(column) / ratio(0)).ln().abs() <= SETTLED);
        self.scales = found;
        !settled
    }

    fn fitted(
        &self,
        start: &[f64],
        before: &DVector<f64>,
        minimum: Minimum,
        iterations: usize,
    ) -> Fitted {
        let after = self.in_units(&minimum.residuals);
        let parameters = self.fitting.parameters.iter().zip(&minimum.parameters);
        let estimated = parameters.map(|(parameter, &value)| Estimated {
            name: parameter.name.clone(),
            value,
            range: (parameter.low, parameter.high),
        });
        let estimated: Vec<Estimated> = estimated.collect();
        let known = certainty(&estimated, &minimum.residuals, &minimum.jacobian);
        let mut notes = known.notes.clone();
        if !minimum.converged {
            notes.push(format!(
                "the search was ended after {iterations} iterations without coming to rest: start it elsewhere, or with tighter bounds"
            ));
        }

        Fitted {
            parameters: self.fitted_parameters(start, &minimum.parameters, &known),
            correlation: correlation(&known.covariance),
            covariance: known.covariance,
            columns: self.fitted_columns(before, &after),
            residual: self.relative(&after),
            residual_before: self.relative(before),
            runs: self.runs,
            iterations,
            converged: minimum.converged,
            notes,
        }
    }

    fn fitted_parameters(
        &self,
        start: &[f64],
        values: &[f64],
        known: &Certainty,
    ) -> Vec<FittedParameter> {
        let parameters = self.fitting.parameters.iter().enumerate();
        let fitted = parameters.map(|(index, parameter)| {
            let value = values[index];
            let half_width = known.half_widths[index];
            FittedParameter {
                name: parameter.name.clone(),
                start: start[index],
                value,
                standard_error: known.covariance[index][index].map(f64::sqrt),
                confidence: half_width.map(|half| (value - half, value + half)),
                at_bound: self.bounds.is_at_end(index, value),
            }
        });
        fitted.collect()
    }

    fn fitted_columns(&self, before: &DVector<f64>, after: &DVector<f64>) -> Vec<FittedColumn> {
        let ranges = self.ranges();
        let before = rms_of_columns(before, &ranges);
        let after = rms_of_columns(after, &ranges);
        let columns = self.fitting.measured.columns.iter().enumerate();
        let fitted = columns.map(|(index, column)| FittedColumn {
            name: column.name.clone(),
            unit: column.unit.clone(),
            count: column.values.len(),
            before: before[index],
            after: after[index],
        });
        fitted.collect()
    }

    /// The root of the mean square, each residual as a part of the extent of its column.
    fn relative(&self, residuals: &DVector<f64>) -> f64 {
        let ranges = self.ranges().into_iter().enumerate();
        let sums = ranges.map(|(column, range)| {
            let parts = residuals.as_slice()[range].iter();
            parts
                .map(|residual| (residual / self.extents[column]).powi(2))
                .sum::<f64>()
        });
        (sums.sum::<f64>() / residuals.len() as f64).sqrt()
    }
}

/// The root of the mean square of each column.
fn rms_of_columns(residuals: &DVector<f64>, ranges: &[std::ops::Range<usize>]) -> Vec<f64> {
    let rms = |range: &std::ops::Range<usize>| {
        let own = &residuals.as_slice()[range.clone()];
        let sum: f64 = own.iter().map(|residual| residual * residual).sum();
        (sum / own.len() as f64).sqrt()
    };
    ranges.iter().map(rms).collect()
}

impl Residuals for Misses<'_> {
    fn at(&mut self, points: &[Vec<f64>]) -> Result<Vec<Evaluated>, Interrupted> {
        let Fitting {
            predict,
            jobs,
            progress,
            ..
        } = *self.fitting;
        let mut found = Vec::new();
        let before = self.runs;
        let done = in_order(
            0..points.len(),
            jobs,
            &|| false,
            &|run| predict(&points[run]),
            &mut |run, prediction| {
                progress(before + run + 1);
                found.push(prediction);
                Ok(())
            },
        );
        let complete = done.expect("BUG: memory takes all predictions").complete;
        self.runs += found.len();
        if !complete {
            return Err(Interrupted);
        }
        Ok(found
            .into_iter()
            .map(|found| found.map(|values| self.weighed(&values)))
            .collect())
    }
}

impl Misses<'_> {
    /// What a prediction misses, column by column, as a part of its scale.
    fn weighed(&self, predicted: &[f64]) -> DVector<f64> {
        let mut residuals = Vec::with_capacity(predicted.len());
        for (column, scale) in self.fitting.measured.columns.iter().zip(&self.scales) {
            for value in &column.values {
                let missed = predicted[residuals.len()] - value;
                residuals.push(missed / scale);
            }
        }
        DVector::from_vec(residuals)
    }
}

#[cfg(test)]
mod tests;
