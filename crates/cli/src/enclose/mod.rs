//! `dovetail enclose`: bounds of all trajectories.

mod arguments;
mod growth;
mod method;
mod place;
mod questions;
mod watch;

use std::sync::atomic::Ordering;
use std::time::Instant;

use dovetail::Remedy;
use dovetail::guaranteed::{EnclosureOutcome, Judging, Method, Options, Problem, StopReason};
use dovetail::report::{EnclosurePage, EnclosureSummary};
use dovetail::scenario::Scenario;

pub(crate) use arguments::EncloseArguments;
pub(crate) use place::EncloseWorkers;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::remedies::with_advice;
use crate::{interrupt, origin, output};
use growth::FirstHalf;
use method::{choices, name};
use watch::Watch;

pub(crate) fn enclose(arguments: &EncloseArguments) -> Result<(), Failure> {
    let scenario = arguments.load()?;
    let placement = place::chosen(arguments)?;
    let options = arguments.options(&scenario)?;
    let patterns = scenario.patterns(&arguments.record);
    let questions = scenario.questions(&patterns, &arguments.require, &arguments.reach)?;
    let problem = scenario.to_enclose_and_answer(&questions)?;
    let page = output::Page::wanted(arguments.report.as_deref())?;
    let mut watch = watch(arguments, &scenario, &problem, options.method)?;
    let began = Instant::now();
    let mut judging = Judging::new(&problem, &questions.requirements, &mut watch);
    let outcome = place::prove(&placement, &problem, &options, &mut judging);
    let interrupted = interrupt::listen();
    let mut go_on = || !interrupted.load(Ordering::Relaxed);
    let verdicts = judging.decide(&problem, &options, &mut go_on);
    let wall_seconds = began.elapsed().as_secs_f64();
    let watched = watch.finish();
    let mut summary = summarize(&scenario, &problem, &options, outcome, watched.trouble);
    summary.loose = watched.half.loosest(&summary.states);
    summary.wall_seconds = wall_seconds;
    summary.requirements = questions::summaries(&scenario, &verdicts);
    summary
        .warnings
        .extend(place::warning(&placement, &problem));

    if let (Some(page), Some(tubes)) = (page, &watched.tubes) {
        let samples = dovetail::sampled_trajectories(&scenario, arguments.samples);
        let samples = samples.map_err(Failure::EndedEarly)?;
        let page_of_bounds = EnclosurePage {
            model: &scenario.name,
            summary: &summary,
            tubes,
            connections: &scenario.connections,
            samples: &samples,
            requirements: &questions::answered(&summary),
            origin: &origin::of(&arguments.model),
        };
        page.write(&page_of_bounds.render())?;
    }

    show(&summary, arguments)?;
    questions::judge(&summary, arguments)
}

/// What follows the boxes: the bar, the file, and the page where one is wanted.
fn watch(
    arguments: &EncloseArguments,
    scenario: &Scenario,
    problem: &Problem,
    method: Method,
) -> Result<Watch<'static>, Failure> {
    let progress = Progress::new(
        arguments.quiet,
        name(method).to_owned(),
        scenario.start_time,
        scenario.stop_time,
    );
    let half = FirstHalf::of(scenario.start_time, scenario.stop_time);
    let mut watch = Watch::new(progress, half, interrupt::listen());

    let names = [problem.names(), problem.expression_names()].concat();
    if let Some(path) = arguments.output.as_deref() {
        watch.write_to(path, &names)?;
    }

    if arguments.report.is_some() {
        watch.keep(&names);
    }
    Ok(watch)
}

fn show(summary: &EnclosureSummary, arguments: &EncloseArguments) -> Result<(), Failure> {
    if arguments.json {
        output::print_json(&summary.to_json())
    } else if arguments.quiet {
        Ok(())
    } else if arguments.verbose {
        output::print(&summary.to_detailed_text())
    } else {
        output::print(&summary.to_text())
    }
}

/// What is to be said; `trouble` with the file of the rows comes before what it led to.
fn summarize(
    scenario: &Scenario,
    problem: &Problem,
    options: &Options,
    outcome: EnclosureOutcome,
    trouble: Option<String>,
) -> EnclosureSummary {
    let mut warnings = scenario.warnings.clone();
    warnings.extend(scenario.without_meaning_for_bounds());

    let one_piece = options.method == Method::SharedSymbols && outcome.pieces == 1;
    if options.threads > 1 && one_piece {
        warnings.push(
            "--worker-threads brings nothing here: shared-symbols spreads pieces over threads (see --pieces), and the boxes \
             stayed in one"
                .to_owned(),
        );
    }
    EnclosureSummary {
        model: scenario.name.clone(),
        method: name(options.method).to_owned(),
        choices: choices(options.method),
        start: scenario.start_time,
        stop: scenario.stop_time,
        reached: outcome.reached,
        steps: outcome.steps as u64,
        rejected: outcome.rejected as u64,
        pieces: outcome.pieces as u64,
        useful_until: outcome.useful_until,
        states: problem
            .names()
            .iter()
            .cloned()
            .zip(outcome.states)
            .collect(),
        observed: problem
            .expression_names()
            .iter()
            .cloned()
            .zip(outcome.observed)
            .collect(),
        message: trouble.or(outcome.stopped.as_ref().map(worded)),
        warnings,
        remarks: outcome.remarks,
        ..EnclosureSummary::default()
    }
}

/// Why bounds end early, with what to try.
fn worded(stopped: &StopReason) -> String {
    let remedies: &[Remedy] = match stopped {
        StopReason::Lost { lost, .. } => &lost.remedies,
        _ => &[],
    };
    with_advice(stopped.to_string(), remedies)
}
