//! Who feeds whom: the matrix Φ, kept as one source for each input.

use std::ops::Range;

use crate::interface::{Input, Interface, Output, SignalKind};
use crate::task::Task;

/// What feeds an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// An output, by its position among all outputs of all systems.
    Output(usize),
    /// A constant given in the model.
    Constant(f64),
}

impl Source {
    /// What it gives, where all systems have answered these outputs, stacked: numbers, knots, intervals.
    #[inline]
    pub fn pick<T: Copy + From<f64>>(&self, outputs: &[T]) -> T {
        match *self {
            Self::Output(output) => outputs[output],
            Self::Constant(value) => T::from(value),
        }
    }

    /// The output, if it is one.
    pub fn output(&self) -> Option<usize> {
        match *self {
            Self::Output(output) => Some(output),
            Self::Constant(_) => None,
        }
    }
}

/// The connections of a model, `u = Φᵀ y`: every input has one source, an output may feed many inputs.
///
/// Inputs and outputs of all systems are stacked in the order of the systems.
#[derive(Clone, Debug)]
pub struct Connections {
    interfaces: Vec<Interface>,
    sources: Vec<Source>,
    first_input: Vec<usize>,
    first_output: Vec<usize>,
    /// For each input whether it is held over a step.
    held: Vec<bool>,
    /// For each output whether it feeds such an input.
    feeds_held: Vec<bool>,
}

/// Positions at which each part starts, when parts of these lengths are stacked; the last entry is the total.
fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all = vec![0];
    for length in lengths {
        all.push(all[all.len() - 1] + length);
    }
    all
}

impl Connections {
    /// Connects systems with these interfaces; `sources` has one entry for each input, stacked.
    pub fn new(interfaces: Vec<Interface>, sources: Vec<Source>) -> Self {
        let first_input = offsets(interfaces.iter().map(|i| i.inputs.len()));
        let first_output = offsets(interfaces.iter().map(|i| i.outputs.len()));
        let outputs = first_output[interfaces.len()];
        assert_eq!(
            sources.len(),
            first_input[interfaces.len()],
            "BUG: one source for each input"
        );
        assert!(
            sources
                .iter()
                .all(|s| !matches!(s, Source::Output(j) if *j >= outputs)),
            "BUG: a source that does not exist"
        );
        let mut connections = Self {
            interfaces,
            sources,
            first_input,
            first_output,
            held: Vec::new(),
            feeds_held: vec![false; outputs],
        };
        connections.held = connections.find_held();
        for (source, held) in connections.sources.iter().zip(&connections.held) {
            if let Some(output) = source.output().filter(|_| *held) {
                connections.feeds_held[output] = true;
            }
        }

        connections
    }

    fn find_held(&self) -> Vec<bool> {
        let inputs = self
            .interfaces
            .iter()
            .flat_map(|interface| &interface.inputs);
        let held = |(input, source): (&Input, &Source)| {
            let fed = matches!(source, Source::Output(output) if self.output(*output).kind != SignalKind::Continuous);
            fed || input.kind != SignalKind::Continuous
        };
        inputs.zip(&self.sources).map(held).collect()
    }

    /// The systems' interfaces.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// How many systems there are.
    pub fn systems(&self) -> usize {
        self.interfaces.len()
    }

    /// How many inputs all systems have together.
    pub fn inputs(&self) -> usize {
        self.sources.len()
    }

    /// How many outputs all systems have together.
    pub fn outputs(&self) -> usize {
        self.first_output[self.systems()]
    }

    /// Positions of the inputs of `system` among all inputs.
    #[inline]
    pub fn inputs_of(&self, system: usize) -> Range<usize> {
        self.first_input[system]..self.first_input[system + 1]
    }

    /// Positions of the outputs of `system` among all outputs.
    #[inline]
    pub fn outputs_of(&self, system: usize) -> Range<usize> {
        self.first_output[system]..self.first_output[system + 1]
    }

    /// The source of each input, stacked.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The system that owns `output` (a stacked position).
    pub fn owner(&self, output: usize) -> usize {
        self.first_output.partition_point(|&first| first <= output) - 1
    }

    /// `system.name` of an output (a stacked position).
    pub fn output_name(&self, output: usize) -> String {
        self.interfaces[self.owner(output)].qualified(&self.output(output).name)
    }

    /// An output (a stacked position).
    pub fn output(&self, output: usize) -> &Output {
        let system = self.owner(output);
        &self.interfaces[system].outputs[output - self.first_output[system]]
    }

    /// Whether an input (a stacked position) keeps the value that its source has at the start of a step: where the source jumps from
    /// value to value, or the input takes such values only. All other inputs follow their sources in the course of a step.
    pub fn is_held(&self, input: usize) -> bool {
        self.held[input]
    }

