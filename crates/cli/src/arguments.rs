//! The command line.

use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dovetail::fmi::CallLog;
use dovetail::scenario::{Choices, Overrides, Placement, RunOptions, Scenario};

use crate::enclose::{EncloseArguments, EncloseWorkers};
use crate::failure::Failure;
use crate::linearize::LinearizeArguments;
use crate::names;
use crate::output;
use crate::processes::{self, Limits};
use crate::ranks;
use crate::sweep::SweepArguments;

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
    /// Run a model by several methods or steps and measure the error of each
    Compare(CompareArguments),
    /// Run a model many times with other values, and keep a row of each run
    Sweep(SweepArguments),
    /// Bound all trajectories of a model given as equations: boxes that are proved to hold them
    Enclose(EncloseArguments),
    /// Linearize a model: A, B, C, D and the eigenvalues of all systems together
    Linearize(LinearizeArguments),
    /// Check a model: everything that can be known without running it
    Check(CheckArguments),
    /// Show an FMU or a system structure: its interface, what it can do, and the methods that permits
    Inspect(InspectArguments),
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
            | Self::Compare(_)
            | Self::Sweep(_)
            | Self::Linearize(_)
            | Self::Check(_) => true,
            Self::Inspect(arguments) => !arguments.without_running,
            Self::Enclose(_) | Self::Worker { .. } | Self::Completions { .. } => false,
        }
    }

    /// Whether a parent is to say how the program ended: where code of FMUs may be run, and on ranks, which may be killed.
    pub fn is_supervised(&self) -> bool {
        self.may_run_fmus() || self.wants_ranks()
    }

    /// Whether it can be spread over the ranks of an MPI program.
    pub fn can_use_ranks(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Compare(_) | Self::Enclose(_))
    }

    /// Whether it is to be.
    pub fn wants_ranks(&self) -> bool {
        match self {
            Self::Enclose(arguments) => arguments.workers == Some(EncloseWorkers::Mpi),
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

    #[command(flatten)]
    pub shared: SharedArguments,
}

/// A share of a range.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let positive = number.filter(|share| *share > 0.0 && share.is_finite());
    positive.ok_or_else(|| "a positive number is expected, such as 1e-3".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// Coupling method to check the systems against
    #[arg(long, value_name = "M", value_parser = names::METHODS)]
    pub method: Option<String>,

    /// Macro-step to check the systems against
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,

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

/// The interfaces of FMUs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum InterfaceArgument {
    /// The unit brings its solver
    CoSimulation,
    /// Our integrator moves it
    ModelExchange,
}

/// Where a run can start, other than at the start values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitializeArgument {
    /// At rest: the derivatives of all states are zero, found from the start values by Newton's method
    Steady,
}

/// What a run and a comparison share.
#[derive(Debug, Args)]
pub(crate) struct SharedArguments {
    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Where the systems run [default: auto]
    #[arg(long, value_name = "W")]
    pub workers: Option<WorkersArgument>,

    /// Spread the systems over N threads, at most one for each system; implies --workers threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true)]
    pub worker_threads: Option<NonZeroUsize>,

    /// With --workers mpi: rank 0 reads the model, orchestrates and writes results, and has no systems of its own
    #[arg(long)]
    pub orchestrator_only: bool,

    /// End the run when a system takes longer than this for a step, or an FMU for a call, from the first one on [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub step_timeout: Option<Duration>,

    /// The memory that a process with an FMU may have, also while it is tried out, such as 500M or 2G [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    pub memory_limit: Option<u64>,

    /// Find the error by running again: with half and a quarter of the step, or with a tenth of the tolerance
    #[arg(long)]
    pub verify: bool,

    /// Record these variables only (a pattern with * and ?); may be given again
    #[arg(long, value_name = "GLOB")]
    pub record: Vec<String>,

    /// Write the results to a file, or with - to standard output
    #[arg(long, short, value_name = "FILE.csv|FILE.parquet|-")]
    pub output: Option<PathBuf>,

