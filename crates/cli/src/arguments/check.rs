//! What `dovetail check` takes.

use std::path::PathBuf;

use clap::Args;

use super::changes::ChangeArguments;
use super::heading;
use crate::names;

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// Coupling method to check the systems against
    #[arg(long, short, value_name = "M", value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// Macro-step to check the systems against
    #[arg(long, short, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<String>,

    /// Print what was found as JSON
    #[arg(long, help_heading = heading::RESULTS)]
    pub json: bool,

    /// Print errors only
    #[arg(long, short, conflicts_with = "json", help_heading = heading::RESULTS)]
    pub quiet: bool,

    #[command(flatten)]
    pub changes: ChangeArguments,
}
