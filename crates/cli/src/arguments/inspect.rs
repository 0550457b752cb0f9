//! What `dovetail inspect` takes.

use std::path::PathBuf;

use clap::Args;

use super::changes::InterfaceArgument;

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The FMU or model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub file: PathBuf,

    /// The interface to show of an FMU that has two [default: co-simulation]
    #[arg(long, value_name = "co-simulation|model-exchange")]
    pub interface: Option<InterfaceArgument>,

    /// Show all variables of an FMU, local ones too
    #[arg(long)]
    pub all: bool,

    /// Read the description only: no code of the FMU is run
    #[arg(long = "static")]
    pub without_running: bool,

    /// Refuse FMUs whose descriptions violate the FMI standard, instead of warning
    #[arg(long)]
    pub strict: bool,

    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}
