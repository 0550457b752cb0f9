//! What commands take, and what they share.

mod changes;
mod check;
mod checkpoints;
mod compare;
mod files;
pub(crate) mod heading;
mod inspect;
mod live;
mod run;
mod shared;
mod values;

pub(crate) use changes::{ChangeArguments, InterfaceArgument, load_scenario};
pub(crate) use check::CheckArguments;
pub(crate) use checkpoints::ResumeArguments;
pub(crate) use compare::CompareArguments;
pub(crate) use files::{check_distinct, check_distinct_files, refuse_to_replace};
pub(crate) use inspect::InspectArguments;
pub(crate) use live::LiveArguments;
pub(crate) use run::RunArguments;
pub(crate) use shared::{SharedArguments, WorkersArgument, check_interval};
pub(crate) use values::{assignment, byte_count, pace, piece_count, seconds, thread_count};
