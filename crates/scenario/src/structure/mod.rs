//! System structures (SSP) as models.

pub(crate) mod elements;
mod equation_model;
pub(crate) mod read;
pub(crate) mod wiring;
pub(crate) mod written;
mod written_fmu;
