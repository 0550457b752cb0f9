//! The derivatives of all systems: on intervals, as series, and their own derivatives.

use std::iter::zip;
use std::sync::Arc;

use dovetail_equations::{Evaluator, Program};

use super::jacobian::{Jacobian, SparseRow};
use super::majorant::Majorant;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::problem::Problem;
use crate::series::assumptions::Assumptions;
use crate::series::tape::{SeriesTape, tapes};

/// `f`, system by system.
pub(super) struct VectorField<'p> {
    problem: &'p Problem,
    /// Series over forms.
    pub forms: Vec<SeriesTape>,
    /// Series over intervals.
    pub intervals: Vec<SeriesTape>,
    evaluators: Vec<Evaluator<Interval>>,
    jacobian: Jacobian,
    /// The present switches.
    pub switches: Vec<Interval>,
}

impl<'p> VectorField<'p> {
    pub fn new(problem: &'p Problem, parameters: &[Interval], symbols: &[Option<usize>]) -> Self {
        let programs = &problem.programs;
        let forms = tapes(programs, parameters, Some(symbols));
        let evaluator = |program: &Arc<Program>| {
            Evaluator::new(Arc::clone(program), &Interval::ZERO, parameters)
        };

        Self {
            problem,
            jacobian: Jacobian::new(problem, &forms, parameters),
            forms,
            intervals: tapes(programs, parameters, None),
            evaluators: programs.iter().map(evaluator).collect(),
            switches: Vec::new(),
        }
    }

    fn systems(&self) -> usize {
        self.forms.len()
    }

    /// A system's derivatives on intervals.
    fn evaluate(&mut self, system: usize, time: Interval, boxes: &[Interval]) -> Vec<Interval> {
        let evaluator = &mut self.evaluators[system];
        evaluator.set_time(&time);
        evaluator.set_switches(&self.switches);
        evaluator.set_states(boxes);
        evaluator.results()
    }

    /// All derivatives over a box.
    pub fn slopes(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Interval> {
        (0..self.systems())
            .flat_map(|system| self.evaluate(system, time, boxes))
            .collect()
    }

    /// How derivatives depend on states, over a box.
    pub fn jacobian_over(&mut self, time: Interval, boxes: &[Interval]) -> Vec<SparseRow> {
        self.jacobian.over(time, &self.switches, boxes)
    }

    /// The majorant over a box.
    pub fn majorant_over(&mut self, time: Interval, boxes: &[Interval]) -> Majorant {
        Majorant::of(&self.jacobian_over(time, boxes))
    }

    /// How derivatives depend on each parameter that is not a point, over a box.
    pub fn jacobian_by_parameters(
        &mut self,
        time: Interval,
        boxes: &[Interval],
        parameters: &[Interval],
    ) -> Vec<(usize, Interval)> {
        let switches = &self.switches;
        self.jacobian
            .by_parameters(time, switches, boxes, parameters)
    }
}

/// Series over intervals.
impl VectorField<'_> {
    /// The largest magnitude of coefficient `order` of each derivative, where states have these
    /// series at `time`, and the assumptions of the series over forms hold.
    pub fn last_coefficients(
        &mut self,
        time: Interval,
        states: &[Vec<Interval>],
        order: usize,
    ) -> Vec<f64> {
        let mut magnitudes = Vec::with_capacity(states.len());
        for (tape, forms) in self.intervals.iter_mut().zip(&self.forms) {
            tape.begin(FormShape::NO_SYMBOLS, order + 1, time, &self.switches);
            tape.set_assumptions(forms.assumptions());
            (0..=order).for_each(|k| {
                tape.set_state_intervals(k, |state| states[state][k]);
                tape.compute(k);
            });
            magnitudes.extend(last_magnitudes(tape, order));
        }
        magnitudes
    }
}

/// The magnitudes of coefficient `order` of all results of a tape over intervals.
fn last_magnitudes(tape: &SeriesTape, order: usize) -> impl Iterator<Item = f64> {
    let ranges = (0..tape.results()).map(move |index| tape.result(index, order).plain_or_entire());
    ranges.map(Interval::magnitude)
}

/// What is assumed of a step.
impl VectorField<'_> {
    /// What a box and a span of time decide, for each system.
    pub fn assumptions_over(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Assumptions> {
        (0..self.systems())
            .map(|system| self.system_assumptions(system, time, boxes))
            .collect()
    }

    fn system_assumptions(
        &mut self,
        system: usize,
        time: Interval,
        boxes: &[Interval],
    ) -> Assumptions {
        if !self.forms[system].needs_assumptions() {
            return Assumptions::default();
        }

        self.evaluate(system, time, boxes);
        self.forms[system].assumptions_from(&self.evaluators[system])
    }

    /// What is assumed now, for each system.
    pub fn assumptions(&self) -> impl Iterator<Item = &Assumptions> {
        self.forms.iter().map(|tape| tape.assumptions())
    }

    /// Whether a box and a span of time decide every condition and jump.
    pub fn is_decided(&mut self, time: Interval, boxes: &[Interval]) -> bool {
        let assumptions = self.assumptions_over(time, boxes);
        zip(&self.forms, &assumptions).all(|(tape, assumed)| tape.is_decided_by(assumed))
    }

    /// Takes functions of time alone as constant, where that loses no more than `loss`.
    pub fn freeze(&mut self, span: Interval, boxes: &[Interval], loss: f64) {
        for system in 0..self.systems() {
            if self.forms[system].has_clock() {
                self.evaluate(system, span, boxes);
                self.forms[system].freeze(&self.evaluators[system], loss);
                self.intervals[system].freeze_like(&self.forms[system]);
            }
        }
    }

    /// Begins series over forms at `time`.
    pub fn begin_series(
        &mut self,
        shape: FormShape,
        capacity: usize,
        time: f64,
        assumptions: &[Assumptions],
    ) {
        for (tape, assumptions) in self.forms.iter_mut().zip(assumptions) {
            tape.begin(shape, capacity, Interval::point(time), &self.switches);
            tape.set_assumptions(assumptions);
        }
    }

    /// Why the derivative of a state is not finite: the system in which something is not decided,
    /// if that is it.
    pub fn undecided_system_of(&self, state: usize) -> Option<usize> {
        let mut systems = self.problem.systems.iter();
        let system = systems.position(|states| states.contains(&state));
        system.filter(|&system| self.forms[system].is_undecided())
    }
}