    /// Write a row every H instead of one for each communication time
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub output_interval: Option<f64>,

    /// Write every call of a function of an FMU to a file, with its arguments and status
    #[arg(long, value_name = "FILE")]
    pub log_fmi_calls: Option<PathBuf>,

    /// Write a page with plots of the results
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Say nothing that is not an error
    #[arg(long, short)]
    pub quiet: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// Where systems can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkersArgument {
    /// In a single thread, or in several where that is found to be faster in the first steps
    Auto,
    /// In threads of this program
    Threads,
    /// Each in a process of its own, so that an FMU that crashes, exits or hangs takes nothing with it
    Processes,
    /// On the ranks of an MPI program: mpirun -n R dovetail run MODEL --workers mpi
    Mpi,
}

/// What changes the model or the method's options.
#[derive(Debug, Args)]
pub(crate) struct ChangeArguments {
    /// Start of the run [default: the model's]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub start_time: Option<f64>,

    /// End of the run [default: the model's]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub stop_time: Option<f64>,

    /// Coupling tolerance of methods that iterate or choose their steps; compare takes several, with commas
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub tolerance: Option<String>,

    /// How ifosmondi solves the coupling [default: quasi-newton]
    #[arg(long, value_name = "S", value_parser = names::SOLVERS)]
    pub solver: Option<String>,

    /// Options of --solver petsc, as PETSc reads them
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub petsc_options: Option<String>,

    /// Tolerance of the integrators inside models given as equations, 1e-14 to 0.1 [default: 1e-10]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub integrator_tolerance: Option<String>,

    /// An option of the method, as in the model's method table; may be given again, and compare takes several values, with commas
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value, long_help = names::option_help())]
    pub option: Vec<(String, String)>,

    /// Set a parameter, or the start value of a state or an input; may be given again
    #[arg(long, value_name = "SYSTEM.NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// Set parameters from a file, before --set; may be given again
    #[arg(long, value_name = "FILE.toml|.ssv|.csv")]
    pub parameters: Vec<PathBuf>,

    /// A table whose columns feed the inputs and tunable parameters that they are named after, SYSTEM.NAME, or NAME for a single FMU; may be given again
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    pub input: Vec<PathBuf>,

    /// Where to start [default: at the start values]
    #[arg(long, value_name = "steady")]
    pub initialize: Option<InitializeArgument>,

    /// Which interface of a single FMU that has both [default: co-simulation]
    #[arg(long, value_name = "I")]
    pub interface: Option<InterfaceArgument>,

    /// Refuse FMUs whose descriptions do what the standard forbids, instead of warning
    #[arg(long)]
    pub strict: bool,
}

impl ChangeArguments {
    /// Reads the model with the changes made. `record` names variables that are to be recorded; FMUs are tried out within `limits`.
    pub fn load(
        &self,
        model: &Path,
        record: &[String],
        limits: Limits,
        fmi_log: Option<PathBuf>,
    ) -> Result<Scenario, Failure> {
        self.load_with(
            model,
            Overrides {
                fmi_log,
                record: record.to_vec(),
                helpers: processes::helpers(limits),
                ..Overrides::default()
            },
        )
    }

    /// The same for an FMU or a structure, which need not say when a run ends: nothing is run.
    pub fn load_to_check(&self, model: &Path) -> Result<Scenario, Failure> {
        let stop_time_unless_given = Some(1.0);
        self.load_with(
            model,
            Overrides {
                stop_time_unless_given,
                helpers: processes::helpers(Limits::default()),
                ..Overrides::default()
            },
        )
    }

    /// The same for a run that ends at this time, whatever the model says.
    pub fn load_until(&self, model: &Path, stop_time: f64) -> Result<Scenario, Failure> {
        let changes = Overrides {
            stop_time: Some(stop_time),
            helpers: processes::helpers(Limits::default()),
            ..self.overrides(Overrides::default())
        };
        load_scenario(model, &changes)
    }

