//! The derivatives of one system on intervals.

use std::ops::Range;
use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Leaf, leaves};

use crate::interval::Interval;
use crate::problem::Problem;
use crate::series::assumptions::Assumptions;
use crate::series::tape::SeriesTape;

/// `f` of one system, `x' = f(t, x, w)`: its own states `x`, and as inputs `w` those states of others that it depends
/// on.
pub(super) struct Field {
    /// Its states among all.
    pub own: Range<usize>,
    /// Its inputs among all states.
    pub foreign: Vec<usize>,
    values: Evaluator<Interval>,
    slopes: Evaluator<Dual<Interval>>,
    /// All states, of which only those it depends on are set.
    states: Vec<Interval>,
    time: Interval,
    switches: Vec<Interval>,
    /// Whether slopes depend on conditions on time alone; then the last ones are kept.
    affine: bool,
    kept: Option<(Vec<Interval>, FieldJacobian)>,
}

/// Slopes over a box, row by row.
#[derive(Clone, Debug)]
pub(super) struct FieldJacobian {
    /// By the system's own states.
    pub own: Vec<Vec<Interval>>,
    /// By its inputs.
    pub foreign: Vec<Vec<Interval>>,
}

impl Field {
    pub fn new(problem: &Problem, system: usize) -> Self {
        let own = problem.systems[system].clone();
        let program = problem.program(system);
        let used = problem.derivatives[own.clone()]
            .iter()
            .flat_map(|&root| leaves(&problem.graph, root));
        let mut foreign: Vec<usize> = used
            .filter_map(|leaf| match leaf {
                Leaf::State(index) => Some(index as usize).filter(|index| !own.contains(index)),
                _ => None,
            })
            .collect();
        foreign.sort_unstable();
        foreign.dedup();
        let duals: Vec<Dual<Interval>> = problem
            .parameters
            .iter()
            .map(|&p| Dual::constant(p))
            .collect();
        Self {
            own,
            foreign,
            values: Evaluator::new(Arc::clone(&program), &Interval::ZERO, &problem.parameters),
            slopes: Evaluator::new(program, &Dual::constant(Interval::ZERO), &duals),
            states: vec![Interval::ZERO; problem.dimension()],
            time: Interval::ZERO,
            switches: Vec::new(),
            affine: problem.affine,
            kept: None,
        }
    }

    /// Sets everything but the system's own states: times, conditions on time, and the boxes of its inputs.
    pub fn place(&mut self, time: Interval, switches: &[Interval], inputs: &[Interval]) {
        self.time = time;
        self.switches.clear();
        self.switches.extend_from_slice(switches);
        self.values.set_time(&time);
        self.values.set_switches(switches);
        for (&state, &input) in self.foreign.iter().zip(inputs) {
            self.states[state] = input;
        }
    }

    /// All derivatives that states in `own` can have.
    pub fn rates(&mut self, own: &[Interval]) -> Vec<Interval> {
        self.states[self.own.clone()].copy_from_slice(own);
        self.values.set_states(&self.states);
        let mut rates = vec![Interval::ZERO; self.own.len()];
        self.values.run(&mut rates);
        rates
    }

    /// What decides conditions, kinks and jumps while states are in `own`.
    pub fn assumptions(&mut self, tape: &SeriesTape, own: &[Interval]) -> Assumptions {
        self.rates(own);
        tape.assumptions_from(&self.values)
    }

    /// All slopes that states in `own` can have.
    pub fn jacobian(&mut self, own: &[Interval]) -> FieldJacobian {
        if let Some((switches, jacobian)) = &self.kept
            && *switches == self.switches
        {
            return jacobian.clone();
        }
        let jacobian = self.differentiate(own);
        if self.affine {
            self.kept = Some((self.switches.clone(), jacobian.clone()));
        }
        jacobian
    }

    fn differentiate(&mut self, own: &[Interval]) -> FieldJacobian {
        self.states[self.own.clone()].copy_from_slice(own);
        let mut states: Vec<Dual<Interval>> =
            self.states.iter().map(|&x| Dual::constant(x)).collect();
        let switches: Vec<Dual<Interval>> =
            self.switches.iter().map(|&s| Dual::constant(s)).collect();
        self.slopes.set_time(&Dual::constant(self.time));
        self.slopes.set_switches(&switches);
        let mut results = vec![Dual::constant(Interval::ZERO); self.own.len()];
        let mut column = |state: usize| {
            states[state].derivative = Interval::ONE;
            self.slopes.set_states(&states);
            self.slopes.run(&mut results);
            states[state].derivative = Interval::ZERO;
            results
                .iter()
                .map(|result| result.derivative)
                .collect::<Vec<_>>()
        };
        let own: Vec<Vec<Interval>> = self.own.clone().map(&mut column).collect();
        let foreign: Vec<Vec<Interval>> = self.foreign.iter().map(|&state| column(state)).collect();
        let count = self.own.len();
        FieldJacobian {
            own: transposed(&own, count),
            foreign: transposed(&foreign, count),
        }
    }
}

fn transposed(columns: &[Vec<Interval>], rows: usize) -> Vec<Vec<Interval>> {
    (0..rows)
        .map(|row| columns.iter().map(|column| column[row]).collect())
        .collect()
}
