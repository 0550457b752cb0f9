//! A system that lives in another process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Error, Evaluate, Evaluation, Interface, Linearization,
    Linearize, MacroStep, Precision, Presence, Remedy, Response, Signal, SignalKind, StepRule,
    System, Trial,
};

use crate::processes::lost::ProcessLoss;
use crate::processes::memory::{Put, Take};
use crate::processes::message::{
    DONE, PIECE, Question, put_step, read_interface, take_error, take_evaluation,
    take_linearization, take_response, words,
};
use crate::processes::process_pool::{Process, ProcessError, ProcessPool, kill_together};

/// What there is to say of a system when its run is over.
#[derive(Clone, Debug, Default)]
pub struct SystemEnd {
    /// What it has to report; empty until then.
    pub notes: Vec<u8>,
    /// How its process was lost while the system was ended.
    pub lost: Option<String>,
}

/// The end of a system, once it has come.
pub type FinalNotes = Arc<Mutex<SystemEnd>>;

/// What is to live in a process.
#[derive(Clone, Debug)]
pub struct SystemRequest {
    /// The system's name.
    pub name: String,
    /// What the process is started for; processes of earlier runs with the same job are used again.
    pub job: Vec<u8>,
    /// The system it is to make.
    pub make: Vec<u8>,
    /// The process is not used for another system afterwards.
    pub once: bool,
}

/// Why a system does not live in its process.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no process.
    #[error("the process of system `{system}` could not be started: {source}")]
    NoProcess {
        /// Whose.
        system: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// There is no system: in the words of the process.
    #[error("{0}")]
    Refused(String),
    /// The process ended, or had to be ended.
    #[error("system `{system}` could not be made: {lost}")]
    Lost {
        /// Which one.
        system: String,
        /// How.
        lost: ProcessLoss,
    },
}

impl StartError {
    /// What to try, or to look at.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Lost { lost, .. } => lost.remedies(),
            Self::NoProcess { .. } | Self::Refused(_) => Vec::new(),
        }
    }
}

/// A system that lives in another process.
///
/// Its answers are those of the system there, to the last bit. If the process ends, or does not
/// answer for too long, the next answer is an error that says how it was [lost](ProcessLoss), and so is
/// every one after it.
pub struct Remote {
    interface: Interface,
    capabilities: Capabilities,
    pool: ProcessPool,
    /// Present until the system is dropped.
    process: Option<Process>,
    end: FinalNotes,
    /// Whether the process may be used again.
    once: bool,
    dictionary: Dictionary,
    /// How far the system has come, for messages.
    reached: f64,
    /// Seconds that the last answer took there.
    seconds: f64,
}

/// The numbers of texts, here and there.
#[derive(Default)]
struct Dictionary {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// The numbers there of texts that have a number here, by its bits; and the other way round.
    there: HashMap<u64, f64>,
    here: HashMap<u64, f64>,
}

impl SystemRequest {
    fn no_process(&self, source: std::io::Error) -> StartError {
        StartError::NoProcess {
            system: self.name.clone(),
            source,
        }
    }

    fn lost(&self, lost: ProcessLoss) -> StartError {
        StartError::Lost {
            system: self.name.clone(),
            lost,
        }
    }
}

/// So many texts are known by both numbers at a time.
const MOST_TEXTS: usize = 1024;

impl Dictionary {
    /// What is forgotten is asked for again.
    fn make_room(&mut self) {
        for numbers in [&mut self.here, &mut self.there] {
            if numbers.len() >= MOST_TEXTS {
                numbers.clear();
            }
        }
    }

    fn of(interface: &Interface) -> Self {
        let inputs = interface.inputs.iter().map(|input| input.kind);
        let outputs = interface.outputs.iter().map(|output| output.kind);

        Self {
            inputs: positions_of_texts(inputs),
            outputs: positions_of_texts(outputs),
            ..Self::default()
        }
    }
}

fn positions_of_texts(kinds: impl Iterator<Item = SignalKind>) -> Vec<usize> {
    let numbered = kinds.enumerate();
    let texts = numbered.filter(|(_, kind)| *kind == SignalKind::Text);
    texts.map(|(position, _)| position).collect()
}

impl Remote {
    /// Makes the systems, each in a process of its own, all at once.
    pub fn make(pool: &ProcessPool, orders: &[SystemRequest]) -> Result<Vec<Self>, StartError> {
        let began = Instant::now();
        let mut processes = Vec::with_capacity(orders.len());

        for order in orders {
            if pool.is_interrupted() {
                kill_together(processes);
                return Err(order.lost(ProcessLoss::interrupted(Duration::ZERO)));
            }
            let process = pool.process(&order.job);
            let mut process = process.map_err(|source| order.no_process(source))?;
            // One that is gone already is found out below.
            let _ = process.make(&order.make);
            processes.push(process);
        }

        // All answers are received before the first failure is reported: the other processes can
        // then be used again.
        let mut completed = Vec::with_capacity(orders.len());
        let mut waiting = processes.into_iter();
        for order in orders {
            let Some(process) = waiting.next() else { break };
            completed.push(Self::complete(pool, process, order, began));
            if pool.is_interrupted() {
                kill_together(waiting.collect());
                return Err(order.lost(ProcessLoss::interrupted(Duration::ZERO)));
            }
        }
        completed.into_iter().collect()
    }

