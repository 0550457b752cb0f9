//! Rows at regular times.

use std::io;

use crate::Sink;
use crate::recorder::between;

/// Times this near, as a fraction of the interval, are the same time.
const COINCIDENT: f64 = 1e-9;

/// Passes on rows at `start + k·interval`, `start` being the first row's time, and always the last row.
///
/// Where a recorded time is one of these, the recorded row is passed on untouched; other rows lie on the straight line between
/// the recorded ones. The run itself knows nothing of it.
pub struct Resampled<S> {
    sink: S,
    interval: f64,
    start: f64,
    /// The index of the next regular time.
    next: u64,
    previous: Option<f64>,
    previous_values: Vec<f64>,
    previous_passed_on: bool,
    interpolated: Vec<f64>,
}

impl<S: Sink> Resampled<S> {
    /// Passes rows on to `sink` every `interval`, which must be positive and finite.
    pub fn new(sink: S, interval: f64) -> Self {
        assert!(interval > 0.0 && interval.is_finite(), "BUG: an output interval of {interval}");
        Self {
            sink,
            interval,
            start: f64::NAN,
            next: 0,
            previous: None,
            previous_values: vec![],
            previous_passed_on: false,
            interpolated: vec![],
        }
    }

    /// The sink behind.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The sink behind, after the run.
    pub fn into_sink(self) -> S {
        self.sink
    }

    fn next_time(&self) -> f64 {
        self.start + self.next as f64 * self.interval
    }

    /// Passes on the regular rows that lie between the previous row and this one.
    fn fill_up_to(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        let Some(previous) = self.previous else { return Ok(()) };
        while self.next_time() < time - COINCIDENT * self.interval {
            let wanted = self.next_time();
            let weight = (wanted - previous) / (time - previous);
            let ends = self.previous_values.iter().zip(values);
            self.interpolated.clear();
            self.interpolated.extend(ends.map(|(&left, &right)| between(left, right, weight)));
            self.sink.row(wanted, &self.interpolated)?;
            self.next += 1;
        }
        Ok(())
    }

    fn remember(&mut self, time: f64, values: &[f64], passed_on: bool) {
        self.previous = Some(time);
        self.previous_values.clear();
        self.previous_values.extend_from_slice(values);
        self.previous_passed_on = passed_on;
    }
}

impl<S: Sink> Sink for Resampled<S> {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        if self.previous.is_none() {
            self.start = time;
            self.interpolated.reserve(values.len());
        }
        self.fill_up_to(time, values)?;
        let coincides = self.next_time() <= time + COINCIDENT * self.interval;
        if coincides {
            self.sink.row(time, values)?;
            self.next += 1;
        }
        self.remember(time, values, coincides);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let last = match self.previous.take() {
            Some(time) if !self.previous_passed_on => self.sink.row(time, &self.previous_values),
            _ => Ok(()),
        };
        let closed = self.sink.close();
        last.and(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trajectory;
    use proptest::prelude::*;

    fn resample(interval: f64, rows: &[(f64, f64)]) -> Trajectory {
        let mut resampled = Resampled::new(Trajectory::new(vec!["x".into()]), interval);
        rows.iter().for_each(|&(time, value)| resampled.row(time, &[value]).unwrap());
        resampled.close().unwrap();
        resampled.into_sink()
    }

    #[test]
    fn rows_between_recorded_times_lie_on_the_line() {
        let rows = resample(0.25, &[(1.0, 0.0), (2.0, 4.0)]);
        assert_eq!(rows.times(), [1.0, 1.25, 1.5, 1.75, 2.0]);
        assert_eq!(rows.column("x").unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn times_that_coincide_but_for_rounding_give_the_recorded_row() {
        // 3 · 0.1 is 0.30000000000000004 and the recorded time is 0.3.
        let recorded: Vec<(f64, f64)> = (0..=100).map(|n| (n as f64 / 100.0, (n as f64).sqrt())).collect();
        let rows = resample(0.1, &recorded);
        let expected: Vec<(f64, f64)> = recorded.into_iter().step_by(10).collect();
        let got: Vec<(f64, f64)> = rows.times().iter().copied().zip(rows.column("x").unwrap().to_vec()).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn the_last_row_is_always_there_and_never_twice() {
        assert_eq!(resample(0.4, &[(0.0, 0.0), (1.0, 1.0)]).times(), [0.0, 0.4, 0.8, 1.0]);
        assert_eq!(resample(0.5, &[(0.0, 0.0), (1.0, 1.0)]).times(), [0.0, 0.5, 1.0]);
        assert_eq!(resample(9.0, &[(0.0, 0.0), (0.5, 3.0), (1.0, 1.0)]).column("x").unwrap(), [0.0, 1.0]);
        assert_eq!(resample(1.0, &[(2.0, 7.0)]).times(), [2.0]);
        assert!(resample(1.0, &[]).times().is_empty());
    }

    proptest! {
        #[test]
        fn times_increase_and_recorded_rows_are_untouched(
            sizes in prop::collection::vec(0.01..1.0_f64, 1..40),
            interval in 0.05..3.0_f64,
        ) {
            let mut recorded = vec![(0.0, 1.0)];
            for size in sizes {
                let (time, value) = recorded[recorded.len() - 1];
                recorded.push((time + size, value * 0.9 - size));
            }
            let rows = resample(interval, &recorded);
            prop_assert!(rows.times().windows(2).all(|pair| pair[0] < pair[1]));
            let last = recorded[recorded.len() - 1];
            prop_assert_eq!(rows.times().last().copied(), Some(last.0));
            prop_assert_eq!(rows.column("x").unwrap().last().copied(), Some(last.1));
            // Resampling at every recorded time of a regular grid is the identity.
            let regular: Vec<_> = recorded.iter().enumerate().map(|(n, r)| (n as f64 * interval, r.1)).collect();
            let same = resample(interval, &regular);
            let values: Vec<f64> = regular.iter().map(|r| r.1).collect();
            prop_assert_eq!(same.column("x").unwrap(), values.as_slice());
        }
    }
}
