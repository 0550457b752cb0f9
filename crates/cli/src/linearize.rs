//! `dovetail linearize`: A, B, C, D and the eigenvalues of a coupled model.

use std::path::{Path, PathBuf};

use clap::Args;
use dovetail::report::LinearModel;
use dovetail::scenario::{RunOptions, Scenario};

use crate::arguments::heading;
use crate::arguments::{ChangeArguments, refuse_to_replace};
use crate::failure::Failure;
use crate::names;
use crate::output::{self, Page};
use crate::processes::{self, Limits};
use crate::{interrupt, words};

#[derive(Debug, Args)]
pub(crate) struct LinearizeArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// The time to run to first [default: the start of the run, without running]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = heading::METHOD)]
    pub at: Option<f64>,

    /// Coupling method of the run to that time; without it that of the model, or auto
    #[arg(long, short, value_name = "M", value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// Macro-step of that run
    #[arg(long, short, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<String>,

    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Write the matrices to a file, or with - as JSON to standard output
    #[arg(long, short, value_name = "FILE.json|FILE.mat|-", help_heading = heading::RESULTS)]
    pub output: Option<PathBuf>,

    /// Print the matrices as JSON instead of a summary
    #[arg(long, help_heading = heading::RESULTS)]
    pub json: bool,

    /// Print errors only
    #[arg(long, short, help_heading = heading::RESULTS)]
    pub quiet: bool,
}

pub(crate) fn linearize(arguments: &LinearizeArguments) -> Result<(), Failure> {
    let path = arguments.output.as_deref();
    output::check_ending("--output", path, &["json", "mat"])?;
    let mut scenario = load(arguments)?;
    if let Some(path) = path {
        refuse_to_replace(&arguments.model, &scenario, path)?;
    }
    let options = options(arguments, &scenario)?;
    arguments.changes.start_at_rest(&mut scenario, &options)?;
    let to_file = path.filter(|path| !output::is_standard(path));
    let file = Page::wanted(to_file)?;
    let later = arguments.at.is_some_and(|at| at > scenario.start_time);
    let interrupted = interrupt::listen();
    let found = dovetail::linearize(&scenario, &options, later, interrupted);
    output::restore_working_directory();
    let found = found?;

    if let (Some(file), Some(path)) = (file, to_file) {
        file.write_bytes(&content(&found, path)?)?;
    }
    show(&found, &scenario, arguments)
}

/// The model, with the time of the linearization as its stop time.
fn load(arguments: &LinearizeArguments) -> Result<Scenario, Failure> {
    let (model, changes) = (&arguments.model, &arguments.changes);
    let scenario = changes.load_to_check(model)?;
    let Some(at) = arguments.at else {
        return Ok(scenario);
    };
    let start = scenario.start_time;
    if !(at >= start && at.is_finite()) {
        return Err(Failure::misuse(format!(
            "--at {at} is no time from the start of the run, {start} s, on"
        )));
    }
    if at > start {
        // FMUs are told when the run ends.
        return changes.load_until(model, at);
    }
    Ok(scenario)
}

fn options(arguments: &LinearizeArguments, scenario: &Scenario) -> Result<RunOptions, Failure> {
    let (method, step) = (arguments.method.as_deref(), arguments.step.as_deref());
    let choices = arguments.changes.choices(method, step, &[]);
    let options = scenario.options(&choices)?;
    if scenario.units().is_empty() {
        return Ok(options);
    }

    Ok(RunOptions {
        placement: processes::placement(Limits::of_check())?,
        ..options
    })
}

fn content(found: &LinearModel, path: &Path) -> Result<Vec<u8>, Failure> {
    if !output::has_ending(path, "mat") {
        return Ok(format!("{:#}\n", found.to_json()).into_bytes());
    }
    let mut bytes = Vec::new();
    let written = found.write_mat(&mut bytes);
    written.map_err(|error| Failure::cannot_write(path, error))?;
    Ok(bytes)
}

fn show(
    found: &LinearModel,
    scenario: &Scenario,
    arguments: &LinearizeArguments,
) -> Result<(), Failure> {
    let path = arguments.output.as_deref();
    if arguments.json || path.is_some_and(output::is_standard) {
        return output::print_json(&found.to_json());
    }
    if arguments.quiet {
        return Ok(());
    }
    let warnings = words::warnings(&scenario.warnings);
    output::print(&format!("{}{warnings}", found.to_text()))
}
