//! FMUs as sources of systems.

pub(crate) mod alone;
pub(crate) mod child_experiments;
pub(crate) mod recorded;
pub(crate) mod source;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod tuned;
pub(crate) mod unit_of_measure;
pub(crate) mod values;
