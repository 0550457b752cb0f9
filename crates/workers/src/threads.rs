//! Systems spread over threads of this process.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, available_parallelism, current};

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, Interface, LinearizeTask, OperatorTask, System,
    Task, Work, Workers,
};

use crate::assignment::Assignment;
use crate::handoff::Handoff;
use crate::partition::{BatchTask, Partition, TaskFailure};
use crate::slot::{Known, Operation, Slot, advance, begin, evaluate, linearize, operators, trial};

/// How often a side looks for its turn before it sleeps: some ten microseconds, about what sleeping
/// and being woken cost.
///
/// Measured on a ring of ten systems, two free cores: with 200, steps of 30 µs took 1.3 times as long as
/// in a single thread, with 1000 they took 0.6 times as long, with 5000 no less. Where others want
/// the cores too, looking longer takes time from those that work: with 20000 even heavy systems
/// were up to 1.7 times slower than in a single thread.
const SPINS: u32 = 1000;

/// Systems spread over a fixed number of threads, the calling one among them.
///
/// The systems are dealt out once. Each system sees the calls it would see under
/// [`SingleThread`](crate::SingleThread), in the same order, so that its answers are the
/// same to the last bit; which thread carries them out cannot be seen. Where all systems that are
/// due fall to one thread, as always under a method that asks one system at a time, the calling
/// thread asks them itself.
///
/// A call with something to hand over costs some microseconds more than in a single thread: threads
/// pay where the steps of the systems cost much more than that, together.
///
/// **Errors.** Where several systems fail in one call, the error is that of the first in the order
/// of the tasks: the one that a single thread would have met. That one would have stopped there;
/// here systems that come later may have been asked, and their work is counted.
///
/// **Panics.** A panic of a system is one of the caller, as it is in a single thread; the other
/// threads are not harmed.
pub struct Threads {
    known: Known,
    assignment: Arc<Assignment>,
    work: Vec<Work>,
    handoffs: Vec<Arc<Handoff>>,
    /// The thread of every handoff but the first, which is the caller's.
    helpers: Vec<JoinHandle<()>>,
    /// Whether a handoff has something to do in the call under way.
    busy: Vec<bool>,
}

impl Threads {
    /// Takes the systems over and starts the threads: one less than `threads`, and no more than
    /// there are systems. Fails where the operating system gives no more threads.
    pub fn new(mut systems: Vec<Box<dyn System>>, threads: NonZeroUsize) -> std::io::Result<Self> {
        let count = threads.get().min(systems.len()).max(1);
        let known = Known::of(&mut systems);
        let assignment = Assignment::dealt(systems.len(), count);
        let slots = systems.into_iter().map(Slot::new).collect();
        let mut workers = Self::of_slots(slots, known, assignment);

        workers.start_threads()?;
        Ok(workers)
    }

    /// The same with systems that have worked elsewhere before; no thread is started yet.
    pub(crate) fn of_slots(mut slots: Vec<Slot>, known: Known, assignment: Assignment) -> Self {
        for (system, slot) in slots.iter_mut().enumerate() {
            slot.system.join_lane(assignment.thread(system));
        }
        let count = assignment.threads();
        let assignment = Arc::new(assignment);
        let work = slots.iter().map(|slot| slot.work).collect();
        let spins = spins_for(count);
        let partitions = Partition::deal(slots, &assignment).into_iter();

        Self {
            known,
            work,
            handoffs: partitions
                .map(|partition| Arc::new(Handoff::new(partition, spins)))
                .collect(),
            assignment,
            helpers: Vec::with_capacity(count - 1),
            busy: vec![false; count],
        }
    }

    /// The systems as they are, to go on elsewhere. The threads end.
    pub(crate) fn into_slots(mut self) -> (Vec<Slot>, Known) {
        let handoffs = self.handoffs.iter();
        let mut dealt: Vec<_> = handoffs
            .map(|handoff| handoff.with(Partition::take_slots).into_iter())
            .collect();
        let next = |system| dealt[self.assignment.thread(system)].next();
        let slots = (0..self.work.len()).filter_map(next).collect();

        (slots, std::mem::take(&mut self.known))
    }

    /// Starts the threads of all handoffs but the first, and waits until they run: a thread
    /// allocates while it starts, which is not to happen in the midst of a run.
    pub(crate) fn start_threads(&mut self) -> std::io::Result<()> {
        for (number, handoff) in self.handoffs.iter().enumerate().skip(1) {
            let handoff = Arc::clone(handoff);
            let builder = Builder::new().name(format!("systems-{number}"));
            let helper = builder.spawn(move || handoff.serve())?;
            self.helpers.push(helper);
        }

        for handoff in self.handoffs.iter().skip(1) {
            handoff.wait();
        }
        Ok(())
    }

    /// How many threads carry out steps, the calling one among them.
    pub fn threads(&self) -> usize {
        self.handoffs.len()
    }

