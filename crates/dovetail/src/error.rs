//! What can go wrong before a run begins, and with a run that ended early.

use dovetail_core::{Notice, Remedy};
use dovetail_scenario::BadModel;
use dovetail_study::FitError;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model, or what was chosen for its run, is wrong. The text shows where, and what to try.
    #[error("{0}")]
    Model(#[from] BadModel),
    /// A run ended before its stop time; what it computed until then is kept.
    #[error("{message}")]
    EndedEarly {
        /// Why, and when; and what to try.
        message: Notice,
        /// The results until then.
        run: Box<crate::run::Run>,
    },
    /// A variable that was asked for is not there.
    #[error("{0}")]
    NoSuchVariable(String),
    /// The errors of a run cannot be measured.
    #[error("{0}")]
    NoReference(Notice),
    /// What was to be varied in a sweep cannot be.
    #[error("{0}")]
    NotVaried(String),
    /// Parameters cannot be fitted to data.
    #[error(transparent)]
    NoFit(#[from] FitError),
}

impl Error {
    /// What to try, most promising first; empty where nothing is known.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Model(bad) => bad.remedies(),
            Self::EndedEarly { message, .. } | Self::NoReference(message) => {
                message.remedies.clone()
            }
            Self::NoSuchVariable(_) | Self::NotVaried(_) | Self::NoFit(_) => Vec::new(),
        }
    }
}
