//! A simulation unit of the paper: one system with its own affine set. It sees of others what is in
//! the shared step.

use super::deviation::deviations;
use super::field::Field;
use super::input::Input;
use super::local_set::{Forms, LocalSet};
use super::picard::{hulls, picard_box};
use super::scheme::{Registers, Scheme, numerical_step};
use super::shared_step::SharedStep;
use super::truncation::{NO_SYMBOLS, Step, results};
use crate::interval::Interval;
use crate::problem::Problem;
use crate::series::tape::SeriesTape;

/// What all systems do at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    /// Find the Picard box while the inputs are in the boxes of the shared step.
    Picard,
    /// Compute the Taylor coefficient that follows those in the shared step, of which `capacity` are wanted.
    Coefficient { capacity: usize },
    /// Integrate over the step.
    Advance,
    /// Keep what the integration gave.
    Accept,
}

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
    pub field: Field,
    state_set: StateSet,
    scheme: Scheme,
    /// Whether derivatives are affine in all states.
    affine: bool,
    /// Series over intervals, and over the symbols of `set`.
    series: (SeriesTape, Registers),
    forms: (SeriesTape, Registers),
    /// Whether the series on the way are those of smooth functions.
    smooth: bool,
    pub set: LocalSet,
    /// The Picard box found, or the state for which none was.
    pub picard: Result<Vec<Interval>, usize>,
    /// The Taylor coefficient found.
    pub coefficient: Vec<Interval>,
    /// The set at the end of the step.
    pub arrival: Option<Forms>,
}

impl Subsystem {
    pub fn new(
        problem: &Problem,
        system: usize,
        scheme: Scheme,
        state_set: StateSet,
        degree: usize,
    ) -> Self {
        let field = Field::new(problem, system);
        let (set, symbols) = LocalSet::new(problem, system, degree);
        let program = problem.program(system);
        let tape = |symbols: Option<&[Option<usize>]>| {
            let tape = SeriesTape::new(&program, &problem.parameters, symbols);
            let registers = registers(&tape, &field);
            (tape, registers)
        };
        let (series, forms) = (tape(None), tape(Some(&symbols)));
        Self {
            state_set,
            affine: problem.affine,
            scheme,
            series,
            forms,
            smooth: false,
            set,
            picard: Err(0),
            coefficient: Vec::new(),
            arrival: None,
            field,
        }
    }

    pub fn perform(&mut self, job: Job, shared: &SharedStep) {
        match job {
            Job::Picard => self.find_picard_box(shared),
            Job::Coefficient { capacity } => self.find_coefficient(shared, capacity),
            Job::Advance => {
                if self.state_set == StateSet::Box {
                    self.set.restart(self.own(&shared.start));
                }
                self.arrival = self.advance(shared);
            }
            Job::Accept => {
                let arrival = self
                    .arrival
                    .take()
                    .expect("BUG: a step without arrival is accepted");
                self.set.adopt(arrival, shared.end);
            }
        }
    }