    fn load_with(&self, model: &Path, rest: Overrides) -> Result<Scenario, Failure> {
        load_scenario(model, &self.overrides(rest))
    }

    fn overrides(&self, rest: Overrides) -> Overrides {
        Overrides {
            probe_tolerance: self.probe_tolerance(),
            values: self.set.clone(),
            parameter_files: self.parameters.clone(),
            inputs: self.input.clone(),
            start_time: self.start_time,
            stop_time: self.stop_time,
            strict: self.strict,
            interface: self.interface.map(InterfaceArgument::named),
            ..rest
        }
    }

    /// Moves the start of all runs to where the model is at rest, if that is wanted.
    pub fn start_at_rest(
        &self,
        scenario: &mut Scenario,
        options: &RunOptions,
    ) -> Result<(), Failure> {
        if self.initialize != Some(InitializeArgument::Steady) {
            return Ok(());
        }
        let found = scenario.start_at_rest(options);
        output::restore_working_directory();
        Ok(found?)
    }

    /// What the solvers of FMUs are asked for in the run is what they are tried with.
    fn probe_tolerance(&self) -> Option<f64> {
        let coupling = positive(self.tolerance.as_deref()).map(|tolerance| 0.01 * tolerance);
        let asked = positive(self.integrator_tolerance.as_deref()).or(coupling);
        asked.map(|tolerance| tolerance.clamp(1e-12, 1e-4))
    }

    /// The options that compare is given several values of: each with its values.
    pub fn varied(&self) -> Vec<(&str, Vec<&str>)> {
        let tolerance = self
            .tolerance
            .iter()
            .map(|text| ("tolerance", text.as_str()));
        let options = self
            .option
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        let lists = tolerance
            .chain(options)
            .map(|(key, text)| (key, listed(text)));

        lists.filter(|(_, values)| values.len() > 1).collect()
    }

    /// The method's options; `varied` are those of one run of a comparison.
    pub fn choices(
        &self,
        method: Option<&str>,
        step: Option<&str>,
        varied: &[(String, String)],
    ) -> Choices {
        let mut choices = self.all_choices(method, step);
        varied
            .iter()
            .for_each(|(key, value)| choices.set(key, value));
        choices
    }

    fn all_choices(&self, method: Option<&str>, step: Option<&str>) -> Choices {
        let mut choices = Choices::default();
        for (key, value) in &self.option {
            choices.set(key, value);
        }

        let tolerance = self.tolerance.as_deref();
        let integrator = self.integrator_tolerance.as_deref();
        let flags = [
            ("method", method),
            ("step", step),
            ("tolerance", tolerance),
            ("solver", self.solver.as_deref()),
            ("petsc-options", self.petsc_options.as_deref()),
            ("integrator-tolerance", integrator),
        ];

        for (key, value) in flags {
            if let Some(value) = value {
                choices.set(key, value);
            }
        }
        choices
    }
}

/// Reads a model; an FMU of it may have gone to another folder.
pub(crate) fn load_scenario(model: &Path, changes: &Overrides) -> Result<Scenario, Failure> {
    let scenario = Scenario::load(model, changes);
    output::restore_working_directory();
    Ok(scenario?)
}

/// Values that are separated by commas.
fn listed(text: &str) -> Vec<&str> {
    text.split(',').map(str::trim).collect()
}

fn positive(text: Option<&str>) -> Option<f64> {
    text?.parse().ok().filter(|number| *number > 0.0)
}

/// More rows than this are no result file but a full disk.
const MOST_ROWS: f64 = 1e9;

impl SharedArguments {
    /// Reads the model with the changes made.
    pub fn load(&self, model: &Path) -> Result<Scenario, Failure> {
        // What cannot be is said before FMUs are tried out.
        self.placement()?;
        output::check_endings(self.output.as_deref(), self.report.as_deref())?;

        if self.json && self.writes_to_standard_output() {
            return Err(Failure::misuse(
                "--json and --output - both write to standard output: choose one",
            ));
        }

        let fmi_log = self.start_log(model)?;
        self.changes
            .load(model, &self.record, self.limits(), fmi_log)
    }

