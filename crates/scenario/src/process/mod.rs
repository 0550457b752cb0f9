//! Other processes: what they are asked to do, and how they do it.

pub(crate) mod child_task;
pub(crate) mod own_part;
pub(crate) mod portable;
#[cfg(feature = "mpi")]
pub(crate) mod rank;
pub(crate) mod texts;
pub(crate) mod worker;
