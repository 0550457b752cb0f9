//! Systems on the ranks of an MPI program.

mod deal;
mod line;
mod lost;
mod making;
mod network;
mod orders;
mod peers;
mod rank_system;
mod serve;
mod service;
mod waiting;

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, Interface, LinearizeTask, OperatorTask, System,
    Task, Work, Workers, visit_system,
};

use crate::operator_workspaces::OperatorWorkspaces;
use crate::question::Question;
use crate::remote_task::RemoteTask;
use crate::slot::{Operation, Slot, advance, begin, evaluate, linearize, operators, trial};
use line::Line;

pub use deal::deal;
pub use lost::RankLoss;
pub use making::{Making, RankError, dismiss_ranks, measure_on_ranks};
pub use network::Network;
pub use rank_system::RankSystem;
pub use serve::serve_rank;
pub use service::{ServiceError, ServiceLink};

/// A system, where it runs.
pub enum RankPlace {
    /// On this rank.
    Here(Box<dyn System>),
    /// On another one.
    There(Box<RankSystem>),
}

/// Systems spread over the ranks of an MPI program, the calling one among them.
///
/// A rank gets all tasks of a call that are its own in one message, and sends all answers back in
/// one; meanwhile the calling rank carries out its own. Each system sees the calls it would see under
/// [`SingleThread`](crate::SingleThread), in the same order, so that its answers are the same to the
/// last bit.
///
/// **Errors.** Where several systems fail in one call, the error is that of the first in the order
/// of the tasks: the one that a single thread would have met. Systems that come later on the same
/// rank are not asked; those of other ranks are, and their work is counted.
pub struct Ranks {
    places: Vec<Place>,
    interfaces: Vec<Interface>,
    capabilities: Vec<Capabilities>,
    work: Vec<Work>,
    /// The ways to the other ranks; that to this one is never used.
    lines: Vec<Line>,
    workspaces: OperatorWorkspaces,
}

enum Place {
    Here(Slot),
    There(Box<RankSystem>),
}

impl Place {
    fn rank(&self) -> usize {
        match self {
            Self::Here(_) => 0,
            Self::There(system) => system.rank(),
        }
    }
}

/// A task that failed, by its position.
type TaskFailure = (usize, Error);

impl Ranks {
    /// Takes the systems over.
    pub fn new(network: &'static Network, systems: Vec<RankPlace>) -> Self {
        let mut workers = Self {
            places: Vec::with_capacity(systems.len()),
            interfaces: Vec::with_capacity(systems.len()),
            capabilities: Vec::with_capacity(systems.len()),
            work: vec![Work::default(); systems.len()],
            lines: (0..network.size())
                .map(|rank| Line::new(network, rank))
                .collect(),
            workspaces: OperatorWorkspaces::default(),
        };

        for system in systems {
            let (interface, capabilities, place) = match system {
                RankPlace::Here(mut system) => (
                    system.interface().clone(),
                    Capabilities::of(system.as_mut()),
                    Place::Here(Slot::new(system)),
                ),
                RankPlace::There(system) => (
                    system.interface().clone(),
                    system.capabilities(),
                    Place::There(system),
                ),
            };
            workers.interfaces.push(interface);
            workers.capabilities.push(capabilities);
            workers.places.push(place);
        }
        workers
    }

    /// Carries out the tasks that are due, each on the rank of its system.
    fn call<T: RemoteTask>(
        &mut self,
        question: Question,
        operation: Operation<T>,
        tasks: &mut [T],
    ) -> Result<(), Error> {
        self.scatter(question, tasks)?;
        let own = self.run_own(operation, tasks);
        let theirs = self.gather(question, tasks);

        let failures = own.into_iter().chain(theirs);
        match failures.min_by_key(|(position, _)| *position) {
            None => Ok(()),
            Some((_, error)) => Err(error),
        }
    }

    /// Every rank gets its tasks.
    fn scatter<T: RemoteTask>(&mut self, question: Question, tasks: &[T]) -> Result<(), Error> {
        self.lines.iter_mut().for_each(Line::clear);
        for task in tasks.iter().filter(|task| task.is_due()) {
            if let Place::There(system) = &mut self.places[task.system()] {
                system.prepare(task)?;
                let put = self.lines[system.rank()].task_for(system.number());
                task.put(question, system.dictionary(), put);
            }
        }

        self.lines.iter_mut().for_each(Line::send);
        Ok(())
    }

    /// Carries out the tasks of this rank, up to the first that fails.
    fn run_own<T: RemoteTask>(
        &mut self,
        operation: Operation<T>,
        tasks: &mut [T],
    ) -> Option<TaskFailure> {
        for (position, task) in tasks.iter_mut().enumerate() {
            if let Place::Here(slot) = &mut self.places[task.system()]
                && task.is_due()
            {
                if let Err(error) = operation(slot, &mut self.workspaces, task) {
                    return Some((position, error));
                }
                self.work[task.system()] = slot.work;
            }
        }
        None
    }

    /// Waits for the answers of all other ranks; the first failure among them.
    fn gather<T: RemoteTask>(
        &mut self,
        question: Question,
        tasks: &mut [T],
    ) -> Option<TaskFailure> {
        self.lines.iter_mut().for_each(Line::receive);
        let mut first = None;

        for (position, task) in tasks.iter_mut().enumerate() {
            let Place::There(system) = &mut self.places[task.system()] else {
                continue;
            };
            let line = &mut self.lines[system.rank()];
            if !task.is_due() || line.has_failed() {
                continue;
            }
            match line.answer(system, task) {
                Ok(seconds) => {
                    let work = &mut self.work[task.system()];
                    task.count(question, work);
                    work.seconds += seconds;
                }
                Err(error) => first = first.or(Some((position, error))),
            }
        }
        first
    }
}

impl Workers for Ranks {
    fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    fn capabilities(&self) -> &[Capabilities] {
        &self.capabilities
    }

    fn begin(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(Question::Begin, begin, tasks)
    }

    fn advance(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(Question::Advance, advance, tasks)
    }

    fn trial(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.call(Question::Trial, trial, tasks)
    }

    fn linearize(&mut self, tasks: &mut [LinearizeTask]) -> Result<(), Error> {
        self.call(Question::Linearize, linearize, tasks)
    }

    fn evaluate(&mut self, tasks: &mut [EvaluateTask]) -> Result<(), Error> {
        self.call(Question::Evaluate, evaluate, tasks)
    }

    fn operators(&mut self, tasks: &mut [OperatorTask]) -> Result<(), Error> {
        self.call(Question::Operators, operators, tasks)
    }

    fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.work)?;
        for (place, work) in self.places.iter_mut().zip(&self.work) {
            match place {
                Place::Here(slot) => {
                    slot.work = *work;
                    visit_system(slot.system.as_mut(), archive)?;
                }
                Place::There(system) => visit_system(system.as_mut(), archive)?,
            }
        }
        Ok(())
    }

    fn work(&self) -> &[Work] {
        &self.work
    }

    fn choice(&self) -> Option<String> {
        let mut counts = vec![0_usize; self.lines.len()];
        for place in &self.places {
            counts[place.rank()] += 1;
        }

        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        let ranks = counts.len();
        Some(format!(
            "{ranks} ranks: systems on each, from rank 0 on: {}",
            counts.join(", ")
        ))
    }
}
