//! The command line: what can be written on it, as a whole. What a command shares with others is in `arguments`.

mod examples;
mod suggestion;

use std::ffi::CStr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::arguments::{
    CheckArguments, CompareArguments, InspectArguments, LiveArguments, ResumeArguments,
    RunArguments, SharedArguments, WorkersArgument, byte_count,
};
use crate::enclose::{EncloseArguments, EncloseWorkers};
use crate::export::ExportArguments;
use crate::fit::FitArguments;
use crate::linearize::LinearizeArguments;
use crate::new::NewArguments;
use crate::remedies::AFTER_EXIT;
use crate::reproduce::ReproduceArguments;
use crate::ssp::SspArguments;
use crate::sweep::SweepArguments;
pub(crate) use suggestion::with_suggestion;

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
    /// Run a model in the browser: watch it, stop it, change it, run it again
    #[command(after_help = examples::LIVE)]
    Live(LiveArguments),
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
    /// Write a model as a system structure: its FMUs, what connects them, and their values
    #[command(after_help = examples::SSP)]
    Ssp(SspArguments),
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
            | Self::Live(_)
            | Self::Resume(_)
            | Self::Compare(_)
            | Self::Sweep(_)
            | Self::Fit(_)
            | Self::Linearize(_)
            | Self::Export(_)
            | Self::Ssp(_)
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

    /// What is said where the whole program has ended, and something other than the program has to say so.
    pub fn advice_after_exit(&self) -> &'static CStr {
        match self {
            Self::Enclose(_) => c"What was written of the bounds is proved",
            _ => AFTER_EXIT,
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
