//! `dovetail export`: a coupled model as one FMU.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use dovetail::export::{
    ExportError, ExportOptions, Exported, ExportedInterface, FmiVersion, LIBRARY_FILE,
    MissingLibrary, export as export_model, find_library,
};
use dovetail::scenario::FaceRole;

use crate::arguments::{ChangeArguments, InterfaceArgument, heading};
use crate::failure::Failure;
use crate::names;
use crate::output;
use crate::remedies;
use crate::words;

/// Names the engine as a library.
pub(crate) const LIBRARY_VARIABLE: &str = "DOVETAIL_FMU_LIBRARY";

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The model: a TOML file, an FMU, or a package of a system structure (.ssp)
    pub model: PathBuf,

    /// The FMU to write
    #[arg(long, short, value_name = "OUT.fmu", help_heading = heading::RESULTS)]
    pub output: PathBuf,

    /// The version of FMI
    #[arg(long, value_name = "2|3", default_value = "2", value_parser = ["2", "3"], help_heading = heading::RESULTS)]
    pub fmi: String,

    /// Show these outputs and parameters only (a pattern with * and ?); may be given again [default: all]
    #[arg(long, value_name = "GLOB", help_heading = heading::RESULTS)]
    pub expose: Vec<String>,

    /// Coupling method of every run of the FMU; without it that of the model, or what auto takes now
    #[arg(long, short, value_name = "M", value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// Macro-step inside [default: 1/500 of the model's run, or chosen by the methods that can]
    #[arg(long, short, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<String>,

    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Print errors only
    #[arg(long, short, help_heading = heading::RESULTS)]
    pub quiet: bool,
}

pub(crate) fn export(arguments: &ExportArguments) -> Result<(), Failure> {
    let out = &arguments.output;
    output::check_ending("--output", Some(out), &["fmu"])?;
    if arguments.changes.initialize.is_some() {
        return Err(Failure::misuse(
            "--initialize is for runs: an FMU starts where its importer's values lead",
        ));
    }
    let named = std::env::var_os(LIBRARY_VARIABLE).filter(|named| !named.is_empty());
    let library = find_library(named.map(PathBuf::from));
    let library = library.map_err(|missing| missing_library(&missing))?;
    let options = ExportOptions {
        version: if arguments.fmi == "3" {
            FmiVersion::Three
        } else {
            FmiVersion::Two
        },
        interface: match arguments.changes.interface {
            Some(InterfaceArgument::ModelExchange) => ExportedInterface::ModelExchange,
            _ => ExportedInterface::CoSimulation,
        },
        expose: arguments.expose.clone(),
        library,
        worker: None,
        plain_names: false,
    };
    let choices =
        arguments
            .changes
            .choices(arguments.method.as_deref(), arguments.step.as_deref(), &[]);
    let changes = arguments.changes.overrides_to_export();
    let exported = export_model(
        &arguments.model,
        &changes,
        &choices,
        &options,
        &output::from_home(out),
    );
    output::restore_working_directory();
    let exported = exported.map_err(worded)?;
    if arguments.quiet {
        return Ok(());
    }
    output::print(&summary(arguments, &exported))
}

/// What to do where the library is not there.
pub(crate) fn missing_library(missing: &MissingLibrary) -> Failure {
    Failure::misuse(format!(
        "{missing}; build it with `cargo build --release`, which puts {LIBRARY_FILE} beside the program, or name it by \
         {LIBRARY_VARIABLE}"
    ))
}

fn worded(error: ExportError) -> Failure {
    match error {
        ExportError::Model(bad) => Failure::BadModel(remedies::worded_model(bad)),
        other => Failure::misuse_by(other),
    }
}

/// The method inside.
fn coupling(exported: &Exported) -> String {
    let step = match exported.step {
        Some(step) => format!("steps of {step} s"),
        None => "steps of its own choice".to_owned(),
    };
    let mut text = format!("coupled by {} with {step}\n", exported.method);
    if let Some(reason) = &exported.reason {
        let _ = writeln!(text, "  ({reason})");
    }
    text
}

/// What was written.
fn summary(arguments: &ExportArguments, exported: &Exported) -> String {
    let mut text = String::new();
    let count = |wanted: fn(&FaceRole) -> bool| {
        let variables = exported.variables.iter();
        variables.filter(|variable| wanted(&variable.role)).count()
    };
    let inputs = count(|role| matches!(role, FaceRole::Input(_)));
    let outputs = count(|role| matches!(role, FaceRole::Output(_)));
    let parameters = count(|role| matches!(role, FaceRole::Parameter));
    let path = arguments.output.display();
    let fmi = &arguments.fmi;
    match exported.interface {
        ExportedInterface::CoSimulation => {
            let _ = writeln!(text, "wrote {path}: FMI {fmi}.0, Co-Simulation");
            text += &coupling(exported);
        }
        ExportedInterface::ModelExchange => {
            let _ = writeln!(text, "wrote {path}: FMI {fmi}.0, Model Exchange");
            let states = count(|role| matches!(role, FaceRole::State(_)));
            let indicators = count(|role| matches!(role, FaceRole::Indicator(_)));
            let _ = writeln!(text, "states: {states}, event indicators: {indicators}");
        }
    }
    let _ = writeln!(
        text,
        "inputs: {inputs}, outputs: {outputs}, parameters: {parameters}"
    );
    let yes = words::yes_or_no(exported.capabilities.state);
    let _ = writeln!(text, "state can be saved and restored: {yes}");
    text + &words::warnings(&exported.warnings)
}
