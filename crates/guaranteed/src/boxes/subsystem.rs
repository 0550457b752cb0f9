//! A simulation unit of the paper: one system with its own affine set. It sees of others what is in
//! the shared step.

use super::deviation::deviations;
use super::field::Field;
use super::input::Input;
use super::jobs::{Job, Report, StateReport};
use super::local_set::{Forms, LocalSet};
use super::picard::{hulls, picard_box, rectangle};
use super::scheme::{NumericalStep, Scheme};
use super::shared_step::SharedStep;
use super::system_tape::SystemTape;
use super::truncation::StepTruncation;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::system_part::{ProblemPart, SystemPart};

/// What a system knows of its own states at the start of a macro-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateSet {
    /// Their box, `[x_{i,n}]` of algorithm 2.
    Box,
    /// Their affine set, with the symbols of past steps.
    Affine,
}

/// `δ_i` of the paper, with its Picard operator.
pub(super) struct Subsystem {
    field: Field,
    state_set: StateSet,
    scheme: Scheme,
    /// Whether derivatives are affine in all states.
    affine: bool,
    /// Series over intervals, and over the symbols of `set`.
    series: SystemTape,
    forms: SystemTape,
    /// Whether the series on the way are those of smooth functions.
    smooth: bool,
    set: LocalSet,
    /// The set at the end of the step.
    arrival: Option<Forms>,
}

impl Subsystem {
    pub fn new(
        part: &ProblemPart,
        system: &SystemPart,
        scheme: Scheme,
        state_set: StateSet,
        degree: usize,
    ) -> Self {
        let field = Field::new(part, system);
        let (set, symbols) = LocalSet::new(part, system, degree);
        let program = &system.program;
        let tape = |symbols| SystemTape::new(program, &part.parameters, symbols, &field);

        Self {
            state_set,
            affine: part.affine,
            scheme,
            series: tape(None),
            forms: tape(Some(&symbols)),
            smooth: false,
            set,
            arrival: None,
            field,
        }
    }

    pub fn perform(&mut self, job: Job, shared: &SharedStep) -> Report {
        match job {
            Job::Picard => Report::Picard(self.find_picard_box(shared)),
            Job::Coefficient { capacity } => {
                Report::Coefficient(self.find_coefficient(shared, capacity))
            }
            Job::Advance => {
                if self.state_set == StateSet::Box {
                    self.set.restart(self.own(&shared.start));
                }
                self.arrival = self.advance(shared);
                Report::Arrived(self.arrival.is_some())
            }
            Job::Accept => {
                let arrival = self
                    .arrival
                    .take()
                    .expect("BUG: a step without arrival is accepted");
                self.set.adopt(arrival, shared.end);
                Report::Accepted(self.state_reports())
            }
        }
    }

    fn state_reports(&self) -> Vec<StateReport> {
        let states = self.set.boxes().into_iter().enumerate();
        states
            .map(|(state, range)| StateReport {
                range,
                differences: self.set.differences_of(state),
            })
            .collect()
    }

    fn own<'b>(&self, states: &'b [Interval]) -> &'b [Interval] {
        &states[self.field.own.clone()]
    }

    fn foreign(&self, states: &[Interval]) -> Vec<Interval> {
        let inputs = self.field.foreign.iter();
        inputs.map(|&state| states[state]).collect()
    }
}

/// Picard boxes and Taylor coefficients.
impl Subsystem {
    /// `𝒫^H` of algorithm 1.
    fn find_picard_box(&mut self, shared: &SharedStep) -> Result<Vec<Interval>, usize> {
        let inputs = self.foreign(&shared.boxes);
        self.picard_box(shared, &inputs)
    }

    /// The Picard box while inputs are in these boxes.
    fn picard_box(
        &mut self,
        shared: &SharedStep,
        inputs: &[Interval],
    ) -> Result<Vec<Interval>, usize> {
        self.field.place(shared.span(), &shared.switches, inputs);
        let start = self.own(&shared.start);
        let guess = self.own(&shared.boxes);
        picard_box(&mut self.field, start, shared.elapsed(), guess)
    }

    /// Coefficient `k + 1` of the own states from coefficients up to `k` of all: nothing is known
    /// where they are not smooth.
    fn find_coefficient(&mut self, shared: &SharedStep, capacity: usize) -> Vec<Interval> {
        let k = shared.order;
        if k == 0 {
            self.begin_series(shared, capacity);
        }

        let known = &shared.coefficients;
        let own = self.field.own.clone();
        let foreign = &self.field.foreign;
        self.series
            .compute(k, |i| known[own.start + i], |j| known[foreign[j]]);
        let divisor = Interval::point(k as f64 + 1.0);
        let rates = self.series.results(own.len(), k);

        if self.smooth {
            rates.map(|rate| rate / divisor).collect()
        } else {
            vec![Interval::ENTIRE; own.len()]
        }
    }

