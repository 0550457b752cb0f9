//! How the derivatives of a system depend on states and parameters, on intervals.

use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator};

use crate::duals::constants;
use crate::interval::Interval;
use crate::series::tape::SeriesTape;
use crate::system_part::SystemPart;

/// The entries of a row that are not zero, as `(column, range)`.
pub(super) type SparseRow = Vec<(usize, Interval)>;

/// Derivatives of one system's derivatives.
pub(super) struct SystemJacobian {
    evaluator: Evaluator<Dual<Interval>>,
    /// The states that the program depends on.
    leaves: Vec<usize>,
    results: Vec<Dual<Interval>>,
    states: Vec<Dual<Interval>>,
    parameters: Vec<Dual<Interval>>,
}

impl SystemJacobian {
    /// For the states that the tape of the system uses, of `dimension` states of all systems.
    pub fn new(
        system: &SystemPart,
        tape: &SeriesTape,
        parameters: &[Interval],
        dimension: usize,
    ) -> Self {
        let zero = Dual::constant(Interval::ZERO);
        let parameters = constants(parameters);
        Self {
            evaluator: Evaluator::new(Arc::clone(&system.program), &zero, &parameters),
            leaves: tape.states().map(|(state, _)| state).collect(),
            results: vec![zero; system.program.results()],
            states: vec![zero; dimension],
            parameters,
        }
    }

    /// Sets times and the conditions on them.
    pub fn place(&mut self, time: Interval, switches: &[Interval]) {
        self.evaluator.set_time(&Dual::constant(time));
        self.evaluator.set_switches(&constants(switches));
    }

    /// The rows of the system's states over a box.
    pub fn rows(&mut self, states: &[Interval]) -> Vec<SparseRow> {
        for (dual, &state) in self.states.iter_mut().zip(states) {
            *dual = Dual::constant(state);
        }

        let mut rows = vec![SparseRow::new(); self.results.len()];
        for &leaf in &self.leaves {
            self.states[leaf].derivative = Interval::ONE;
            self.evaluator.set_states(&self.states);
            self.evaluator.run(&mut self.results);
            self.states[leaf].derivative = Interval::ZERO;
            for (row, result) in rows.iter_mut().zip(&self.results) {
                if result.derivative != Interval::ZERO {
                    row.push((leaf, result.derivative));
                }
            }
        }
        rows
    }

    /// Widens `effects`, of some `parameters`, by what each of them does to the system's states
    /// over a box.
    pub fn add_effects(
        &mut self,
        states: &[Interval],
        parameters: &[Interval],
        effects: &mut SparseRow,
    ) {
        let mut varied = constants(parameters);
        self.evaluator.set_states(&constants(states));

        for (index, effect) in effects {
            varied[*index].derivative = Interval::ONE;
            self.evaluator.set_parameters(&varied);
            self.evaluator.run(&mut self.results);
            varied[*index].derivative = Interval::ZERO;
            let results = self.results.iter();
            *effect = results.fold(*effect, |hull, result| hull.hull(result.derivative));
        }
        self.evaluator.set_parameters(&self.parameters);
    }
}