    fn complete(
        pool: &ProcessPool,
        mut process: Process,
        order: &SystemRequest,
        began: Instant,
    ) -> Result<Self, StartError> {
        let face = match process.made(pool, began) {
            Ok(face) => face,
            Err(ProcessError::Said(why)) => {
                if !order.once {
                    pool.keep(process);
                }
                return Err(StartError::Refused(why));
            }
            Err(ProcessError::Lost(lost)) => return Err(order.lost(lost)),
        };
        let Some((interface, capabilities)) = read_interface(&face, pool.texts()) else {
            return Err(order.lost(process.lose(ProcessLoss::Confused)));
        };
        let memory = process.give_memory(words(&interface));
        memory.map_err(|source| order.no_process(source))?;

        Ok(Self {
            dictionary: Dictionary::of(&interface),
            interface,
            capabilities,
            pool: pool.clone(),
            process: Some(process),
            end: FinalNotes::default(),
            once: order.once,
            reached: f64::NAN,
            seconds: 0.0,
        })
    }

    /// Where its final notes will be found when the system is dropped.
    pub fn final_notes(&self) -> FinalNotes {
        self.end.clone()
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Seconds that the last answer took in the other process.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    fn process(&mut self) -> &mut Process {
        self.process
            .as_mut()
            .expect("BUG: the process is there until the system is dropped")
    }

    fn failed(&self, lost: ProcessLoss) -> Error {
        let remedies = lost.remedies();
        Error::system(&self.interface.name, self.reached, lost).with(remedies)
    }

    /// Asks for a step; [`receive_step`](Self::receive_step) waits for the answer.
    pub(crate) fn send_step(
        &mut self,
        question: Question,
        step: MacroStep,
        inputs: &[Signal],
        asked: (usize, bool),
    ) -> Result<(), Error> {
        self.reached = step.start;
        for place in 0..self.dictionary.inputs.len() {
            self.learn_text(inputs[self.dictionary.inputs[place]].value(0.0))?;
        }

        let Dictionary {
            inputs: texts,
            there,
            ..
        } = &self.dictionary;
        let number = |position: usize| {
            let number = inputs[position].value(0.0).to_bits();
            texts
                .contains(&position)
                .then(|| there.get(&number).copied().unwrap_or_default())
        };
        let process = self
            .process
            .as_mut()
            .expect("BUG: the process is there until the system is dropped");
        put_step(process.body(), question, step, inputs, asked, number);

        process.request().map_err(|lost| self.failed(lost))
    }

    /// Waits for the answer to a step that was asked for.
    pub(crate) fn receive_step(
        &mut self,
        response: &mut Response,
        began: Instant,
    ) -> Result<(), Error> {
        self.seconds = self.receive(began, |take| take_response(take, response))?;
        for place in 0..self.dictionary.outputs.len() {
            let output = &mut response.outputs[self.dictionary.outputs[place]];
            output.value = self.number_here(output.value)?;
        }
        Ok(())
    }

    /// Asks for the linearization.
    pub(crate) fn send_linearize(&mut self) -> Result<(), Error> {
        let process = self.process();
        Put::new(process.body()).word(Question::Linearize as u64);
        process.request().map_err(|lost| self.failed(lost))
    }

    /// Asks for `f` and `g` elsewhere.
    pub(crate) fn send_evaluate(&mut self, time: f64, of: &Evaluation) -> Result<(), Error> {
        let process = self.process();
        let mut put = Put::new(process.body());
        put.word(Question::Evaluate as u64);
        put.float(time);

        for vector in [&of.x, &of.u, &of.u_slope] {
            put.floats(vector.as_slice());
        }
        process.request().map_err(|lost| self.failed(lost))
    }

    /// Waits for `f` and `g` that were asked for.
    pub(crate) fn receive_evaluation(
        &mut self,
        into: &mut Evaluation,
        began: Instant,
    ) -> Result<(), Error> {
        self.seconds = self.receive(began, |take| take_evaluation(take, into))?;
        Ok(())
    }

    /// Waits for the linearization that was asked for.
    pub(crate) fn receive_linearization(
        &mut self,
        into: &mut Linearization,
        began: Instant,
    ) -> Result<(), Error> {
        self.seconds = self.receive(began, |take| take_linearization(take, into))?;
        Ok(())
    }

    fn receive<T>(
        &mut self,
        began: Instant,
        read: impl FnOnce(&mut Take<'_>) -> T,
    ) -> Result<T, Error> {
        let watch = self.pool.watch(began);
        let process = self.process();
        if let Err(lost) = process.wait(watch) {
            return Err(self.failed(lost));
        }

        let mut take = Take::new(process.body());
        if take.word() == DONE {
            return Ok(read(&mut take));
        }

        let error = take_error(&mut take);
        Err(error.unwrap_or_else(|| {
            let lost = self.process().lose(ProcessLoss::Confused);
            self.failed(lost)
        }))
    }

    /// Finds out which number stands there for the text that a number stands for here.
    fn learn_text(&mut self, here: f64) -> Result<(), Error> {
        if self.dictionary.there.contains_key(&here.to_bits()) {
            return Ok(());
        }

        let text = (self.pool.texts().text)(here);
        let mut rest = text.as_bytes();
        let there = loop {
            let (piece, after) = rest.split_at(rest.len().min(PIECE));
            let write = |put: &mut Put<'_>| {
                put.word(after.is_empty().into());
                put.bytes(piece);
            };
            let number = self.ask(Question::NumberOf, write, |take| take.float())?;
            if after.is_empty() {
                break number;
            }
            rest = after;
        };
        self.dictionary.make_room();
        self.dictionary.there.insert(here.to_bits(), there);
        Ok(())
    }

    /// The number here of a text that has a number there.
    fn number_here(&mut self, there: f64) -> Result<f64, Error> {
        if let Some(&here) = self.dictionary.here.get(&there.to_bits()) {
            (self.pool.texts().keep)(here);
            return Ok(here);
        }

        let mut text = Vec::new();
        loop {
            let at = text.len() as u64;
            let write = |put: &mut Put<'_>| {
                put.float(there);
                put.word(at);
            };
            let length = self.ask(Question::TextOf, write, |take| {
                let length = take.word() as usize;
                text.extend(take.bytes());
                length
            })?;
            if text.len() >= length {
                break;
            }
        }
        let here = (self.pool.texts().passing)(&String::from_utf8_lossy(&text));
        self.dictionary.make_room();
        self.dictionary.here.insert(there.to_bits(), here);

        Ok(here)
    }

