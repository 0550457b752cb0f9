//! One run of a live page: the model is read with its changes, run, and reported to the page.

use std::sync::{Arc, Mutex};

use dovetail::report::{Kind, LiveRows, Recorder, Rows, Selection, Variables};
use dovetail::scenario::{Overrides, Placement, RunOptions, Scenario, Session};
use dovetail::{
    Execution, Keep, Observer, RealTime, begun_page_json, drawn_selection, run_page_json,
};

use super::feed::Feed;
use super::runs::{Runs, STOP};
use super::wanted::Wanted;
use crate::arguments::{LiveArguments, load_scenario};
use crate::failure::Failure;
use crate::{origin, output, processes, remedies};

/// Rows while the run is under way are no further apart than such a part of it.
const PARTS: f64 = 500.0;

/// Makes the runs that are wanted, one after the other, until there will be no more.
pub(super) fn make_runs(arguments: &LiveArguments, runs: &Runs) {
    while let Some(wanted) = runs.next() {
        let page = make(arguments, &wanted, runs);
        output::restore_working_directory();
        runs.end(page.map_err(|failure| in_words(&failure)));
    }
}

/// Why there is no run, for a page that has a heading of its own.
fn in_words(failure: &Failure) -> String {
    let message = failure.message().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    message.trim_end().to_owned()
}

/// The page of the run.
fn make(arguments: &LiveArguments, wanted: &Wanted, runs: &Runs) -> Result<String, Failure> {
    let mut scenario = load(arguments, wanted)?;
    let options = options(arguments, wanted, &scenario)?;
    let changes = &arguments.changes;
    changes.start_at_rest(&mut scenario, &options)?;
    let session = scenario.session(&options)?;
    let origin = origin::of_run(&arguments.model, &wanted.replaced_flags(), &wanted.flags());
    let chosen = chosen(arguments, &scenario, &session)?;
    let shown = match arguments.record.is_empty() {
        true => Vec::new(),
        false => chosen.names(),
    };
    let drawn = drawn_selection(&scenario, &session, &chosen);

    let moving = moving(&scenario, &drawn);
    let span = scenario.stop_time - scenario.start_time;
    let rows = LiveRows::new(moving.variables().len(), span);
    let rows = Arc::new(Mutex::new(rows));
    let begun = begun_page_json(&scenario, &session, drawn.clone(), &shown, &origin);
    runs.begin(begun, moving.names(), Arc::clone(&rows));

    let feed = Recorder::new(&scenario.connections, &moving, Feed(rows), "the page");
    let mut feed = feed.with_rows(Rows::AtMost(span / PARTS)).with_both_sides();
    let mut pace = wanted
        .pace(arguments)
        .map(|factor| RealTime::new(factor, &STOP));
    let mut observers: Vec<&mut dyn Observer> = vec![&mut feed];
    observers.extend(pace.as_mut().map(|pace| pace as &mut dyn Observer));
    let execution = Execution {
        keep: Keep::Nothing,
        drawn: Some(drawn),
        verify: arguments.verify,
        observers,
        ..Execution::default()
    };
    let mut done = execution.run(&scenario, session, &options, &chosen, &STOP);
    if let Some(pace) = &pace {
        pace.summarize(&mut done.summary);
    }
    remedies::word_summary(&mut done.summary);
    Ok(run_page_json(&scenario, &done, &shown, &origin).unwrap_or_default())
}

/// The model with its changes. FMUs are tried out in processes.
fn load(arguments: &LiveArguments, wanted: &Wanted) -> Result<Scenario, Failure> {
    let rest = Overrides {
        record: arguments.record.clone(),
        helpers: processes::helpers_until(arguments.limits(), &STOP),
        ..Overrides::default()
    };
    load_scenario(&arguments.model, &wanted.overrides(arguments, rest))
}

/// Where FMUs are, each system has a process of its own: one that crashes ends its run, and not the server.
fn options(
    arguments: &LiveArguments,
    wanted: &Wanted,
    scenario: &Scenario,
) -> Result<RunOptions, Failure> {
    let options = scenario.options(&wanted.choices(arguments))?;
    let placement = match scenario.units().is_empty() {
        true => Placement::Auto,
        false => processes::placement_until(arguments.limits(), &STOP)?,
    };
    Ok(RunOptions {
        placement,
        ..options
    })
}

/// What is drawn at first, where that was chosen; otherwise everything.
fn chosen(
    arguments: &LiveArguments,
    scenario: &Scenario,
    session: &Session<'_>,
) -> Result<Selection, Failure> {
    let variables = Variables::of(&scenario.connections);
    let variables = variables.with_signals(&session.signals());
    let selection = variables.select(&scenario.patterns(&arguments.record));
    selection.map_err(Failure::misuse_by)
}

/// Those of the variables that are sent while the run is under way: all but what the method says of itself.
fn moving(scenario: &Scenario, drawn: &Selection) -> Selection {
    let variables = drawn.variables().iter();
    let of_model = variables.filter(|variable| variable.kind != Kind::Signal);
    let names: Vec<String> = of_model.map(|variable| variable.name.clone()).collect();
    Variables::of(&scenario.connections).named(&names)
}
