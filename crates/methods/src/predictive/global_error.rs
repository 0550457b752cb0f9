//! An estimate of the error of the whole run, from the errors of its steps.
//!
//! Errors of states travel as small differences do: `ε' = A_c ε` with the matrix of all systems
//! coupled, `A_c = A + B Φᵀ (I − D Φᵀ)⁻¹ C`. Over a step `ε ← exp(h A_c) ε + e`, with the mean of
//! the blocks at both ends and the local error e. It is signed: the states plus ε are nearer to the
//! truth. Where trajectories separate exponentially it overestimates.

use std::collections::BTreeSet;

use dovetail_core::{Archive, Checkpoint, Connections, Error, visit_fields};

use super::coupled_blocks::BlockLayout;
use super::coupled_change::CoupledChange;
use super::coupled_exponential::CoupledExponential;
use super::coupled_operator::CoupledOperator;
use super::tuning::MOST_MEASURED;
use crate::coupling::Coupling;
use crate::initialization::algebraic_loops;
use crate::interface_system::{CoupledInput, InterfaceSystem};
use crate::ranges::Ranges;
use crate::row_product::row_product;

/// The estimate, with the operators that carry it on.
pub(super) struct GlobalError {
    layout: BlockLayout,
    /// `A_c` where the systems stand, the blocks where the step before began, and the mean of both.
    coupled: CoupledOperator,
    before: Vec<f64>,
    mean: CoupledOperator,
    exponential: CoupledExponential,
    changes: CoupledChange,
    /// By how much loops through feedthrough magnify what goes round in them: the largest diagonal
    /// entry of `(I − D Φᵀ)⁻¹`, which does not depend on units as its condition number does.
    pub magnification: f64,
    /// The coupling variables in loops, and the next one that is looked at.
    in_loops: Vec<usize>,
    next_in_loops: usize,
    /// ε of all states and of all outputs, stacked, and the largest so far.
    pub states: Vec<f64>,
    pub outputs: Vec<f64>,
    pub largest_states: Vec<f64>,
    pub largest_outputs: Vec<f64>,
    variables: Vec<f64>,
    next: Vec<f64>,
    /// Whether the estimate has left the numbers there are, and is none any more.
    pub lost: bool,
}

/// What a step has left in the states.
#[derive(Clone, Copy)]
pub(super) struct StepErrors<'a> {
    pub interpolation: &'a [f64],
    /// How many times it counts.
    pub times: f64,
    pub ends: &'a [f64],
}

impl GlobalError {
    /// No error yet, for these systems.
    pub fn new(
        connections: &Connections,
        coupling: &Coupling<'_>,
        interface_system: &InterfaceSystem,
    ) -> Self {
        let variables = coupling.variables.len();
        let layout = BlockLayout::new(interface_system, variables);
        let states = || vec![0.0; layout.states];
        let outputs = || vec![0.0; connections.outputs()];
        let loops: BTreeSet<usize> = algebraic_loops(connections).into_iter().flatten().collect();
        let is_in_loop = |c: &usize| loops.contains(&coupling.variables[*c].stacked);

        Self {
            coupled: CoupledOperator::new(&layout),
            before: vec![0.0; layout.numbers],
            mean: CoupledOperator::new(&layout),
            exponential: CoupledExponential::new(&layout),
            changes: CoupledChange::new(&layout),
            magnification: 1.0,
            in_loops: (0..variables).filter(is_in_loop).collect(),
            next_in_loops: 0,
            states: states(),
            outputs: outputs(),
            largest_states: states(),
            largest_outputs: outputs(),
            variables: vec![0.0; variables],
            next: states(),
            lost: false,
            layout,
        }
    }

    /// The systems stand elsewhere, or on the far side of an event.
    pub fn locate(&mut self, interface_system: &InterfaceSystem) {
        self.layout
            .copy(interface_system, &mut self.coupled.numbers);
        let other_loops = self.coupled.prepare(&self.layout);
        if other_loops {
            self.measure_loops();
        }
    }

