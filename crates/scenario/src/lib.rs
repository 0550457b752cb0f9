//! Model files made into ready runs, with all checks before the run.

mod connect;
mod diagnostic;
mod dovetail;
mod enclosure;
mod errand;
mod f3ornits;
mod file;
mod laboratory;
mod load;
mod method;
mod monolithic;
mod options;
mod overrides;
mod part;
mod placement;
mod rehearsal;
mod run;
mod scenario;
mod shelf;
mod structure;
mod system;
mod systems;
mod unit;
mod unit_alone;
mod worker;

pub use diagnostic::{BadModel, Problem, SourceText};
pub use dovetail_ssp::DEFAULT_SSD;
pub use dovetail_workers::Fleet;
pub use enclosure::ENCLOSURES;
pub use f3ornits::F3ornitsChoices;
pub use options::{Choices, METHODS, OPTIONS, RunOption, RunOptions, SOLVERS};
pub use overrides::Overrides;
pub use placement::{Placement, helpers};
pub use run::{RunEnd, Session};
pub use scenario::{NoEquations, Scenario};
pub use worker::work_for_another_process;
