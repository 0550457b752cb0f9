//! The curves of one run of a comparison, with few enough rows for a picture.

use super::{short, variant};
use crate::sink::Sink;
use crate::summary::RunSummary;
use crate::trajectory::Trajectory;

/// The curves of a run, and how far they are from the reference.
#[derive(Clone, Debug, Default)]
pub struct RunCurves {
    /// The tolerance that the method kept to, where it has one.
    pub tolerance: Option<f64>,
    /// The variables that are drawn.
    pub values: Trajectory,
    /// Their differences from the reference, at the same times.
    pub differences: Trajectory,
}

impl RunCurves {
    /// The curves of the first so many variables of a run, in at most so many rows: of rows that lie together that with the
    /// largest difference is kept.
    pub fn new(run: &Trajectory, truth: &[Vec<f64>], variables: usize, rows: usize) -> Self {
        let names: Vec<String> = run.names().iter().take(variables).cloned().collect();
        let columns: Vec<&[f64]> = run
            .columns()
            .take(variables)
            .map(|(_, values)| values)
            .collect();
        let mut kept = Self {
            tolerance: None,
            values: Trajectory::new(names.clone()),
            differences: Trajectory::new(names),
        };
        let count = run.times().len();
        let together = count.div_ceil(rows.max(2)).max(1);
        let worst = |from: usize| {
            let distance = |row: usize| {
                let pairs = columns.iter().zip(truth);
                pairs
                    .map(|(values, truth)| (values[row] - truth[row]).abs())
                    .fold(0.0, f64::max)
            };
            let bin = from..(from + together).min(count);
            bin.max_by(|&one, &other| distance(one).total_cmp(&distance(other)))
        };
        let mut chosen: Vec<usize> = (0..count).step_by(together).filter_map(worst).collect();
        chosen.extend(count.checked_sub(1));
        chosen.dedup();

        for row in chosen {
            let time = run.times()[row];
            let values: Vec<f64> = columns.iter().map(|values| values[row]).collect();
            let pairs = values.iter().zip(truth);
            let differences: Vec<f64> = pairs.map(|(value, truth)| value - truth[row]).collect();
            kept.add(time, &values, &differences);
        }
        kept
    }

    fn add(&mut self, time: f64, values: &[f64], differences: &[f64]) {
        let memory = "BUG: rows in memory cannot fail";
        self.values.row(time, values).expect(memory);
        self.differences.row(time, differences).expect(memory);
    }

    /// How fine the run was, in words.
    pub(super) fn setting(&self, run: &RunSummary) -> String {
        let fineness = match (run.step, self.tolerance) {
            (Some(step), _) => format!("step {} s", short(step)),
            (None, Some(tolerance)) => format!("tolerance {}", short(tolerance)),
            (None, None) => String::new(),
        };
        let parts = [fineness, variant(run)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }
}
