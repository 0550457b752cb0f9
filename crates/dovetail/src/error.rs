//! What can go wrong before a run begins, and with a run that ended early.

use dovetail_scenario::BadModel;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model, or what was chosen for its run, is wrong. The text shows where, and what to try.
    #[error("{0}")]
    Model(#[from] BadModel),
    /// A run ended before its stop time; what it computed until then is kept.
    #[error("{message}")]
    EndedEarly {
        /// Why, and when.
        message: String,
        /// The results until then.
        run: Box<crate::run::Run>,
    },
    /// A variable that was asked for is not there.
    #[error("{0}")]
    NoSuchVariable(String),
    /// The errors of a run cannot be measured.
    #[error("{0}")]
    NoReference(String),
}
