//! Many runs of one model: which values each run has, what is kept of it, and what that says.
//!
//! ```text
//! Factor ──▶ Design ──point──▶ a run ──rows──▶ Measures ──▶ Kept ──▶ Row ──▶ RowFile
//!                                                                     │
//!                                              Sensitivities ◀── (where the design permits)
//! ```
//!
//! Nothing here knows how a model is run: [`in_order`] is given a function that does.

mod design;
mod factor;
mod keep;
mod measures;
mod parallel;
mod random;
mod row;
mod row_file;
mod sensitivity;
mod sobol;

pub use design::{Design, DesignKind};
pub use factor::{Factor, Values};
pub use keep::{Kept, VariableNames};
pub use measures::{Measure, Measures};
pub use parallel::{Progress, in_order};
pub use random::Random;
pub use row::{Columns, Row};
pub use row_file::{ResumeError, RowFile};
pub use sensitivity::{Sensitivity, sensitivities};
pub use sobol::DIMENSIONS as SOBOL_DIMENSIONS;

/// Why a study cannot be made as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StudyError(pub String);

impl StudyError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
