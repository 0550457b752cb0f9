//! A system that lives elsewhere, as seen from here.

use std::time::Instant;

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Error, Evaluate, Evaluation, Interface, Linearization,
    Linearize, MacroStep, Precision, Presence, Response, Signal, StepRule, System, Trial,
};

use crate::conversation::Conversation;
use crate::dictionary::Dictionary;
use crate::message::{
    put_evaluate, put_step, take_error, take_evaluation, take_linearization, take_response,
};
use crate::question::{DONE, Question};
use crate::remote_task::{RemoteTask, asked_by};
use crate::text_table::TextTable;
use crate::words::{PutWords, TakeWords};

/// The way to where one system lives: one question at a time, and its answer.
pub(crate) trait Link: Send {
    /// Why there is no answer.
    type Loss;
    /// Where a question is written.
    type Put<'a>: PutWords
    where
        Self: 'a;
    /// Where its answer is read.
    type Take<'a>: TakeWords
    where
        Self: 'a;

    /// Begins a question.
    fn put(&mut self) -> Self::Put<'_>;

    /// Sends the question that was written.
    fn send(&mut self) -> Result<(), Self::Loss>;

    /// Waits for the answer to what was asked at `began`.
    fn wait(&mut self, began: Instant) -> Result<(), Self::Loss>;

    /// Reads the answer.
    fn take(&mut self) -> Self::Take<'_>;

    /// The answer makes no sense.
    fn confused(&mut self) -> Self::Loss;

    /// A loss as the failure of a system, with what to try.
    fn failure(system: &str, time: f64, loss: Self::Loss) -> Error;

    /// How texts are numbered here.
    fn texts(&self) -> TextTable;
}

/// A system that lives elsewhere.
///
/// Its answers are those of the system there, to the last bit. Once it is lost, the next answer is an
/// error that says how, and so is every one after it.
pub struct RemoteSystem<L> {
    interface: Interface,
    capabilities: Capabilities,
    pub(crate) link: L,
    dictionary: Dictionary,
    /// How far the system has come, for messages.
    reached: f64,
    /// Seconds that the last answer took there.
    seconds: f64,
}

