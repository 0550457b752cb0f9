//! How a system answers questions that come as words.

use std::time::Instant;

use dovetail_core::{
    Archive, Error, Evaluation, Interface, Linearization, OperatorTask, Response, Signal, System,
    evaluation_of, linearization_of, trial_of, visit_system,
};

use crate::message::{
    put_error, put_evaluation, put_linearization, put_operators, put_response, take_evaluate,
    take_operator_shape, take_operator_task, take_step,
};
use crate::operator_workspaces::OperatorWorkspaces;
use crate::question::{DONE, PIECE, Question};
use crate::text_table::TextTable;
use crate::words::{PutWords, TakeWords};

/// Answers the questions to one system, with room that is made once.
pub(crate) struct Answering {
    texts: TextTable,
    inputs: Vec<Signal>,
    /// For each number of derivatives that is asked for.
    responses: [Option<Response>; 3],
    linearization: Option<Linearization>,
    evaluation: Option<Evaluation>,
    operators: Option<OperatorTask>,
    /// A checkpoint, or a text, on its way piece by piece.
    checkpoint: Vec<u8>,
    text: Vec<u8>,
    /// How far the system has come, for messages.
    reached: f64,
}

impl Answering {
    pub fn new(texts: TextTable) -> Self {
        Self {
            texts,
            inputs: Vec::new(),
            responses: [None, None, None],
            linearization: None,
            evaluation: None,
            operators: None,
            checkpoint: Vec::new(),
            text: Vec::new(),
            reached: f64::NAN,
        }
    }

    /// Answers a question, but for the last one; whether the system could. `workspaces` are shared by the systems that live in one place.
    ///
    /// The question is read before the answer is written: both may lie at the same place.
    pub fn answer(
        &mut self,
        question: Question,
        system: &mut dyn System,
        workspaces: &mut OperatorWorkspaces,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> bool {
        let answered = match question {
            Question::Advance | Question::Trial | Question::Begin => {
                self.step(question, system, take, put)
            }
            Question::Linearize => self.linearize(system, put),
            Question::Evaluate => self.evaluate(system, take, put),
            Question::Operators => self.operators(workspaces, take, put),
            Question::TextOf => self.put_text(take, put),
            Question::NumberOf => self.put_number(take, put),
            Question::Save => self.save(system, take, put),
            Question::Restore => self.restore(system, take, put),
            Question::Leave => unreachable!("BUG: whoever made the system has it leave"),
        };

        if let Err(error) = &answered {
            put_error(put, error, &system.interface().name, self.reached);
        }
        answered.is_ok()
    }

    fn step(
        &mut self,
        question: Question,
        system: &mut dyn System,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> Result<(), Error> {
        let before = Instant::now();
        if self.inputs.len() != system.interface().inputs.len() {
            self.inputs = start_inputs(system.interface());
        }
        let (step, (derivatives, averages)) = take_step(take, &mut self.inputs);
        let derivatives = derivatives.min(2);
        let response = self.responses[derivatives]
            .get_or_insert_with(|| Response::new(system.interface(), derivatives));
        response.begin();
        response.averages = averages;
        self.reached = step.start;

        match question {
            Question::Begin => system.begin(step, &self.inputs, response)?,
            Question::Trial => trial_of(system).respond(step, &self.inputs, response)?,
            _ => system.advance(step, &self.inputs, response)?,
        }

        put_response(put, response, before.elapsed().as_secs_f64());
        Ok(())
    }

    fn linearize(&mut self, system: &mut dyn System, put: &mut impl PutWords) -> Result<(), Error> {
        let before = Instant::now();
        let into = self
            .linearization
            .get_or_insert_with(|| Linearization::of(system.interface()));
        linearization_of(system).linearize_into(into)?;
        put_linearization(put, into, before.elapsed().as_secs_f64());
        Ok(())
    }

    /// `f` and `g` elsewhere.
    fn evaluate(
        &mut self,
        system: &mut dyn System,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> Result<(), Error> {
        let before = Instant::now();
        let point = self
            .evaluation
            .get_or_insert_with(|| Evaluation::of(system.interface()));
        let time = take_evaluate(take, point);

        evaluation_of(system).evaluate_into(time, point)?;
        put_evaluation(put, point, before.elapsed().as_secs_f64());
        Ok(())
    }

    /// The operators of a linearization: the system itself has no part in it.
    fn operators(
        &mut self,
        workspaces: &mut OperatorWorkspaces,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> Result<(), Error> {
        let shape = take_operator_shape(take);
        if self
            .operators
            .as_ref()
            .is_none_or(|task| task.shape != shape)
        {
            self.operators = Some(OperatorTask::new(0, shape));
        }
        if let Some(task) = &mut self.operators {
            take_operator_task(take, task);
            workspaces.compute(task);
            put_operators(put, task);
        }
        Ok(())
    }

    /// The piece of a text from a position on, after its length.
    fn put_text(
        &mut self,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> Result<(), Error> {
        let text = (self.texts.text)(take.float());
        put_piece(text.as_bytes(), take.word() as usize, put);
        Ok(())
    }

    /// Takes a piece of a text in; the number of the whole with the last one.
    fn put_number(
        &mut self,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> Result<(), Error> {
        let is_last = take.word() != 0;
        self.text.extend(take.bytes());
        put.word(DONE);
        if is_last {
            let text = String::from_utf8_lossy(&self.text);
            put.float((self.texts.passing)(&text));
            self.text.clear();
        } else {
            put.float(0.0);
        }
        Ok(())
    }

    /// Answers a piece of a checkpoint; the first is taken from what the system is now.
    fn save(
        &mut self,
        system: &mut dyn System,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> Result<(), Error> {
        let at = take.word() as usize;
        if at == 0 {
            let mut archive = Archive::writer();
            visit_system(system, &mut archive)?;
            self.checkpoint = archive.into_bytes();
        }
        put_piece(&self.checkpoint, at, put);
        if at + PIECE >= self.checkpoint.len() {
            self.checkpoint.clear(); // what comes in by `restore` is gathered in the same room
        }
        Ok(())
    }

    /// Takes a piece of a checkpoint in; after the last one the system becomes what it was.
    fn restore(
        &mut self,
        system: &mut dyn System,
        take: &mut impl TakeWords,
        put: &mut impl PutWords,
    ) -> Result<(), Error> {
        let is_last = take.word() != 0;
        self.checkpoint.extend(take.bytes());

        if is_last {
            let mut archive = Archive::reader(std::mem::take(&mut self.checkpoint));
            visit_system(system, &mut archive)?;
        }
        put.word(DONE);
        Ok(())
    }
}

/// The piece of some bytes from a position on, after the length of all.
fn put_piece(bytes: &[u8], at: usize, put: &mut impl PutWords) {
    let rest = bytes.get(at..).unwrap_or_default();
    put.word(DONE);
    put.word(bytes.len() as u64);
    put.bytes(&rest[..rest.len().min(PIECE)]);
}

fn start_inputs(interface: &Interface) -> Vec<Signal> {
    let inputs = interface.inputs.iter();
    inputs.map(|input| Signal::constant(input.start)).collect()
}
