//! System structures (SSP) as models.

pub(crate) mod elements;
pub(crate) mod read;
pub(crate) mod wiring;
