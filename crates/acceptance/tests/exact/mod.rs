//! Solutions to fifty digits: of linear systems with the exact hull of a box, of smooth systems
//! from a point.
//!
//! The equations' own tape runs on the numbers of a library that shares nothing with the code under
//! test.

#![allow(
    dead_code,
    unused_imports,
    reason = "every test program uses a part of it"
)]

mod hull;
mod number;
mod trajectory;

pub use hull::Hull;
pub use number::High;
pub use trajectory::Trajectory;

use std::sync::Arc;

use dovetail_equations::{Coupled, Evaluator, Program, compose};
use dovetail_scenario::Scenario;

/// The coupled equations of a model without loops, on numbers of many digits.
struct Equations {
    evaluator: Evaluator<High>,
    /// When each condition on time changes, and what it is before.
    thresholds: Vec<(High, bool)>,
    states: usize,
}

impl Equations {
    fn of(scenario: &Scenario) -> Self {
        let definitions = scenario.definitions().expect("BUG: equations");
        let coupled =
            compose(&definitions, &scenario.connections).expect("BUG: a model that composes");
        assert!(coupled.unknowns.is_empty(), "BUG: loops are not for this");
        let parameters: Vec<High> = coupled
            .parameters
            .iter()
            .map(|&p| High::exactly(p))
            .collect();
        let program = Arc::new(Program::compile(&coupled.graph, &coupled.derivatives));
        let evaluator = Evaluator::new(program, &High::exactly(0.0), &parameters);
        Self {
            evaluator,
            thresholds: thresholds(&coupled, &parameters),
            states: coupled.derivatives.len(),
        }
    }

    /// Sets conditions to what they are just after `time`.
    fn enter(&mut self, time: &High) {
        let truth = |(at, before): &(High, bool)| {
            High::exactly(f64::from(u8::from((time < at) == *before)))
        };
        let switches: Vec<High> = self.thresholds.iter().map(truth).collect();
        self.evaluator.set_switches(&switches);
    }

    /// The first threshold after `time` and not after `end`.
    fn next_threshold(&self, time: &High, end: &High) -> Option<High> {
        let within = self
            .thresholds
            .iter()
            .map(|(at, _)| at)
            .filter(|at| *at > time && *at <= end);
        within.cloned().reduce(|a, b| if a < b { a } else { b })
    }

    fn derivatives(&mut self, time: &High, states: &[High]) -> Vec<High> {
        self.evaluator.set_time(time);
        self.evaluator.set_states(states);
        let mut results = vec![High::exactly(0.0); self.states];
        self.evaluator.run(&mut results);
        results
    }
}

fn thresholds(coupled: &Coupled, parameters: &[High]) -> Vec<(High, bool)> {
    let lines = coupled.switches.iter().map(|switch| {
        let program = Program::compile(&coupled.graph, &[switch.slope, switch.offset]);
        let mut line = [High::exactly(0.0), High::exactly(0.0)];
        Evaluator::new(Arc::new(program), &High::exactly(0.0), parameters).run(&mut line);
        let [slope, offset] = line;
        assert!(
            slope != High::exactly(0.0),
            "BUG: a condition that never changes"
        );
        (-offset / &slope, slope > High::exactly(0.0))
    });
    lines.collect()
}
