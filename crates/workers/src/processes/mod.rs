//! Systems in processes of their own: one that crashes, ends its process or hangs takes nobody with it.

mod fleet;
mod line;
mod lost;
mod memory;
mod message;
mod remote;
mod serve;
mod wire;

use std::time::Instant;

use dovetail_core::{Capabilities, Error, Interface, LinearizeTask, System, Task, Work, Workers};

use message::Question;

pub use fleet::{Fleet, Helper, Refusal};
pub use lost::Lost;
pub use message::Texts;
pub use remote::{Order, Remote, StartError, Told};
pub use serve::{Maker, serve};
pub use wire::{Reader, Writer};

/// Systems that live in processes of their own.
///
/// All systems that are due are asked before the first answer is waited for, so that they work at the same time. Each sees the
/// calls it would see under [`SingleThread`](dovetail_core::SingleThread), in the same order, so that its answers are the
/// same to the last bit.
///
/// **Errors.** Where several systems fail in one call, the error is that of the first in the order of the tasks: the one
/// that a single thread would have met. That one would have stopped there; here systems that come later were asked too,
/// and their work is counted.
pub struct Processes {
    remotes: Vec<Remote>,
    interfaces: Vec<Interface>,
    capabilities: Vec<Capabilities>,
    work: Vec<Work>,
    /// Whether a system's answer is being waited for.
    asked: Vec<bool>,
}

/// What a system in another process is asked by.
trait Mail: crate::seat::Order {
    fn send(&self, question: Question, remote: &mut Remote) -> Result<(), Error>;

    fn receive(&mut self, remote: &mut Remote, began: Instant) -> Result<(), Error>;

    fn count(&self, question: Question, work: &mut Work);
}

impl Mail for Task {
    fn send(&self, question: Question, remote: &mut Remote) -> Result<(), Error> {
        remote.send_step(
            question,
            self.step,
            &self.inputs,
            self.response.derivatives(),
        )
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

impl Mail for LinearizeTask {
    fn send(&self, _: Question, remote: &mut Remote) -> Result<(), Error> {
        remote.send_linearize(self.elsewhere, &self.linearization)
    }

    fn receive(&mut self, remote: &mut Remote, began: Instant) -> Result<(), Error> {
        match self.elsewhere {
            Some(_) => remote.receive_evaluation(&mut self.linearization, began),
            None => remote.receive_linearization(&mut self.linearization, began),
        }
    }

    fn count(&self, _: Question, work: &mut Work) {
        work.linearizations += u64::from(self.elsewhere.is_none());
    }
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

    fn ask<M: Mail>(&mut self, question: Question, orders: &mut [M]) -> Result<(), Error> {
        let mut first = 0;
        while first < orders.len() {
            // Up to a system that is asked a second time: it can hold one order only.
            let (count, sent) = self.hand_out(question, &orders[first..]);
            // All answers are taken in, whatever happens: one that is left lying would be taken for the next.
            self.collect(question, &mut orders[first..first + count])
                .and(sent)?;
            first += count;
        }
        Ok(())
    }

    /// Sends orders to all systems that are due; how many orders were dealt with, and whether that is all that can be done.
    fn hand_out<M: Mail>(
        &mut self,
        question: Question,
        orders: &[M],
    ) -> (usize, Result<(), Error>) {
        for (position, order) in orders
            .iter()
            .enumerate()
            .filter(|(_, order)| order.is_due())
        {
            if self.asked[order.system()] {
                return (position, Ok(()));
            }
            if let Err(error) = order.send(question, &mut self.remotes[order.system()]) {
                return (position, Err(error));
            }
            self.asked[order.system()] = true;
        }
        (orders.len(), Ok(()))
    }

    /// Waits for the answers of all systems that were asked; the first error.
    fn collect<M: Mail>(&mut self, question: Question, orders: &mut [M]) -> Result<(), Error> {
        let (began, mut ended) = (Instant::now(), Ok(()));
        for order in orders.iter_mut().filter(|order| order.is_due()) {
            let system = order.system();
            self.asked[system] = false;
            let received = order.receive(&mut self.remotes[system], began);
            if received.is_ok() {
                order.count(question, &mut self.work[system]);
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

    fn work(&self) -> &[Work] {
        &self.work
    }
}
