//! How well a method foresaw the outputs that were then integrated.

use dovetail_core::{Notice, Remedy, readable};
use serde::{Deserialize, Serialize};

use crate::range::Range;

/// A prediction that missed by more than this part of the variable's range makes results doubtful.
const DOUBTFUL: f64 = 0.05;

/// Misses below this part of a value are rounding.
const ROUNDING: f64 = 1e-12;

/// The method that only believes what systems have tried.
const ITERATING: &str = "ifosmondi";

/// For each coupling variable the largest distance of what was integrated from what was predicted.
#[derive(Serialize, Deserialize)]
pub(crate) struct Predictions {
    variables: Vec<Prediction>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Prediction {
    miss: f64,
    time: f64,
    range: Range,
}

impl Prediction {
    fn keep_worst(&mut self, miss: f64, time: f64) {
        if miss > self.miss {
            self.miss = miss;
            self.time = time;
        }
    }
}

impl Predictions {
    pub fn new(variables: usize) -> Self {
        let none = Prediction {
            miss: 0.0,
            time: f64::NAN,
            range: Range::EMPTY,
        };
        Self {
            variables: vec![none; variables],
        }
    }

    /// A value that the variable had.
    pub fn include(&mut self, variable: usize, value: f64) {
        self.variables[variable].range.include(value);
    }

    /// At `time`, `variable` was predicted so and integrated so.
    pub fn note(&mut self, variable: usize, time: f64, predicted: f64, integrated: f64) {
        self.include(variable, integrated);
        let miss = (integrated - predicted).abs();
        self.variables[variable].keep_worst(miss, time);
    }

    /// A miss of a variable as a part of its range so far; all of it where it has not moved yet.
    pub fn share(&self, variable: usize, miss: f64) -> f64 {
        let width = self.variables[variable].range.width();
        if width > 0.0 {
            miss.abs() / width
        } else {
            f64::from(u8::from(miss != 0.0))
        }
    }

    /// The largest miss of each variable.
    pub fn misses(&self) -> impl Iterator<Item = f64> {
        self.variables.iter().map(|known| known.miss)
    }

    /// What to say where a prediction was out of all proportion, and of which variable.
    pub fn warning(&self, name: impl Fn(usize) -> String) -> Option<Notice> {
        let share = |known: &Prediction| {
            let is_rounding = known.miss <= ROUNDING * known.range.magnitude();
            if is_rounding {
                0.0
            } else {
                known.miss / known.range.width()
            }
        };
        let shares = self.variables.iter().map(share);
        let (worst, share) = shares
            .enumerate()
            .filter(|(_, share)| *share > DOUBTFUL && share.is_finite())
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let text = format!(
            "at t = {} s `{}` was predicted wrongly by {:.0} % of its range, and results from \
             there on are doubtful: the step is \
             too long for linearized systems, or something jumps there, or the coupling is close \
             to singular; ifosmondi helps where systems can roll back",
            readable(self.variables[worst].time),
            name(worst),
            100.0 * share
        );
        let remedies = [
            Remedy::SmallerStep,
            Remedy::SmallerTolerance,
            Remedy::method(ITERATING),
        ];

        Some(Notice::from(text).with(remedies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_large_beside_the_whole_range_is_doubtful() {
        let mut predictions = Predictions::new(2);
        predictions.note(0, 0.1, 1e-9, 2e-9); // early, when nothing has moved yet
        predictions.note(0, 0.2, 1.0, 1.01);
        predictions.note(1, 0.2, 0.0, 1.0);
        assert_eq!(predictions.misses().collect::<Vec<_>>()[1], 1.0);
        predictions.note(1, 0.3, 0.0, 0.0);
        let warning = predictions
            .warning(|variable| format!("s.y{variable}"))
            .unwrap();
        assert!(
            warning
                .text
                .contains("t = 0.2 s `s.y1` was predicted wrongly by 100 %"),
            "{warning}"
        );
        let mut resting = Predictions::new(1);
        resting.note(0, 0.1, 20.0, 20.0 + 4e-15);
        resting.note(0, 0.2, 20.0 + 5e-14, 20.0);
        assert_eq!(resting.warning(|_| String::new()), None);
        predictions.note(1, 0.4, 100.0, 100.0);
        assert_eq!(predictions.warning(|_| String::new()), None);
    }
}
