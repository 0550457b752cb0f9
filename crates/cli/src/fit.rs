//! `dovetail fit`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Instant;

use clap::Args;
use dovetail::report::significant;
use dovetail::scenario::Scenario;
use dovetail::study::{
    Factor, FitError, Fitted, FittedColumn, FittedParameter, Measured, StudyError, fit_page,
};
use dovetail::{Error, Fit};
use serde_json::{Value, json};

use crate::arguments::{ChangeArguments, heading, refuse_to_replace, thread_count};
use crate::failure::Failure;
use crate::names;
use crate::output::{self, Page};
use crate::processes::{self, Limits};
use crate::progress::FitProgress;
use crate::{interrupt, sweep};

#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// What was measured: the time, then a column for each variable, with its unit in the head where that differs
    #[arg(long, value_name = "FILE.csv", help_heading = heading::STUDY)]
    pub data: PathBuf,

    /// Fit a parameter, or the start value of a state or an input, between LO and HI; may be given again
    #[arg(long, value_name = "NAME=LO:HI", required = true, value_parser = sweep::factor, help_heading = heading::STUDY)]
    pub vary: Vec<Factor>,

    /// Start at the best of N points within the bounds, or at the values of the model [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = heading::STUDY)]
    pub sample: usize,

    /// Names the choice of these points
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = heading::STUDY)]
    pub seed: u64,

    /// So many runs at a time [default: one for each core; models with FMUs have one]
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true, help_heading = heading::STUDY)]
    pub jobs: Option<NonZeroUsize>,

    /// Coupling method; without it that of the model, or auto
    #[arg(long, short, value_name = "M", value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// Macro-step [default: 1/500 of the run, or chosen by the methods that can]
    #[arg(long, short, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<String>,

    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Write a page with the measured points over the curves before and after
    #[arg(long, value_name = "FILE.html", help_heading = heading::RESULTS)]
    pub report: Option<PathBuf>,

    /// Print errors only
    #[arg(long, short, help_heading = heading::RESULTS)]
    pub quiet: bool,

    /// Print what was found as JSON
    #[arg(long, help_heading = heading::RESULTS)]
    pub json: bool,
}

pub(crate) fn fit(arguments: &FitArguments) -> Result<(), Failure> {
    output::check_ending("--report", arguments.report.as_deref(), &["html", "htm"])?;
    let measured = Measured::open(&arguments.data);
    let measured = measured.map_err(|StudyError(why)| Failure::misuse(format!("--data: {why}")))?;
    let scenario = arguments.load(&measured)?;
    let interrupted = interrupt::listen();
    let fit = arguments.fit(&scenario, measured)?;
    output::restore_working_directory();
    let page = Page::wanted(arguments.report.as_deref())?;
    if !arguments.quiet {
        let warnings = fit.warnings().iter();
        warnings.for_each(|warning| output::complain(&format!("note: {warning}\n")));
    }

    let clock = Instant::now();
    let progress = FitProgress::new(arguments.quiet);
    let found = fit.run_watched(interrupted, &|runs| progress.show(runs));
    progress.clear();
    let found = found.map_err(ended)?;
    let wall_seconds = clock.elapsed().as_secs_f64();

    if let Some(page) = page {
        page.write(&content(&fit, &found, &scenario.name)?)?;
    }
    if arguments.json {
        return output::print_json(&to_json(&found, wall_seconds));
    }
    match arguments.quiet {
        true => Ok(()),
        false => output::print(&to_text(&found, wall_seconds)),
    }
}

impl FitArguments {
    fn load(&self, measured: &Measured) -> Result<Scenario, Failure> {
        let columns = measured.columns.iter();
        let names: Vec<String> = columns.map(|column| column.name.clone()).collect();
        let limits = Limits::default();
        let scenario = self.changes.load(&self.model, &names, limits, None)?;
        if let Some(page) = &self.report {
            refuse_to_replace(&self.model, &scenario, page)?;
        }
        Ok(scenario)
    }

