//! Where macro-steps end (algorithm 4): sizes are halved where no box is found and doubled again
//! after successes.

use crate::api::Options;
use crate::interval::Interval;
use crate::problem::{Problem, Threshold};

/// Steps of a run for which no size is asked.
const STEPS: f64 = 500.0;
/// No step is smaller than this part of the run.
const SMALLEST: f64 = 1e-12;
/// After as many successes the size is doubled.
const SUCCESSES: usize = 4;
/// So many steps in a row must get on by at least this part of the run.
const PROGRESS: (usize, f64) = (5000, 1e-5);

/// The choice of macro-steps.
pub(super) struct StepSizeControl {
    thresholds: Vec<Threshold>,
    /// Times that a step must end at: switching times and the end of the run.
    cuts: Vec<f64>,
    /// Start, distance and number of the next of the instants to be reported.
    grid: Option<(f64, f64, usize)>,
    largest: f64,
    size: f64,
    /// Steps end at multiples of the size from here.
    anchor: f64,
    index: usize,
    successes: usize,
    run: f64,
    /// The time at which enough progress was last seen, and steps since.
    last_progress: (f64, usize),
}

impl StepSizeControl {
    pub fn new(problem: &Problem, options: &Options) -> Self {
        let start = problem.start_time;
        let stop = problem.stop_time;
        let thresholds = problem.thresholds();
        let mut cuts: Vec<f64> = thresholds
            .iter()
            .flat_map(|t| [t.time.lo, t.time.hi])
            .collect();
        cuts.retain(|&cut| cut > start && cut < stop);
        cuts.push(stop);
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let run = stop - start;
        let largest = options.step.unwrap_or(run / STEPS).min(run);

        Self {
            thresholds,
            cuts,
            grid: options.output_interval.map(|interval| (start, interval, 1)),
            largest,
            size: largest,
            anchor: start,
            index: 0,
            successes: 0,
            run,
            last_progress: (start, 0),
        }
    }

    /// The end of the step from `time`.
    pub fn end(&self, time: f64) -> f64 {
        let mut limit = self
            .cuts
            .iter()
            .copied()
            .find(|&cut| cut > time)
            .unwrap_or(time);
        if let Some((start, interval, number)) = self.grid {
            limit = limit.min(start + number as f64 * interval);
        }

        let end = self.anchor + (self.index + 1) as f64 * self.size;
        // What would remain is not worth a step.
        if end > limit - 1e-6 * self.size {
            limit
        } else {
            end.max(time.next_up())
        }
    }

    /// The conditions on time throughout a step.
    pub fn switches(&self, from: f64, to: f64) -> Vec<Interval> {
        self.thresholds
            .iter()
            .map(|threshold| threshold.throughout(from, to))
            .collect()
    }

    /// The step has been proved.
    pub fn accept(&mut self, end: f64) {
        let regular = end == self.anchor + (self.index + 1) as f64 * self.size;
        self.index += 1;

        while let Some((start, interval, number)) = self.grid.as_mut()
            && *start + *number as f64 * *interval <= end
        {
            *number += 1;
        }

        self.successes += 1;
        let grows = self.successes >= SUCCESSES && self.size < self.largest;

        if grows {
            self.size = (2.0 * self.size).min(self.largest);
            self.successes = 0;
        }

        if grows || !regular {
            self.begin_at(end);
        }

        self.last_progress.1 += 1;
        if end - self.last_progress.0 > PROGRESS.1 * self.run {
            self.last_progress = (end, 0);
        }
    }

    /// No box was found for the step.
    pub fn reject(&mut self, time: f64, end: f64) {
        self.size = 0.5 * (end - time);
        self.successes = 0;
        self.begin_at(time);
    }

    fn begin_at(&mut self, time: f64) {
        self.anchor = time;
        self.index = 0;
    }

    /// Whether there is no point in going on.
    pub fn is_stuck(&self) -> bool {
        let creeps = self.size < self.largest && self.last_progress.1 > PROGRESS.0;
        creeps || self.size < SMALLEST * self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(cuts: &[f64], grid: Option<f64>) -> StepSizeControl {
        StepSizeControl {
            thresholds: Vec::new(),
            cuts: cuts.to_vec(),
            grid: grid.map(|interval| (0.0, interval, 1)),
            largest: 0.1,
            size: 0.1,
            anchor: 0.0,
            index: 0,
            successes: 0,
            run: 1.0,
            last_progress: (0.0, 0),
        }
    }

    fn ends(control: &mut StepSizeControl) -> Vec<f64> {
        let mut ends = vec![0.0];
        while ends[ends.len() - 1] < 1.0 {
            let end = control.end(ends[ends.len() - 1]);
            control.accept(end);
            ends.push(end);
        }
        ends
    }

    #[test]
    fn steps_end_at_multiples_and_at_cuts() {
        let found = ends(&mut control(&[0.25, 1.0], None));
        let expected = [
            0.0, 0.1, 0.2, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95, 1.0,
        ];
        assert_eq!(found.len(), expected.len());
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 1e-12),
            "{found:?}"
        );
        assert!(found.contains(&0.25), "cuts are met exactly");
    }

    #[test]
    fn steps_end_on_the_grid() {
        let found = ends(&mut control(&[1.0], Some(0.5)));
        assert!(found.contains(&0.5) && found.len() == 11, "{found:?}");
    }

    #[test]
    fn sizes_are_halved_and_recover() {
        let mut control = control(&[1.0], None);
        control.reject(0.0, 0.1);
        assert_eq!(control.end(0.0), 0.05);
        for _ in 0..SUCCESSES {
            let end = control.end(control.anchor + control.index as f64 * control.size);
            control.accept(end);
        }
        assert_eq!((control.size, control.is_stuck()), (0.1, false));
        control.reject(0.5, 0.5 + 1e-12);
        assert!(control.is_stuck());
    }
}
