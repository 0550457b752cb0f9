//! How well the interfaces meet.

use crate::{Connections, Error, Exchange, Observer};

/// The largest coupling residual of a run: by how much an input, at the end of a step, differed from what its source answers
/// there. Zero when interfaces really meet; the jump of a held input otherwise.
pub struct CouplingResidual<'a> {
    connections: &'a Connections,
    outputs: Vec<f64>,
    largest: f64,
    input: usize,
}

impl<'a> CouplingResidual<'a> {
    /// Nothing measured yet.
    pub fn new(connections: &'a Connections) -> Self {
        Self { connections, outputs: vec![f64::NAN; connections.outputs()], largest: 0.0, input: 0 }
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
            for (known, knot) in
                self.outputs[self.connections.outputs_of(task.system)].iter_mut().zip(&task.response.outputs)
            {
                *known = knot.value;
            }
        }
        for task in exchange.tasks.iter().filter(|task| task.due && !task.step.is_instant()) {
            for (input, signal) in self.connections.inputs_of(task.system).zip(&task.inputs) {
                let fed: f64 = self.connections.feed(input, &self.outputs);
                let residual = (signal.value(task.step.size()) - fed).abs();
                if residual > self.largest {
                    (self.largest, self.input) = (residual, input);
                }
            }
        }
        Ok(())
    }
}
