//! What FMI 1.0 and 2.0 have alike: variables that are scalars, steps, derivatives of inputs and outputs. They differ in
//! the type of truth values.

pub(crate) mod callbacks;
mod derivatives;
mod stepping;
mod values;

use std::ffi::{c_char, c_int};

use crate::component::FmiVersion;
use crate::description::Version;
use crate::ffi::ScalarFunctions;
use crate::numbers::ValueScratch;

/// A version of the standard whose variables are scalars.
pub(crate) trait ScalarVersion: FmiVersion {
    /// Its type of truth values.
    type Truth: Truth;
    /// Whether an FMU can save its state, and be asked whether it has ended the run.
    const KNOWS_STATES: bool;
    /// The version by whose types prepared steps are called, if there are prepared steps.
    const PREPARED: Option<Version>;

    fn functions(&self) -> &ScalarFunctions<Self::Truth>;
}

/// A truth value as C has it.
pub(crate) trait Truth: Copy + 'static {
    fn of(value: bool) -> Self;
    fn is_true(self) -> bool;
    /// Room for so many of them.
    fn room(scratch: &mut ValueScratch, count: usize) -> &mut [Self];
}

/// `fmi2Boolean`.
impl Truth for c_int {
    fn of(value: bool) -> Self {
        Self::from(value)
    }

    fn is_true(self) -> bool {
        self != 0
    }

    fn room(scratch: &mut ValueScratch, count: usize) -> &mut [Self] {
        scratch.int32(count)
    }
}

/// `fmiBoolean`.
impl Truth for c_char {
    fn of(value: bool) -> Self {
        Self::from(value)
    }

    fn is_true(self) -> bool {
        self != 0
    }

    fn room(scratch: &mut ValueScratch, count: usize) -> &mut [Self] {
        scratch.chars(count)
    }
}
