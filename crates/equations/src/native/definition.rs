//! A model with its numbers.

use std::sync::Arc;

use dovetail_core::{Input, Interface, Output};

use crate::Model;

/// A system of a coupled model: equations, parameters, start values.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The system's name.
    pub name: String,
    /// Its equations.
    pub model: Arc<Model>,
    /// Values of the parameters.
    pub parameters: Vec<f64>,
    /// Start values of the states.
    pub states: Vec<f64>,
    /// Start values of the inputs: first guesses for initialisation.
    pub inputs: Vec<f64>,
    /// Units of the inputs, where they are given.
    pub input_units: Vec<Option<String>>,
    /// Units of the outputs, where they are given.
    pub output_units: Vec<Option<String>>,
    /// Relative tolerance of the integrator.
    pub tolerance: f64,
}

impl Definition {
    /// A definition without units, at the default tolerance.
    pub fn new(
        name: &str,
        model: Model,
        parameters: Vec<f64>,
        states: Vec<f64>,
        inputs: Vec<f64>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            input_units: vec![None; model.inputs.len()],
            output_units: vec![None; model.outputs.len()],
            model: Arc::new(model),
            parameters,
            states,
            inputs,
            tolerance: 1e-10,
        }
    }

    /// The system's face. Feedthrough is that of the equations' structure.
    pub fn interface(&self) -> Interface {
        let inputs = self
            .model
            .inputs
            .iter()
            .zip(&self.inputs)
            .zip(&self.input_units)
            .zip(&self.model.uses_slope);
        let outputs = self
            .model
            .outputs
            .iter()
            .zip(&self.output_units)
            .enumerate();
        Interface {
            name: self.name.clone(),
            inputs: inputs
                .map(|(((name, &start), unit), &uses_slope)| Input {
                    name: name.clone(),
                    start,
                    unit: unit.clone(),
                    uses_slope,
                    ..Input::default()
                })
                .collect(),
            outputs: outputs
                .map(|(j, (name, unit))| Output {
                    name: name.clone(),
                    depends_on: self.model.output_dependencies(j).inputs,
                    depends_on_slopes: self.model.output_dependencies(j).slopes,
                    unit: unit.clone(),
                    ..Output::default()
                })
                .collect(),
            states: self.model.states.clone(),
        }
    }
}
