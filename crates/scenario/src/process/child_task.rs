//! Tasks that are carried out in a child process, beside being the home of a system.

use std::time::Duration;

use dovetail_workers::{ProcessError, TaskProcess};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bytes::{from_bytes, to_bytes};

/// Something to do in another process.
pub(crate) trait ChildTask: Serialize + DeserializeOwned {
    /// Its name, by which the other process knows it.
    const NAME: &'static str;

    /// What comes of it.
    type Answer: Serialize + DeserializeOwned;

    /// Carries it out in this process.
    fn carry_out(self) -> Self::Answer;
}

/// A task on its way.
#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    pub name: String,
    pub task: Vec<u8>,
}

/// Has a task carried out in another process, within a time limit.
pub(crate) fn run<T: ChildTask>(
    helper: &mut TaskProcess,
    task: &T,
    limit: Duration,
) -> Result<T::Answer, ProcessError> {
    let request = Request {
        name: T::NAME.to_owned(),
        task: to_bytes(task),
    };
    let answer = helper.run(&to_bytes(&request), limit)?;
    from_bytes(&answer).map_err(ProcessError::Said)
}

/// Carries out a task that another process asks for.
pub(crate) fn perform<T: ChildTask>(request: &Request) -> Result<Vec<u8>, String> {
    let task: T = from_bytes(&request.task)?;
    Ok(to_bytes(&task.carry_out()))
}
