//! What changes the model or the options of its method.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dovetail::scenario::{Choices, Overrides, RunOptions, Scenario};

use super::heading;
use super::values::{assignment, key_value};
use crate::failure::Failure;
use crate::names;
use crate::output;
use crate::processes::{self, Limits};

/// The interfaces of FMUs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum InterfaceArgument {
    /// The FMU brings its own solver
    CoSimulation,
    /// Dovetail integrates it
    ModelExchange,
}

/// Where a run can start, other than at the start values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitializeArgument {
    /// At rest: the derivatives of all states are zero, found from the start values by Newton's method
    Steady,
}

/// What changes the model or the method's options.
#[derive(Clone, Debug, Args)]
pub(crate) struct ChangeArguments {
    /// Start time; without it that of the model
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = heading::MODEL)]
    pub start_time: Option<f64>,

    /// Stop time; without it that of the model
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = heading::MODEL)]
    pub stop_time: Option<f64>,

    /// Coupling tolerance of methods that iterate or choose their steps; compare accepts several, separated by commas
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub tolerance: Option<String>,

    /// How ifosmondi solves the coupling [default: quasi-newton]
    #[arg(long, value_name = "S", value_parser = names::SOLVERS, help_heading = heading::METHOD)]
    pub solver: Option<String>,

    /// Options of --solver petsc, as PETSc reads them
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, help_heading = heading::METHOD)]
    pub petsc_options: Option<String>,

    /// Tolerance of the integrators inside models given as equations, 1e-14 to 0.1 [default: 1e-10]
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub integrator_tolerance: Option<String>,

    /// An option of the method, as in the model's [method] table; repeatable, and compare accepts several values, separated by commas
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value, long_help = names::option_help(), help_heading = heading::METHOD)]
    pub option: Vec<(String, String)>,

    /// Set a parameter, or the start value of a state or an input; repeatable
    #[arg(long, value_name = "SYSTEM.NAME=VALUE", value_parser = assignment, help_heading = heading::MODEL)]
    pub set: Vec<(String, String)>,

    /// Set parameters from a file, before --set; repeatable
    #[arg(long, value_name = "FILE.toml|.ssv|.csv", help_heading = heading::MODEL)]
    pub parameters: Vec<PathBuf>,

    /// A table whose columns feed the inputs and tunable parameters that they are named after, SYSTEM.NAME, or NAME for a single FMU; repeatable
    #[arg(long, value_name = "FILE.csv|FILE.parquet", help_heading = heading::MODEL)]
    pub input: Vec<PathBuf>,

    /// Where to start; without it, at the start values
    #[arg(long, value_name = "steady", help_heading = heading::MODEL)]
    pub initialize: Option<InitializeArgument>,

    /// The interface to use of an FMU that has two, where the model file does not say [default: co-simulation]
    #[arg(long, value_name = "I", help_heading = heading::FMUS)]
    pub interface: Option<InterfaceArgument>,

    /// Refuse FMUs whose descriptions violate the FMI standard, instead of warning
    #[arg(long, help_heading = heading::FMUS)]
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
        self.load_for(model, record, limits, fmi_log, false)
    }

    /// The same; of a run that is `open_ended` FMUs are not told when it ends.
    pub fn load_for(
        &self,
        model: &Path,
        record: &[String],
        limits: Limits,
        fmi_log: Option<PathBuf>,
        open_ended: bool,
    ) -> Result<Scenario, Failure> {
        self.load_with(
            model,
            Overrides {
                open_ended,
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

    /// The changes to a model that is not run here, but travels on. Nobody need say when its runs end.
    pub fn overrides_to_export(&self) -> Overrides {
        Overrides {
            // What is asked for is the interface of the FMU that is written.
            interface: None,
            ..self.overrides(Overrides {
                stop_time_unless_given: Some(1.0),
                helpers: processes::helpers(Limits::default()),
                ..Overrides::default()
            })
        }
    }

    fn load_with(&self, model: &Path, rest: Overrides) -> Result<Scenario, Failure> {
        load_scenario(model, &self.overrides(rest))
    }

    /// The changes to a model, beside these.
    pub fn overrides(&self, rest: Overrides) -> Overrides {
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
        if !self.wants_rest() {
            return Ok(());
        }
        let found = scenario.start_at_rest(options);
        output::restore_working_directory();
        Ok(found?)
    }

    /// Whether runs are to start at rest.
    pub fn wants_rest(&self) -> bool {
        self.initialize == Some(InitializeArgument::Steady)
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