    fn own<'b>(&self, states: &'b [Interval]) -> &'b [Interval] {
        &states[self.field.own.clone()]
    }

    fn foreign(&self, states: &[Interval]) -> Vec<Interval> {
        self.field
            .foreign
            .iter()
            .map(|&state| states[state])
            .collect()
    }

    /// `𝒫^H` of algorithm 1.
    fn find_picard_box(&mut self, shared: &SharedStep) {
        let inputs = self.foreign(&shared.boxes);
        self.field.place(shared.span(), &shared.switches, &inputs);
        let (start, guess) = (self.own(&shared.start), self.own(&shared.boxes));
        self.picard = picard_box(&mut self.field, start, shared.elapsed(), guess);
    }

    /// Coefficient `k + 1` of the own states from coefficients up to `k` of all: nothing is known where they are not
    /// smooth.
    fn find_coefficient(&mut self, shared: &SharedStep, capacity: usize) {
        let k = shared.coefficients.len() - 1;
        let known = &shared.coefficients[k];
        if k == 0 {
            self.begin_series(shared, capacity);
        }
        let (tape, registers) = &mut self.series;
        let (own, foreign) = (&self.field.own, &self.field.foreign);
        registers
            .own
            .iter()
            .for_each(|&(i, register)| tape.set_state_interval(register, k, known[own.start + i]));
        registers
            .foreign
            .iter()
            .for_each(|&(j, register)| tape.set_state_interval(register, k, known[foreign[j]]));
        tape.compute(k);
        let divisor = Interval::point(k as f64 + 1.0);
        let coefficient = |rate: Interval| {
            if self.smooth {
                rate / divisor
            } else {
                Interval::ENTIRE
            }
        };
        self.coefficient = results(tape, own.len(), k)
            .into_iter()
            .map(coefficient)
            .collect();
    }

    fn begin_series(&mut self, shared: &SharedStep, capacity: usize) {
        let states = &shared.coefficients[0];
        let (own, inputs) = (self.own(states).to_vec(), self.foreign(states));
        self.field
            .place(shared.expansion_time, &shared.switches, &inputs);
        self.smooth = shared.is_decided() && self.assume_over(&own);
        self.series.0.begin(
            NO_SYMBOLS,
            capacity,
            shared.expansion_time,
            &shared.switches,
        );
    }

    /// Sets for the tapes what decides conditions and kinks in a box; whether everything is decided.
    fn assume_over(&mut self, own: &[Interval]) -> bool {
        let (series, forms) = (&mut self.series.0, &mut self.forms.0);
        if !series.needs_assumptions() {
            return true;
        }
        let assumptions = self.field.assumptions(series, own);
        series.set_assumptions(&assumptions);
        forms.set_assumptions(&assumptions);
        let open = |range: &Interval| range.contains(0.0) && *range != Interval::ZERO;
        !series.is_undecided() && !assumptions.ranges.iter().any(open)
    }

    /// The set at the end of the step, by the better of two ways; `None` if both fail.
    fn advance(&mut self, shared: &SharedStep) -> Option<Forms> {
        let inputs: Vec<&Input> = self
            .field
            .foreign
            .iter()
            .map(|&state| &shared.inputs[state])
            .collect();
        // The polynomials may leave the tubes, so the box has to be one for both.
        let told: Vec<Interval> = inputs
            .iter()
            .map(|input| input.coefficient(0, shared.elapsed()))
            .collect();
        let ranges = hulls(&self.foreign(&shared.tubes), &told);
        self.field.place(shared.span(), &shared.switches, &ranges);
        let (start, guess) = (self.own(&shared.start), self.own(&shared.boxes));
        let picard = picard_box(&mut self.field, start, shared.elapsed(), guess).ok()?;
        let rough = self.rectangle_step(shared, &picard);
        match self.runge_kutta_step(shared, &inputs, &picard) {
            Some(sharp) if self.total_width(&sharp) <= self.total_width(&rough) => Some(sharp),
            _ => Some(rough).filter(|rough| self.total_width(rough).is_finite()),
        }
    }

    fn total_width(&self, forms: &Forms) -> f64 {
        forms
            .iter()
            .map(|form| self.set.shape.range(form).width())
            .sum()
    }

    /// `x + H f(r, w)`: needs no derivatives, so it crosses kinks and switches that are undecided.
    fn rectangle_step(&mut self, shared: &SharedStep, picard: &[Interval]) -> Forms {
        let rates = self.field.rates(picard);
        let shape = self.set.shape;
        let mut forms = self.set.states.clone();
        forms
            .iter_mut()
            .zip(rates)
            .for_each(|(form, rate)| shape.add_constant(form, shared.size * rate));
        forms
    }

    /// The scheme with the known inputs, its truncation error (5), and what the deviation of the inputs can do.
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
        let (scheme, time, size, switches) =
            (self.scheme, shared.time, shared.size, &shared.switches[..]);
        let affine = self.affine;
        let step = Step {
            scheme,
            affine,
            time,
            size,
            switches,
            inputs,
            start,
            picard,
        };
        let errors = step.error(&mut self.series.0, &self.series.1);
        let tape = (&mut self.forms.0, &self.forms.1);
        let mut forms = numerical_step(&scheme, &self.set, tape, (time, size, switches), inputs);
        let shape = self.set.shape;
        for ((form, error), deviation) in forms.iter_mut().zip(errors).zip(deviations) {
            shape.add_constant(form, error);
            shape.add_constant(form, Interval::new(-deviation, deviation));
        }
        self.total_width(&forms).is_finite().then_some(forms)
    }

    /// Whether no condition or kink is open where the solution goes, or any stage of the scheme.
    fn is_smooth_for_stages(
        &mut self,
        shared: &SharedStep,
        start: &[Interval],
        picard: &[Interval],
    ) -> bool {
        if !self.series.0.needs_assumptions() {
            return true;
        }
        let mut reached = picard.to_vec();
        let mut stage = start.to_vec();
        for _ in self.scheme.stages {
            let slopes = self.field.rates(&stage);
            stage = start
                .iter()
                .zip(slopes)
                .map(|(&x, slope)| x + shared.elapsed() * slope)
                .collect();
            reached = hulls(&reached, &stage);
        }
        self.assume_over(&reached)
    }
}

fn registers(tape: &SeriesTape, field: &Field) -> Registers {
    let place = |state: usize| field.own.contains(&state).then(|| state - field.own.start);
    let input = |state: usize| field.foreign.iter().position(|&foreign| foreign == state);
    Registers {
        own: tape
            .states()
            .filter_map(|(state, register)| Some((place(state)?, register)))
            .collect(),
        foreign: tape
            .states()
            .filter_map(|(state, register)| Some((input(state)?, register)))
            .collect(),
    }
}
