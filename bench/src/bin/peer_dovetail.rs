//! Runs of Dovetail for `bench/peers`, which measures other masters likewise.
//!
//! `peer_dovetail time MODEL REPEATS [KEY=VALUE]…` prints CPU seconds of the time loop, without recording: the other masters are
//! timed around the one call by which they take all their steps. Of the repeats, the least counts.
//! `peer_dovetail rows MODEL FILE [KEY=VALUE]…` writes all variables at the communication times, and at those alone.

#![allow(unsafe_code, reason = "the clock is C's")]

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use dovetail_core::Observer;
use dovetail_report::{CsvFile, Recorder, Variables};
use dovetail_scenario::{Choices, Overrides, RunEnd, RunOptions, Scenario, SourceText};

unsafe extern "C" {
    fn bench_cpu_seconds() -> f64;
}

const USAGE: &str = "usage: peer_dovetail time MODEL REPEATS [KEY=VALUE]…\n       \
                     peer_dovetail rows MODEL FILE [KEY=VALUE]…";

fn main() -> ExitCode {
    // The clock is in the library of this package, which is linked only where something of it is used.
    let _ = dovetail_bench::run;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [command, model, repeats, choices @ ..] if command == "time" => {
            time(model, repeats, choices)
        }
        [command, model, file, choices @ ..] if command == "rows" => rows(model, file, choices),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };

    match done {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn time(model: &str, repeats: &str, choices: &[String]) -> Result<String, String> {
    let repeats: usize = repeats
        .parse()
        .map_err(|_| format!("`{repeats}` is no number of repeats"))?;
    let scenario = read(model)?;
    let options = options(&scenario, choices)?;

    let (mut least, end) = run(&scenario, &options, &mut [])?;
    for _ in 1..repeats {
        least = least.min(run(&scenario, &options, &mut [])?.0);
    }
    let counts = counts(&end);
    Ok(format!("{{\"cpu_seconds\": {least:e}, {counts}}}"))
}

fn rows(model: &str, file: &str, choices: &[String]) -> Result<String, String> {
    let scenario = read(model)?;
    let options = options(&scenario, choices)?;
    let variables = Variables::of(&scenario.connections).everything();
    let sink = CsvFile::create(file, &variables.names()).map_err(|bad| bad.to_string())?;
    let mut recorder = Recorder::new(&scenario.connections, &variables, sink, file);

    let (_, end) = run(&scenario, &options, &mut [&mut recorder])?;
    Ok(format!("{{{}}}", counts(&end)))
}

fn read(model: &str) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(model).map_err(|error| format!("{model}: {error}"))?;
    let source = SourceText {
        path: model.into(),
        text,
    };
    Scenario::parse(source, &Overrides::default()).map_err(|bad| bad.to_string())
}

fn options(scenario: &Scenario, choices: &[String]) -> Result<RunOptions, String> {
    let mut chosen = Choices::default();
    for choice in choices {
        let (key, value) = choice
            .split_once('=')
            .ok_or_else(|| format!("`{choice}` is not KEY=VALUE"))?;
        chosen.set(key, value);
    }
    scenario.options(&chosen).map_err(|bad| bad.to_string())
}

/// CPU seconds of the time loop, and how it ended.
fn run(
    scenario: &Scenario,
    options: &RunOptions,
    observers: &mut [&mut dyn Observer],
) -> Result<(f64, RunEnd), String> {
    let session = scenario.session(options).map_err(|bad| bad.to_string())?;

    // SAFETY: reads a clock.
    let before = unsafe { bench_cpu_seconds() };
    let end = session.run(observers, &AtomicBool::new(false));
    // SAFETY: as above.
    let seconds = unsafe { bench_cpu_seconds() } - before;

    match &end.ending {
        Ok(_) => Ok((seconds, end)),
        Err(error) => Err(error.to_string()),
    }
}

fn counts(end: &RunEnd) -> String {
    let integrations: u64 = end.work.iter().map(|work| work.integrations).sum();
    let steps = end.statistics.steps;
    format!("\"steps\": {steps}, \"integrations\": {integrations}")
}
