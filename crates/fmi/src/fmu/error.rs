//! Why an FMU cannot be used.

use serde::{Deserialize, Serialize};

use crate::archive::ArchiveError;
use crate::call_error::CallError;
use crate::description::DescriptionError;
use crate::experiment::ExperimentFailure;
use crate::library::LibraryError;
use crate::settings::SettingError;

/// Elements are connected and recorded one by one.
pub(super) const MOST_ELEMENTS: usize = 5000;

/// One of the two interfaces that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InterfaceUse {
    /// The FMU brings its solver.
    CoSimulation,
    /// Our integrator moves it.
    ModelExchange,
}

impl std::fmt::Display for InterfaceUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::CoSimulation => "Co-Simulation",
            Self::ModelExchange => "Model Exchange",
        })
    }
}

/// Why an FMU cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FmuError {
    /// Its archive is broken or hostile.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Its description is missing or broken.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// Its library is missing or does not load.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A function failed before the run.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Inputs cannot be set before initialization mode.
    #[error("it does not let its inputs be set before initialization mode: {0}")]
    EarlyInputs(CallError),
    /// A value cannot be given.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no description.
    #[error("it has no modelDescription.xml that can be read ({0}): this is no FMU")]
    NoDescription(std::io::Error),
    /// It does not have the interface.
    #[error("{}", not_offered(*.asked, *.scheduled_execution_only))]
    NotOffered {
        /// The interface that was asked for, if one was.
        asked: Option<InterfaceUse>,
        /// Whether it offers Scheduled Execution and nothing else.
        scheduled_execution_only: bool,
    },
    /// An array is too large to be connected.
    #[error(
        "`{name}` would have {size} elements, more than the {MOST_ELEMENTS} that an array may \
         have here"
    )]
    TooManyElements {
        /// The name of the variable.
        name: String,
        /// How many elements it would have.
        size: usize,
    },
    /// It could not be tried out.
    #[error("{0}")]
    NotTried(ExperimentFailure),
}

fn not_offered(asked: Option<InterfaceUse>, scheduled_execution_only: bool) -> String {
    match asked {
        Some(used) if scheduled_execution_only => format!(
            "it does not offer {used}, but Scheduled Execution only, which Dovetail does not run"
        ),
        Some(used) => format!("it does not offer {used}"),
        None if scheduled_execution_only => {
            "it offers Scheduled Execution only; Dovetail runs FMUs for Co-Simulation and Model \
             Exchange"
                .to_owned()
        }
        None => "it offers neither Co-Simulation nor Model Exchange".to_owned(),
    }
}

impl From<FmuError> for ExperimentFailure {
    fn from(error: FmuError) -> Self {
        match error {
            FmuError::Call(error) => error.into(),
            error => Self::Refused(error.to_string()),
        }
    }
}
