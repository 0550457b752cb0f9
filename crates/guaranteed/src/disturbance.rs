//! Inputs that may be anything within bounds at every instant.
//!
//! A disturbance is a parameter without a symbol. All that is computed about a step is computed for each instant by
//! itself: for every value that the parameter may have then, and never as if it kept that value. So whatever it does
//! from one instant to the next is covered. That is not so where something is differentiated along time: the slope of
//! an input, or the unknowns of a nonlinear loop, which are refused.

use dovetail_core::{Connections, Interface, Source, list_names};
use dovetail_equations::{Definition, Leaf, Model, leaves};

use crate::loops::Eliminated;
use crate::problem::{Additions, Boxes};
use crate::refusal::ProblemError;

/// The name of the system that disturbances are the outputs of.
const NAME: &str = "disturbances";

/// A model with one system more, whose outputs are the disturbances.
pub(crate) struct DisturbedModel {
    pub definitions: Vec<Definition>,
    pub boxes: Vec<Boxes>,
    pub connections: Connections,
    count: usize,
}

impl DisturbedModel {
    pub fn new(
        definitions: &[Definition],
        boxes: &[Boxes],
        connections: &Connections,
        additions: &Additions,
    ) -> Result<Self, ProblemError> {
        let mut disturbed = Self {
            definitions: definitions.to_vec(),
            boxes: boxes.to_vec(),
            connections: connections.clone(),
            count: additions.disturbances.len(),
        };
        if disturbed.count == 0 {
            return Ok(disturbed);
        }

        let inputs: Vec<usize> = additions.disturbances.iter().map(|d| d.input).collect();
        refuse_slopes(connections, &inputs)?;
        let definition = definition(&additions.disturbances);
        let mut interfaces = connections.interfaces().to_vec();
        let mut sources = connections.sources().to_vec();
        for (position, &input) in inputs.iter().enumerate() {
            sources[input] = Source::Output(connections.outputs() + position);
        }
        interfaces.push(definition.interface());
        disturbed.connections = Connections::new(interfaces, sources);
        disturbed.boxes.push(Boxes {
            states: Vec::new(),
            parameters: additions.disturbances.iter().map(|d| d.range).collect(),
        });
        disturbed.definitions.push(definition);
        Ok(disturbed)
    }

    /// For each of all parameters whether it is a disturbance: they are the last ones.
    pub fn parameters(&self, all: usize) -> Vec<bool> {
        (0..all).map(|index| index >= all - self.count).collect()
    }
}

/// A system without states whose outputs are its parameters.
fn definition(disturbances: &[crate::problem::Disturbance]) -> Definition {
    let names: Vec<String> = (0..disturbances.len()).map(|k| format!("d{k}")).collect();
    let outputs: Vec<String> = (0..disturbances.len()).map(|k| format!("y{k}")).collect();
    let model = Model::parse(&dovetail_equations::Source {
        parameters: names.iter().map(String::as_str).collect(),
        outputs: outputs
            .iter()
            .zip(&names)
            .map(|(output, name)| (output.as_str(), name.as_str()))
            .collect(),
        ..dovetail_equations::Source::default()
    });
    let model = model.expect("BUG: the equations of disturbances are correct");
    let middles = disturbances.iter().map(|d| d.range.middle()).collect();
    Definition::new(NAME, model, middles, Vec::new(), Vec::new())
}

/// The slope of what depends directly on a disturbance does not exist.
fn refuse_slopes(connections: &Connections, disturbed: &[usize]) -> Result<(), ProblemError> {
    let mut disturbed_inputs = vec![false; connections.inputs()];
    for &input in disturbed {
        disturbed_inputs[input] = true;
    }

    loop {
        let before = disturbed_inputs.clone();
        for system in 0..connections.systems() {
            let interface = &connections.interfaces()[system];
            let first = connections.inputs_of(system).start;
            for (position, output) in interface.outputs.iter().enumerate() {
                let on = output.depends_on.iter().chain(&output.depends_on_slopes);
                if on.into_iter().any(|input| disturbed_inputs[first + input]) {
                    let output = connections.outputs_of(system).start + position;
                    feed(connections, output, &mut disturbed_inputs);
                }
            }
            refuse_slope_of(interface, &disturbed_inputs[connections.inputs_of(system)])?;
        }
        if before == disturbed_inputs {
            return Ok(());
        }
    }
}

fn feed(connections: &Connections, output: usize, disturbed: &mut [bool]) {
    for (input, source) in connections.sources().iter().enumerate() {
        disturbed[input] |= *source == Source::Output(output);
    }
}

fn refuse_slope_of(interface: &Interface, disturbed: &[bool]) -> Result<(), ProblemError> {
    let inputs = interface.inputs.iter().zip(disturbed);
    for (input, disturbed) in inputs {
        if *disturbed && input.uses_slope {
            return Err(ProblemError::DisturbedSlope {
                input: interface.qualified(&input.name),
            });
        }
    }
    Ok(())
}

/// The unknowns of nonlinear loops are differentiated along time.
pub(crate) fn refuse_in_loops(
    eliminated: &Eliminated,
    disturbed: &[bool],
) -> Result<(), ProblemError> {
    let Some(loops) = &eliminated.loops else {
        return Ok(());
    };
    for &residual in &loops.residuals {
        for leaf in leaves(&eliminated.graph, residual) {
            if matches!(leaf, Leaf::Parameter(index) if disturbed[index as usize]) {
                return Err(ProblemError::DisturbedLoop {
                    variables: list_names(&loops.unknowns),
                });
            }
        }
    }
    Ok(())
}