    /// Whether `output` (a stacked position) is the source of an input that is held.
    pub fn feeds_held(&self, output: usize) -> bool {
        self.feeds_held[output]
    }

    /// `u = Φᵀ y` for one input (a stacked position): numbers, knots, intervals.
    pub fn feed<T: Copy + From<f64>>(&self, input: usize, outputs: &[T]) -> T {
        self.sources[input].pick(outputs)
    }

    /// `u = Φᵀ y` for all inputs.
    pub fn dispatch<T: Copy + From<f64>>(&self, outputs: &[T], inputs: &mut [T]) {
        for (fed, source) in inputs.iter_mut().zip(&self.sources) {
            *fed = source.pick(outputs);
        }
    }

    /// One task for each system, asking for so many derivatives of its outputs.
    pub fn tasks(&self, derivatives: usize) -> Vec<Task> {
        self.interfaces
            .iter()
            .enumerate()
            .map(|(k, i)| Task::new(k, i, derivatives))
            .collect()
    }

    /// For each output (stacked) whether all that depends on it is affine in it: the inputs that it
    /// feeds and, through feedthrough, those behind them.
    pub fn used_affinely(&self) -> Vec<bool> {
        let mut affine = vec![true; self.outputs()];
        let mut spoilt = Vec::new();

        for (system, interface) in self.interfaces.iter().enumerate() {
            for (input, source) in self.inputs_of(system).zip(&interface.inputs) {
                if let Some(output) = self.sources[input].output()
                    && !source.affine
                {
                    spoilt.push(output);
                }
            }
        }

        while let Some(output) = spoilt.pop() {
            if !std::mem::replace(&mut affine[output], false) {
                continue;
            }
            let system = self.owner(output);
            let position = output - self.outputs_of(system).start;
            let first = self.inputs_of(system).start;
            let depends_on = &self.interfaces[system].outputs[position].depends_on;
            let behind = depends_on.iter().map(|input| self.sources[first + input]);
            spoilt.extend(behind.filter_map(|source| source.output()));
        }
        affine
    }

    /// The systems that feed `system`, itself included where it feeds itself; sorted, each once.
    pub fn feeders(&self, system: usize) -> Vec<usize> {
        let mut all: Vec<usize> = self.sources[self.inputs_of(system)]
            .iter()
            .filter_map(|source| match source {
                Source::Output(output) => Some(self.owner(*output)),
                Source::Constant(_) => None,
            })
            .collect();
        all.sort_unstable();
        all.dedup();

        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{Input, Output};

    fn interface(name: &str, inputs: usize, outputs: usize) -> Interface {
        Interface {
            name: name.into(),
            inputs: (0..inputs)
                .map(|i| Input {
                    name: format!("u{i}"),
                    ..Input::default()
                })
                .collect(),
            outputs: (0..outputs)
                .map(|j| Output {
                    name: format!("y{j}"),
                    ..Output::default()
                })
                .collect(),
            states: vec![].into(),
        }
    }

    #[test]
    fn an_output_feeds_many_inputs_and_a_constant_one() {
        let systems = vec![
            interface("a", 1, 2),
            interface("empty", 0, 0),
            interface("b", 3, 1),
        ];
        let sources = vec![
            Source::Output(2),
            Source::Output(1),
            Source::Output(1),
            Source::Constant(7.0),
        ];
        let connections = Connections::new(systems, sources);
        let mut inputs = [0.0; 4];
        connections.dispatch(&[10.0, 20.0, 30.0], &mut inputs);
        assert_eq!(inputs, [30.0, 20.0, 20.0, 7.0]);
        assert_eq!(connections.owner(2), 2);
        assert_eq!(connections.output_name(1), "a.y1");
        assert_eq!(connections.feeders(2), [0]);
        assert_eq!(connections.inputs_of(2), 1..4);
        assert!(connections.outputs_of(1).is_empty());
    }

    #[test]
    fn what_jumps_is_held_on_either_side_of_a_connection() {
        let (mut a, mut b) = (interface("a", 0, 3), interface("b", 4, 0));
        a.outputs[1].kind = SignalKind::Discrete;
        a.outputs[2].kind = SignalKind::Text;
        b.inputs[3].kind = SignalKind::Discrete;
        let sources = vec![
            Source::Output(0),
            Source::Output(1),
            Source::Output(2),
            Source::Output(0),
        ];
        let connections = Connections::new(vec![a, b], sources);
        assert_eq!(
            [0, 1, 2, 3].map(|input| connections.is_held(input)),
            [false, true, true, true]
        );
    }
}
