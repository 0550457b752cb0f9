//! The systems that fall to one thread, with batches in which tasks for them are handed over.

use std::any::Any;
use std::mem::swap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use dovetail_core::{
    Archive, Error, EvaluateTask, LinearizeTask, OperatorTask, Task, Work, visit_system,
};

use crate::assignment::Assignment;
use crate::operator_workspaces::OperatorWorkspaces;
use crate::slot::{Operation, Slot, WorkerTask, advance, evaluate, linearize, operators};

/// Some of the systems, and what they are asked.
pub(crate) struct Partition {
    slots: Slots,
    tasks: Batch<Task>,
    linearizations: Batch<LinearizeTask>,
    evaluations: Batch<EvaluateTask>,
    operators: Batch<OperatorTask>,
    failure: Option<TaskFailure>,
}

/// The systems that fall to this partition, in the order of their positions.
struct Slots {
    slots: Vec<Slot>,
    assignment: Arc<Assignment>,
    workspaces: OperatorWorkspaces,
}

/// Tasks handed over. They are swapped in and out, so that nothing is copied and nothing allocated.
pub(crate) struct Batch<T> {
    tasks: Vec<T>,
    /// Where each task belongs in the caller's slice; as many as there are tasks in the batch.
    positions: Vec<usize>,
    operation: Operation<T>,
}

/// A task that can be handed over: there is a batch for its kind.
pub(crate) trait BatchTask: WorkerTask {
    #[doc(hidden)]
    fn batch(partition: &mut Partition) -> &mut Batch<Self>;
}

impl BatchTask for Task {
    fn batch(partition: &mut Partition) -> &mut Batch<Self> {
        &mut partition.tasks
    }
}

impl BatchTask for LinearizeTask {
    fn batch(partition: &mut Partition) -> &mut Batch<Self> {
        &mut partition.linearizations
    }
}

impl BatchTask for EvaluateTask {
    fn batch(partition: &mut Partition) -> &mut Batch<Self> {
        &mut partition.evaluations
    }
}

impl BatchTask for OperatorTask {
    fn batch(partition: &mut Partition) -> &mut Batch<Self> {
        &mut partition.operators
    }
}

impl Partition {
    /// One partition for each thread, with the systems that fall to it.
    pub fn deal(slots: Vec<Slot>, assignment: &Arc<Assignment>) -> Vec<Self> {
        let mut dealt: Vec<Vec<Slot>> = (0..assignment.threads()).map(|_| Vec::new()).collect();
        for (system, slot) in slots.into_iter().enumerate() {
            dealt[assignment.thread(system)].push(slot);
        }

        let slots = dealt.into_iter().map(|slots| Slots {
            slots,
            assignment: Arc::clone(assignment),
            workspaces: OperatorWorkspaces::default(),
        });
        slots.map(Self::new).collect()
    }

