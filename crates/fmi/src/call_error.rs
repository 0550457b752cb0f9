//! What can go wrong when a function of an FMU is called.

use crate::description::ValueType;
use crate::guard::Crash;
use crate::library::MissingSymbol;

/// Why a call of an FMU's function did not do what it should.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// It said so.
    #[error("{function} returned {status}{}", said(.message))]
    Refused {
        /// The function.
        function: &'static str,
        /// The name of the status.
        status: &'static str,
        /// What the FMU said last.
        message: Option<String>,
    },
    /// It crashed.
    #[error(
        "{function} crashed the FMU by {crash}{}; nothing more can be asked of it", said(.message)
    )]
    Crashed {
        /// The function.
        function: &'static str,
        /// How.
        crash: Crash,
        /// What the FMU said last.
        message: Option<String>,
    },
    /// It is not there.
    #[error("{0}")]
    Missing(#[from] MissingSymbol),
    /// An earlier call left the FMU unusable.
    #[error("{cause}")]
    Dead {
        /// What happened then.
        cause: String,
    },
    /// Nobody waits for it any longer.
    #[error(
        "the run was interrupted, and the step under way came to no end: {function} was not called"
    )]
    Abandoned {
        /// The function that was not called.
        function: &'static str,
    },
    /// A text that cannot be read.
    #[error("{function} gave a text that cannot be read: its pointer leads nowhere")]
    BadText {
        /// The function.
        function: &'static str,
    },
    /// A binary value that cannot be read.
    #[error("{function} gave a binary value of {size} bytes that cannot be read")]
    BadBinary {
        /// The function.
        function: &'static str,
        /// How many bytes it is said to have.
        size: usize,
    },
    /// A value was set and is not there.
    #[error("a value that was set is not there")]
    NotTaken,
    /// `instantiate` gave nothing.
    #[error("{function} gave no instance{}", said(.message))]
    NotInstantiated {
        /// The function.
        function: &'static str,
        /// What the FMU said last.
        message: Option<String>,
    },
    /// A value that the type of a variable cannot hold.
    #[error("the value {value} does not fit a variable of type {value_type:?}")]
    DoesNotFit {
        /// The value.
        value: f64,
        /// The type.
        value_type: ValueType,
    },
}

fn said(message: &Option<String>) -> String {
    message
        .as_ref()
        .map_or_else(String::new, |text| format!("; it said: {text}"))
}
