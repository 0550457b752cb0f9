//! Many runs of one model: which values each run has, what is kept of it, and what that says; and the values that bring a model
//! nearest to measured data ([`fit`]).
//!
//! ```text
//! Factor ──▶ Design ──point──▶ a run ──rows──▶ Measures ──▶ Kept ──▶ Row ──▶ RowFile
//!                                                                     │
//!                                              Sensitivities ◀── (where the design permits)
//! ```
//!
//! Nothing here knows how a model is run: [`in_order`] is given a function that does.

mod condition;
mod design;
mod factor;
mod fit;
mod keep;
mod measures;
mod parallel;
mod random;
mod row;
mod row_file;
#[cfg(feature = "parquet")]
mod row_parquet;
mod sensitivity;
mod sobol;
mod sweep_page;

pub use design::{Design, DesignKind};
pub use factor::{Factor, Values};
pub use fit::{
    CONFIDENCE, FitError, FitParameter, Fitted, FittedColumn, FittedParameter, Fitting, Measured,
    MeasuredColumn, Prediction, fit, fit_page,
};
pub use keep::{Kept, VariableNames};
pub use measures::{Measure, Measures};
pub use parallel::{Progress, in_order};
pub use random::Random;
pub use row::{Columns, Row};
pub use row_file::{ResumeError, RowFile};
#[cfg(feature = "parquet")]
pub use row_parquet::write_parquet;
pub use sensitivity::{Sensitivity, sensitivities};
pub use sobol::DIMENSIONS as SOBOL_DIMENSIONS;
pub use sweep_page::{FAN_CURVES, FAN_VARIABLES, NamedSensitivities, SweepPage};

/// Why a study cannot be made as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StudyError(pub String);

impl StudyError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