    /// Carries out the tasks that are due, each in the thread of its system.
    fn call<T: BatchTask>(
        &mut self,
        tasks: &mut [T],
        operation: Operation<T>,
    ) -> Result<(), Error> {
        self.mark_busy(tasks);
        // The caller takes the first partition with something to do; the thread of that partition,
        // if it has one, sleeps on.
        let Some(own) = self.busy.iter().position(|&busy| busy) else {
            return Ok(());
        };
        self.busy[own] = false;
        self.hand_over(tasks, operation);
        let failure = self.run_own(own, tasks, operation);
        self.others().for_each(|(_, handoff)| handoff.help());

        match TaskFailure::first(failure, self.collect(tasks)) {
            None => Ok(()),
            Some(failure) => Err(failure.raise()),
        }
    }

    /// Marks the partitions to which tasks fall that are due.
    fn mark_busy<T: BatchTask>(&mut self, tasks: &[T]) {
        self.busy.fill(false);
        for task in tasks.iter().filter(|task| task.is_due()) {
            self.busy[self.assignment.thread(task.system())] = true;
        }
    }

    /// Carries out, in this thread, the tasks of partition `own`.
    fn run_own<T: BatchTask>(
        &mut self,
        own: usize,
        tasks: &mut [T],
        operation: Operation<T>,
    ) -> Option<TaskFailure> {
        let tasks = due_in_partition(tasks, own, &self.assignment);
        let work = &mut self.work;
        self.handoffs[own].with(|partition| partition.carry_out(operation, tasks, work))
    }

    /// Waits for the other threads and takes their tasks back; the first failure among them.
    fn collect<T: BatchTask>(&mut self, tasks: &mut [T]) -> Option<TaskFailure> {
        let mut failure = None;
        let work = &mut self.work;

        for (handoff, &busy) in self.handoffs.iter().zip(&self.busy) {
            if busy {
                handoff.wait();
                let next = handoff.with(|partition| partition.give_back(tasks, work));
                failure = TaskFailure::first(failure, next);
            }
        }
        failure
    }

    /// The other threads get what is theirs.
    fn hand_over<T: BatchTask>(&self, tasks: &mut [T], operation: Operation<T>) {
        let caller = current();
        for (number, handoff) in self.others() {
            let theirs = due_in_partition(tasks, number, &self.assignment);
            handoff.with(|partition| partition.accept(operation, theirs));
            handoff.request(&caller, self.helpers[number - 1].thread());
        }
    }

    /// The handoffs with something to do, but for that which the caller does itself. The first is
    /// never among them.
    fn others(&self) -> impl Iterator<Item = (usize, &Handoff)> {
        let handoffs = self.handoffs.iter().map(Arc::as_ref).enumerate();
        handoffs.filter(|(number, _)| self.busy[*number])
    }
}

/// How often a side looks for its turn. Where threads have to share cores, one that looks for its
/// turn keeps the others from their work.
fn spins_for(threads: usize) -> u32 {
    match available_parallelism() {
        Ok(cores) if threads <= cores.get() => SPINS,
        _ => 0,
    }
}

/// The tasks that are due and fall to a partition, with their positions.
fn due_in_partition<'t, T: BatchTask>(
    tasks: &'t mut [T],
    number: usize,
    assignment: &'t Assignment,
) -> impl Iterator<Item = (usize, &'t mut T)> {
    let tasks = tasks.iter_mut().enumerate();
    tasks.filter(move |(_, task)| task.is_due() && assignment.thread(task.system()) == number)
}

impl Workers for Threads {
    fn interfaces(&self) -> &[Interface] {
        &self.known.interfaces
    }

    fn capabilities(&self) -> &[Capabilities] {
        &self.known.capabilities
    }

    fn begin(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, begin)
    }

    fn advance(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, advance)
    }

    fn trial(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(tasks, trial)
    }

    fn linearize(&mut self, tasks: &mut [LinearizeTask]) -> Result<(), Error> {
        self.call(tasks, linearize)
    }

    fn evaluate(&mut self, tasks: &mut [EvaluateTask]) -> Result<(), Error> {
        self.call(tasks, evaluate)
    }

    fn operators(&mut self, tasks: &mut [OperatorTask]) -> Result<(), Error> {
        self.call(tasks, operators)
    }

    fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.work)?;

        for system in 0..self.work.len() {
            let work = self.work[system];
            let handoff = &self.handoffs[self.assignment.thread(system)];
            handoff.with(|partition| partition.visit(system, work, archive))?;
        }
        Ok(())
    }

    fn work(&self) -> &[Work] {
        &self.work
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for (handoff, helper) in self.handoffs.iter().skip(1).zip(&self.helpers) {
            handoff.close(helper.thread());
        }
        for helper in self.helpers.drain(..) {
            let _ = helper.join(); // no thread panics: systems are asked where it is caught
        }
    }
}
