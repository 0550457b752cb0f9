//! The tasks of the systems whose turn it is.

use dovetail_core::Task;

pub(crate) fn due(tasks: &[Task]) -> impl Iterator<Item = &Task> {
    tasks.iter().filter(|task| task.due)
}

pub(crate) fn due_mut(tasks: &mut [Task]) -> impl Iterator<Item = &mut Task> {
    tasks.iter_mut().filter(|task| task.due)
}
