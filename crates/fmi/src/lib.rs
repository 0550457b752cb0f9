//! FMUs of FMI 1.0, 2.0 and 3.0, for Co-Simulation and Model Exchange, as systems of a co-simulation.
//!
//! [`Fmu::open`] unpacks and reads a file, [`Fmu::prepare`] tries it out, [`PreparedFmu::system`]
//! makes systems of it. This is the only crate that calls foreign libraries.

mod abandonment;
mod abilities;
mod applied_inputs;
pub mod archive;
mod batch;
mod binaries;
mod call_error;
mod call_notebook;
mod calls;
mod co_simulation;
mod component;
pub mod description;
mod environment;
mod environment_registry;
mod exchange;
mod experiment;
mod ffi;
mod finding;
mod flow;
mod fmi1;
mod fmi2;
mod fmi3;
mod fmu;
mod fmu_instance;
mod guard;
mod instance;
mod journal;
mod kept_component;
mod knowledge;
mod layout;
mod library;
mod linear_columns;
mod measures;
mod model_exchange;
mod numbers;
mod prepared_step;
mod probe;
mod reactions;
mod rest_of_rows;
mod saved_state;
mod scalar;
mod settings;
mod strings;
mod surroundings;

pub use abandonment::{abandon_loading, abandon_steps, permit_steps};
pub use abilities::{FmuCapabilities, InputMode, OutputSlopes};
pub use call_error::CallError;
pub use call_notebook::{CallWatch, NOTEBOOK_WORDS, calls_under_way, note_calls_in};
pub use experiment::{Baseline, Experiment, ExperimentFailure, InputCourse, Observation};
pub use finding::{Capability, Finding, FindingOutcome};
pub use fmu::bench::{Attempted, TestBench};
pub use fmu::course::RunCourse;
pub use fmu::error::{FmuError, InterfaceUse};
pub use fmu::instances::InstanceChoice;
pub use fmu::preparing::GivenVariable;
pub use fmu::{Fmu, PreparedFmu, Probing, RunConditions, Settings};
pub use guard::{
    Crash, end_in_order, ignore_file_limit, leave_at_once, name_process, on_fmu_exit, remove_guard,
    set_single_fmu_process, supervise,
};
pub use journal::{CallLog, Costs, Message, Monitor, Notes};
pub use knowledge::ProbeResult;
pub use library::{LibraryError, MissingSymbol};
pub use probe::ExperimentRunner;
pub use reactions::Reactions;
pub use rest_of_rows::RestOfRows;
pub use settings::SettingError;
pub use strings::{
    number as text_to_number, passing_number as passing_text_to_number, text as number_to_text,
};
pub use surroundings::{changes_in_words, note_surroundings, put_back_surroundings};
