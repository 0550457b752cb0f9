//! Why a method or a solver is not to be had.

use dovetail_core::Error;

/// Why a method cannot run a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is in the way.
    pub message: String,
    /// What to try.
    pub help: Option<String>,
}

impl Refusal {
    /// Something is in the way.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
        }
    }

    /// Adds what to try.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}
