//! One run of a model: planned, set up once, and run.

mod fmu_report;
pub(crate) mod model_copy;
mod monolithic;
mod plan;
pub(crate) mod rehearsal;
pub(crate) mod session;
mod systems;
mod warnings;
