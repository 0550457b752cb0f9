//! `dovetail run`.

use dovetail::core::{Error, readable};
use dovetail::report::{RunSummary, Selection, Variables};
use dovetail::scenario::{RunOptions, Scenario, Session};
use dovetail::{CheckpointPlan, Executed, Keep, Notice, drawn_selection, run_page};

use crate::arguments::{RunArguments, SharedArguments};
use crate::execute::Execute;
use crate::failure::Failure;
use crate::plot::Plot;
use crate::resumed::{Origin, Resumed};
use crate::{interrupt, origin, output, processes, words};

pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    carry_out(arguments, None)
}

/// Runs a model, or goes on with a run.
pub(crate) fn carry_out(
    arguments: &RunArguments,
    resumed: Option<&Resumed>,
) -> Result<(), Failure> {
    let shared = &arguments.shared;
    Plot::check_name(arguments)?;
    // An FMU that knows when the run ends may refuse to go on after that.
    let open_ended = arguments.checkpoints.checkpoint.is_some();
    let mut scenario = shared.load_for(&arguments.model, open_ended)?;
    shared.check(&arguments.model, &scenario)?;
    arguments.check_checkpoints(&scenario)?;
    let options = options(arguments, &scenario)?;
    shared.changes.start_at_rest(&mut scenario, &options)?;
    let doubts = doubts(arguments, &scenario, &options)?;
    let mut session = scenario.session(&options)?;
    output::restore_working_directory();
    let checkpoints = plan_checkpoints(arguments, &scenario, &mut session, resumed)?;
    let record = resumed.map_or(&[][..], |resumed| &resumed.record);
    let record = if record.is_empty() {
        &shared.record
    } else {
        record
    };
    let selection = selection(&scenario, &session, record)?;
    if let Some(resumed) = resumed {
        resumed.restore(&scenario, &mut session)?;
    }
    let plot = Plot::wanted(arguments, &scenario)?;
    let page = shared.page()?;
    let draws = page.is_some() || plot.is_some();
    let drawn = draws.then(|| drawn_selection(&scenario, &session, &selection));
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
        checkpoints,
        resumed,
    };
    let mut done = execute.run(session)?;
    done.summary.quality.warnings.extend(doubts);
    add_remarks(&mut done, arguments, resumed);

    let shown = shown(&selection, shared);
    if let Some(plot) = plot {
        plot.write(&scenario, &done, &shown)?;
    }
    if let Some(page) = page {
        let origin = origin::of(&arguments.model);
        page.write(&run_page(&scenario, &done, &shown, &origin).unwrap_or_default())?;
    }

    if shared.json && !record.is_empty() {
        done.summary.restrict_final_values(&selection.names());
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
    let again = shared.verify
        || shared.changes.initialize.is_some()
        || arguments.checkpoints.checkpoint.is_some();
    processes::if_instances_are_single(options, scenario, again, shared.limits())
}

fn selection(
    scenario: &Scenario,
    session: &Session<'_>,
    record: &[String],
) -> Result<Selection, Failure> {
    let variables = Variables::of(&scenario.connections);
    let variables = variables.with_signals(&session.signals());
    let selection = variables.select(&scenario.patterns(record));
    selection.map_err(Failure::misuse_by)
}

/// FMUs whose restored state does not reproduce, told before the run that writes checkpoints.
fn doubts(
    arguments: &RunArguments,
    scenario: &Scenario,
    options: &RunOptions,
) -> Result<Vec<Notice>, Failure> {
    if arguments.checkpoints.checkpoint.is_none() {
        return Ok(Vec::new());
    }

    let doubts = scenario.doubts_of_restoring(options)?;
    if !arguments.shared.quiet {
        output::complain(&words::warnings(&doubts));
    }
    Ok(doubts)
}

/// Checkpoints, where they are wanted; what cannot be saved is refused before the run.
fn plan_checkpoints<'a>(
    arguments: &'a RunArguments,
    scenario: &Scenario,
    session: &mut Session<'_>,
    resumed: Option<&Resumed>,
) -> Result<Option<CheckpointPlan<'a>>, Failure> {
    let Some(path) = &arguments.checkpoints.checkpoint else {
        return Ok(None);
    };
    session.check_saving().map_err(|error| match error {
        Error::Checkpoint(reason) => Failure::misuse(format!("--checkpoint: {reason}")),
        other => Failure::misuse(format!("--checkpoint: {other}")),
    })?;
    let origin = match resumed {
        Some(resumed) => resumed.origin.clone(),
        None => Origin::of(arguments, scenario)?,
    };

    Ok(Some(CheckpointPlan {
        interval: arguments.checkpoints.interval(scenario),
        about: origin.to_bytes(),
        keep: Box::new(move |checkpoint| checkpoint.write(&output::from_home(path))),
    }))
}

/// From where the run went on, and from where it can be gone on with.
fn add_remarks(done: &mut Executed, arguments: &RunArguments, resumed: Option<&Resumed>) {
    let remarks = &mut done.summary.quality.remarks;
    if let Some(resumed) = resumed {
        let (file, time) = (resumed.file.display(), readable(resumed.checkpoint.time));
        remarks.push(format!("the run was resumed at t = {time} s, from {file}"));
    }
    if let (Some(time), Some(path)) = (done.checkpoint, &arguments.checkpoints.checkpoint) {
        let (file, time) = (path.display(), readable(time));
        remarks.push(format!(
            "`dovetail resume {file}` goes on from t = {time} s"
        ));
    }
}

fn show(summary: &RunSummary, shared: &SharedArguments) -> Result<(), Failure> {
    if shared.json {
        return output::print_json(&summary.to_json());
    }
    if shared.quiet {
        return Ok(());
    }

    let text = if shared.verbose {
        summary.to_detailed_text()
    } else {
        summary.to_text()
    };
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