    /// In large loops a part of the variables by turns: one step is much like the next.
    fn measure_loops(&mut self) {
        let count = self.in_loops.len().min(MOST_MEASURED);
        let mut largest: f64 = 0.0;

        for _ in 0..count {
            let variable = self.in_loops[self.next_in_loops];
            self.next_in_loops = (self.next_in_loops + 1) % self.in_loops.len();
            self.variables.fill(0.0);
            self.variables[variable] = 1.0;
            self.coupled.close_loops(&mut self.variables);
            largest = largest.max(self.variables[variable].abs());
        }
        if count > 0 {
            self.magnification = largest;
        }
    }

    /// A step begins where the systems stand.
    pub fn begin_step(&mut self) {
        self.before.copy_from_slice(&self.coupled.numbers);
    }

    /// By how much `A_c` has changed over a step of this size, in units of the ranges of the
    /// states.
    pub fn change(&mut self, size: f64, ranges: &Ranges) -> f64 {
        let ends = [&self.before[..], &self.coupled.numbers];
        self.changes.measure(&self.layout, ends, size, ranges)
    }

    /// The step is over, and the systems stand where they have been located; it has left these
    /// errors in the states. Systems by themselves have eigenvalues up to `rate`.
    pub fn carry(&mut self, size: f64, rate: f64, ranges: &Ranges, errors: StepErrors<'_>) {
        let operator = if self.before == self.coupled.numbers {
            &mut self.coupled
        } else {
            let ends = self.before.iter().zip(&self.coupled.numbers);
            for (mean, (before, now)) in self.mean.numbers.iter_mut().zip(ends) {
                *mean = 0.5 * (before + now);
            }
            self.mean.prepare(&self.layout);
            &mut self.mean
        };
        self.next.copy_from_slice(&self.states);
        self.exponential
            .apply(&self.layout, operator, [size, rate], ranges, &mut self.next);

        for (i, next) in self.next.iter_mut().enumerate() {
            *next += errors.times * errors.interpolation[i] + errors.ends[i];
        }

        self.lost |= self.next.iter().any(|e| !e.is_finite());
        if !self.lost {
            self.states.copy_from_slice(&self.next);
        }
    }

    /// The errors of the outputs follow from those of the states.
    pub fn estimate_outputs(
        &mut self,
        coupling: &Coupling<'_>,
        interface_system: &InterfaceSystem,
    ) {
        self.coupled
            .follow(&self.layout, &self.states, &mut self.variables);
        let mut first = 0;
        let mut places = self.outputs.iter_mut();

        for (system, here) in interface_system.linearizations().enumerate() {
            let states = &self.states[first..][..here.x.len()];
            let columns = &interface_system.columns[system];
            for (output, place) in (0..here.g.len()).zip(&mut places) {
                let by_input = |column: &CoupledInput| {
                    here.d[(output, column.input)] * self.variables[column.variable]
                };
                let by_inputs: f64 = columns.iter().map(by_input).sum();
                *place = row_product(&here.c, output, states) + by_inputs;
            }
            first += states.len();
        }

        for (variable, error) in coupling.variables.iter().zip(&self.variables) {
            self.outputs[variable.stacked] = *error;
        }

        keep_largest(&mut self.largest_states, &self.states);
        keep_largest(&mut self.largest_outputs, &self.outputs);
    }
}

/// What is the largest so far, in magnitude.
fn keep_largest(largest: &mut [f64], now: &[f64]) {
    for (largest, now) in largest.iter_mut().zip(now) {
        *largest = largest.max(now.abs());
    }
}

impl Checkpoint for GlobalError {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.magnification, self.next_in_loops);
        visit_fields!(archive, self.exponential.rate, self.lost);
        archive.slice(&mut self.coupled.numbers)?;
        archive.slice(&mut self.before)?;
        archive.slice(&mut self.states)?;
        archive.slice(&mut self.outputs)?;
        archive.slice(&mut self.largest_states)?;
        archive.slice(&mut self.largest_outputs)?;

        if archive.restores() {
            self.coupled.prepare(&self.layout);
        }
        Ok(())
    }
}
