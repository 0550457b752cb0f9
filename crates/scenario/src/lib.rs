//! Model files made into ready runs, with all checks before the run.

mod connect;
mod diagnostic;
mod file;
mod method;
mod options;
mod overrides;
mod placement;
mod run;
mod scenario;
mod system;

pub use diagnostic::{BadModel, Problem, SourceText};
pub use options::{Choices, METHODS, OPTIONS, RunOption, RunOptions, SOLVERS};
pub use overrides::Overrides;
pub use placement::Placement;
pub use run::RunEnd;
pub use scenario::Scenario;
