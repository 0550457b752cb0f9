//! The error of a run, by running it again.
//!
//! With fixed steps, at half and a quarter of the step: Richardson's rule with the order that shows. With steps of the method's own choice, at a
//! tenth of the tolerance: what changes then was wrong before. That holds for any method and any system, and costs what the runs cost.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail_core::{Archive, Checkpoint, Error, EstimatedError, Notice, Observer, visit_fields};
use dovetail_report::{Recorder, Rows, Selection, Sink, Trajectory};
use dovetail_scenario::{BadModel, RunOptions, Scenario};

/// Orders beyond these are chance, or noise.
const ORDERS: (f64, f64) = (0.5, 8.0);
/// The tolerance of the second run, relative to that of the first.
const TIGHTER: f64 = 0.1;

/// What a run is verified by.
pub(crate) enum VerificationPlan {
    /// Shorter steps.
    Step(f64),
    /// A smaller tolerance.
    Tolerance(f64),
}

/// What was found.
pub(crate) struct Verified {
    /// For each variable.
    pub errors: Vec<(String, EstimatedError)>,
    /// The root of the mean square of each.
    pub means: Vec<f64>,
    /// What was done, in words.
    pub how: String,
}

impl Verified {
    fn of(errors: impl Iterator<Item = (String, EstimatedError, f64)>, how: &str) -> Self {
        let (mut verified, how) = ((Vec::new(), Vec::new()), how.to_owned());
        for (name, error, mean) in errors {
            verified.0.push((name, error));
            verified.1.push(mean);
        }

        Self {
            errors: verified.0,
            means: verified.1,
            how,
        }
    }
}

/// The rows of a run with these options at `times`; or why there are none.
fn sample(
    scenario: &Scenario,
    options: &RunOptions,
    selection: &Selection,
    times: &Arc<[f64]>,
    interrupted: &AtomicBool,
) -> Result<Trajectory, Notice> {
    let refused = |bad: BadModel| Notice::from(bad.to_string()).with(bad.remedies());
    let session = scenario.session(options).map_err(refused)?;
    let recorder = Recorder::new(
        &scenario.connections,
        selection,
        Trajectory::of(selection),
        "memory",
    );
    let mut recorder = recorder.with_rows(Rows::At(times.clone()));
    let mut observers: [&mut dyn Observer; 1] = [&mut recorder];
    let end = session.run(&mut observers, interrupted);

    match end.ending {
        Err(error) => Err(Notice::from(&error)),
        Ok(_) if interrupted.load(Ordering::Relaxed) => Err("it was interrupted".into()),
        Ok(_) => Ok(recorder.into_sink()),
    }
}

/// Verifies a run of which these rows are known.
pub(crate) fn verify(
    scenario: &Scenario,
    options: &RunOptions,
    selection: &Selection,
    known: &Trajectory,
    plan: &VerificationPlan,
    interrupted: &AtomicBool,
) -> Result<Verified, Notice> {
    let times: Arc<[f64]> = known.times().into();
    let again = |options: RunOptions| sample(scenario, &options, selection, &times, interrupted);

    match *plan {
        VerificationPlan::Tolerance(tolerance) => {
            let tighter = again(options.with_tolerance(TIGHTER * tolerance))?;
            let errors =
                known
                    .columns()
                    .zip(tighter.columns())
                    .map(|((name, ours), (_, theirs))| {
                        let differences: Vec<f64> = ours
                            .iter()
                            .zip(theirs)
                            .map(|(a, b)| (a - b).abs())
                            .collect();
                        (
                            name.to_owned(),
                            largest(&differences, 1.0),
                            mean(&times, &differences, 1.0),
                        )
                    });
            Ok(Verified::of(errors, "against a tenth of the tolerance"))
        }
        VerificationPlan::Step(step) => {
            let halved = again(options.with_step(0.5 * step))?;
            let quartered = again(options.with_step(0.25 * step))?;
            let columns = known
                .columns()
                .zip(halved.columns().zip(quartered.columns()));
            let errors = columns.map(|((name, one), ((_, half), (_, quarter)))| {
                let (error, mean) = richardson(&times, one, half, quarter);
                (name.to_owned(), error, mean)
            });
            Ok(Verified::of(
                errors,
                "against half and a quarter of the step",
            ))
        }
    }
}

/// The error of the first of three runs, each with half the step of the one before.
fn richardson(times: &[f64], one: &[f64], half: &[f64], quarter: &[f64]) -> (EstimatedError, f64) {
    let distance = |a: &[f64], b: &[f64]| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect()
    };
    let (first, second) = (distance(one, half), distance(half, quarter));
    let norm = |all: &[f64]| all.iter().map(|d| d * d).sum::<f64>().sqrt();
    let order = (norm(&first) / norm(&second)).log2();
    // Where nothing converges any more the difference itself is the best that is known.
    let factor = if order >= ORDERS.0 {
        order.min(ORDERS.1).exp2() / (order.min(ORDERS.1).exp2() - 1.0)
    } else {
        1.0
    };

    (largest(&first, factor), mean(times, &first, factor))
}

/// The root of the mean square over time: communications crowd where something happens.
fn mean(times: &[f64], differences: &[f64], factor: f64) -> f64 {
    let squares = differences.windows(2).zip(times.windows(2));
    let integral: f64 = squares
        .map(|(d, t)| 0.5 * (d[0] * d[0] + d[1] * d[1]) * (t[1] - t[0]))
        .sum();
    let span = times
        .last()
        .zip(times.first())
        .map_or(0.0, |(last, first)| last - first);

    if span > 0.0 {
        factor * (integral / span).sqrt()
    } else {
        0.0
    }
}

fn largest(differences: &[f64], factor: f64) -> EstimatedError {
    let max = factor * differences.iter().copied().fold(0.0, f64::max);
    EstimatedError {
        end: factor * differences.last().copied().unwrap_or(0.0),
        max,
    }
}

/// Rows of a run that is to be verified: communications, every so many of them where there are many.
pub(crate) struct Thinned {
    rows: Trajectory,
    every: u64,
    seen: u64,
}

/// So many rows are enough.
const MOST_ROWS: usize = 4000;

impl Thinned {
    pub fn new(selection: &Selection) -> Self {
        Self {
            rows: Trajectory::of(selection),
            every: 1,
            seen: 0,
        }
    }

    pub fn rows(&self) -> &Trajectory {
        &self.rows
    }
}

impl Checkpoint for Thinned {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.every, self.seen);
        self.rows.visit(archive)
    }
}

impl Sink for Thinned {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        if self.seen.is_multiple_of(self.every) {
            self.rows.row(time, values)?;
        }

        self.seen += 1;
        if self.rows.times().len() > MOST_ROWS {
            self.rows.keep_every_other();
            self.every *= 2;
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_follows_from_the_order_that_shows() {
        for order in [1.0_f64, 2.0, 4.0] {
            let run = |step: f64| -> Vec<f64> {
                (0..10)
                    .map(|n| f64::from(n).sin() + 0.3 * step.powf(order))
                    .collect()
            };
            let (found, _) = richardson(&[], &run(0.1), &run(0.05), &run(0.025));
            let truth = 0.3 * 0.1_f64.powf(order);
            assert!(
                (found.max / truth - 1.0).abs() < 1e-6,
                "order {order}: {} for {truth}",
                found.max
            );
        }
    }

    #[test]
    fn runs_that_agree_to_the_last_bit_have_no_error() {
        assert_eq!(
            richardson(&[], &[1.0, 2.0], &[1.0, 2.0], &[1.0, 2.0]).0.max,
            0.0
        );
    }
}