    fn fit<'a>(&self, scenario: &'a Scenario, measured: Measured) -> Result<Fit<'a>, Failure> {
        let (method, step) = (self.method.as_deref(), self.step.as_deref());
        let choices = self.changes.choices(method, step, &[]);
        let options = scenario.options(&choices)?;
        // Each run makes its FMUs anew.
        let options =
            processes::if_instances_are_single(options, scenario, true, Limits::default())?;
        let fit = Fit::new(scenario, &options, &self.vary, measured);
        let fit = match self.changes.wants_rest() {
            true => fit.and_then(Fit::starting_at_rest),
            false => fit,
        };
        let fit = fit.map_err(|error| sweep::refused(error, &self.vary))?;
        let cores = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let jobs = self.jobs.unwrap_or_else(cores);
        Ok(fit.jobs(jobs).sample(self.sample, self.seed))
    }
}

/// Why a search did not come to its end.
fn ended(error: Error) -> Failure {
    match error {
        Error::NoFit(FitError::Data(why)) => Failure::misuse(why),
        other => Failure::Sweep(format!("there is no fit: {other}")),
    }
}

fn content(fit: &Fit<'_>, found: &Fitted, model: &str) -> Result<String, Failure> {
    let parameters = || found.parameters.iter();
    let before: Vec<f64> = parameters().map(|parameter| parameter.start).collect();
    let after: Vec<f64> = parameters().map(|parameter| parameter.value).collect();
    let curves = |point: &[f64]| fit.trajectory(point).map_err(ended);
    let title = format!("{model}: fit to {}", fit.measured().file);
    Ok(fit_page(
        &title,
        found,
        fit.measured(),
        &curves(&before)?,
        &curves(&after)?,
    ))
}

fn to_json(found: &Fitted, wall_seconds: f64) -> Value {
    let parameters = found.parameters.iter().map(|parameter| {
        let value = json!({
            "value": parameter.value,
            "standard_error": parameter.standard_error,
            "confidence": parameter.confidence.map(|(low, high)| [low, high]),
            "at_bound": parameter.at_bound,
            "start": parameter.start,
        });
        (parameter.name.clone(), value)
    });
    let columns = found.columns.iter().map(|column| {
        let value = json!({
            "values": column.count,
            "unit": column.unit,
            "rms_before": column.before,
            "rms": column.after,
        });
        (column.name.clone(), value)
    });
    json!({
        "parameters": Value::Object(parameters.collect()),
        "covariance": found.covariance,
        "correlation": found.correlation,
        "residual": found.residual,
        "residual_before": found.residual_before,
        "columns": Value::Object(columns.collect()),
        "runs": found.runs,
        "iterations": found.iterations,
        "converged": found.converged,
        "notes": found.notes,
        "wall_seconds": wall_seconds,
    })
}

fn to_text(found: &Fitted, wall_seconds: f64) -> String {
    let (runs, iterations) = (found.runs, found.iterations);
    let mut text = format!("{runs} runs, {iterations} iterations, {wall_seconds:.1} s\n\n");
    text += &format!(
        "{:<24} {:>12} {:>12} {:>12}   {}\n",
        "parameter", "start", "fitted", "std. error", "95 % confidence"
    );
    found
        .parameters
        .iter()
        .for_each(|parameter| text += &parameter_line(parameter));
    text += &format!(
        "\n{:<24} {:>12} {:>12} {:>12}\n",
        "variable", "values", "RMS before", "RMS fitted"
    );
    found
        .columns
        .iter()
        .for_each(|column| text += &column_line(column));
    for note in &found.notes {
        text += &format!("\nnote: {note}");
    }
    if !found.notes.is_empty() {
        text.push('\n');
    }
    text
}

fn parameter_line(parameter: &FittedParameter) -> String {
    let name = &parameter.name;
    let start = significant(parameter.start, 6);
    let value = significant(parameter.value, 6);
    let error = parameter.standard_error;
    let error = error.map_or("-".to_owned(), |error| significant(error, 3));
    let interval = match parameter.confidence {
        Some((low, high)) => format!("{} to {}", significant(low, 6), significant(high, 6)),
        None if parameter.at_bound => "at its bound".to_owned(),
        None => "not known".to_owned(),
    };
    format!("{name:<24} {start:>12} {value:>12} {error:>12}   {interval}\n")
}

fn column_line(column: &FittedColumn) -> String {
    let name = &column.name;
    let before = significant(column.before, 4);
    let after = significant(column.after, 4);
    let unit = column.unit.as_deref().unwrap_or_default();
    format!(
        "{name:<24} {:>12} {before:>12} {after:>12} {unit}\n",
        column.count
    )
}