    /// Whether results go to standard output.
    pub fn writes_to_standard_output(&self) -> bool {
        self.output.as_deref().is_some_and(output::is_standard)
    }

    /// The page to be written, where one is wanted.
    pub fn page(&self) -> Result<Option<output::Page>, Failure> {
        output::Page::wanted(self.report.as_deref())
    }

    /// Whether the log of calls would be the file of the results.
    fn logs_over_results(&self) -> bool {
        [&self.output, &self.report].contains(&&self.log_fmi_calls)
    }

    /// Starts the log of calls, where one is wanted, before FMUs are tried out; but not over what
    /// [`check`](Self::check) may yet find to be the model, an FMU of it or a file of results.
    fn start_log(&self, model: &Path) -> Result<Option<PathBuf>, Failure> {
        let Some(path) = &self.log_fmi_calls else {
            return Ok(None);
        };
        if self.logs_over_results() || is_model(model, path) || is_archive(path) {
            return Ok(None);
        }

        create_log(path)?;
        // FMUs may change the working directory.
        let absolute =
            std::path::absolute(path).map_err(|error| Failure::cannot_write(path, error))?;
        Ok(Some(absolute))
    }

    /// How to run `scenario` with these choices, and where.
    pub fn options(&self, scenario: &Scenario, choices: &Choices) -> Result<RunOptions, Failure> {
        let placement = self.placement()?;
        if !matches!(placement, Placement::Processes(_)) && !scenario.units().is_empty() {
            self.limits().hold_here();
        }
        // It was started before FMUs were tried out.
        let go_on =
            |path: &Path| CallLog::append(path).map_err(|error| Failure::cannot_write(path, error));
        let fmi_log = self.log_fmi_calls.as_deref().map(go_on).transpose()?;

        Ok(RunOptions {
            placement,
            fmi_log,
            ..scenario.options(choices)?
        })
    }

    /// What FMUs may use of time and memory.
    pub fn limits(&self) -> Limits {
        Limits {
            time: self.step_timeout,
            memory: self.memory_limit,
        }
    }

    fn placement(&self) -> Result<Placement, Failure> {
        if self.orchestrator_only && self.workers != Some(WorkersArgument::Mpi) {
            return Err(Failure::misuse(
                "--orchestrator-only has a meaning with --workers mpi only: there are no ranks",
            ));
        }

        match (self.workers, self.worker_threads) {
            (Some(WorkersArgument::Auto) | None, None) => Ok(Placement::Auto),
            (Some(WorkersArgument::Auto), Some(_)) => Err(Failure::misuse(
                "--worker-threads goes with --workers threads: auto finds the number by itself",
            )),
            (Some(WorkersArgument::Threads) | None, threads) => Ok(Placement::Threads(threads)),
            (Some(WorkersArgument::Processes), None) => processes::placement(self.limits()),
            (Some(WorkersArgument::Mpi), None) => {
                ranks::placement(self.orchestrator_only, self.limits())
            }
            (Some(WorkersArgument::Mpi), Some(_)) => Err(Failure::misuse(
                "--worker-threads has no meaning with --workers mpi: each rank has one thread",
            )),
            (Some(WorkersArgument::Processes), Some(_)) => Err(Failure::misuse(
                "--worker-threads has no meaning with --workers processes: each system has its own",
            )),
        }
    }

    /// Refuses what no run of `scenario`, read from `model`, can do.
    pub fn check(&self, model: &Path, scenario: &Scenario) -> Result<(), Failure> {
        check_interval(self.output_interval, scenario)?;
        if self.output_interval.is_some() && self.output.is_none() {
            let message =
                "--output-interval needs --output: without a file there are no rows to space out";
            return Err(Failure::misuse(message));
        }

        for path in [&self.output, &self.report, &self.log_fmi_calls]
            .into_iter()
            .flatten()
        {
            refuse_to_replace(model, scenario, path)?;
        }

        if self.log_fmi_calls.is_some() && self.logs_over_results() {
            return Err(Failure::misuse(
                "--log-fmi-calls names the file of the results",
            ));
        }

        check_distinct(self.output.as_deref(), self.report.as_deref())?;
        match &self.log_fmi_calls {
            Some(path) if is_archive(path) => create_log(path),
            _ => Ok(()),
        }
    }
}

