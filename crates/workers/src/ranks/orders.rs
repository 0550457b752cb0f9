//! What rank 0 tells the others to do: the first word of a message.

use serde::{Deserialize, Serialize};

use crate::processes::SystemRequest;

/// Questions to systems: how many tasks, and for each the number of the system and the task.
pub(crate) const ASK: u64 = 0;
/// Systems are to be made: a list of them.
pub(crate) const MAKE: u64 = 1;
/// Systems are to be made, measured and dropped: a list of them.
pub(crate) const MEASURE: u64 = 2;
/// The system of this number is no longer wanted; what it noted is the answer.
pub(crate) const LEAVE: u64 = 3;
/// The program is over.
pub(crate) const QUIT: u64 = 4;

/// Bytes for what the rank does beside systems; the bytes of its service are the answer.
pub(crate) const SERVE: u64 = 5;

/// A system to be made.
#[derive(Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub name: String,
    pub job: Vec<u8>,
    pub make: Vec<u8>,
}

impl Wanted {
    pub fn of(request: &SystemRequest) -> Self {
        Self {
            name: request.name.clone(),
            job: request.job.clone(),
            make: request.make.clone(),
        }
    }
}
