//! What the benchmarks share: runs without recording, timed, the best of several.

pub mod bounds;
pub mod predictive_pictures;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dovetail_core::{Error, Exchange, Observer};
use dovetail_scenario::{Choices, Placement, RunEnd, RunOptions, Scenario};

/// Runs `scenario` with these choices, watched by nobody.
pub fn run(scenario: &Scenario, choices: &[(&str, &str)]) -> RunEnd {
    run_placed(scenario, choices, Placement::SingleThread)
}

/// The same, with the systems in this place.
pub fn run_placed(scenario: &Scenario, choices: &[(&str, &str)], placement: Placement) -> RunEnd {
    let mut command_line = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| command_line.set(key, *value));
    let options = scenario
        .options(&command_line)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let options = RunOptions {
        placement,
        ..options
    };
    let never = AtomicBool::new(false);
    scenario
        .run(&options, &mut [], &never)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"))
}

/// Wall seconds per step, the least of `repeats` runs: on a busy machine the least is the least disturbed.
pub fn seconds_per_step(scenario: &Scenario, choices: &[(&str, &str)], repeats: usize) -> f64 {
    let once = || {
        let end = run(scenario, choices);
        end.wall_seconds / end.statistics.steps as f64
    };
    (0..repeats).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Wall seconds of the quickest step of `repeats` runs, the first five of each left out.
pub fn quickest_step(scenario: &Scenario, choices: &[(&str, &str)], repeats: usize) -> f64 {
    let mut command_line = Choices::default();
    choices
        .iter()
        .for_each(|(key, value)| command_line.set(key, *value));
    let options = scenario
        .options(&command_line)
        .unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let never = AtomicBool::new(false);
    let once = || {
        let mut watch = Watch::default();
        scenario
            .run(&options, &mut [&mut watch], &never)
            .unwrap_or_else(|bad| panic!("BUG: {bad}"));
        let durations = watch
            .0
            .windows(2)
            .skip(5)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64());
        durations.fold(f64::INFINITY, f64::min)
    };
    (0..repeats).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// When each step ended.
#[derive(Default)]
struct Watch(Vec<Instant>);

impl Observer for Watch {
    fn accepted(&mut self, _exchange: Exchange<'_>) -> Result<(), Error> {
        self.0.push(Instant::now());
        Ok(())
    }
}