#[expect(
    private_bounds,
    reason = "links are ours: a system elsewhere is used as a system"
)]
impl<L: Link> RemoteSystem<L> {
    /// The system at the other end of a link.
    pub(crate) fn new(interface: Interface, capabilities: Capabilities, link: L) -> Self {
        Self {
            dictionary: Dictionary::of(&interface),
            interface,
            capabilities,
            link,
            reached: f64::NAN,
            seconds: 0.0,
        }
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Seconds that the last answer took there.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    pub(crate) fn failed(&self, loss: L::Loss) -> Error {
        L::failure(&self.interface.name, self.reached, loss)
    }

    /// Asks by a task; [`receive`](Self::receive) waits for the answer.
    pub(crate) fn send<T: RemoteTask>(
        &mut self,
        question: Question,
        task: &T,
    ) -> Result<(), Error> {
        self.prepare(task)?;
        task.put(question, &self.dictionary, &mut self.link.put());
        self.request()
    }

    /// Makes ready for a task: its texts are known there.
    pub(crate) fn prepare<T: RemoteTask>(&mut self, task: &T) -> Result<(), Error> {
        if let Some(time) = task.time() {
            self.reached = time;
        }
        self.learn(task.inputs())
    }

    /// Waits for the answer to a task.
    pub(crate) fn receive<T: RemoteTask>(
        &mut self,
        task: &mut T,
        began: Instant,
    ) -> Result<(), Error> {
        self.seconds = self.answer(began, |take| task.take(take))?;
        self.complete(task)
    }

    /// Completes a task whose answer was read: its texts get their numbers here.
    pub(crate) fn complete<T: RemoteTask>(&mut self, task: &mut T) -> Result<(), Error> {
        match task.response() {
            Some(response) => self.translate(response),
            None => Ok(()),
        }
    }

    /// The numbers of texts, here and there.
    #[cfg(feature = "mpi")]
    pub(crate) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    fn learn(&mut self, inputs: &[Signal]) -> Result<(), Error> {
        let texts = self.link.texts();
        let mut dictionary = std::mem::take(&mut self.dictionary);
        let learned = dictionary.learn(inputs, texts, self);
        self.dictionary = dictionary;
        learned
    }

    fn translate(&mut self, response: &mut Response) -> Result<(), Error> {
        let texts = self.link.texts();
        let mut dictionary = std::mem::take(&mut self.dictionary);
        let translated = dictionary.translate(response, texts, self);
        self.dictionary = dictionary;
        translated
    }

    /// Asks for a step and waits for its answer.
    fn step(
        &mut self,
        question: Question,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.reached = step.start;
        self.learn(inputs)?;
        let asked = asked_by(response);
        let mut put = self.link.put();
        put_step(&mut put, question, step, inputs, asked, &self.dictionary);
        drop(put);
        self.request()?;

        self.seconds = self.answer(Instant::now(), |take| take_response(take, response))?;
        self.translate(response)
    }

    fn request(&mut self) -> Result<(), Error> {
        self.link.send().map_err(|loss| self.failed(loss))
    }

    fn answer<T>(
        &mut self,
        began: Instant,
        read: impl FnOnce(&mut L::Take<'_>) -> T,
    ) -> Result<T, Error> {
        if let Err(loss) = self.link.wait(began) {
            return Err(self.failed(loss));
        }

        let mut take = self.link.take();
        if take.word() == DONE {
            return Ok(read(&mut take));
        }

        let error = take_error(&mut take);
        drop(take);
        Err(error.unwrap_or_else(|| {
            let loss = self.link.confused();
            self.failed(loss)
        }))
    }
}

impl<L: Link> Conversation for RemoteSystem<L> {
    fn ask<T>(
        &mut self,
        question: Question,
        write: impl FnOnce(&mut dyn PutWords),
        read: impl FnOnce(&mut dyn TakeWords) -> T,
    ) -> Result<T, Error> {
        let mut put = self.link.put();
        put.word(question as u64);
        write(&mut put);
        drop(put);
        self.request()?;

        self.answer(Instant::now(), |take| read(take))
    }
}

impl<L: Link> System for RemoteSystem<L> {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.step(Question::Advance, step, inputs, response)
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.step(Question::Begin, step, inputs, response)
    }

    fn presence(&self) -> Presence {
        self.capabilities.presence
    }

    fn precision(&self) -> Precision {
        self.capabilities.precision
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        self.capabilities.trial.then_some(self as &mut dyn Trial)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        self.capabilities
            .linearize
            .then_some(self as &mut dyn Linearize)
    }

    fn evaluate(&mut self) -> Option<&mut dyn Evaluate> {
        self.capabilities
            .evaluate
            .then_some(self as &mut dyn Evaluate)
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        self.capabilities
            .checkpoint
            .then_some(self as &mut dyn Checkpoint)
    }

    fn input_degree(&self) -> usize {
        self.capabilities.input_degree
    }

    fn output_derivatives(&self) -> usize {
        self.capabilities.output_derivatives
    }

    fn step_rule(&self) -> StepRule {
        self.capabilities.step_rule
    }
}

impl<L: Link> Trial for RemoteSystem<L> {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.step(Question::Trial, step, inputs, response)
    }
}

impl<L: Link> Linearize for RemoteSystem<L> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        self.link.put().word(Question::Linearize as u64);
        self.request()?;
        self.seconds = self.answer(Instant::now(), |take| take_linearization(take, into))?;
        Ok(())
    }
}

impl<L: Link> Evaluate for RemoteSystem<L> {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        put_evaluate(&mut self.link.put(), time, into);
        self.request()?;
        self.seconds = self.answer(Instant::now(), |take| take_evaluation(take, into))?;
        Ok(())
    }
}

impl<L: Link> Checkpoint for RemoteSystem<L> {
    /// What the system is, one piece after the other.
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut bytes = Vec::new();
        if !archive.restores() {
            self.save(&mut bytes)?;
        }

        archive.field(&mut bytes)?;
        if archive.restores() {
            self.restore(&bytes)?;
        }
        Ok(())
    }
}
