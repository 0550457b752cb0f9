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
use crate::rounding::above;
use crate::series::{Coefficient, Outlook, SeriesTape, tapes};

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
    derivatives: Vec<f64>,
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
    linear: Option<Linear>,
    /// For an affine problem, the majorant of the present switches, how fast errors grow under it, and what they decide.
    constant: Option<Majorant>,
    rate: Option<f64>,
    settled: Option<Vec<Outlook>>,
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
        let parameter_symbols: Vec<Option<usize>> = beginning.parameters.iter().map(&mut symbol).collect();
        let shape = FormShape { primaries, quadratic: quadratic && primaries > 0, errors: 0 };
        let parameters = &beginning.parameters;
        let forms = tapes(programs, parameters, Some(&parameter_symbols));
        let leaves: Vec<Vec<usize>> =
            forms.iter().map(|tape| tape.states().map(|(state, _)| state).collect()).collect();
        let dimension = problem.dimension();
        let evaluator = |program: &Arc<Program>| Evaluator::new(Arc::clone(program), &Interval::ZERO, parameters);
        let loops = problem.loops.as_ref();
        Self {
            problem,
            set: Set::new(dimension, &beginning.states, &state_symbols, shape, problem.affine),
            order: 0,
            coefficients: Vec::new(),
            derivatives: Vec::new(),
            ranges: vec![Interval::ZERO; dimension * (MOST_ORDER + 1)],
            defects: vec![0.0; dimension * (MOST_ORDER + 1)],
            top: vec![0.0; dimension],
            intervals: tapes(programs, parameters, None),
            evaluators: programs.iter().map(evaluator).collect(),
            jacobian: Jacobian::new(programs, &leaves, parameters, dimension),
            closing: loops.map(|loops| Closing::new(problem, loops, parameters, &parameter_symbols)),
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
        let Some(closing) = &mut self.closing else { return Ok(()) };
        if !closing.is_due() {
            return Ok(());
        }
        let at = Instant { time, switches: &self.switches };
        closing.close(at, self.set.shape, &mut self.set.forms).ok_or(Failure::OpenLoop)?;
        self.set.absorb();
        Ok(())
    }

    /// Narrows the unknowns of loops to what the states leave them.
    pub(super) fn renew(&mut self) {
        let Some(closing) = &mut self.closing else { return };
        let at = Instant { time: self.time, switches: &self.switches };
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
        let rows = self.jacobian.over(Interval::point(self.time), &self.switches, &boxes);
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
    pub(super) fn evaluate(&mut self, system: usize, time: Interval, boxes: &[Interval]) -> Vec<Interval> {
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
        (0..self.forms.len()).flat_map(|system| self.evaluate(system, time, boxes)).collect()
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

    /// Builds `p`, to the order at which a step of length `reach` loses no more than `tolerances`, or to the highest.
    pub fn prepare(&mut self, reach: f64, tolerances: &[f64]) -> Result<(), Failure> {
        self.proved = None;
        let outlooks = match self.settled.take() {
            Some(settled) => settled,
            None => {
                let boxes = self.set.boxes();
                self.outlooks(Interval::point(self.time), &boxes)
            }
        };
        let limits: Vec<f64> = tolerances.iter().map(|tolerance| tolerance / reach).collect();
        self.build(&outlooks, |order, top| {
            // What is cut off at this order, over a step of the full length.
            let factor = reach.powi(order as i32) / (order + 1) as f64;
            order >= 2 && top.iter().zip(&limits).all(|(top, limit)| top * factor <= *limit)
        })?;
        // Conditions of an affine problem depend on switches alone.
        self.settled = self.problem.affine.then_some(outlooks);
        Ok(())
    }

    /// The series of all systems, order by order, until `enough` says so of an order and the magnitudes at it.
    pub(super) fn build(
        &mut self,
        outlooks: &[Outlook],
        enough: impl Fn(usize, &[f64]) -> bool,
    ) -> Result<(), Failure> {
        let (width, stride) = (self.set.shape.width(), MOST_ORDER + 1);
        self.coefficients.resize(self.dimension() * stride * width, 0.0);
        for (state, form) in self.set.forms.chunks_exact(width).enumerate() {
            self.coefficients[state * stride * width..][..width].copy_from_slice(form);
        }
        if self.linear.is_none() {
            for (tape, outlook) in self.forms.iter_mut().zip(outlooks) {
                tape.begin(self.set.shape, stride, Interval::point(self.time), &self.switches);
                tape.set_outlook(outlook);
            }
        }
        for k in 0..=MOST_ORDER {
            self.order = k;
            match self.linear.take() {
                Some(linear) => {
                    self.multiply(&linear, k);
                    self.linear = Some(linear);
                }
                None => self.differentiate(k),
            }
            if enough(k, &self.top) {
                break;
            }
            if k < MOST_ORDER {
                (0..self.dimension()).try_for_each(|state| self.take_derivative(state, k))?;
            }
        }
        for state in 0..self.dimension() {
            for k in 0..=self.order {
                self.ranges[state * stride + k] = self.set.shape.range(self.coefficient(state, k));
            }
        }
        Ok(())
    }

    pub(super) fn coefficient(&self, state: usize, k: usize) -> &[f64] {
        let width = self.set.shape.width();
        &self.coefficients[(state * (MOST_ORDER + 1) + k) * width..][..width]
    }

    /// The ranges of a state's coefficients.
    pub(super) fn ranges_of(&self, state: usize) -> &[Interval] {
        &self.ranges[state * (MOST_ORDER + 1)..][..=self.order]
    }

    /// Gives every system coefficient `k` of the states that it depends on, its own and its neighbours'.
    fn exchange(&mut self, k: usize) {
        let width = self.set.shape.width();
        let (tapes, coefficients) = (&mut self.forms, &self.coefficients);
        for tape in tapes {
            tape.set_states(k, |state| &coefficients[(state * (MOST_ORDER + 1) + k) * width..][..width]);
        }
    }

    /// `f_k` of all systems, each by its own tape, into [`Self::derivatives`].
    fn differentiate(&mut self, k: usize) {
        self.exchange(k);
        let (width, shape) = (self.set.shape.width(), self.set.shape);
        self.derivatives.resize(self.problem.dimension() * width, 0.0);
        for (system, tape) in self.forms.iter_mut().enumerate() {
            tape.compute(k);
            for (index, state) in self.problem.systems[system].clone().enumerate() {
                let form = &mut self.derivatives[state * width..][..width];
                match tape.result(index, k) {
                    Coefficient::Plain(range) => shape.set_constant(form, range),
                    Coefficient::Form(source) => form.copy_from_slice(source),
                }
                self.top[state] = shape.range(form).magnitude();
            }
        }
    }

    /// `f_k` of all states, where the flow is a matrix.
    fn multiply(&mut self, linear: &Linear, k: usize) {
        let (width, shape, dimension) = (self.set.shape.width(), self.set.shape, self.dimension());
        self.derivatives.resize(dimension * width, 0.0);
        let reaches: Vec<f64> = (0..dimension).map(|state| shape.reach_of(self.coefficient(state, k))).collect();
        let mut derivatives = std::mem::take(&mut self.derivatives);
        for (state, form) in derivatives.chunks_exact_mut(width).enumerate() {
            linear.derivative(state, k, shape, |column| (self.coefficient(column, k), reaches[column]), form);
            self.top[state] = shape.range(form).magnitude();
        }
        self.derivatives = derivatives;
    }

    /// `p_{k+1} = f_k / (k + 1)`, what the form cannot express noted as a defect.
    fn take_derivative(&mut self, state: usize, k: usize) -> Result<(), Failure> {
        let (width, shape) = (self.set.shape.width(), self.set.shape);
        let form = &mut self.coefficients[(state * (MOST_ORDER + 1) + k + 1) * width..][..width];
        form.copy_from_slice(&self.derivatives[state * width..][..width]);
        let count = (k + 1) as f64;
        shape.divide(form, count);
        let radius = std::mem::take(&mut form[shape.radius()]);
        if !radius.is_finite() || form.iter().any(|c| !c.is_finite()) {
            return Err(self.blame(state));
        }
        self.defects[state * (MOST_ORDER + 1) + k] = above(count * radius);
        Ok(())
    }

    fn blame(&self, state: usize) -> Failure {
        let system = self.problem.systems.iter().position(|states| states.contains(&state)).unwrap_or(0);
        if self.forms[system].is_undecided() { Failure::Undecided { system } } else { Failure::Unbounded { state } }
    }

    /// Whether no state slows another one down, over a box and a span of time.
    pub fn is_ordered(&mut self, span: Interval, boxes: &[Interval]) -> bool {
        let outlooks = self.outlooks(span, boxes);
        let decided = self.forms.iter().zip(&outlooks).all(|(tape, outlook)| tape.is_decided_by(outlook));
        let rows = self.jacobian.over(span, &self.switches, boxes);
        let helps = |i: usize, (j, rate): &(usize, Interval)| i == *j || rate.lo >= 0.0;
        decided && rows.iter().enumerate().all(|(i, row)| row.iter().all(|entry| helps(i, entry)))
    }

    /// How every uncertain parameter acts on all derivatives, over a box and a span of time.
    pub fn parameter_signs(&mut self, span: Interval, boxes: &[Interval]) -> Vec<(usize, Interval)> {
        self.jacobian.by_parameters(span, &self.switches, boxes, &self.problem.parameters)
    }
}
