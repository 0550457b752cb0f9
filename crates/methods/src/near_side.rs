//! The answers of a step just before an event at its end; the tasks themselves then hold the
//! answers after it.

use dovetail_core::Task;

/// A copy of the tasks of a step, where an event was crossed after it. Where no event has been
/// announced it takes no memory.
#[derive(Default)]
pub(crate) struct NearSide {
    tasks: Vec<Task>,
    crossed: bool,
}

impl NearSide {
    /// Room for these tasks from the beginning, where events come unannounced.
    pub fn of(tasks: &[Task]) -> Self {
        Self {
            tasks: tasks.to_vec(),
            crossed: false,
        }
    }

    /// An attempt begins, and the next event is known to be then: infinity where none is known.
    pub fn clear(&mut self, tasks: &[Task], next_event: f64) {
        self.crossed = false;
        if next_event < f64::INFINITY && self.tasks.is_empty() {
            self.tasks = tasks.to_vec();
        }
    }

    /// An event is about to be crossed.
    pub fn keep(&mut self, tasks: &[Task]) {
        if self.tasks.is_empty() {
            self.tasks = tasks.to_vec();
        } else {
            let kept = self.tasks.iter_mut().zip(tasks);
            kept.for_each(|(kept, task)| kept.copy_from(task));
        }
        self.crossed = true;
    }

    /// The same, to be put right.
    pub fn tasks_mut(&mut self) -> &mut [Task] {
        if self.crossed {
            &mut self.tasks
        } else {
            &mut []
        }
    }

    /// The near side of the event that was crossed in this attempt; nothing if there was none.
    pub fn tasks(&self) -> &[Task] {
        if self.crossed { &self.tasks } else { &[] }
    }
}
