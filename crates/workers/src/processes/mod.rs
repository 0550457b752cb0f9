//! Systems in processes of their own: one that crashes, ends its process or hangs takes nobody with
//! it.

mod channel;
mod lost;
mod memory;
mod message;
mod process_pool;
mod remote;
mod serve;
mod wire;

use std::time::Instant;

use dovetail_core::{
    Archive, Capabilities, Error, EvaluateTask, Interface, LinearizeTask, System, Task, Work,
    Workers, visit_system,
};

use message::Question;
use remote::asked_by;

pub use lost::ProcessLoss;
pub use message::TextTable;
pub use process_pool::{NOTE_WORDS, ProcessError, ProcessPool, TaskProcess};
pub use remote::{FinalNotes, Remote, StartError, SystemEnd, SystemRequest};
pub use serve::{SystemFactory, serve};
pub use wire::{Reader, Writer};

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
}

/// What a system in another process is asked by.
trait RemoteTask: crate::slot::WorkerTask {
    fn send(&self, question: Question, remote: &mut Remote) -> Result<(), Error>;

    fn receive(&mut self, remote: &mut Remote, began: Instant) -> Result<(), Error>;

    fn count(&self, question: Question, work: &mut Work);
}

impl RemoteTask for Task {
    fn send(&self, question: Question, remote: &mut Remote) -> Result<(), Error> {
        remote.send_step(question, self.step, &self.inputs, asked_by(&self.response))
    }

    fn receive(&mut self, remote: &mut Remote, began: Instant) -> Result<(), Error> {
        self.response.begin();
        remote.receive_step(&mut self.response, began)
    }

    fn count(&self, question: Question, work: &mut Work) {
        match question {
            Question::Begin => {}
            Question::Trial => work.count_trial(&self.response),
            _ => work.count_advance(self.step.is_instant(), &self.response),
        }
    }
}

impl RemoteTask for LinearizeTask {
    fn send(&self, _: Question, remote: &mut Remote) -> Result<(), Error> {
        remote.send_linearize()
    }

    fn receive(&mut self, remote: &mut Remote, began: Instant) -> Result<(), Error> {
        remote.receive_linearization(&mut self.linearization, began)
    }

    fn count(&self, _: Question, work: &mut Work) {
        work.linearizations += 1;
    }
}

impl RemoteTask for EvaluateTask {
    fn send(&self, _: Question, remote: &mut Remote) -> Result<(), Error> {
        remote.send_evaluate(self.time, &self.evaluation)
    }

    fn receive(&mut self, remote: &mut Remote, began: Instant) -> Result<(), Error> {
        remote.receive_evaluation(&mut self.evaluation, began)
    }

    fn count(&self, _: Question, _: &mut Work) {}
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
            if let Err(error) = task.send(question, &mut self.remotes[task.system()]) {
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
            let received = task.receive(&mut self.remotes[system], began);
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
