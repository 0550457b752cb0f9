//! `dovetail run`.

use dovetail::report::{RunSummary, Selection, Variables, report_page};
use dovetail::scenario::{RunOptions, Scenario, Session};
use dovetail::{Executed, Keep};

use crate::arguments::{RunArguments, SharedArguments};
use crate::execute::Execute;
use crate::failure::Failure;
use crate::{interrupt, output, processes};

pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let shared = &arguments.shared;
    let mut scenario = shared.load(&arguments.model)?;
    shared.check(&arguments.model, &scenario)?;
    let options = options(arguments, &scenario)?;
    shared.changes.start_at_rest(&mut scenario, &options)?;
    let session = scenario.session(&options)?;
    let selection = selection(&scenario, &session, shared)?;
    let page = shared.page()?;
    let keep = if page.is_some() {
        Keep::Drawn
    } else {
        Keep::Nothing
    };
    let execute = Execute {
        scenario: &scenario,
        options: &options,
        selection: &selection,
        keep,
        file: shared.output.as_deref(),
        real_time: arguments.real_time,
        shared,
        interrupted: interrupt::listen(),
    };
    let Executed {
        summary,
        trajectory,
        ..
    } = execute.run(session)?;

    if let (Some(page), Some(trajectory)) = (page, &trajectory) {
        page.write(&report_page(&summary, trajectory))?;
    }

    show(&summary, shared)?;
    end(summary)
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