    /// The systems, in the order of their positions; the partition has none from here on.
    pub fn take_slots(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.slots.slots)
    }

    fn new(slots: Slots) -> Self {
        let count = slots.slots.len();
        Self {
            slots,
            tasks: Batch::new(count, advance),
            linearizations: Batch::new(count, linearize),
            evaluations: Batch::new(count, evaluate),
            operators: Batch::new(count, operators),
            failure: None,
        }
    }

    /// Takes these tasks over, to be carried out here.
    pub fn accept<'t, T: BatchTask + 't>(
        &mut self,
        operation: Operation<T>,
        tasks: impl Iterator<Item = (usize, &'t mut T)>,
    ) {
        let batch = T::batch(self);
        batch.operation = operation;
        tasks.for_each(|(position, task)| batch.put(position, task));
    }

    /// Carries out what was taken over.
    pub fn run(&mut self) {
        let Self {
            slots,
            tasks,
            linearizations,
            evaluations,
            operators,
            ..
        } = self;
        self.failure = tasks
            .carry_out(slots)
            .or_else(|| linearizations.carry_out(slots))
            .or_else(|| evaluations.carry_out(slots))
            .or_else(|| operators.carry_out(slots));
    }

    /// Gives back what was taken over, carried out or not, and records what the systems have done
    /// so far.
    pub fn give_back<T: BatchTask>(
        &mut self,
        tasks: &mut [T],
        work: &mut [Work],
    ) -> Option<TaskFailure> {
        let batch = T::batch(self);
        for (task, &position) in batch.tasks.iter_mut().zip(&batch.positions) {
            swap(task, &mut tasks[position]);
        }

        while let Some(position) = T::batch(self).positions.pop() {
            let system = tasks[position].system();
            work[system] = self.slots.of(system).work;
        }
        self.failure.take()
    }

    /// Writes down what a system is, or reads it back, with the work that is counted for it.
    pub fn visit(&mut self, system: usize, work: Work, archive: &mut Archive) -> Result<(), Error> {
        let slot = self.slots.of(system);
        slot.work = work;
        visit_system(slot.system.as_mut(), archive)
    }

    /// Carries out tasks that need not be handed over: the caller does this partition itself.
    pub fn carry_out<'t, T: WorkerTask + 't>(
        &mut self,
        operation: Operation<T>,
        tasks: impl Iterator<Item = (usize, &'t mut T)>,
        work: &mut [Work],
    ) -> Option<TaskFailure> {
        let slots = &mut self.slots;
        slots.carry_out(operation, tasks, |system, done| work[system] = done)
    }
}

impl Slots {
    fn of(&mut self, system: usize) -> &mut Slot {
        &mut self.slots[self.assignment.place(system)]
    }

    /// One task after the other, up to the first that fails.
    fn carry_out<'t, T: WorkerTask + 't>(
        &mut self,
        operation: Operation<T>,
        mut tasks: impl Iterator<Item = (usize, &'t mut T)>,
        mut record: impl FnMut(usize, Work),
    ) -> Option<TaskFailure> {
        tasks.find_map(|(position, task)| {
            // What a panic may leave half done is the caller's affair, in whose thread it goes on.
            let slot = &mut self.slots[self.assignment.place(task.system())];
            let call = || operation(slot, &mut self.workspaces, task);
            let cause = match catch_unwind(AssertUnwindSafe(call)) {
                Ok(Ok(())) => {
                    record(task.system(), self.of(task.system()).work);
                    return None;
                }
                Ok(Err(error)) => Cause::Error(error),
                Err(payload) => Cause::Panic(payload),
            };
            Some(TaskFailure { position, cause })
        })
    }
}

impl<T: WorkerTask> Batch<T> {
    fn new(room: usize, operation: Operation<T>) -> Self {
        Self {
            tasks: (0..room).map(|_| T::blank()).collect(),
            positions: Vec::with_capacity(room),
            operation,
        }
    }

    fn put(&mut self, position: usize, task: &mut T) {
        let next = self.positions.len();
        if next == self.tasks.len() {
            self.tasks.push(T::blank()); // a system that is asked twice in one call
        }

        swap(&mut self.tasks[next], task);
        self.positions.push(position);
    }

    fn carry_out(&mut self, slots: &mut Slots) -> Option<TaskFailure> {
        if self.positions.is_empty() {
            return None;
        }

        let tasks = self.positions.iter().copied().zip(&mut self.tasks);
        slots.carry_out(self.operation, tasks, |_, _| ())
    }
}

/// What ended a call, and at which task.
pub(crate) struct TaskFailure {
    position: usize,
    cause: Cause,
}

enum Cause {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

impl TaskFailure {
    /// The one that a single thread, working in order, would have met.
    pub fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter()
            .chain(other)
            .min_by_key(|failure| failure.position)
    }

    /// An error is handed on; a panic goes on in the caller's thread, as if it had begun there.
    pub fn raise(self) -> Error {
        match self.cause {
            Cause::Error(error) => error,
            Cause::Panic(payload) => resume_unwind(payload),
        }
    }
}
