//! The command line.

mod changes;
mod checkpoints;
mod examples;
mod files;
pub(crate) mod heading;
mod shared;
mod suggestion;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use changes::{ChangeArguments, InterfaceArgument, load_scenario};
pub(crate) use checkpoints::{CheckpointArguments, ResumeArguments};
pub(crate) use files::{check_distinct, check_distinct_files, refuse_to_replace};
pub(crate) use shared::{SharedArguments, WorkersArgument, check_interval};
pub(crate) use suggestion::with_suggestion;
pub(crate) use values::{assignment, seconds, thread_count};

use crate::enclose::{EncloseArguments, EncloseWorkers};
use crate::export::ExportArguments;
use crate::fit::FitArguments;
use crate::linearize::LinearizeArguments;
use crate::names;
use crate::new::NewArguments;
use crate::reproduce::ReproduceArguments;
use crate::sweep::SweepArguments;
use values::{byte_count, pace, share};

/// Couples simulators so that their interfaces really meet.
#[derive(Debug, Parser)]
#[command(name = "dovetail", version, propagate_version = true, after_help = examples::ALL)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a model
    #[command(after_help = examples::RUN)]
    Run(RunArguments),
    /// Go on with a run from a checkpoint
    Resume(ResumeArguments),
    /// Run a model with several methods or steps and measure the error of each
    #[command(after_help = examples::COMPARE)]
    Compare(CompareArguments),
    /// Run a model many times with varied values, and keep one row per run
    #[command(after_help = examples::SWEEP)]
    Sweep(SweepArguments),
    /// Find the parameters that bring a model nearest to measured data
    Fit(FitArguments),
    /// Prove bounds on all trajectories of a model given as equations
    #[command(after_help = examples::ENCLOSE)]
    Enclose(EncloseArguments),
    /// Linearize a model: A, B, C, D and the eigenvalues of the coupled systems
    #[command(after_help = examples::LINEARIZE)]
    Linearize(LinearizeArguments),
    /// Write a model as one FMU, with its coupling method inside
    #[command(after_help = examples::EXPORT)]
    Export(ExportArguments),
    /// Check a model: report everything that can be known without running it
    #[command(after_help = examples::CHECK)]
    Check(CheckArguments),
    /// Show an FMU or a model: variables, capabilities, and which methods it supports
    #[command(after_help = examples::INSPECT)]
    Inspect(InspectArguments),
    /// Create a folder with a model to start from
    #[command(after_help = examples::NEW)]
    New(NewArguments),
    /// Run the tables and figures of five papers again, and show ours beside theirs
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(ReproduceArguments),
    /// Print a JSON schema of model files, for editors
    #[command(after_help = examples::SCHEMA)]
    Schema,
    /// Write manual pages into a folder
    #[command(after_help = examples::MAN)]
    Man {
        /// The folder; created if it is missing
        folder: PathBuf,
    },
    /// Serve another `dovetail` as the process of a system; started by --workers processes
    #[command(hide = true)]
    Worker {
        /// The memory that the process may have
        #[arg(long, value_name = "BYTES", value_parser = byte_count)]
        memory_limit: Option<u64>,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// Whether code of FMUs may be run.
    pub fn may_run_fmus(&self) -> bool {
        match self {
            Self::Run(_)
            | Self::Resume(_)
            | Self::Compare(_)
            | Self::Sweep(_)
            | Self::Fit(_)
            | Self::Linearize(_)
            | Self::Export(_)
            | Self::Check(_) => true,
            Self::Inspect(arguments) => !arguments.without_running,
            Self::Enclose(_)
            | Self::New(_)
            | Self::Reproduce(_)
            | Self::Schema
            | Self::Man { .. }
            | Self::Worker { .. }
            | Self::Completions { .. } => false,
        }
    }

    /// Whether a parent is to say how the program ended: where code of FMUs may be run, and on ranks, which may be killed.
    pub fn is_supervised(&self) -> bool {
        self.may_run_fmus() || self.wants_ranks()
    }

    /// Whether it can be spread over the ranks of an MPI program.
    pub fn can_use_ranks(&self) -> bool {
        matches!(
            self,
            Self::Run(_) | Self::Compare(_) | Self::Sweep(_) | Self::Enclose(_)
        )
    }

    /// Whether it is to be.
    pub fn wants_ranks(&self) -> bool {
        match self {
            Self::Enclose(arguments) => arguments.workers == Some(EncloseWorkers::Mpi),
            Self::Sweep(arguments) => arguments.workers.is_some(),
            _ => {
                let shared = self.shared();
                shared.is_some_and(|shared| shared.workers == Some(WorkersArgument::Mpi))
            }
        }
    }

    /// What a command that runs systems shares with others.
    pub fn shared(&self) -> Option<&SharedArguments> {
        match self {
            Self::Run(arguments) => Some(&arguments.shared),
            Self::Compare(arguments) => Some(&arguments.shared),
            _ => None,
        }
    }
}

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
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = "1", value_parser = pace, allow_negative_numbers = true)]
    pub real_time: Option<f64>,

    /// Draw one figure of the results, for a slide or a paper; --record chooses the variables
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    pub plot: Option<PathBuf>,

    /// The variable on the horizontal axis of that figure [default: time]
    #[arg(long, value_name = "NAME", requires = "plot")]
    pub plot_x: Option<String>,

    #[command(flatten)]
    pub checkpoints: CheckpointArguments,

    #[command(flatten)]
    pub shared: SharedArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: Option<PathBuf>,

    /// Coupling methods, one or more; without it, all that the model supports
    #[arg(long, short, value_name = "M", num_args = 1.., value_delimiter = ',', value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Vec<String>,

    /// Macro-steps, one or more
    #[arg(long, short, value_name = "H", num_args = 1.., value_delimiter = ',', allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Vec<String>,

    /// What to compare with: the coupled equations solved as one system, or a result file
    #[arg(long, value_name = "monolithic|FILE.csv", default_value = "monolithic", help_heading = heading::REFERENCE)]
    pub reference: String,

    /// Fails (exit code 1) unless every recorded variable of every run is this near to the
    /// reference: NRMSE as a share of the range, so that 1e-3 is 0.1 %
    #[arg(long, value_name = "R", value_parser = share, allow_negative_numbers = true, help_heading = heading::REFERENCE)]
    pub within: Option<f64>,

    /// How the table is printed: to be read here, or for a paper
    #[arg(long, value_name = "F", default_value = "text", value_parser = ["text", "markdown", "latex", "csv"], conflicts_with = "json", help_heading = heading::RESULTS)]
    pub format: String,

    #[command(flatten)]
    pub shared: SharedArguments,
}

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
