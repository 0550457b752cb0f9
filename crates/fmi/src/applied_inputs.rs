//! Inputs as they were last applied.

use dovetail_core::{Archive, Checkpoint, Error, Input, Signal, SignalKind};

/// Values and slopes of all inputs of a system.
#[derive(Clone)]
pub(crate) struct AppliedInputs {
    pub values: Vec<f64>,
    pub slopes: Vec<f64>,
}

impl AppliedInputs {
    /// At their start values.
    pub fn at_start(inputs: &[Input]) -> Self {
        Self {
            values: inputs.iter().map(|input| input.start).collect(),
            slopes: vec![0.0; inputs.len()],
        }
    }

    /// Notes them as they are after `elapsed`.
    pub fn note(&mut self, inputs: &[Signal], elapsed: f64) {
        take_values(&mut self.values, inputs, elapsed);
        self.note_slopes(inputs, elapsed);
    }

    /// Notes values that are held.
    pub fn note_held(&mut self, values: &[f64]) {
        self.values.copy_from_slice(values);
        self.slopes.fill(0.0);
    }

    pub fn note_slopes(&mut self, inputs: &[Signal], elapsed: f64) {
        for (slope, signal) in self.slopes.iter_mut().zip(inputs) {
            *slope = signal.derivative(1, elapsed);
        }
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.values.copy_from_slice(&other.values);
        self.slopes.copy_from_slice(&other.slopes);
    }

    /// Whether signals begin elsewhere.
    pub fn differ_from(&self, inputs: &[Signal]) -> bool {
        let mut pairs = inputs.iter().zip(&self.values);
        pairs.any(|(signal, value)| signal.value(0.0) != *value)
    }
}

impl Checkpoint for AppliedInputs {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.values)?;
        archive.slice(&mut self.slopes)
    }
}

/// The values of all inputs after `elapsed`.
#[inline]
pub(crate) fn take_values(values: &mut [f64], inputs: &[Signal], elapsed: f64) {
    for (value, signal) in values.iter_mut().zip(inputs) {
        *value = signal.value(elapsed);
    }
}

/// Whether an input that is declared discrete has another value after `elapsed` than the last one.
pub(crate) fn discrete_input_changes(
    declared: &[Input],
    last: &[f64],
    inputs: &[Signal],
    elapsed: f64,
) -> bool {
    let changes = |i: usize| is_discrete(&declared[i]) && inputs[i].value(elapsed) != last[i];
    (0..inputs.len()).any(changes)
}

fn is_discrete(input: &Input) -> bool {
    input.kind != SignalKind::Continuous
}
