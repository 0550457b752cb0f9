//! A system in a few lines: a function that steps.

use dovetail_core::{
    Error, Input, Interface, MacroStep, Output, Response, SharedList, Signal, System,
};

/// A system that is a function: it gets the step and its inputs in the middle of it, and writes its outputs at the end.
///
/// It can only go forward; its inputs are constant over a step. Systems that can do more implement [`System`].
pub struct FnSystem<F> {
    interface: Interface,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    step: F,
}

impl<F: FnMut(MacroStep, &[f64], &mut [f64]) + Send> FnSystem<F> {
    /// A system of this name with these inputs and outputs, all of which start at zero.
    ///
    /// Steps of size zero are questions about the present: the function writes its outputs and does not move.
    pub fn new(name: &str, inputs: &[&str], outputs: &[&str], step: F) -> Self {
        let input = |name: &&str| Input {
            name: name.to_string(),
            ..Input::default()
        };
        let output = |name: &&str| Output {
            name: name.to_string(),
            ..Output::default()
        };

        Self {
            inputs: vec![0.0; inputs.len()],
            outputs: vec![0.0; outputs.len()],
            interface: Interface {
                name: name.to_owned(),
                inputs: inputs.iter().map(input).collect(),
                outputs: outputs.iter().map(output).collect(),
                states: SharedList::default(),
            },
            step,
        }
    }

    /// Its outputs answer at once to its inputs (direct feedthrough), as a spring's force does to its length.
    pub fn with_feedthrough(mut self) -> Self {
        let inputs: Vec<usize> = (0..self.inputs.len()).collect();
        for output in &mut self.interface.outputs {
            output.depends_on = inputs.clone();
        }
        self
    }
}

impl<F: FnMut(MacroStep, &[f64], &mut [f64]) + Send> System for FnSystem<F> {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        for (value, signal) in self.inputs.iter_mut().zip(inputs) {
            *value = signal.value(0.5 * step.size());
        }

        (self.step)(step, &self.inputs, &mut self.outputs);
        for (knot, value) in response.outputs.iter_mut().zip(&self.outputs) {
            knot.value = *value;
        }

        response.reached = step.end;
        Ok(())
    }
}