    /// A question that is answered at once.
    fn ask<T>(
        &mut self,
        question: Question,
        write: impl FnOnce(&mut Put<'_>),
        read: impl FnOnce(&mut Take<'_>) -> T,
    ) -> Result<T, Error> {
        let process = self.process();
        let mut put = Put::new(process.body());
        put.word(question as u64);
        write(&mut put);
        process.request().map_err(|lost| self.failed(lost))?;

        self.receive(Instant::now(), read)
    }
}

impl System for Remote {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.send_step(Question::Advance, step, inputs, asked_by(response))?;
        self.receive_step(response, Instant::now())
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.send_step(Question::Begin, step, inputs, asked_by(response))?;
        self.receive_step(response, Instant::now())
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

impl Trial for Remote {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.send_step(Question::Trial, step, inputs, asked_by(response))?;
        self.receive_step(response, Instant::now())
    }
}

impl Linearize for Remote {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        self.send_linearize()?;
        self.receive_linearization(into, Instant::now())
    }
}

impl Evaluate for Remote {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        self.send_evaluate(time, into)?;
        self.receive_evaluation(into, Instant::now())
    }
}

impl Checkpoint for Remote {
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

impl Remote {
    fn save(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        loop {
            let at = bytes.len() as u64;
            let length = self.ask(
                Question::Save,
                |put| put.word(at),
                |take| {
                    let length = take.word() as usize;
                    bytes.extend(take.bytes());
                    length
                },
            )?;
            if bytes.len() >= length {
                return Ok(());
            }
        }
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(PIECE));
            let write = |put: &mut Put<'_>| {
                put.word(after.is_empty().into());
                put.bytes(piece);
            };
            self.ask(Question::Restore, write, |_| ())?;
            if after.is_empty() {
                return Ok(());
            }
            rest = after;
        }
    }
}

impl Drop for Remote {
    /// The system leaves its process, which reports what it noted and is kept for the next one.
    fn drop(&mut self) {
        let Some(mut process) = self.process.take().filter(|process| !process.is_lost()) else {
            return;
        };
        Put::new(process.body()).word(Question::Leave as u64);

        if process
            .request()
            .and_then(|()| process.wait(self.pool.watch_leaving()))
            .is_err()
        {
            let lost = process.loss().map(ProcessLoss::briefly);
            let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            end.lost = lost;
            return;
        }

        let mut take = Take::new(process.body());
        if take.word() == DONE {
            let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            end.notes = take.bytes();
        }

        if !self.once {
            self.pool.keep(process);
        }
    }
}

/// How many derivatives an answer is to have, and whether the asker averages.
pub(crate) fn asked_by(response: &Response) -> (usize, bool) {
    (response.derivatives(), response.averages)
}
