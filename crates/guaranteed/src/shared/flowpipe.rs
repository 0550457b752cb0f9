//! A set on its way, and the series of its next step.
//!
//! `x(t) = p(t) + e(t)`: `p` is a polynomial in time whose coefficients are forms without radius,
//! built order by order by all systems together; `e` is what is missing. By construction `p' −
//! f(p)` is the sum of what the forms could not express at each order (their radii) and of a
//! Lagrange remainder, so that `|e|' ≤ M⁺ |e| + defect`, with one number for each state.

use super::field::VectorField;
use super::linear::Linear;
use super::loop_unknowns::{Instant, LoopUnknowns};
use super::majorant::Majorant;
use super::modal::{ModalErrors, ModalStep, is_constant};
use super::observer::FormObserver;
use super::polynomial::StepPolynomial;
use super::set::SymbolicSet;
use super::stepper::StepFailure;
use crate::distribution::Distribution;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::problem::Problem;
use crate::series::assumptions::Assumptions;

/// Few errors of short runs, in times in which errors may grow by a factor of e, are a little
/// narrower as symbols.
const FEW_STATES: usize = 12;
const SHORT_RUN: f64 = 200.0;

/// Which boxes a run begins with.
#[derive(Clone, Debug)]
pub(super) struct StartBoxes {
    pub states: Vec<Interval>,
    pub parameters: Vec<Interval>,
}

impl StartBoxes {
    /// All that the problem has.
    pub fn of(problem: &Problem) -> Self {
        Self {
            states: problem.start.clone(),
            parameters: problem.parameters.clone(),
        }
    }

    /// How many are not points.
    pub fn open(&self) -> usize {
        let boxes = self.states.iter().chain(&self.parameters);
        boxes.filter(|range| !range.is_point()).count()
    }

    /// Whether a parameter is not a point.
    pub fn has_uncertain_parameters(&self) -> bool {
        self.parameters.iter().any(|range| !range.is_point())
    }
}

/// A primary symbol for every box that is not a point.
#[derive(Default)]
struct SymbolCount {
    used: usize,
}

impl SymbolCount {
    fn symbols(&mut self, boxes: &[Interval]) -> Vec<Option<usize>> {
        boxes.iter().map(|range| self.symbol(range)).collect()
    }

    /// What may change at any instant has no symbol, and those that are one parameter have the same.
    fn parameter_symbols(&mut self, problem: &Problem, ranges: &[Interval]) -> Vec<Option<usize>> {
        let mut symbols = vec![None; ranges.len()];
        for (index, range) in ranges.iter().enumerate() {
            let first = problem.same_as[index];
            symbols[index] = match problem.disturbed[index] {
                true => None,
                false if first < index && ranges[first] == *range => symbols[first],
                false => self.symbol(range),
            };
        }
        symbols
    }

    fn symbol(&mut self, range: &Interval) -> Option<usize> {
        if range.is_point() {
            return None;
        }

        self.used += 1;
        Some(self.used - 1)
    }
}

/// The set, and what its steps are computed with.
pub(super) struct Flowpipe<'p> {
    pub(super) problem: &'p Problem,
    pub(super) set: SymbolicSet,
    /// `p` of the present step.
    pub(super) polynomial: StepPolynomial,
    /// `f`.
    pub(super) field: VectorField<'p>,
    /// The nonlinear loops, if there are.
    loop_unknowns: Option<LoopUnknowns>,
    pub(super) phase: AffinePhase,
    /// Errors of a linear flow, which are no symbols then.
    pub(super) modal: Option<ModalErrors>,
    parameters: Vec<Interval>,
    /// Computes what is asked for beside the states.
    pub(super) observer: Option<FormObserver>,
    pub(super) time: f64,
    /// What is proved of the present step.
    pub(super) proved: Option<Proved>,
}

/// What of an affine problem stays the same until a switch changes, as far as it is computed.
#[derive(Default)]
pub(super) struct AffinePhase {
    /// Its matrices, if no parameter is uncertain.
    pub linear: Option<Linear>,
    majorant: Option<Majorant>,
    /// How fast errors grow.
    rate: Option<f64>,
    pub assumptions: Option<Vec<Assumptions>>,
}

/// A step that is proved.
#[derive(Clone, Debug)]
pub(super) struct Proved {
    /// Its end.
    pub until: f64,
    /// How far each state can be from `p` up to there.
    pub error: Vec<f64>,
    /// The errors at its end by modes, where they are kept so.
    pub modal: Option<ModalStep>,
}

impl<'p> Flowpipe<'p> {
    /// A set that begins with these boxes, a symbol for each that is not a point.
    pub fn new(
        problem: &'p Problem,
        distribution: &'p Distribution,
        start: &StartBoxes,
        quadratic: bool,
    ) -> Self {
        let mut count = SymbolCount::default();
        let state_symbols = count.symbols(&start.states);
        let parameter_symbols = count.parameter_symbols(problem, &start.parameters);
        let shape = FormShape {
            primaries: count.used,
            quadratic: quadratic && count.used > 0,
            errors: 0,
        };
        let parameters = &start.parameters;
        let loops = problem.loops.as_ref();
        let observed = problem.observed.as_ref();

        Self {
            problem,
            set: SymbolicSet::new(problem, &start.states, &state_symbols, shape),
            polynomial: StepPolynomial::new(problem.dimension()),
            field: VectorField::new(problem, distribution, parameters, &parameter_symbols),
            loop_unknowns: loops
                .map(|loops| LoopUnknowns::new(problem, loops, parameters, &parameter_symbols)),
            phase: AffinePhase::default(),
            modal: None,
            observer: observed
                .map(|observed| FormObserver::new(observed, parameters, &parameter_symbols)),
            parameters: parameters.clone(),
            time: problem.start_time,
            proved: None,
        }
    }

