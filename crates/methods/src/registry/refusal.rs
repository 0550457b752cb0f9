//! Why a method or a solver is not to be had.

use dovetail_core::{Error, Remedy};

/// Why a method cannot run a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is in the way.
    pub message: String,
    /// What to try, in a sentence.
    pub help: Option<String>,
    /// What to try, as data.
    pub remedies: Vec<Remedy>,
}

impl Refusal {
    /// Something is in the way.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            remedies: Vec::new(),
        }
    }

    /// Adds what to try, as data.
    pub fn with(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        self.remedies.extend(remedies);
        self
    }

    /// Adds what to try, in a sentence.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self {
            remedies: error.remedies(),
            ..Self::new(error.to_string())
        }
    }
}
