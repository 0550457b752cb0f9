//! A set on its way, and the series of its next step.
//!
//! `x(t) = p(t) + e(t)`: `p` is a polynomial in time whose coefficients are forms without radius, built order by order by all
//! systems together; `e` is what is missing. By construction `p' − f(p)` is the sum of what the forms could not express at each
//! order (their radii) and of a Lagrange remainder, so that `|e|' ≤ M⁺ |e| + defect`, with one number for each state.

use std::sync::Arc;

use dovetail_equations::{Evaluator, Program};

use super::closing::{Closing, Instant};
use super::linear::Linear;
use super::majorant::{Jacobian, Majorant};
use super::set::Set;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::problem::Problem;
use crate::series::{Outlook, SeriesTape, tapes};

/// The highest order of `p`.
pub(super) const MOST_ORDER: usize = 20;

/// Why a step could not be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A state's derivative is not bounded there.
    Unbounded { state: usize },
    /// A condition on states, or a jump such as that of `sign`, is not decided.
    Undecided { system: usize },
    /// The error of a state could not be enclosed.
    NoInclusion { state: usize },
    /// A loop through feedthrough could not be solved.
    OpenLoop,
    /// A switch of such a loop changes at a time that is not known exactly.
    SwitchedLoop,
    /// Two runs may not keep their order.
    Disordered,
    /// The series of a state is cut off too early for so long a step.
    Coarse { state: usize },
}

/// Which boxes a run begins with.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    pub states: Vec<Interval>,
    pub parameters: Vec<Interval>,
}

/// The set, and what its steps are computed with.
pub(super) struct Run<'p> {
    pub(super) problem: &'p Problem,
    pub(super) set: Set,
    /// How far `p` goes; the derivative at that order only bounds the rest.
    pub(super) order: usize,
    /// `p`: for each state its coefficients from 0 to `order`, with room for [`MOST_ORDER`]; and their ranges.
    pub(super) coefficients: Vec<f64>,
    pub(super) ranges: Vec<Interval>,
    /// The derivatives at the last order, as forms.
    pub(super) derivatives: Vec<f64>,
    /// For each state and order, how far `(k + 1) p_{k+1}` can be from `f_k`.
    pub(super) defects: Vec<f64>,
    /// For each state, the largest magnitude of `f` at the last order, at the start of the step.
    pub(super) top: Vec<f64>,
    pub(super) forms: Vec<SeriesTape>,
    pub(super) intervals: Vec<SeriesTape>,
    pub(super) evaluators: Vec<Evaluator<Interval>>,
    pub(super) jacobian: Jacobian,
    /// The nonlinear loops, if there are.
    closing: Option<Closing>,
    /// For an affine problem without uncertain parameters, its matrices under the present switches.
    pub(super) linear: Option<Linear>,
    /// For an affine problem, the majorant of the present switches, how fast errors grow under it, and what they decide.
    constant: Option<Majorant>,
    rate: Option<f64>,
    pub(super) settled: Option<Vec<Outlook>>,
    parameters: Vec<Interval>,
    pub(super) time: f64,
    pub(super) switches: Vec<Interval>,
    /// What is proved of the present step.
    pub(super) proved: Option<Proved>,
}

/// A step that is proved.
#[derive(Clone, Debug)]
pub(super) struct Proved {
    /// Its end.
    pub until: f64,
    /// How far each state can be from `p` up to there.
    pub error: Vec<f64>,
}

impl<'p> Run<'p> {
    /// A set that begins with these boxes, a symbol for each that is not a point.
    pub fn new(problem: &'p Problem, beginning: &Beginning, quadratic: bool) -> Self {
        let programs = &problem.programs;
        let mut primaries = 0;
        let mut symbol = |range: &Interval| {
            (!range.is_point()).then(|| {
                primaries += 1;
                primaries - 1
            })
        };
        let state_symbols: Vec<Option<usize>> = beginning.states.iter().map(&mut symbol).collect();
        let parameter_symbols: Vec<Option<usize>> =
            beginning.parameters.iter().map(&mut symbol).collect();
        let shape = FormShape {
            primaries,
            quadratic: quadratic && primaries > 0,
            errors: 0,
        };
        let parameters = &beginning.parameters;
        let forms = tapes(programs, parameters, Some(&parameter_symbols));
        let leaves: Vec<Vec<usize>> = forms
            .iter()
            .map(|tape| tape.states().map(|(state, _)| state).collect())
            .collect();
        let dimension = problem.dimension();
        let evaluator = |program: &Arc<Program>| {
            Evaluator::new(Arc::clone(program), &Interval::ZERO, parameters)
        };
        let loops = problem.loops.as_ref();
        Self {
            problem,
            set: Set::new(
                dimension,
                &beginning.states,
                &state_symbols,
                shape,
                problem.affine,
            ),
            order: 0,
            coefficients: Vec::new(),
            derivatives: Vec::new(),
            ranges: vec![Interval::ZERO; dimension * (MOST_ORDER + 1)],
            defects: vec![0.0; dimension * (MOST_ORDER + 1)],
            top: vec![0.0; dimension],
            intervals: tapes(programs, parameters, None),
            evaluators: programs.iter().map(evaluator).collect(),
            jacobian: Jacobian::new(programs, &leaves, parameters, dimension),
            closing: loops
                .map(|loops| Closing::new(problem, loops, parameters, &parameter_symbols)),
            forms,
            linear: None,
            constant: None,
            rate: None,
            settled: None,
            parameters: parameters.clone(),
            time: problem.start_time,
            switches: Vec::new(),
            proved: None,
        }
    }

