//! One run of a model: planned, set up once, and run.

mod build_plan;
mod checkpoint;
pub(crate) mod exchange;
mod fmu_report;
mod linearize;
pub(crate) mod model_copy;
mod monolithic;
mod open_connections;
mod plan;
#[cfg(feature = "mpi")]
mod ranked;
pub(crate) mod rehearsal;
mod saved_fmus;
pub(crate) mod session;
mod steady;
pub(crate) mod stepped;
pub(crate) mod stepping;
pub(crate) mod stepping_linearization;
mod systems;
mod warnings;
