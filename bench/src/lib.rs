//! What the benchmarks share: runs without recording, timed, the best of several.

use std::sync::atomic::AtomicBool;

use dovetail_scenario::{Choices, Placement, RunEnd, RunOptions, Scenario};

/// Runs `scenario` with these choices, watched by nobody.
pub fn run(scenario: &Scenario, choices: &[(&str, &str)]) -> RunEnd {
    run_placed(scenario, choices, Placement::SingleThread)
}

/// The same, with the systems in this place.
pub fn run_placed(scenario: &Scenario, choices: &[(&str, &str)], placement: Placement) -> RunEnd {
    let mut command_line = Choices::default();
    choices.iter().for_each(|(key, value)| command_line.set(key, *value));
    let options = scenario.options(&command_line).unwrap_or_else(|bad| panic!("BUG: {bad}"));
    let options = RunOptions { placement, ..options };
    let never = AtomicBool::new(false);
    scenario.run(&options, &mut [], &never).unwrap_or_else(|bad| panic!("BUG: {bad}"))
}

/// Wall seconds per step, the least of `repeats` runs: on a busy machine the least is the least disturbed.
pub fn seconds_per_step(scenario: &Scenario, choices: &[(&str, &str)], repeats: usize) -> f64 {
    let once = || {
        let end = run(scenario, choices);
        end.wall_seconds / end.statistics.steps as f64
    };
    (0..repeats).map(|_| once()).fold(f64::INFINITY, f64::min)
}