    pub fn dimension(&self) -> usize {
        self.problem.dimension()
    }

    pub fn parameters(&self) -> &[Interval] {
        &self.parameters
    }

    /// Between switching times, from `time` on: sets every switch, and solves loops again.
    pub fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), Failure> {
        self.time = time;
        self.set_switches(switches);
        let Some(closing) = &mut self.closing else {
            return Ok(());
        };
        if !closing.is_due() {
            return Ok(());
        }
        let at = Instant {
            time,
            switches: &self.switches,
        };
        closing
            .close(at, self.set.shape, &mut self.set.forms)
            .ok_or(Failure::OpenLoop)?;
        self.set.absorb();
        Ok(())
    }

    /// Narrows the unknowns of loops to what the states leave them.
    pub(super) fn renew(&mut self) {
        let Some(closing) = &mut self.closing else {
            return;
        };
        let at = Instant {
            time: self.time,
            switches: &self.switches,
        };
        if let Some(forms) = closing.renewed(at, self.set.shape, &self.set.forms) {
            self.set.forms = forms;
        }
    }

    pub(super) fn set_switches(&mut self, switches: &[Interval]) {
        self.switches = switches.to_vec();
        self.linear = None;
        self.constant = None;
        self.settled = None;
    }

    /// How fast errors may grow where the set is now.
    pub fn growth_rate(&mut self) -> f64 {
        if let (Some(rate), true) = (self.rate, self.constant.is_some()) {
            return rate;
        }
        let majorant = self.majorant_now();
        let rate = self.set.balance(&majorant);
        self.rate = Some(rate);
        rate
    }

    /// The majorant where the set is now.
    pub(super) fn majorant_now(&mut self) -> Majorant {
        if let Some(constant) = &self.constant {
            return constant.clone();
        }
        let boxes = self.set.boxes();
        let rows = self
            .jacobian
            .over(Interval::point(self.time), &self.switches, &boxes);
        let majorant = Majorant::of(&rows);
        if self.problem.affine {
            self.constant = Some(majorant.clone());
            if self.parameters.iter().all(|range| range.is_point()) {
                let origin = vec![Interval::ZERO; self.dimension()];
                let constants = self.slopes(Interval::point(self.time), &origin);
                self.linear = Some(Linear { rows, constants });
            }
        }
        majorant
    }

    /// Takes functions of time alone as constant until `until`, where that loses no more than `loss`.
    pub fn freeze(&mut self, until: f64, loss: f64) {
        let span = Interval::new(self.time, until);
        let boxes = self.set.boxes();
        for system in 0..self.forms.len() {
            if self.forms[system].has_clock() {
                self.evaluate(system, span, &boxes);
                self.forms[system].freeze(&self.evaluators[system], loss);
                self.intervals[system].freeze_like(&self.forms[system]);
            }
        }
    }

    /// A system's derivatives on intervals.
    pub(super) fn evaluate(
        &mut self,
        system: usize,
        time: Interval,
        boxes: &[Interval],
    ) -> Vec<Interval> {
        let evaluator = &mut self.evaluators[system];
        let mut results = vec![Interval::ZERO; evaluator.program().results()];
        evaluator.set_time(&time);
        evaluator.set_switches(&self.switches);
        evaluator.set_states(boxes);
        evaluator.run(&mut results);
        results
    }

    /// All derivatives over a box.
    pub(super) fn slopes(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Interval> {
        (0..self.forms.len())
            .flat_map(|system| self.evaluate(system, time, boxes))
            .collect()
    }

    /// What a box and a span of time decide.
    pub(super) fn outlooks(&mut self, time: Interval, boxes: &[Interval]) -> Vec<Outlook> {
        let mut outlooks = Vec::with_capacity(self.forms.len());
        for system in 0..self.forms.len() {
            outlooks.push(Outlook::default());
            if self.forms[system].needs_outlook() {
                self.evaluate(system, time, boxes);
                outlooks[system] = self.forms[system].outlook_of(&self.evaluators[system]);
            }
        }
        outlooks
    }

    /// Whether no state slows another one down, over a box and a span of time.
    pub fn is_ordered(&mut self, span: Interval, boxes: &[Interval]) -> bool {
        let outlooks = self.outlooks(span, boxes);
        let decided = self
            .forms
            .iter()
            .zip(&outlooks)
            .all(|(tape, outlook)| tape.is_decided_by(outlook));
        let rows = self.jacobian.over(span, &self.switches, boxes);
        // Across a pole there is no order to keep, whatever the signs on either side.
        let bounded = self
            .slopes(span, boxes)
            .iter()
            .all(|slope| slope.is_finite());
        let helps = |i: usize, (j, rate): &(usize, Interval)| {
            rate.is_finite() && (i == *j || rate.lo >= 0.0)
        };
        decided
            && bounded
            && rows
                .iter()
                .enumerate()
                .all(|(i, row)| row.iter().all(|entry| helps(i, entry)))
    }

    /// How every uncertain parameter acts on all derivatives, over a box and a span of time.
    pub fn parameter_signs(
        &mut self,
        span: Interval,
        boxes: &[Interval],
    ) -> Vec<(usize, Interval)> {
        self.jacobian
            .by_parameters(span, &self.switches, boxes, &self.problem.parameters)
    }
}
