//! `dovetail run`.

use dovetail::Keep;
use dovetail::report::{Variables, report_page};
use dovetail::scenario::Placement;

use crate::arguments::RunArguments;
use crate::execute::Execute;
use crate::failure::Failure;
use crate::{interrupt, output, processes};

pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let shared = &arguments.shared;
    let scenario = shared.load(&arguments.model)?;
    shared.check(&arguments.model, &scenario)?;
    // The monolithic solution is computed where it is wanted, rather than read off between.
    let interval = shared
        .output_interval
        .filter(|_| arguments.method.as_deref() == Some("monolithic"));
    let step = arguments
        .step
        .clone()
        .or(interval.map(|interval| interval.to_string()));
    let choices = shared
        .changes
        .choices(arguments.method.as_deref(), step.as_deref(), &[]);
    let options = shared.options(&scenario, &choices)?;
    let mut options = options;
    if shared.verify
        && scenario.has_single_instances()
        && !matches!(options.placement, Placement::Processes(_))
    {
        options.placement = processes::placement(shared.step_timeout)?; // each run makes its FMUs anew
    }
    let session = scenario.session(&options)?;
    let variables = Variables::of(&scenario.connections).with_signals(&session.signals());
    let selection = variables
        .select(&scenario.patterns(&shared.record))
        .map_err(|error| Failure::misuse(error.to_string()))?;
    let page = shared
        .report
        .as_deref()
        .map(output::Page::create)
        .transpose()?;
    let keep = if page.is_some() {
        Keep::Shown
    } else {
        Keep::Nothing
    };
    let file = shared.output.as_deref();
    let execute = Execute {
        scenario: &scenario,
        options: &options,
        selection: &selection,
        keep,
        file,
        shared,
        interrupted: interrupt::listen(),
    };
    let done = execute.run(session)?;
    if let (Some(page), Some(trajectory)) = (page, &done.trajectory) {
        page.write(&report_page(&done.summary, trajectory))?;
    }
    if shared.json {
        output::print(&format!("{:#}\n", done.summary.to_json()))?;
    } else if !shared.quiet {
        let summary = done.summary.to_text();
        match file.is_some_and(output::is_standard) {
            true => eprint!("{summary}"),
            false => output::print(&summary)?,
        }
    }
    match done.summary.message {
        Some(message) => Err(Failure::EndedEarly(message)),
        None if done.summary.quality.diverged => {
            Err(Failure::Diverged(done.summary.quality.verdict_reason))
        }
        None => Ok(()),
    }
}
