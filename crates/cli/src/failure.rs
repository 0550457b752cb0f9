//! How a command can fail, and what the shell is told.

use std::fmt::Display;
use std::path::Path;

use dovetail::scenario::BadModel;

use crate::remedies;

/// The exit code of a program with a mistake of ours.
pub(crate) const PANICKED: u8 = 101;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Misuse, or a model that is not sound; in the words of the command line.
    BadModel(BadModel),
    /// Misuse of the command line.
    Misuse(String),
    /// The run ended early; what was computed is kept.
    EndedEarly(String),
    /// The run came to its end, but its result has run away.
    Diverged(String),
    /// Requirements that are not proved.
    NotProved(String),
    /// Runs came to their end, but not near enough to their reference.
    TooFar(String),
    /// A sweep did not come to its end, or none of its runs did; what was computed is kept.
    Sweep(String),
    /// Another rank of an MPI program says it.
    SaidElsewhere,
    /// Whoever read our output has left: nothing to say, and nobody to say it to.
    ReaderLeft,
}

impl Failure {
    pub fn misuse(message: impl Into<String>) -> Self {
        Self::Misuse(message.into())
    }

    /// A misuse that something else has found.
    pub fn misuse_by(error: impl Display) -> Self {
        Self::Misuse(error.to_string())
    }

    /// A file that cannot be made.
    pub fn cannot_write(path: &Path, error: impl Display) -> Self {
        Self::Misuse(format!("{} cannot be written: {error}", path.display()))
    }

    pub fn message(&self) -> Option<String> {
        match self {
            Self::BadModel(bad) => Some(bad.to_string()),
            Self::Misuse(message) => Some(format!("error: {message}\n")),
            Self::EndedEarly(message) => Some(format!("the run ended early: {message}\n")),
            Self::Diverged(reason) => Some(format!("the run has diverged: {reason}\n")),
            Self::TooFar(variables) => Some(format!("too far from the reference: {variables}\n")),
            Self::NotProved(requirements) => Some(format!("not proved: {requirements}\n")),
            Self::Sweep(message) => Some(format!("{message}\n")),
            Self::SaidElsewhere | Self::ReaderLeft => None,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::BadModel(_) | Self::Misuse(_) | Self::SaidElsewhere => 2,
            Self::EndedEarly(_)
            | Self::Diverged(_)
            | Self::TooFar(_)
            | Self::NotProved(_)
            | Self::Sweep(_)
            | Self::ReaderLeft => 1,
        }
    }
}

impl From<BadModel> for Failure {
    fn from(bad: BadModel) -> Self {
        match remedies::of_flags_alone(&bad) {
            Some(message) => Self::Misuse(message),
            None => Self::BadModel(remedies::worded_model(bad)),
        }
    }
}
