//! `dovetail run`.

use dovetail::report::{RunSummary, Selection, Variables};
use dovetail::scenario::{RunOptions, Scenario, Session};
use dovetail::{Keep, drawn_selection, run_page};

use crate::arguments::{RunArguments, SharedArguments};
use crate::execute::Execute;
use crate::failure::Failure;
use crate::{interrupt, origin, output, processes};

pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let shared = &arguments.shared;
    let mut scenario = shared.load(&arguments.model)?;
    shared.check(&arguments.model, &scenario)?;
    let options = options(arguments, &scenario)?;
    shared.changes.start_at_rest(&mut scenario, &options)?;
    let session = scenario.session(&options)?;
    let selection = selection(&scenario, &session, shared)?;
    let page = shared.page()?;
    let drawn = page
        .as_ref()
        .map(|_| drawn_selection(&scenario, &session, &selection));
    let execute = Execute {
        scenario: &scenario,
        options: &options,
        selection: &selection,
        keep: Keep::Nothing,
        drawn,
        file: shared.output.as_deref(),
        real_time: arguments.real_time,
        shared,
        interrupted: interrupt::listen(),
    };
    let done = execute.run(session)?;

    if let Some(page) = page {
        let origin = origin::of(&arguments.model);
        let shown = shown(&selection, shared);
        page.write(&run_page(&scenario, &done, &shown, &origin).unwrap_or_default())?;
    }

    show(&done.summary, shared)?;
    end(done.summary)
}

/// What a page draws at first: what was chosen, if anything was.
fn shown(selection: &Selection, shared: &SharedArguments) -> Vec<String> {
    if shared.record.is_empty() {
        return Vec::new();
    }
    selection.names()
}

fn options(arguments: &RunArguments, scenario: &Scenario) -> Result<RunOptions, Failure> {
    let shared = &arguments.shared;
    let method = arguments.method.as_deref();
    // The monolithic solution is computed where it is wanted, rather than read off between.
    let interval = shared.output_interval;
    let interval = interval.filter(|_| method.is_some_and(|name| scenario.solves_as_one(name)));
    let step = arguments.step.clone();
    let step = step.or(interval.map(|interval| interval.to_string()));
    let choices = shared.changes.choices(method, step.as_deref(), &[]);
    let options = shared.options(scenario, &choices)?;

    // Each run makes its FMUs anew.
    let again = shared.verify || shared.changes.initialize.is_some();
    processes::if_instances_are_single(options, scenario, again, shared.limits())
}

fn selection(
    scenario: &Scenario,
    session: &Session<'_>,
    shared: &SharedArguments,
) -> Result<Selection, Failure> {
    let variables = Variables::of(&scenario.connections);
    let variables = variables.with_signals(&session.signals());
    let selection = variables.select(&scenario.patterns(&shared.record));
    selection.map_err(Failure::misuse_by)
}

fn show(summary: &RunSummary, shared: &SharedArguments) -> Result<(), Failure> {
    if shared.json {
        return output::print_json(&summary.to_json());
    }
    if shared.quiet {
        return Ok(());
    }

    let text = summary.to_text();
    if shared.writes_to_standard_output() {
        output::complain(&text);
        return Ok(());
    }
    output::print(&text)
}

fn end(summary: RunSummary) -> Result<(), Failure> {
    match summary.message {
        Some(message) => Err(Failure::EndedEarly(message.text)),
        None if summary.quality.diverged => {
            Err(Failure::Diverged(summary.quality.verdict_reason.text))
        }
        None => Ok(()),
    }
}
