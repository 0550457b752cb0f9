//! System structures (SSP) as models.

pub(crate) mod read;
pub(crate) mod wiring;