/// Refuses intervals that are none, and those that would fill the disk.
pub(crate) fn check_interval(interval: Option<f64>, scenario: &Scenario) -> Result<(), Failure> {
    let (start, stop) = (scenario.start_time, scenario.stop_time);
    match interval {
        Some(interval) if !(interval > 0.0 && interval.is_finite()) => Err(Failure::misuse(
            format!("--output-interval must be a number above zero, not {interval}"),
        )),
        Some(interval) if (stop - start) / interval > MOST_ROWS || start + interval == start => {
            let message = format!(
                "--output-interval {interval:e} is too small for a run from {start} to {stop} s"
            );
            Err(Failure::misuse(message))
        }
        _ => Ok(()),
    }
}

/// Refuses to write results and a page to one file.
pub(crate) fn check_distinct(output: Option<&Path>, report: Option<&Path>) -> Result<(), Failure> {
    if output.is_some() && output == report {
        return Err(Failure::misuse("--output and --report name the same file"));
    }
    Ok(())
}

fn create_log(path: &Path) -> Result<(), Failure> {
    let created = CallLog::create(path);
    created
        .map(drop)
        .map_err(|error| Failure::cannot_write(path, error))
}

fn is_same(path: &Path, other: &Path) -> bool {
    matches!((path.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether `path` is the model, or what stands for it in a folder.
fn is_model(model: &Path, path: &Path) -> bool {
    is_same(path, model)
        || model.is_dir() && is_same(path, &model.join(dovetail::scenario::DEFAULT_SSD))
}

/// Whether there is an archive, such as an FMU, at `path`.
fn is_archive(path: &Path) -> bool {
    let mut first = [0; 2];
    let mut read = || std::fs::File::open(path)?.read_exact(&mut first);
    path.is_file() && read().is_ok() && &first == b"PK"
}

/// Whether `path` is an FMU of the model.
fn is_fmu(scenario: &Scenario, path: &Path) -> bool {
    let fmus = scenario.units();
    fmus.iter()
        .any(|(_, prepared)| is_same(path, prepared.fmu().path()))
}

/// Refuses to write results over `model`, from which `scenario` was read, or over one of its FMUs.
pub(crate) fn refuse_to_replace(
    model: &Path,
    scenario: &Scenario,
    path: &Path,
) -> Result<(), Failure> {
    let shown = path.display();
    if is_model(model, path) {
        return Err(Failure::misuse(format!(
            "{shown} is the model: results would replace it"
        )));
    }

    if is_fmu(scenario, path) {
        return Err(Failure::misuse(format!(
            "{shown} is an FMU of the model: results would replace it"
        )));
    }

    if scenario
        .input_tables()
        .iter()
        .any(|table| is_same(path, table))
    {
        return Err(Failure::misuse(format!(
            "{shown} is a table of inputs: results would replace it"
        )));
    }
    Ok(())
}

pub(crate) fn thread_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "it takes at least one thread: give a whole number from 1".to_owned())
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| "give a number of seconds above zero".to_owned())
}

/// A number of bytes, perhaps with K, M or G for powers of 1024.
fn byte_count(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g', 'i', 'B']);
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => 0,
    };
    let count = digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor));
    let enough = count.filter(|count| *count >= LEAST_MEMORY);
    enough.ok_or_else(|| "give a number of bytes such as 500M or 2G, at least 32M".to_owned())
}

/// With less than this nothing can be run.
const LEAST_MEMORY: u64 = 32 << 20;

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) fn assignment(text: &str) -> Result<(String, String), String> {
    key_value(text).map_err(|_| "expected SYSTEM.NAME=VALUE".to_owned())
}
