//! The derivatives of the systems of one place: on intervals, as series, and their own derivatives.

use std::iter::zip;
use std::ops::Range;
use std::sync::Arc;

use dovetail_equations::Evaluator;

use super::jacobian::{SparseRow, SystemJacobian};
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::series::assumptions::Assumptions;
use crate::series::tape::{Coefficient, SeriesTape};
use crate::system_part::{ProblemPart, SystemPart};

/// `f` of some systems, one after the other. Boxes and series are those of all states.
pub(super) struct SystemFields {
    systems: Vec<SystemField>,
    /// The present switches.
    pub switches: Vec<Interval>,
}

/// `f` of one system.
struct SystemField {
    states: Range<usize>,
    /// Series over forms.
    forms: SeriesTape,
    /// Series over intervals.
    intervals: SeriesTape,
    evaluator: Evaluator<Interval>,
    jacobian: SystemJacobian,
}

impl SystemField {
    fn new(
        system: &SystemPart,
        dimension: usize,
        parameters: &[Interval],
        symbols: &[Option<usize>],
    ) -> Self {
        let program = &system.program;
        let forms = SeriesTape::new(program, parameters, Some(symbols));

        Self {
            states: system.states.clone(),
            jacobian: SystemJacobian::new(system, &forms, parameters, dimension),
            forms,
            intervals: SeriesTape::new(program, parameters, None),
            evaluator: Evaluator::new(Arc::clone(program), &Interval::ZERO, parameters),
        }
    }

    /// The derivatives on intervals.
    fn evaluate(
        &mut self,
        time: Interval,
        switches: &[Interval],
        boxes: &[Interval],
    ) -> Vec<Interval> {
        self.evaluator.set_time(&time);
        self.evaluator.set_switches(switches);
        self.evaluator.set_states(boxes);
        self.evaluator.results()
    }

    fn assumptions_over(
        &mut self,
        time: Interval,
        switches: &[Interval],
        boxes: &[Interval],
    ) -> Assumptions {
        if !self.forms.needs_assumptions() {
            return Assumptions::default();
        }

        self.evaluate(time, switches, boxes);
        self.forms.assumptions_from(&self.evaluator)
    }

    /// The magnitudes of coefficient `order` of all derivatives, where states have these series.
    fn last_coefficients(
        &mut self,
        time: Interval,
        switches: &[Interval],
        states: &[Vec<Interval>],
        order: usize,
    ) -> impl Iterator<Item = f64> {
        let tape = &mut self.intervals;
        tape.begin(FormShape::NO_SYMBOLS, order + 1, time, switches);
        tape.set_assumptions(self.forms.assumptions());
        (0..=order).for_each(|k| {
            tape.set_state_intervals(k, |state| states[state][k]);
            tape.compute(k);
        });

        let result = move |index| tape.result(index, order).plain_or_entire();
        (0..self.states.len()).map(result).map(Interval::magnitude)
    }
}

impl SystemFields {
    /// Those of all systems of a part, in which `symbols` has the primary symbol of each parameter
    /// that has one.
    pub fn new(part: &ProblemPart, parameters: &[Interval], symbols: &[Option<usize>]) -> Self {
        let systems = part.systems.iter();
        let field = |system| SystemField::new(system, part.dimension, parameters, symbols);
        Self {
            systems: systems.map(field).collect(),
            switches: Vec::new(),
        }
    }

    /// All derivatives over a box.
    pub fn slopes(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Interval> {
        let switches = &self.switches;
        let systems = self.systems.iter_mut();
        systems
            .flat_map(|system| system.evaluate(time, switches, boxes))
            .collect()
    }

    /// How derivatives depend on states, over a box.
    pub fn jacobian_over(&mut self, time: Interval, boxes: &[Interval]) -> Vec<SparseRow> {
        let mut rows = Vec::new();
        for system in &mut self.systems {
            system.jacobian.place(time, &self.switches);
            rows.extend(system.jacobian.rows(boxes));
        }
        rows
    }

    /// How derivatives depend on each parameter that is not a point, over a box: the hull of its
    /// effects.
    pub fn jacobian_by_parameters(
        &mut self,
        time: Interval,
        boxes: &[Interval],
        parameters: &[Interval],
    ) -> SparseRow {
        let open = (0..parameters.len()).filter(|&index| !parameters[index].is_point());
        let mut effects: SparseRow = open.map(|index| (index, Interval::ZERO)).collect();

        for system in &mut self.systems {
            let jacobian = &mut system.jacobian;
            jacobian.place(time, &self.switches);
            jacobian.add_effects(boxes, parameters, &mut effects);
        }
        effects
    }

    /// The largest magnitude of coefficient `order` of each derivative, where states have these
    /// series at `time`, and the assumptions of the series over forms hold.
    pub fn last_coefficients(
        &mut self,
        time: Interval,
        states: &[Vec<Interval>],
        order: usize,
    ) -> Vec<f64> {
        let mut magnitudes = Vec::new();
        for system in &mut self.systems {
            magnitudes.extend(system.last_coefficients(time, &self.switches, states, order));
        }
        magnitudes
    }
}

/// What is assumed of a step.
impl SystemFields {
    /// What a box and a span of time decide, for each system.
    pub fn assumptions_over(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Assumptions> {
        let switches = &self.switches;
        let systems = self.systems.iter_mut();
        systems
            .map(|system| system.assumptions_over(time, switches, boxes))
            .collect()
    }

    /// Whether a box and a span of time decide every condition and jump.
    pub fn is_decided(&mut self, time: Interval, boxes: &[Interval]) -> bool {
        let assumptions = self.assumptions_over(time, boxes);
        let mut systems = zip(&self.systems, &assumptions);
        systems.all(|(system, assumed)| system.forms.is_decided_by(assumed))
    }

    /// Of each system, whether something is not decided by what is assumed.
    pub fn undecided(&self) -> Vec<bool> {
        let systems = self.systems.iter();
        systems.map(|system| system.forms.is_undecided()).collect()
    }

    /// Takes functions of time alone as constant, where that loses no more than `loss`.
    pub fn freeze(&mut self, span: Interval, boxes: &[Interval], loss: f64) {
        for system in &mut self.systems {
            if system.forms.has_clock() {
                system.evaluate(span, &self.switches, boxes);
                system.forms.freeze(&system.evaluator, loss);
                system.intervals.freeze_like(&system.forms);
            }
        }
    }
}

/// Series over forms, order by order.
impl SystemFields {
    /// Begins series at `time`.
    pub fn begin_series(
        &mut self,
        shape: FormShape,
        capacity: usize,
        time: f64,
        assumptions: &[Assumptions],
    ) {
        for (system, assumptions) in self.systems.iter_mut().zip(assumptions) {
            let tape = &mut system.forms;
            tape.begin(shape, capacity, Interval::point(time), &self.switches);
            tape.set_assumptions(assumptions);
        }
    }

    /// Sets coefficient `k` of the states that each system depends on, its own and its neighbors'.
    pub fn set_coefficients<'f>(&mut self, k: usize, form: impl Fn(usize) -> &'f [f64]) {
        for system in &mut self.systems {
            system.forms.set_states(k, &form);
        }
    }

    /// `f_k` of all states, each system's by its own tape.
    pub fn differentiate(&mut self, k: usize, mut found: impl FnMut(usize, Coefficient<'_>)) {
        for system in &mut self.systems {
            system.forms.compute(k);
            for (index, state) in system.states.clone().enumerate() {
                found(state, system.forms.result(index, k));
            }
        }
    }
}
