//! `dovetail ssp`: a coupled model as a package of the standard SSP.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use dovetail::core::Remedy;
use dovetail::export::find_library;
use dovetail::scenario::SspVersion;
use dovetail::{Notice, SspError, SspOptions, WrittenSsp, write_ssp};

use crate::arguments::ChangeArguments;
use crate::export::{LIBRARY_VARIABLE, missing_library};
use crate::failure::Failure;
use crate::names;
use crate::output;
use crate::remedies;
use crate::words;

#[derive(Debug, Args)]
pub(crate) struct SspArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp or .ssd)
    pub model: PathBuf,

    /// The package to write
    #[arg(long, short, value_name = "OUT.ssp")]
    pub output: PathBuf,

    /// The version of SSP
    #[arg(long, value_name = "1|2", default_value = "1", value_parser = ["1", "2"])]
    pub ssp: String,

    /// Coupling method, kept in an annotation that only Dovetail reads [default: the model's]
    #[arg(long, short, value_name = "M", value_parser = names::METHODS)]
    pub method: Option<String>,

    /// Macro-step, kept in the same way [default: the model's]
    #[arg(long, short, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,

    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Say nothing that is not an error
    #[arg(long, short)]
    pub quiet: bool,
}

pub(crate) fn write(arguments: &SspArguments) -> Result<(), Failure> {
    let out = &arguments.output;
    output::check_ending("--output", Some(out), &["ssp"])?;
    if arguments.changes.initialize.is_some() {
        return Err(Failure::misuse(
            "--initialize is for runs: a system structure has start values, and no states to start from",
        ));
    }
    let named = std::env::var_os(LIBRARY_VARIABLE).filter(|named| !named.is_empty());
    let options = SspOptions {
        version: match arguments.ssp.as_str() {
            "2" => SspVersion::Two,
            _ => SspVersion::One,
        },
        library: find_library(named.map(PathBuf::from)),
    };
    let choices =
        arguments
            .changes
            .choices(arguments.method.as_deref(), arguments.step.as_deref(), &[]);
    let changes = arguments.changes.overrides_to_export();
    let written = write_ssp(
        &arguments.model,
        &changes,
        &choices,
        &options,
        &output::from_home(out),
    );
    output::restore_working_directory();
    let written = written.map_err(worded)?;
    if arguments.quiet {
        return Ok(());
    }
    output::print(&summary(arguments, &written))
}

fn worded(error: SspError) -> Failure {
    match error {
        SspError::Model(bad) => Failure::BadModel(remedies::worded_model(bad)),
        SspError::NotExpressible(notice) => {
            Failure::misuse(remedies::with_advice(notice.text, &notice.remedies))
        }
        SspError::NotInVersion(what) => {
            let newer = what.in_two.then_some(Remedy::SspTwo);
            let notice = Notice::from(what.to_string()).with(newer);
            Failure::misuse(remedies::with_advice(notice.text, &notice.remedies))
        }
        SspError::Library(missing) => missing_library(&missing),
        other => Failure::misuse_by(other),
    }
}

/// What was written.
fn summary(arguments: &SspArguments, written: &WrittenSsp) -> String {
    let mut text = String::new();
    let path = arguments.output.display();
    let _ = writeln!(text, "wrote {path}: SSP {}.0", arguments.ssp);
    let _ = writeln!(
        text,
        "components: {}, connections: {}",
        written.components, written.connections
    );
    for fmu in &written.fmus {
        let origin = if fmu.exported {
            ", exported from equations"
        } else {
            ""
        };
        let _ = writeln!(text, "  {}{origin}", fmu.name);
    }
    text + &words::warnings(&written.warnings)
}