    pub fn dimension(&self) -> usize {
        self.problem.dimension()
    }

    pub fn parameters(&self) -> &[Interval] {
        &self.parameters
    }

    /// The present instant.
    fn now(&self) -> Interval {
        Interval::point(self.time)
    }

    pub(super) fn set_switches(&mut self, switches: &[Interval]) {
        self.field.set_switches(switches);
        self.phase = AffinePhase::default();
    }
}

/// Loops.
impl Flowpipe<'_> {
    /// Between switching times, from `time` on: sets every switch, and solves loops again.
    pub fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), StepFailure> {
        self.time = time;
        self.set_switches(switches);
        let Some(unknowns) = &mut self.loop_unknowns else {
            self.find_modes();
            return Ok(());
        };
        if !unknowns.is_due() {
            return Ok(());
        }

        let at = Instant {
            time,
            switches: self.field.switches(),
        };
        unknowns
            .close(at, self.set.shape, &mut self.set.forms)
            .ok_or(StepFailure::OpenLoop)?;
        self.set.absorb();
        Ok(())
    }

    /// Narrows the unknowns of loops to what the states leave them.
    pub(super) fn renew_unknowns(&mut self) {
        let Some(unknowns) = &mut self.loop_unknowns else {
            return;
        };
        let at = Instant {
            time: self.time,
            switches: self.field.switches(),
        };

        if let Some(forms) = unknowns.renewed(at, self.set.shape, &self.set.forms) {
            self.set.forms = forms;
        }
    }
}

/// Errors of linear flows.
impl Flowpipe<'_> {
    /// Between switching times: keeps errors in the modes of the flow, where it is linear in the
    /// states and has modes that bound them.
    ///
    /// When the flow changes errors become symbols, which the next flow moves as it should.
    fn find_modes(&mut self) {
        let rest = Interval::new(self.time, self.problem.stop_time);
        let everywhere = vec![Interval::ENTIRE; self.dimension()];
        let rows = self.field.jacobian_over(rest, &everywhere);
        if self
            .modal
            .as_ref()
            .is_some_and(|modal| modal.belong_to(&rows))
        {
            return;
        }

        if let Some(modal) = self.modal.take() {
            let (columns, lost) = modal.columns();
            self.set.add_errors(&columns, &lost);
        }
        if !is_constant(&rows) {
            return;
        }

        let rate = self.set.balance(&Majorant::of(&rows));
        let duration = self.problem.duration();
        if self.dimension() >= FEW_STATES || rate * duration >= SHORT_RUN {
            self.modal = ModalErrors::of(rows, self.set.units(), duration);
        }
    }

    /// The boxes of all states now.
    pub fn boxes(&self) -> Vec<Interval> {
        let boxes = self.set.boxes();
        let Some(modal) = &self.modal else {
            return boxes;
        };
        let reach = modal.reach();
        let pairs = boxes.iter().zip(reach);
        pairs.map(|(range, reach)| range.widened(reach)).collect()
    }
}

/// How fast errors grow.
impl Flowpipe<'_> {
    /// How fast errors may grow where the set is now.
    pub fn growth_rate(&mut self) -> f64 {
        if let Some(rate) = self.phase.rate {
            return rate;
        }

        let majorant = self.majorant_now();
        let rate = self.set.balance(&majorant);
        self.phase.rate = self.problem.affine.then_some(rate);

        rate
    }

    /// The majorant where the set is now.
    pub(super) fn majorant_now(&mut self) -> Majorant {
        if let Some(majorant) = &self.phase.majorant {
            return majorant.clone();
        }

        let now = self.now();
        let rows = self.field.jacobian_over(now, &self.boxes());
        let majorant = Majorant::of(&rows);
        if !self.problem.affine {
            return majorant;
        }

        self.phase.majorant = Some(majorant.clone());
        if self.parameters.iter().all(|range| range.is_point()) {
            let origin = vec![Interval::ZERO; self.dimension()];
            let constants = self.field.slopes(now, &origin);
            let linear = Linear { rows, constants };
            self.field.tell_linear(&linear);
            self.phase.linear = Some(linear);
        }
        majorant
    }

    /// Takes functions of time alone as constant until `until`, where that loses no more than
    /// `loss`.
    pub fn freeze(&mut self, until: f64, loss: f64) {
        let span = Interval::new(self.time, until);
        self.field.freeze(span, &self.boxes(), loss);
    }
}

/// Signs.
impl Flowpipe<'_> {
    /// Whether no state slows another one down, over a box and a span of time.
    pub fn is_ordered(&mut self, span: Interval, boxes: &[Interval]) -> bool {
        if !self.field.is_decided(span, boxes) {
            return false;
        }

        // Across a pole there is no order to keep, whatever the signs on either side.
        let slopes = self.field.slopes(span, boxes);
        if slopes.iter().any(|slope| !slope.is_finite()) {
            return false;
        }

        let rows = self.field.jacobian_over(span, boxes);
        let mut rows = rows.iter().enumerate();
        rows.all(|(state, row)| slows_no_other(state, row))
    }

    /// How every uncertain parameter acts on all derivatives, over a box and a span of time.
    pub fn parameter_signs(
        &mut self,
        span: Interval,
        boxes: &[Interval],
    ) -> Vec<(usize, Interval)> {
        let parameters = &self.problem.parameters;
        self.field.jacobian_by_parameters(span, boxes, parameters)
    }
}

/// Whether every entry of a row of the Jacobian is finite, and none but that of the state itself is
/// negative.
fn slows_no_other(state: usize, row: &[(usize, Interval)]) -> bool {
    row.iter()
        .all(|&(other, rate)| rate.is_finite() && (state == other || rate.lo >= 0.0))
}
