//! A model with its numbers.

use std::sync::Arc;

use dovetail_core::{Input, Interface, Output, SharedList};

use crate::model::Model;

/// A system of a coupled model: equations, parameters, start values.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The system's name.
    pub name: String,
    /// Its equations.
    pub model: Arc<Model>,
    /// Values of the parameters.
    pub parameters: Vec<f64>,
    /// Start values of the states, the discrete ones last.
    pub states: Vec<f64>,
    /// The time between two ticks of the system's clock, if it has one.
    pub sample: Option<f64>,
    /// Start values of the inputs: first guesses for initialization.
    pub inputs: Vec<f64>,
    /// Units of the inputs, where they are given.
    pub input_units: SharedList<Option<String>>,
    /// Units of the outputs, where they are given.
    pub output_units: SharedList<Option<String>>,
    /// Relative tolerance of the integrator.
    pub tolerance: f64,
}

impl Definition {
    /// The relative tolerance of the integrator where nothing else is said.
    pub const TOLERANCE: f64 = 1e-10;

    /// A definition without units, at the default tolerance.
    pub fn new(
        name: &str,
        model: impl Into<Arc<Model>>,
        parameters: Vec<f64>,
        states: Vec<f64>,
        inputs: Vec<f64>,
    ) -> Self {
        let model = model.into();
        Self {
            name: name.to_owned(),
            input_units: vec![None; model.inputs.len()].into(),
            output_units: vec![None; model.outputs.len()].into(),
            model,
            parameters,
            states,
            sample: None,
            inputs,
            tolerance: Self::TOLERANCE,
        }
    }

    /// The system's interface. Feedthrough is that of the equations' structure.
    pub fn interface(&self) -> Interface {
        self.model.shared().interface(self)
    }

    pub(super) fn describe_inputs(&self) -> SharedList<Input> {
        let inputs = 0..self.model.inputs.len();
        inputs.map(|index| self.input(index)).collect()
    }

    pub(super) fn describe_outputs(&self) -> SharedList<Output> {
        let outputs = 0..self.model.outputs.len();
        outputs.map(|index| self.output(index)).collect()
    }

    /// Start values of the inputs, then of those that are delayed: they are the same.
    pub(super) fn driving_inputs(&self) -> Vec<f64> {
        let delays = self.model.delays.iter();
        let delayed = delays.map(|delay| self.inputs[delay.input]);
        self.inputs.iter().copied().chain(delayed).collect()
    }

    fn input(&self, index: usize) -> Input {
        Input {
            name: self.model.inputs[index].clone(),
            start: self.inputs[index],
            unit: self.input_units[index].clone(),
            uses_slope: self.model.uses_slope[index],
            affine: self.model.is_affine_in(index),
            delayed: self.model.delays.iter().any(|delay| delay.input == index),
            ..Input::default()
        }
    }

    fn output(&self, index: usize) -> Output {
        let dependencies = self.model.output_dependencies(index);
        Output {
            name: self.model.outputs[index].clone(),
            depends_on: dependencies.inputs,
            depends_on_slopes: dependencies.slopes,
            unit: self.output_units[index].clone(),
            ..Output::default()
        }
    }
}
