//! Tasks as words: how a system that lives elsewhere is asked.

use dovetail_core::{EvaluateTask, LinearizeTask, OperatorTask, Response, Signal, Task, Work};

use crate::dictionary::Dictionary;
use crate::message::{
    put_evaluate, put_operator_task, put_step, take_evaluation, take_linearization, take_operators,
    take_response,
};
use crate::question::Question;
use crate::slot::WorkerTask;
use crate::words::{PutWords, TakeWords};

/// What a system that lives elsewhere is asked by.
pub(crate) trait RemoteTask: WorkerTask {
    /// The time at which it is asked, for messages.
    fn time(&self) -> Option<f64> {
        None
    }

    /// The inputs, among which there may be texts.
    fn inputs(&self) -> &[Signal] {
        &[]
    }

    /// Writes the question.
    fn put(&self, question: Question, dictionary: &Dictionary, put: &mut impl PutWords);

    /// Reads the answer; the seconds that it took.
    fn take(&mut self, take: &mut impl TakeWords) -> f64;

    /// The answer, if there may be texts among its values.
    fn response(&mut self) -> Option<&mut Response> {
        None
    }

    /// Counts what the system has done.
    fn count(&self, question: Question, work: &mut Work);
}

impl RemoteTask for Task {
    fn time(&self) -> Option<f64> {
        Some(self.step.start)
    }

    fn inputs(&self) -> &[Signal] {
        &self.inputs
    }

    fn put(&self, question: Question, dictionary: &Dictionary, put: &mut impl PutWords) {
        let asked = asked_by(&self.response);
        put_step(put, question, self.step, &self.inputs, asked, dictionary);
    }

    fn take(&mut self, take: &mut impl TakeWords) -> f64 {
        self.response.begin();
        take_response(take, &mut self.response)
    }

    fn response(&mut self) -> Option<&mut Response> {
        Some(&mut self.response)
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
    fn put(&self, _: Question, _: &Dictionary, put: &mut impl PutWords) {
        put.word(Question::Linearize as u64);
    }

    fn take(&mut self, take: &mut impl TakeWords) -> f64 {
        take_linearization(take, &mut self.linearization)
    }

    fn count(&self, _: Question, work: &mut Work) {
        work.linearizations += 1;
    }
}

impl RemoteTask for EvaluateTask {
    fn put(&self, _: Question, _: &Dictionary, put: &mut impl PutWords) {
        put_evaluate(put, self.time, &self.evaluation);
    }

    fn take(&mut self, take: &mut impl TakeWords) -> f64 {
        take_evaluation(take, &mut self.evaluation)
    }

    fn count(&self, _: Question, _: &mut Work) {}
}

impl RemoteTask for OperatorTask {
    fn put(&self, _: Question, _: &Dictionary, put: &mut impl PutWords) {
        put_operator_task(put, self);
    }

    /// The system itself has no part in it: its time is not counted.
    fn take(&mut self, take: &mut impl TakeWords) -> f64 {
        take_operators(take, self);
        0.0
    }

    fn count(&self, _: Question, _: &mut Work) {}
}

/// How many derivatives an answer is to have, and whether the asker averages.
pub(crate) fn asked_by(response: &Response) -> (usize, bool) {
    (response.derivatives(), response.averages)
}
