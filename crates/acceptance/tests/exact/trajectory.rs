//! One trajectory of a smooth system, by extrapolation of the modified midpoint rule.

use dovetail_scenario::Scenario;

use super::{Equations, High};

/// Midpoint rules of 2, 4, … steps are extrapolated.
const COLUMNS: usize = 9;

/// A trajectory, as it moves through time.
pub struct Trajectory {
    equations: Equations,
    time: High,
    states: Vec<High>,
    /// The longest step.
    longest: f64,
    /// The sum of what the last extrapolation of each step changed: far more than the error of what
    /// it gave.
    doubt: f64,
}

impl Trajectory {
    /// From the start values of the model, in steps of at most `longest`.
    pub fn new(scenario: &Scenario, longest: f64) -> Self {
        let mut equations = Equations::of(scenario);
        let definitions = scenario.definitions().expect("BUG: equations");
        let states = definitions
            .iter()
            .flat_map(|d| d.states.iter().map(|&x| High::exactly(x)))
            .collect();
        let time = High::exactly(scenario.start_time);
        equations.enter(&time);
        Self {
            equations,
            time,
            states,
            longest,
            doubt: 0.0,
        }
    }

    pub fn states(&self) -> &[High] {
        &self.states
    }

    /// How wrong it may be.
    pub fn doubt(&self) -> f64 {
        self.doubt
    }

    /// Moves on to `time`.
    pub fn advance(&mut self, time: f64) {
        let end = High::exactly(time);
        while let Some(threshold) = self.equations.next_threshold(&self.time, &end) {
            self.smoothly_to(threshold);
            self.equations.enter(&self.time);
        }
        self.smoothly_to(end);
    }

    fn smoothly_to(&mut self, end: High) {
        let span = &end - &self.time;
        let steps = (span.rounded() / self.longest).ceil().max(1.0);
        let size = span / &High::exactly(steps);
        for _ in 0..steps as usize {
            self.step(&size);
        }
        self.time = end;
    }

    fn step(&mut self, size: &High) {
        // Aitken and Neville in the squares of the step sizes.
        let mut row: Vec<Vec<High>> = Vec::new();
        let mut change = f64::INFINITY;
        for k in 1..=COLUMNS {
            let mut next = vec![self.midpoint(size, 2 * k)];
            for (j, before) in row.iter().enumerate() {
                let ratio = High::exactly(k as f64) / &High::exactly((k - 1 - j) as f64);
                let factor = High::exactly(1.0) / &(&ratio * &ratio - &High::exactly(1.0));
                let improved = next[j]
                    .iter()
                    .zip(before)
                    .map(|(new, old)| new + &((new - old) * &factor))
                    .collect();
                next.push(improved);
            }
            if let Some(last) = row.last() {
                let changes = next[k - 1]
                    .iter()
                    .zip(last)
                    .map(|(a, b)| (a - b).abs().rounded());
                change = changes.fold(0.0, f64::max);
            }
            row = next;
        }
        self.states = row.swap_remove(COLUMNS - 1);
        self.time = &self.time + size;
        self.doubt += change;
    }

    fn midpoint(&mut self, size: &High, count: usize) -> Vec<High> {
        let small = size / &High::exactly(count as f64);
        let twice = &small + &small;
        let move_by = |from: &[High], size: &High, slope: &[High]| -> Vec<High> {
            from.iter()
                .zip(slope)
                .map(|(x, f)| x + &(size * f))
                .collect()
        };
        let slope = self.equations.derivatives(&self.time, &self.states);
        let (mut before, mut now) = (self.states.clone(), move_by(&self.states, &small, &slope));
        for n in 1..count {
            let time = &self.time + &(&small * &High::exactly(n as f64));
            let next = move_by(&before, &twice, &self.equations.derivatives(&time, &now));
            before = std::mem::replace(&mut now, next);
        }
        now
    }
}
