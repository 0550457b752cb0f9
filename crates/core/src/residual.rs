//! How well the interfaces meet.

use crate::{Connections, Error, Exchange, Observer, Source};

/// The largest coupling residual of a run: by how much an input, at the end of a step, differed from what its source answers
/// there. Zero when interfaces really meet; the jump of a held input otherwise. Only what was answered for the same time is
/// compared: not an event that the source has just crossed, nor systems that keep different times. What jumps from value to value is
/// held by its nature and is no residual.
pub struct CouplingResidual<'a> {
    connections: &'a Connections,
    /// The newest of each output, stacked.
    answers: Vec<Answer>,
    largest: f64,
    input: usize,
}

#[derive(Clone, Copy)]
struct Answer {
    value: f64,
    /// For which time it was given; NaN on the far side of an event.
    time: f64,
}

impl<'a> CouplingResidual<'a> {
    /// Nothing measured yet.
    pub fn new(connections: &'a Connections) -> Self {
        let answers = vec![Answer { value: f64::NAN, time: f64::NAN }; connections.outputs()];
        Self { connections, answers, largest: 0.0, input: 0 }
    }

    /// The largest residual so far.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The input (system and position in it) at which it was, once there was one.
    pub fn worst(&self) -> Option<(usize, usize)> {
        let system = (0..self.connections.systems()).find(|&k| self.connections.inputs_of(k).contains(&self.input))?;
        (self.largest > 0.0).then(|| (system, self.input - self.connections.inputs_of(system).start))
    }
}

impl Observer for CouplingResidual<'_> {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        for task in exchange.tasks.iter().filter(|task| task.due) {
            let time = if task.step.is_instant() { f64::NAN } else { task.response.reached };
            for (output, knot) in (self.connections.outputs_of(task.system).start..).zip(&task.response.outputs) {
                self.answers[output] = Answer { value: knot.value, time };
            }
        }
        for task in exchange.tasks.iter().filter(|task| task.due && !task.step.is_instant()) {
            let (size, reached) = (task.step.size(), task.response.reached);
            for (input, signal) in (self.connections.inputs_of(task.system).start..).zip(&task.inputs) {
                let answer = match self.connections.sources()[input] {
                    Source::Output(output) => self.answers[output],
                    Source::Constant(value) => Answer { value, time: reached },
                };
                let residual = (signal.value(size) - answer.value).abs();
                if residual > self.largest && answer.time == reached && !self.connections.is_held(input) {
                    (self.largest, self.input) = (residual, input);
                }
            }
        }
        Ok(())
    }
}
