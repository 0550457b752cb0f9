//! What `dovetail check` takes.

use std::path::PathBuf;

use clap::Args;

use super::changes::ChangeArguments;
use crate::names;

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// Coupling method to check the systems against
    #[arg(long, short, value_name = "M", value_parser = names::METHODS)]
    pub method: Option<String>,

    /// Macro-step to check the systems against
    #[arg(long, short, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,

    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub changes: ChangeArguments,
}
