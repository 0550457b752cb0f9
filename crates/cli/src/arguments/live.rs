//! What `dovetail live` takes.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::changes::ChangeArguments;
use super::heading;
use super::values::{byte_count, pace, seconds};
use crate::names;
use crate::processes::Limits;

#[derive(Clone, Debug, Args)]
pub(crate) struct LiveArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// Coupling method of the first run; the page can change it
    #[arg(long, short, value_name = "M", value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// Macro-step of the first run; the page can change it
    #[arg(long, short, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<String>,

    /// Pace runs by the clock: FACTOR simulated seconds per second, 1 without a factor
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = "1", value_parser = pace, allow_negative_numbers = true)]
    pub real_time: Option<f64>,

    /// The port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,

    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,

    /// Draw these variables at first (a pattern with * and ?); repeatable
    #[arg(long, value_name = "GLOB", help_heading = heading::RESULTS)]
    pub record: Vec<String>,

    /// Find the error of each run by running again
    #[arg(long, help_heading = heading::RESULTS)]
    pub verify: bool,

    /// End a run when a system takes longer than this for a step, or an FMU for a call [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = heading::WORKERS)]
    pub step_timeout: Option<Duration>,

    /// The memory that a process with an FMU may have, such as 500M or 2G [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = byte_count, help_heading = heading::WORKERS)]
    pub memory_limit: Option<u64>,

    #[command(flatten)]
    pub changes: ChangeArguments,
}

impl LiveArguments {
    /// What FMUs may use of time and memory.
    pub fn limits(&self) -> Limits {
        Limits {
            time: self.step_timeout,
            memory: self.memory_limit,
        }
    }
}
