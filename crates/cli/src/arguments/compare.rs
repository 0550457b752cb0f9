//! What `dovetail compare` takes.

use std::path::PathBuf;

use clap::Args;
use dovetail::report::Measure;

use super::heading;
use super::shared::SharedArguments;
use super::values::share;
use crate::names;

#[derive(Debug, Args)]
#[command(override_usage = "dovetail compare [OPTIONS] <MODEL>")]
pub(crate) struct CompareArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: Option<PathBuf>,

    /// Coupling methods, one or more; without it, all that the model supports, and without --step
    /// and --tolerance each with three steps or tolerances
    #[arg(long, short, value_name = "M", num_args = 1.., value_delimiter = ',', value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Vec<String>,

    /// Macro-steps, one or more
    #[arg(long, short, value_name = "H", num_args = 1.., value_delimiter = ',', allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Vec<String>,

    /// What to compare with: the coupled equations solved as one system, or a result file
    #[arg(long, value_name = "monolithic|FILE.csv", default_value = "monolithic", help_heading = heading::REFERENCE)]
    pub reference: String,

    /// Error in tables, on the page and of --within: relative to the range of the reference (nrmse)
    /// or to its L2 norm (l2)
    #[arg(long, value_name = "M", default_value = "nrmse", value_parser = ["nrmse", "l2"], help_heading = heading::REFERENCE)]
    pub measure: String,

    /// Fails (exit code 1) unless every recorded variable of every run is this near to the
    /// reference, as a share: 1e-3 is 0.1 %
    #[arg(long, value_name = "R", value_parser = share, allow_negative_numbers = true, help_heading = heading::REFERENCE)]
    pub within: Option<f64>,

    /// How the table is printed: to be read here, or for a paper
    #[arg(long, value_name = "F", default_value = "text", value_parser = ["text", "markdown", "latex", "csv"], conflicts_with = "json", help_heading = heading::RESULTS)]
    pub format: String,

    #[command(flatten)]
    pub shared: SharedArguments,
}

impl CompareArguments {
    /// Whether every method runs with several steps or tolerances: where neither methods nor steps
    /// nor tolerances are given, and no run may be less accurate than some measure.
    pub fn climbs(&self) -> bool {
        let changes = &self.shared.changes;
        let is_given = changes.tolerance.is_some() || !changes.option.is_empty();
        self.method.is_empty() && self.step.is_empty() && self.within.is_none() && !is_given
    }

    /// The measure of errors that was chosen.
    pub fn measure(&self) -> Measure {
        match self.measure.as_str() {
            "l2" => Measure::L2,
            _ => Measure::Nrmse,
        }
    }
}
