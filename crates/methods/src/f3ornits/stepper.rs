//! Flexible step: how far a system goes before it communicates again, F3ORNITS (29) to (36).

use serde::{Deserialize, Serialize};

use super::{F3ornitsOptions, StepControl};
use crate::range::{DampedRange, LEAST_OF_VALUE};

/// A step is shortened to this fraction of the last one at most, (32).
const MOST_SHRINKAGE: f64 = 0.1;
/// The proportional-integral controller: exponents of the new error and of the one before it, and a
/// factor of safety.
const NEW: f64 = 0.7;
const BEFORE: f64 = 0.4;
const SAFETY: f64 = 0.9;
/// Errors below this say no more than that they are small.
const LEAST_ERROR: f64 = 1e-4;

/// The first steps are shorter than any other, so that nothing fast is missed; they may grow
/// faster, up to so many times the shortest.
const START_GROWTH: f64 = 10.0;
const STARTING: f64 = 10.0;

/// What the error of an output is measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// `|y|`, (33).
    Magnitude,
    /// The largest value so far minus the smallest, (34).
    Amplitude,
    /// The same, with what lies back forgotten little by little, (35) and (36).
    #[default]
    DampedAmplitude,
}

/// What the errors of an output are measured by.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct OutputRange {
    values: DampedRange,
    /// A usual magnitude, where one is given; else zero.
    nominal: f64,
}

impl OutputRange {
    /// A range of one value, with a usual magnitude.
    pub fn at(value: f64, nominal: f64) -> Self {
        Self {
            values: DampedRange::at(value),
            nominal,
        }
    }

    /// Takes `value` in, `elapsed` after the last one.
    pub fn include(&mut self, value: f64, elapsed: f64, damping: f64) {
        self.values.include(value, elapsed, damping);
    }

    /// The scale of an error at `value`.
    pub fn scale(&self, scale: Scale, value: f64) -> f64 {
        match scale {
            Scale::Magnitude => value.abs(),
            Scale::Amplitude => self.values.whole.width(),
            Scale::DampedAmplitude => self.values.damped.width(),
        }
    }

    /// What errors are measured by at least, where no absolute tolerance says so.
    pub fn least(&self, value: f64) -> f64 {
        let moved = self.values.whole.width();
        LEAST_OF_VALUE * value.abs().max(moved).max(self.nominal)
    }

    /// The largest magnitude that the output has had.
    pub fn magnitude(&self) -> f64 {
        self.values.whole.magnitude()
    }
}

/// By what factor the step may grow after an error of `error`, in units of the tolerance, of an
/// estimate of `degree`: (30), or with the error before it.
pub(crate) fn dilatation(steering: StepControl, error: f64, before: f64, degree: usize) -> f64 {
    let order = (degree + 1) as f64;
    match steering {
        StepControl::Plain => error.powf(-1.0 / order), // no error: infinite
        StepControl::Averaged => {
            let floored = error.max(LEAST_ERROR);
            SAFETY * floored.powf(-NEW / order) * before.max(LEAST_ERROR).powf(BEFORE / order)
        }
    }
}

/// The step after one of `size`, where `proposed` was the size asked for: (31), (32).
///
/// Growth counts from what was asked for. A step that was cut short, by an event or another system,
/// does not have to grow all over again.
pub(crate) fn next_size(
    options: &F3ornitsOptions,
    dilatation: f64,
    size: f64,
    proposed: f64,
) -> f64 {
    let judged = dilatation.max(MOST_SHRINKAGE) * size;
    let starts = options.steering == StepControl::Averaged
        && size.max(proposed) < STARTING * options.min_step;
    let growth = if starts {
        options.max_growth.max(START_GROWTH)
    } else {
        options.max_growth
    };
    let grown = growth * size.max(proposed);
    let wanted = judged.min(grown);
    let wanted = if options.steering == StepControl::Averaged {
        rung(options.first_step, wanted)
    } else {
        wanted
    };

    wanted
        .min(options.max_step)
        .max(options.min_step.min(grown))
}

/// Sizes on a ladder of so many rungs to an octave: rounding, which errors are full of, does not
/// make other steps, and equal steps extrapolate best.
const RUNGS: f64 = 16.0;

/// The size on the ladder of `base` that is nearest to this.
fn rung(base: f64, size: f64) -> f64 {
    let rung = (RUNGS * (size / base).log2()).round();
    if rung.is_finite() {
        base * (rung / RUNGS).exp2()
    } else {
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damped_amplitude_forgets_and_an_amplitude_does_not() {
        let mut range = OutputRange::at(0.0, 0.0);
        range.include(10.0, 0.1, 0.05);
        for _ in 0..1000 {
            range.include(1.0, 0.1, 0.05);
        }
        assert_eq!(range.scale(Scale::Amplitude, 1.0), 10.0);
        assert!(range.scale(Scale::DampedAmplitude, 1.0) < 1.0);
        assert_eq!(range.scale(Scale::Magnitude, -1.0), 1.0);
    }

    #[test]
    fn an_error_on_the_tolerance_keeps_the_step_and_no_error_lets_it_grow() {
        let options = F3ornitsOptions {
            min_step: 1e-9,
            ..F3ornitsOptions::of_paper(100.0, 1e-4)
        };
        let next = |error: f64, degree: usize| {
            next_size(
                &options,
                dilatation(StepControl::Plain, error, 1.0, degree),
                0.2,
                0.2,
            )
        };
        assert_eq!(next(1.0, 2), 0.2);
        assert_eq!(next(0.0, 2), 1.05 * 0.2);
        assert!((next(8.0, 2) - 0.1).abs() < 1e-15);
        assert!((next(1e9, 0) - 0.02).abs() < 1e-15);
    }

    #[test]
    fn a_step_that_was_cut_short_does_not_have_to_grow_again() {
        let options = F3ornitsOptions::of_paper(100.0, 1e-4);
        assert_eq!(
            next_size(&options, f64::INFINITY, 1e-6, 0.5),
            options.max_growth * 0.5
        );
    }
}
