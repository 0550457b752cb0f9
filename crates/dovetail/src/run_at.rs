//! One of many runs of a model: with values of its own, in a thread that does nothing else.

use std::sync::atomic::AtomicBool;

use dovetail_core::Notice;
use dovetail_report::{Quality, Recorder, Selection, Sink, Variables};
use dovetail_scenario::{BadModel, Placement, RunOptions, Scenario, Session};

use crate::execution::{Execution, Keep};

/// The options of each of many runs: what is not to be changed by how many there are at a time, so that each has a single thread.
pub(crate) fn options_of_each(options: &RunOptions) -> RunOptions {
    let placement = match options.placement.clone() {
        Placement::Auto => Placement::SingleThread,
        other => other,
    };
    RunOptions {
        placement,
        ..options.clone()
    }
}

/// Whether several runs may be under way at a time: instances of an FMU may share the memory of a process.
pub(crate) fn can_be_parallel(scenario: &Scenario, options: &RunOptions) -> bool {
    scenario.units().is_empty() || matches!(options.placement, Placement::Processes(_))
}

/// Runs `scenario`, which has its values, and records the variables of these names; or why it did not come to its end.
pub(crate) fn run_at<S: Sink>(
    scenario: &Scenario,
    options: &RunOptions,
    names: &[String],
    recorder: impl FnOnce(&Scenario, &Session<'_>, &Selection) -> Recorder<S>,
    interrupted: &AtomicBool,
) -> Result<(S, Quality), String> {
    let session = scenario.session(options).map_err(sentences)?;
    let variables = Variables::of(&scenario.connections).with_signals(&session.signals());
    let needed = variables.named(names);
    let mut recorder = recorder(scenario, &session, &needed);
    let execution = Execution {
        keep: Keep::Nothing,
        observers: vec![&mut recorder],
        ..Execution::default()
    };
    let done = execution.run(scenario, session, options, &needed, interrupted);
    let quality = done.summary.quality;

    match done.summary.message {
        Some(Notice { text, .. }) => Err(text),
        None if quality.diverged => Err(quality.verdict_reason.text),
        None => Ok((recorder.into_sink(), quality)),
    }
}

/// What is wrong with a model with some values, in one line.
pub(crate) fn sentences(bad: BadModel) -> String {
    let problems = bad.problems.iter();
    let sentences: Vec<String> = problems.map(|problem| problem.sentence()).collect();
    sentences.join("; ")
}
