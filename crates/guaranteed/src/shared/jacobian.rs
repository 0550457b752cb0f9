//! How the derivatives of all systems depend on states and parameters, on intervals.

use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Program};

use crate::duals::constants;
use crate::interval::Interval;
use crate::problem::Problem;
use crate::series::tape::SeriesTape;

/// The entries of a row that are not zero, as `(column, range)`.
pub(super) type SparseRow = Vec<(usize, Interval)>;

/// Derivatives of all systems on intervals.
pub(super) struct Jacobian {
    systems: Vec<SystemJacobian>,
    parameters: Vec<Dual<Interval>>,
}

/// Those of one system.
struct SystemJacobian {
    evaluator: Evaluator<Dual<Interval>>,
    /// The states that the program depends on.
    leaves: Vec<usize>,
    results: Vec<Dual<Interval>>,
    states: Vec<Dual<Interval>>,
}

impl Jacobian {
    /// For the states that the tapes of all systems use.
    pub fn new(problem: &Problem, tapes: &[SeriesTape], parameters: &[Interval]) -> Self {
        let parameters = constants(parameters);
        let dimension = problem.dimension();
        let system = |(program, tape): (&Arc<Program>, &SeriesTape)| {
            SystemJacobian::new(program, tape, &parameters, dimension)
        };

        Self {
            systems: problem.programs.iter().zip(tapes).map(system).collect(),
            parameters,
        }
    }

    /// The entries over a box, row by row.
    pub fn over(
        &mut self,
        time: Interval,
        switches: &[Interval],
        states: &[Interval],
    ) -> Vec<SparseRow> {
        let switches = constants(switches);
        let mut rows = Vec::new();

        for system in &mut self.systems {
            system.evaluator.set_time(&Dual::constant(time));
            system.evaluator.set_switches(&switches);
            rows.extend(system.rows(states));
        }
        rows
    }

    /// How the derivatives of all states vary with each parameter that is not a point: the hull of
    /// its effects.
    pub fn by_parameters(
        &mut self,
        time: Interval,
        switches: &[Interval],
        states: &[Interval],
        parameters: &[Interval],
    ) -> Vec<(usize, Interval)> {
        let open = (0..parameters.len()).filter(|&index| !parameters[index].is_point());
        let mut effects: SparseRow = open.map(|index| (index, Interval::ZERO)).collect();
        if effects.is_empty() {
            return effects;
        }

        let switches = constants(switches);
        let states = constants(states);
        let mut varied = constants(parameters);

        for system in &mut self.systems {
            system.evaluator.set_time(&Dual::constant(time));
            system.evaluator.set_switches(&switches);
            system.evaluator.set_states(&states);
            for (index, effect) in &mut effects {
                varied[*index].derivative = Interval::ONE;
                *effect = system.effect_of(&varied, *effect);
                varied[*index].derivative = Interval::ZERO;
            }
            system.evaluator.set_parameters(&self.parameters);
        }
        effects
    }
}

impl SystemJacobian {
    fn new(
        program: &Arc<Program>,
        tape: &SeriesTape,
        parameters: &[Dual<Interval>],
        dimension: usize,
    ) -> Self {
        let zero = Dual::constant(Interval::ZERO);
        Self {
            evaluator: Evaluator::new(Arc::clone(program), &zero, parameters),
            leaves: tape.states().map(|(state, _)| state).collect(),
            results: vec![zero; program.results()],
            states: vec![zero; dimension],
        }
    }

    /// The rows of the system's states over a box.
    fn rows(&mut self, states: &[Interval]) -> Vec<SparseRow> {
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

    /// The hull of `effect` and of what parameters that vary like this do to the system's states.
    fn effect_of(&mut self, parameters: &[Dual<Interval>], effect: Interval) -> Interval {
        self.evaluator.set_parameters(parameters);
        self.evaluator.run(&mut self.results);
        let results = self.results.iter();
        results.fold(effect, |hull, result| hull.hull(result.derivative))
    }
}
