//! Inputs that an importer gives as functions of time (FMI 3.0): before a step it is asked for them at points of the step, and the
//! polynomials through these points are what the systems follow.
//!
//! The importer sets them from within its callback, while its call of the step holds the instance: such values wait beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::instance::HIGHEST_DERIVATIVE;

/// So many points determine a polynomial of the highest degree.
const POINTS: usize = HIGHEST_DERIVATIVE + 1;
/// A coefficient, over the whole step, below this part of the largest value is rounding.
const ROUNDING: f64 = 1e-12;

/// Values that are set while the importer is asked for them.
#[derive(Debug, Default)]
pub(crate) struct GivenValues {
    /// Those that may be set; none while nobody asks.
    allowed: Option<BTreeSet<u32>>,
    values: BTreeMap<u32, f64>,
}

/// The same, for the instance and for whoever sets them.
pub(crate) type SharedValues = Arc<Mutex<GivenValues>>;

/// Nothing that holds the lock can fail, so that what it guards is whole.
pub(crate) fn lock(shared: &SharedValues) -> MutexGuard<'_, GivenValues> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GivenValues {
    /// Takes values, where the importer is asked for them; false where it is not.
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> Result<bool, String> {
        let Some(allowed) = &self.allowed else {
            return Ok(false);
        };
        for (&reference, &value) in references.iter().zip(values) {
            if !allowed.contains(&reference) {
                return Err(format!(
                    "the variable with the reference {reference} cannot be set within a step"
                ));
            }
            if !value.is_finite() {
                return Err(format!("an input cannot be {value}"));
            }
            self.values.insert(reference, value);
        }
        Ok(true)
    }
}

/// Asks the importer for its inputs at a time.
pub(crate) type Ask = Box<dyn Fn(f64)>;

/// How an importer is asked for its inputs.
pub(crate) struct IntermediateUpdate {
    ask: Ask,
}

/// An input over a step: its derivatives at the start, and its value at the end.
#[derive(Debug, PartialEq)]
pub(crate) struct Course {
    pub derivatives: [f64; POINTS],
    pub last: f64,
}

impl IntermediateUpdate {
    pub fn new(ask: Ask) -> Self {
        Self { ask }
    }

    /// The course of these inputs, given by reference and value, over a step.
    pub fn courses(
        &self,
        shared: &SharedValues,
        inputs: &[(u32, f64)],
        from: f64,
        size: f64,
    ) -> Vec<Course> {
        let mut samples = vec![[0.0; POINTS]; inputs.len()];
        for point in 0..POINTS {
            let share = point as f64 / HIGHEST_DERIVATIVE as f64;
            let allowed = inputs.iter().map(|(reference, _)| *reference).collect();
            lock(shared).allowed = Some(allowed);
            (self.ask)(from + share * size);
            let mut given = lock(shared);
            given.allowed = None;
            for (sample, (reference, value)) in samples.iter_mut().zip(inputs) {
                sample[point] = given.values.get(reference).copied().unwrap_or(*value);
            }
        }
        lock(shared).values.clear();
        samples.iter().map(|sample| course(sample, size)).collect()
    }
}

/// The polynomial through equidistant points of a step.
fn course(samples: &[f64; POINTS], size: f64) -> Course {
    let mut derivatives = power_form(samples);
    let largest = samples.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
    let mut factorial = 1.0;
    for (order, coefficient) in derivatives.iter_mut().enumerate().skip(1) {
        factorial *= order as f64;
        let is_rounding = coefficient.abs() <= ROUNDING * largest;
        *coefficient = match is_rounding {
            true => 0.0,
            false => *coefficient * factorial / size.powi(order as i32),
        };
    }
    Course {
        derivatives,
        last: samples[POINTS - 1],
    }
}

/// Newton's divided differences at 0, 1/5, … 1, and then as powers.
fn power_form(samples: &[f64; POINTS]) -> [f64; POINTS] {
    let node = |point: usize| point as f64 / HIGHEST_DERIVATIVE as f64;
    let mut differences = *samples;
    for order in 1..POINTS {
        for point in (order..POINTS).rev() {
            let change = differences[point] - differences[point - 1];
            differences[point] = change / (node(point) - node(point - order));
        }
    }

    let mut powers = [0.0; POINTS];
    for order in (0..POINTS).rev() {
        for power in (0..POINTS).rev() {
            let lower = if power > 0 { powers[power - 1] } else { 0.0 };
            powers[power] = lower - node(order) * powers[power];
        }
        powers[0] += differences[order];
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_found_again_and_a_held_input_stays_held() {
        let size = 0.01;
        let value = |t: f64| 2.0 - 3.0 * t + 40.0 * t * t - 500.0 * t * t * t;
        let samples = std::array::from_fn(|k| value(size * k as f64 / 5.0));
        let found = course(&samples, size).derivatives;
        for (found, exact) in found.iter().zip([2.0, -3.0, 80.0, -3000.0, 0.0, 0.0]) {
            assert!(
                (found - exact).abs() <= 1e-6 * exact.abs(),
                "{found} {exact}"
            );
        }
        assert_eq!(
            course(&[0.7; POINTS], size).derivatives,
            [0.7, 0.0, 0.0, 0.0, 0.0, 0.0]
        );
    }

    #[test]
    fn values_are_taken_only_while_they_are_asked_for() {
        let shared = SharedValues::default();
        assert_eq!(lock(&shared).set(&[1], &[1.0]), Ok(false));
        let inside = Arc::clone(&shared);
        let ask = move |time: f64| {
            assert_eq!(lock(&inside).set(&[1], &[time]), Ok(true));
            assert!(lock(&inside).set(&[9], &[time]).is_err(), "it is no input");
            assert!(lock(&inside).set(&[1], &[f64::NAN]).is_err());
        };
        let update = IntermediateUpdate::new(Box::new(ask));
        let courses = update.courses(&shared, &[(1, 0.0), (2, 4.0)], 10.0, 0.5);
        assert!((courses[0].derivatives[0] - 10.0).abs() < 1e-12);
        assert!((courses[0].derivatives[1] - 1.0).abs() < 1e-9);
        assert_eq!(courses[0].last, 10.5);
        assert_eq!(
            courses[1].derivatives[..2],
            [4.0, 0.0],
            "not set: it is held"
        );
        assert_eq!(lock(&shared).set(&[1], &[1.0]), Ok(false));
    }
}
