//! What is changed in a model before it is read: values, times, how strictly FMUs are judged.

use std::path::PathBuf;

use dovetail_fmi::{InterfaceUse, ProbeResult};
use dovetail_workers::ProcessPool;
use serde::{Deserialize, Serialize};

/// Changes to a model that are not in its file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Overrides {
    /// `system.name` of a parameter, or of the start value of a state or an input, with its new value.
    pub values: Vec<(String, String)>,
    /// Files with values of parameters (`.toml`, `.ssv`, `.csv`); those in `values` come after them, and win.
    pub parameter_files: Vec<PathBuf>,
    /// Tables (CSV or Parquet) whose columns drive inputs and tunable parameters of their names.
    pub inputs: Vec<PathBuf>,
    /// Start of the run.
    pub start_time: Option<f64>,
    /// End of the run.
    pub stop_time: Option<f64>,
    /// What the standard of FMUs forbids is an error.
    pub strict: bool,
    /// Which interface of a single FMU.
    pub interface: Option<InterfaceUse>,
    /// End of the run where neither the file nor the user says.
    pub stop_time_unless_given: Option<f64>,
    /// Variables that are to be recorded (patterns): of FMUs also those that are neither inputs, outputs nor states.
    pub record: Vec<String>,
    /// What the solvers of FMUs are asked for while they are tried out; none: a hundredth of the usual coupling tolerance.
    pub probe_tolerance: Option<f64>,
    /// Processes in which FMUs are tried out; none: that happens in this process.
    #[serde(skip)]
    pub helpers: Option<ProcessPool>,
    /// The file in which the calls of FMUs are written down while they are tried out in other processes.
    #[serde(skip)]
    pub fmi_log: Option<PathBuf>,
    /// An FMU that cannot be run is described nevertheless.
    pub inspecting: bool,
    /// What FMUs declare is believed: none is tried out, and nothing of them is run.
    pub unprobed: bool,
    /// FMUs are not told when the run ends: it may go on from a checkpoint for longer.
    pub open_ended: bool,
    /// Inputs that nothing feeds are left to whoever runs the model: they are no mistake, and are not held.
    pub open_inputs: bool,
    /// What is known of the FMUs, in their order, from where they were tried; empty: they are to be tried.
    pub known: Vec<ProbeResult>,
}
