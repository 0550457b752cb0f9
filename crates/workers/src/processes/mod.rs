//! Systems in processes of their own: one that crashes, ends its process or hangs takes nobody with
//! it.

mod channel;
mod lost;
pub(crate) mod memory;
mod process_pool;
mod remote;
mod serve;
mod stop_flag;

use std::time::Instant;

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, Interface, LinearizeTask, OperatorTask, System,
    Task, Work, Workers, visit_system,
};

use crate::operator_workspaces::OperatorWorkspaces;
use crate::question::Question;
use crate::remote_task::RemoteTask;

pub use lost::ProcessLoss;
pub use process_pool::{NOTE_WORDS, ProcessError, ProcessPool, TaskProcess};
pub use remote::{FinalNotes, Remote, StartError, SystemEnd, SystemRequest};
pub use serve::{SystemFactory, serve};
pub use stop_flag::StopFlag;

/// Systems that live in processes of their own.
///
/// All systems that are due are asked before the first answer is waited for, so that they work at
/// the same time. Each sees the calls it would see under
/// [`SingleThread`](crate::SingleThread), in the same order, so that its answers are the
/// same to the last bit.
///
/// **Errors.** Where several systems fail in one call, the error is that of the first in the order
/// of the tasks: the one that a single thread would have met. That one would have stopped there;
/// here systems that come later were asked too, and their work is counted.
pub struct Processes {
    remotes: Vec<Remote>,
    interfaces: Vec<Interface>,
    capabilities: Vec<Capabilities>,
    work: Vec<Work>,
    /// Whether a system's answer is being waited for.
    asked: Vec<bool>,
    workspaces: OperatorWorkspaces,
}

impl Processes {
    /// Takes the systems over.
    pub fn new(remotes: Vec<Remote>) -> Self {
        Self {
            interfaces: remotes
                .iter()
                .map(|remote| remote.interface().clone())
                .collect(),
            capabilities: remotes.iter().map(Remote::capabilities).collect(),
            work: vec![Work::default(); remotes.len()],
            asked: vec![false; remotes.len()],
            workspaces: OperatorWorkspaces::default(),
            remotes,
        }
    }

    fn ask<T: RemoteTask>(&mut self, question: Question, tasks: &mut [T]) -> Result<(), Error> {
        let mut first = 0;
        while first < tasks.len() {
            // Up to a system that is asked a second time: it can hold one task only.
            let (count, sent) = self.send_all(question, &tasks[first..]);
            // All answers are taken in, whatever happens: one that is left lying would be taken for
            // the next.
            self.receive_all(question, &mut tasks[first..first + count])
                .and(sent)?;
            first += count;
        }
        Ok(())
    }

    /// Sends tasks to all systems that are due; how many tasks were dealt with, and whether that is
    /// all that can be done.
    fn send_all<T: RemoteTask>(
        &mut self,
        question: Question,
        tasks: &[T],
    ) -> (usize, Result<(), Error>) {
        for (position, task) in tasks.iter().enumerate().filter(|(_, task)| task.is_due()) {
            if self.asked[task.system()] {
                return (position, Ok(()));
            }
            if let Err(error) = self.remotes[task.system()].send(question, task) {
                return (position, Err(error));
            }
            self.asked[task.system()] = true;
        }
        (tasks.len(), Ok(()))
    }

    /// Waits for the answers of all systems that were asked; the first error.
    fn receive_all<T: RemoteTask>(
        &mut self,
        question: Question,
        tasks: &mut [T],
    ) -> Result<(), Error> {
        let began = Instant::now();
        let mut ended = Ok(());

        for task in tasks.iter_mut().filter(|task| task.is_due()) {
            let system = task.system();
            self.asked[system] = false;
            let received = self.remotes[system].receive(task, began);
            if received.is_ok() {
                task.count(question, &mut self.work[system]);
                self.work[system].seconds += self.remotes[system].seconds();
            }
            ended = ended.and(received);
        }
        ended
    }
}

impl Workers for Processes {
    fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    fn capabilities(&self) -> &[Capabilities] {
        &self.capabilities
    }

    fn begin(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.ask(Question::Begin, tasks)
    }

    fn advance(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.ask(Question::Advance, tasks)
    }

    fn trial(&mut self, tasks: &mut [Task]) -> Result<(), Error> {
        self.ask(Question::Trial, tasks)
    }

    fn linearize(&mut self, tasks: &mut [LinearizeTask]) -> Result<(), Error> {
        self.ask(Question::Linearize, tasks)
    }

    fn evaluate(&mut self, tasks: &mut [EvaluateTask]) -> Result<(), Error> {
        self.ask(Question::Evaluate, tasks)
    }

    /// Computed here: they depend on nothing that a process has.
    fn operators(&mut self, tasks: &mut [OperatorTask]) -> Result<(), Error> {
        for task in tasks.iter_mut().filter(|task| task.due) {
            self.workspaces.compute(task);
        }
        Ok(())
    }

    fn checkpoint(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.work)?;
        for remote in &mut self.remotes {
            visit_system(remote, archive)?;
        }
        Ok(())
    }

    fn work(&self) -> &[Work] {
        &self.work
    }
}
