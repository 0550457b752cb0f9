//! FMI 2.0 and 3.0 units, for Co-Simulation and Model Exchange, as systems of a co-simulation.
//!
//! [`Unit::open`] unpacks and reads a file, [`Unit::prepare`] tries it out, [`Prepared::system`]
//! makes systems of it. This is the only crate that calls foreign libraries.

mod abilities;
mod applied_inputs;
pub mod archive;
mod call_error;
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
mod settings;
mod strings;

pub use abilities::{Abilities, InputMode, Slopes};
pub use call_error::CallError;
pub use experiment::{Baseline, Course, Experiment, ExperimentFailure, Observation};
pub use finding::{Capability, Finding, Outcome};
pub use fmu::bench::{Attempted, TestBench};
pub use fmu::error::{FmuError, Use};
pub use fmu::instances::InstanceChoice;
pub use fmu::{Conditions, Prepared, Probing, Settings, Unit};
pub use guard::{Crash, on_fmu_exit, set_single_fmu_process};
pub use journal::{CallLog, Costs, Message, Monitor, Notes};
pub use knowledge::Knowledge;
pub use library::{LibraryError, MissingSymbol};
pub use probe::ExperimentRunner;
pub use reactions::Reactions;
pub use settings::SettingError;
pub use strings::{number as number_of_text, text as text_of_number};
