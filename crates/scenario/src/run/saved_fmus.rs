//! Whether FMUs that are restored in another process go on to the same bits, found out before a run.

use std::iter::zip;

use dovetail_core::{Archive, Error, MacroStep, Notice, StepRule, Task};

use super::session::Session;
use crate::diagnostic::BadModel;
use crate::options::RunOptions;
use crate::scenario::Scenario;

/// Steps before the state is saved, and after it.
const STEPS: usize = 3;
/// The part of a run that is a usual step, where the method chooses its own.
const SHORT: f64 = 0.002;

impl Scenario {
    /// What is to be said of FMUs that do not go on to the same bits when they are restored: they are made twice and stepped
    /// under the start values of their inputs, where the options have systems live. Nothing of a model without FMUs.
    pub fn doubts_of_restoring(&self, options: &RunOptions) -> Result<Vec<Notice>, BadModel> {
        if self.units().is_empty() {
            return Ok(Vec::new());
        }

        let mut session = self.session(options)?;
        if session.check_saving().is_err() {
            return Ok(Vec::new()); // which is worse, and refused
        }
        let expected = session.save_and_step();
        drop(session); // of some FMUs there may be one at a time only
        let (saved, expected) = match expected {
            Ok(found) => found,
            Err(error) => return Ok(vec![not_found_out(&error)]),
        };
        let mut other = self.session(options)?;
        Ok(match other.restore_and_step(saved) {
            Ok(found) => self.differences(&expected, &found),
            Err(error) => vec![not_found_out(&error)],
        })
    }

    fn differences(&self, expected: &[Task], found: &[Task]) -> Vec<Notice> {
        let differs = |(one, other): (&Task, &Task)| {
            let interface = &self.connections.interfaces()[one.system];
            let outputs = interface.outputs.iter().map(|output| &output.name);
            let names = outputs.chain(&interface.states);
            let pairs = zip(values(one), values(other));
            let distances = zip(names, pairs.map(|(one, other)| distance(one, other)));
            let worst = distances.max_by(|one, other| one.1.total_cmp(&other.1));
            let (name, distance) = worst.filter(|(_, distance)| *distance > 0.0)?;
            let text = format!(
                "a restored state of `{}` does not reproduce to the bit: `{name}` differs by {distance:.1e} after {STEPS} steps, so \
                 that a resumed run will not have exactly the numbers of one that never stopped",
                interface.name
            );
            Some(Notice::from(text))
        };
        zip(expected, found).filter_map(differs).collect()
    }
}

fn not_found_out(error: &Error) -> Notice {
    let text = format!("whether a restored state reproduces was not found out: {error}");
    Notice::from(text)
}

/// Zero for the same bits, and for two values that are no numbers.
fn distance(one: f64, other: f64) -> f64 {
    let same = one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan();
    match (one - other).abs() {
        _ if same => 0.0,
        distance if distance.is_nan() => f64::INFINITY,
        distance => distance.max(f64::MIN_POSITIVE), // two zeros of different signs
    }
}

fn values(task: &Task) -> impl Iterator<Item = f64> {
    let outputs = task.response.outputs.iter().map(|knot| knot.value);
    outputs.chain(task.response.states.iter().copied())
}

/// Steps without a method: every system by itself.
impl Session<'_> {
    fn save_and_step(&mut self) -> Result<(Vec<u8>, Vec<Task>), Error> {
        self.step_alone(0..STEPS)?;
        let mut archive = Archive::writer();
        self.workers.checkpoint(&mut archive)?;
        Ok((archive.into_bytes(), self.step_alone(STEPS..2 * STEPS)?))
    }

    fn restore_and_step(&mut self, saved: Vec<u8>) -> Result<Vec<Task>, Error> {
        self.workers.checkpoint(&mut Archive::reader(saved))?;
        self.step_alone(STEPS..2 * STEPS)
    }

    /// The answers to the last of these steps.
    fn step_alone(&mut self, numbers: std::ops::Range<usize>) -> Result<Vec<Task>, Error> {
        let mut tasks = self.start.clone();
        let usual = self.rehearsed_step();
        for number in numbers {
            for task in &mut tasks {
                let size = match self.workers.capabilities()[task.system].step_rule {
                    StepRule::Imposed(size) => size,
                    StepRule::Free => usual,
                };
                let at = |n: usize| self.scenario.start_time + n as f64 * size;
                task.due = true;
                task.step = MacroStep::new(at(number), at(number + 1));
            }
            self.workers.advance(&mut tasks)?;
        }
        Ok(tasks)
    }

    /// The step of the run, or a short one where the method chooses.
    fn rehearsed_step(&self) -> f64 {
        let span = self.scenario.stop_time - self.scenario.start_time;
        self.step().unwrap_or(SHORT * span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_differ_by_their_bits() {
        assert_eq!(distance(0.1, 0.1), 0.0);
        assert_eq!(distance(f64::NAN, -f64::NAN), 0.0);
        assert_eq!(distance(1.0, 1.5), 0.5);
        assert!(distance(0.0, -0.0) > 0.0);
        assert_eq!(distance(1.0, f64::NAN), f64::INFINITY);
    }
}
