//! What `dovetail run` takes.

use std::path::PathBuf;

use clap::Args;

use super::checkpoints::CheckpointArguments;
use super::heading;
use super::shared::SharedArguments;
use super::values::pace;
use crate::names;

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// Coupling method; without it that of the model, or auto
    #[arg(long, short, value_name = "M", value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// Macro-step; without it, chosen by methods that can, otherwise 1/500 of the run
    #[arg(long, short, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<String>,

    /// Pace the run by the clock: FACTOR simulated seconds per second, 1 without a factor
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = "1", value_parser = pace, allow_negative_numbers = true, help_heading = heading::WORKERS)]
    pub real_time: Option<f64>,

    /// Draw one figure of the results, for a slide or a paper; --record chooses the variables
    #[arg(long, value_name = "FILE.svg|FILE.png", help_heading = heading::RESULTS)]
    pub plot: Option<PathBuf>,

    /// The variable on the horizontal axis of that figure [default: time]
    #[arg(long, value_name = "NAME", requires = "plot", help_heading = heading::RESULTS)]
    pub plot_x: Option<String>,

    #[command(flatten)]
    pub checkpoints: CheckpointArguments,

    #[command(flatten)]
    pub shared: SharedArguments,
}
