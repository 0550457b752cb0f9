//! The derivatives of one system on intervals.

use std::ops::Range;
use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator};

use crate::duals::constants;
use crate::interval::Interval;
use crate::series::assumptions::Assumptions;
use crate::series::tape::SeriesTape;
use crate::system_part::{ProblemPart, SystemPart};

/// `f` of one system, `x' = f(t, x, w)`: its own states `x`, and as inputs `w` those states of
/// others that it depends on.
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
    kept: Option<KeptJacobian>,
}

/// Slopes over a box, row by row.
#[derive(Clone, Debug)]
pub(super) struct FieldJacobian {
    /// By the system's own states.
    pub own: Vec<Vec<Interval>>,
    /// By its inputs.
    pub foreign: Vec<Vec<Interval>>,
}

/// Slopes that are kept, with the conditions on time that they belong to.
struct KeptJacobian {
    switches: Vec<Interval>,
    jacobian: FieldJacobian,
}

impl Field {
    pub fn new(part: &ProblemPart, system: &SystemPart) -> Self {
        let program = &system.program;
        let parameters = &part.parameters;
        let zero = Dual::constant(Interval::ZERO);

        Self {
            foreign: system.foreign.clone(),
            own: system.states.clone(),
            values: Evaluator::new(Arc::clone(program), &Interval::ZERO, parameters),
            slopes: Evaluator::new(Arc::clone(program), &zero, &constants(parameters)),
            states: vec![Interval::ZERO; part.dimension],
            time: Interval::ZERO,
            switches: Vec::new(),
            affine: part.affine,
            kept: None,
        }
    }

    /// Sets everything but the system's own states: times, conditions on time, and the boxes of its
    /// inputs.
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
        self.values.results()
    }

    /// What decides conditions, kinks and jumps while states are in `own`.
    pub fn assumptions(&mut self, tape: &SeriesTape, own: &[Interval]) -> Assumptions {
        self.rates(own);
        tape.assumptions_from(&self.values)
    }

    /// All slopes that states in `own` can have.
    pub fn jacobian(&mut self, own: &[Interval]) -> FieldJacobian {
        if let Some(kept) = &self.kept
            && kept.switches == self.switches
        {
            return kept.jacobian.clone();
        }

        let jacobian = self.differentiate(own);
        if self.affine {
            self.kept = Some(KeptJacobian {
                switches: self.switches.clone(),
                jacobian: jacobian.clone(),
            });
        }
        jacobian
    }

    fn differentiate(&mut self, own: &[Interval]) -> FieldJacobian {
        self.states[self.own.clone()].copy_from_slice(own);
        self.slopes.set_time(&Dual::constant(self.time));
        self.slopes.set_switches(&constants(&self.switches));
        let rows = self.own.len();
        let own: Vec<usize> = self.own.clone().collect();
        let foreign = self.foreign.clone();

        FieldJacobian {
            own: transposed(&self.slopes_by(&own), rows),
            foreign: transposed(&self.slopes_by(&foreign), rows),
        }
    }

    /// All slopes by each of these states, column by column.
    fn slopes_by(&mut self, by: &[usize]) -> Vec<Vec<Interval>> {
        let mut states = constants(&self.states);
        let mut results = vec![Dual::constant(Interval::ZERO); self.own.len()];
        let mut column = |state: usize| {
            states[state].derivative = Interval::ONE;
            self.slopes.set_states(&states);
            self.slopes.run(&mut results);
            states[state].derivative = Interval::ZERO;
            results.iter().map(|result| result.derivative).collect()
        };

        by.iter().map(|&state| column(state)).collect()
    }
}

fn transposed(columns: &[Vec<Interval>], rows: usize) -> Vec<Vec<Interval>> {
    let row = |row: usize| columns.iter().map(|column| column[row]).collect();
    (0..rows).map(row).collect()
}
