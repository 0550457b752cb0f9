//! The command line.

mod changes;
mod checkpoints;
mod files;
mod shared;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use changes::{ChangeArguments, InterfaceArgument, load_scenario};
pub(crate) use checkpoints::{CheckpointArguments, ResumeArguments};
pub(crate) use files::{check_distinct, check_distinct_files, refuse_to_replace};
pub(crate) use shared::{SharedArguments, WorkersArgument, check_interval};
pub(crate) use values::{assignment, seconds, thread_count};

use crate::enclose::{EncloseArguments, EncloseWorkers};
use crate::export::ExportArguments;
use crate::fit::FitArguments;
use crate::linearize::LinearizeArguments;
use crate::names;
use crate::new::NewArguments;
use crate::sweep::SweepArguments;
use values::{byte_count, pace, share};

/// Couples simulators so that their interfaces really meet.
#[derive(Debug, Parser)]
#[command(name = "dovetail", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a model
    Run(RunArguments),
    /// Go on with a run from a checkpoint
    Resume(ResumeArguments),
    /// Run a model by several methods or steps and measure the error of each
    Compare(CompareArguments),
    /// Run a model many times with other values, and keep a row of each run
    Sweep(SweepArguments),
    /// Find the parameters that bring a model nearest to measured data
    Fit(FitArguments),
    /// Bound all trajectories of a model given as equations: boxes that are proved to hold them
    Enclose(EncloseArguments),
    /// Linearize a model: A, B, C, D and the eigenvalues of all systems together
    Linearize(LinearizeArguments),
    /// Write a model as one FMU, with its coupling method inside
    Export(ExportArguments),
    /// Check a model: everything that can be known without running it
    Check(CheckArguments),
    /// Show an FMU or a system structure: its interface, what it can do, and the methods that permits
    Inspect(InspectArguments),
    /// Create a folder with a model to start from
    New(NewArguments),
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
            Self::Enclose(_) | Self::New(_) | Self::Worker { .. } | Self::Completions { .. } => {
                false
            }
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

    /// Coupling method [default: the model's, or else auto]
    #[arg(long, short, value_name = "M", value_parser = names::METHODS)]
    pub method: Option<String>,

    /// Macro-step [default: 1/500 of the run, or chosen by the methods that can]
    #[arg(long, short, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,

    /// Pace the run by the clock, so many simulated seconds a second [default factor: 1]
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

    /// Coupling methods, one or more [default: all that the model permits]
    #[arg(long, value_name = "M", num_args = 1.., value_delimiter = ',', value_parser = names::METHODS)]
    pub method: Vec<String>,

    /// Macro-steps, one or more
    #[arg(long, value_name = "H", num_args = 1.., value_delimiter = ',', allow_negative_numbers = true)]
    pub step: Vec<String>,

    /// What to compare with: the coupled equations solved as one system, or a result file
    #[arg(long, value_name = "monolithic|FILE.csv", default_value = "monolithic")]
    pub reference: String,

    /// Fails (exit code 1) unless every recorded variable of every run is this near to the
    /// reference: NRMSE as a share of the range, so that 1e-3 is 0.1 %
    #[arg(long, value_name = "R", value_parser = share, allow_negative_numbers = true)]
    pub within: Option<f64>,

    /// How the table is printed: to be read here, or for a paper
    #[arg(long, value_name = "F", default_value = "text", value_parser = ["text", "markdown", "latex", "csv"], conflicts_with = "json")]
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
    /// The FMU (or a system structure: .ssp, .ssd)
    pub file: PathBuf,

    /// Which interface of an FMU that has both [default: co-simulation]
    #[arg(long, value_name = "co-simulation|model-exchange")]
    pub interface: Option<InterfaceArgument>,

    /// Show all variables of an FMU, local ones too
    #[arg(long)]
    pub all: bool,

    /// Read the description alone: no code of the FMU is run
    #[arg(long = "static")]
    pub without_running: bool,

    /// Refuse what the standard forbids, instead of warning
    #[arg(long)]
    pub strict: bool,

    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}
