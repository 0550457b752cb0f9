//! Systems spread over threads of this process.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, available_parallelism, current};

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, Interface, LinearizeTask, System, Task, Work,
    Workers,
};

use crate::handoff::Handoff;
use crate::partition::{BatchTask, Partition, TaskFailure};
use crate::slot::{Operation, advance, begin, evaluate, linearize, trial};

/// How often a side looks for its turn before it sleeps: some ten microseconds, about what sleeping
/// and being woken cost.
///
/// By the benchmark `threads` on two free cores: with 200, steps of 30 µs took 1.3 times as long as
/// in a single thread, with 1000 they took 0.6 times as long, with 5000 no less. Where others want
/// the cores too, looking longer takes time from those that work: with 20000 even heavy systems
/// were up to 1.7 times slower than in a single thread.
const SPINS: u32 = 1000;

/// Systems spread over a fixed number of threads, the calling one among them.
///
/// The systems are dealt out once, like cards: with n threads, the system at position k falls to
/// thread k mod n. Each system sees the calls it would see under
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
    interfaces: Vec<Interface>,
    capabilities: Vec<Capabilities>,
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
        let mut workers = Self {
            interfaces: systems.iter().map(|s| s.interface().clone()).collect(),
            capabilities: systems
                .iter_mut()
                .map(|s| Capabilities::of(s.as_mut()))
                .collect(),
            work: vec![Work::default(); systems.len()],
            handoffs: Vec::with_capacity(count),
            helpers: Vec::with_capacity(count - 1),
            busy: vec![false; count],
        };
        let spins = spins_for(count);

        for partition in Partition::deal(systems, count) {
            let handoff = Handoff::new(partition, spins);
            workers.handoffs.push(Arc::new(handoff));
        }

        workers.start_threads()?;
        Ok(workers)
    }

    /// Starts the threads of all handoffs but the first, and waits until they run: a thread
    /// allocates while it starts, which is not to happen in the midst of a run.
    fn start_threads(&mut self) -> std::io::Result<()> {
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
        let partitions = self.handoffs.len();
        self.busy.fill(false);

        for task in tasks.iter().filter(|task| task.is_due()) {
            self.busy[task.system() % partitions] = true;
        }
    }

    /// Carries out, in this thread, the tasks of partition `own`.
    fn run_own<T: BatchTask>(
        &mut self,
        own: usize,
        tasks: &mut [T],
        operation: Operation<T>,
    ) -> Option<TaskFailure> {
        let tasks = due_in_partition(tasks, own, self.handoffs.len());
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
            let theirs = due_in_partition(tasks, number, self.handoffs.len());
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
fn due_in_partition<T: BatchTask>(
    tasks: &mut [T],
    number: usize,
    partitions: usize,
) -> impl Iterator<Item = (usize, &mut T)> {
    let tasks = tasks.iter_mut().enumerate();
    tasks.filter(move |(_, task)| task.is_due() && task.system() % partitions == number)
}

impl Workers for Threads {
    fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    fn capabilities(&self) -> &[Capabilities] {
        &self.capabilities
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

    fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.work)?;
        let partitions = self.handoffs.len();

        for system in 0..self.interfaces.len() {
            let work = self.work[system];
            let handoff = &self.handoffs[system % partitions];
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
