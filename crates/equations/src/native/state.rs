//! Where a system is.

use dovetail_core::{Archive, Checkpoint, Error, MacroStep, Signal, visit_fields};
use dovetail_numerics::Hint;

use super::branches::Branches;
use super::definition::Definition;
use super::trail::Trail;

/// Where a system is.
#[derive(Clone)]
pub(super) struct NativeState {
    pub time: f64,
    /// A time on the same side of every switch: `time` itself after an instant, the start of the
    /// last segment after a step.
    pub side: f64,
    pub values: Vec<f64>,
    pub hint: Hint,
    pub branches: Branches,
    /// The inputs last applied, and their slopes.
    pub inputs: Vec<f64>,
    pub slopes: Vec<f64>,
}

impl NativeState {
    /// The start values of a definition.
    pub fn start(definition: &Definition, branches: Branches) -> Self {
        let inputs = definition.driving_inputs();
        Self {
            time: 0.0,
            side: 0.0,
            values: definition.states.clone(),
            hint: Hint::default(),
            branches,
            slopes: vec![0.0; inputs.len()],
            inputs,
        }
    }

    /// Room for a system in which nothing switches.
    pub fn blank(states: usize, inputs: usize) -> Self {
        Self {
            time: 0.0,
            side: 0.0,
            values: vec![0.0; states],
            hint: Hint::default(),
            branches: Branches::new(0, 0),
            slopes: vec![0.0; inputs],
            inputs: vec![0.0; inputs],
        }
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.side = other.side;
        self.hint = other.hint;
        self.values.copy_from_slice(&other.values);
        self.branches.copy_from(&other.branches);
    }
}

/// The end of a step that was tried, kept until it is taken: then it costs no integration.
pub(super) struct TriedNative {
    /// None once it has been taken, or given up.
    pub step: Option<MacroStep>,
    pub inputs: Vec<Signal>,
    pub end: NativeState,
    pub trail: Trail,
}

impl TriedNative {
    /// Room for the end of a step from `now` under so many inputs.
    pub fn new(now: &NativeState, inputs: usize) -> Self {
        Self {
            step: None,
            inputs: vec![Signal::constant(0.0); inputs],
            end: now.clone(),
            trail: Trail::default(),
        }
    }
}

impl Checkpoint for NativeState {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(
            archive,
            self.time,
            self.side,
            self.hint.stiff,
            self.hint.step
        );
        archive.slice(&mut self.values)?;
        archive.slice(&mut self.inputs)?;
        archive.slice(&mut self.slopes)?;

        self.branches.visit(archive)
    }
}

impl Checkpoint for TriedNative {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.end.visit(archive)?;
        archive.field(&mut self.step)?;
        archive.slice(&mut self.inputs)
    }
}