    fn begin_series(&mut self, shared: &SharedStep, capacity: usize) {
        let states = &shared.coefficients;
        let own = self.own(states);
        let inputs = self.foreign(states);
        let time = shared.expansion_time;
        self.field.place(time, &shared.switches, &inputs);
        self.smooth = shared.is_decided() && self.assume_over(own);

        self.series
            .tape
            .begin(FormShape::NO_SYMBOLS, capacity, time, &shared.switches);
    }

    /// Sets for the tapes what decides conditions and kinks in a box; whether everything is
    /// decided.
    fn assume_over(&mut self, own: &[Interval]) -> bool {
        let series = &mut self.series.tape;
        if !series.needs_assumptions() {
            return true;
        }

        let assumptions = self.field.assumptions(series, own);
        series.set_assumptions(&assumptions);
        self.forms.tape.set_assumptions(&assumptions);
        let open = |range: &Interval| range.contains(0.0) && *range != Interval::ZERO;

        !series.is_undecided() && !assumptions.ranges.iter().any(open)
    }
}

/// The step.
impl Subsystem {
    /// The set at the end of the step, by the better of two ways; `None` if both fail.
    fn advance(&mut self, shared: &SharedStep) -> Option<Forms> {
        let foreign = self.field.foreign.iter();
        let inputs: Vec<&Input> = foreign.map(|&state| &shared.inputs[state]).collect();
        let ranges = self.input_ranges(shared, &inputs);
        let picard = self.picard_box(shared, &ranges).ok()?;
        let rough = self.rectangle_step(shared, &picard);

        match self.runge_kutta_step(shared, &inputs, &picard) {
            Some(sharp) if self.total_width(&sharp) <= self.total_width(&rough) => Some(sharp),
            _ => Some(rough).filter(|rough| self.total_width(rough).is_finite()),
        }
    }

    /// The polynomials may leave the tubes, so the box has to be one for both.
    fn input_ranges(&self, shared: &SharedStep, inputs: &[&Input]) -> Vec<Interval> {
        let elapsed = shared.elapsed();
        let known = inputs.iter().map(|input| input.coefficient(0, elapsed));
        let known: Vec<Interval> = known.collect();
        hulls(&self.foreign(&shared.tubes), &known)
    }

    fn total_width(&self, forms: &Forms) -> f64 {
        let widths = forms.iter().map(|form| self.set.shape.range(form).width());
        widths.sum()
    }

    /// `x + H f(r, w)`: needs no derivatives, so it crosses kinks and switches that are undecided.
    fn rectangle_step(&mut self, shared: &SharedStep, picard: &[Interval]) -> Forms {
        let rates = self.field.rates(picard);
        let shape = self.set.shape;
        let mut forms = self.set.states.clone();

        for (form, rate) in forms.iter_mut().zip(rates) {
            shape.add_constant(form, shared.size * rate);
        }
        forms
    }

    /// The scheme with the known inputs, its truncation error (5), and what the deviation of the
    /// inputs can do.
    fn runge_kutta_step(
        &mut self,
        shared: &SharedStep,
        inputs: &[&Input],
        picard: &[Interval],
    ) -> Option<Forms> {
        let start = self.own(&shared.start);
        if !shared.is_decided() || !self.is_smooth_for_stages(shared, start, picard) {
            return None;
        }

        let jacobian = self.field.jacobian(picard);
        let deviations = deviations(&jacobian, inputs, shared.size)?;
        let errors = self.truncation_errors(shared, inputs, start, picard);
        let mut forms = self.numerical_step(shared, inputs);
        let shape = self.set.shape;
        let losses = errors.into_iter().zip(deviations);

        for (form, (error, deviation)) in forms.iter_mut().zip(losses) {
            shape.add_constant(form, error);
            shape.add_constant(form, Interval::new(-deviation, deviation));
        }
        self.total_width(&forms).is_finite().then_some(forms)
    }

    fn truncation_errors(
        &mut self,
        shared: &SharedStep,
        inputs: &[&Input],
        start: &[Interval],
        picard: &[Interval],
    ) -> Vec<Interval> {
        let truncation = StepTruncation {
            scheme: &self.scheme,
            affine: self.affine,
            shared,
            inputs,
            start,
            picard,
        };
        truncation.error(&mut self.series)
    }

    fn numerical_step(&mut self, shared: &SharedStep, inputs: &[&Input]) -> Forms {
        let step = NumericalStep {
            scheme: &self.scheme,
            shared,
            inputs,
        };
        step.run(&self.set, &mut self.forms)
    }

    /// Whether no condition or kink is open where the solution goes, or any stage of the scheme.
    fn is_smooth_for_stages(
        &mut self,
        shared: &SharedStep,
        start: &[Interval],
        picard: &[Interval],
    ) -> bool {
        if !self.series.tape.needs_assumptions() {
            return true;
        }

        let mut reached = picard.to_vec();
        let mut stage = start.to_vec();

        for _ in self.scheme.stages {
            stage = rectangle(&mut self.field, start, shared.elapsed(), &stage);
            reached = hulls(&reached, &stage);
        }
        self.assume_over(&reached)
    }
}
