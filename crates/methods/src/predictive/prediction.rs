//! Before a step is integrated: a consistent interface, inputs, the linear system, and what can be
//! known of the error.

use dovetail_core::{Error, MacroStep, Past, Workers};

use super::controller::Parts;
use super::delayed_errors::Part;
use super::tuning::{CUBIC_BETTER, FEEDTHROUGH_ROUNDS, MOST_RETURNED, SURPRISING, TOO_FAR};
use super::{FromRest, Inputs, Predictive};
use crate::coupling::CouplingVariable;
use crate::elementwise::{add, add_difference, subtract_difference};
use crate::interface_system::steps::Steps;
use crate::interface_system::{CoupledInput, MOST_ORDERS, Unsolved};
use crate::time_scale::scale_from_rest;

/// Writes what is returned of one variable: value, slope and curvature, as far as there is scratch.
fn return_within(
    most: f64,
    returned: [f64; MOST_ORDERS],
    variable: usize,
    count: usize,
    into: &mut [f64],
) {
    let factor = (most / returned[0].abs()).min(1.0);
    for (slot, number) in into[variable..].iter_mut().step_by(count).zip(returned) {
        *slot = if factor.is_nan() {
            0.0
        } else {
            factor * number
        };
    }
}

impl Predictive<'_> {
    /// The start of the run.
    pub(super) fn begin(&mut self, past: &Past, workers: &mut dyn Workers) -> Result<(), Error> {
        self.coupling.begin(past);
        self.make_consistent(past.reached(), workers)?;
        self.begun = true;
        Ok(())
    }

    /// How many numbers of the interface are measured.
    pub(super) fn measured(&self) -> usize {
        let orders = if self.abilities.quintics { 3 } else { 2 };
        orders * self.coupling.variables.len()
    }

    /// How many are predicted.
    pub(super) fn unknowns(&self) -> usize {
        self.coupling.shape().orders() * self.coupling.variables.len()
    }

    pub(super) fn usual_size(&self) -> f64 {
        match &self.steps {
            Steps::Fixed(plan) => plan.grid().size(),
            Steps::Adaptive(controller) => controller.usual_size(),
        }
    }

    /// The systems stand elsewhere: what the next steps are measured by.
    pub(super) fn refresh_scales(&mut self) {
        self.scales.rates.locate(&self.interface_system);
        self.errors.global.locate(&self.interface_system);

        self.scales.outputs.include(self.coupling.start_values());
        self.scales.states.include(self.interface_system.states());
        self.expect_from_rest();
    }

    /// States and outputs that are zero have the scale of what they will become.
    fn expect_from_rest(&mut self) {
        if !self.scales.states.rest() && !self.scales.outputs.rest() {
            return;
        }

        let FromRest {
            mut states,
            mut outputs,
        } = std::mem::take(&mut self.scales.from_rest);
        for (system, (scales, local)) in states
            .iter_mut()
            .zip(self.interface_system.local())
            .enumerate()
        {
            let here = &local.linearization;
            let rate = self.scales.rates.of(system);
            scales
                .iter_mut()
                .enumerate()
                .for_each(|(state, scale)| *scale = scale_from_rest(here, state, rate));
        }

        outputs.fill(0.0);
        // From states to outputs, and through feedthrough from one system to the next.
        for _ in 0..FEEDTHROUGH_ROUNDS {
            for (variable, place) in self.coupling.variables.iter().enumerate() {
                outputs[variable] = self.output_scale(*place, &states[place.system], &outputs);
            }
        }

        for (system, scales) in states.iter_mut().enumerate() {
            self.scale_by_fed(system, scales, &outputs);
        }

        self.scales
            .states
            .expect_from_rest(states.iter().flatten().copied());
        self.scales
            .outputs
            .expect_from_rest(outputs.iter().copied());
        self.scales.from_rest = FromRest { states, outputs };
    }

    /// What an output will become, given what the states of its system and the inputs that are fed
    /// will.
    fn output_scale(&self, variable: CouplingVariable, states: &[f64], outputs: &[f64]) -> f64 {
        let here = self.interface_system.linearization(variable.system);
        let row = variable.position;
        let by_state = |(j, scale): (usize, &f64)| (here.c[(row, j)] * scale).abs();
        let by_states: f64 = states.iter().enumerate().map(by_state).sum();
        let by_input = |c: &CoupledInput| (here.d[(row, c.input)] * outputs[c.variable]).abs();
        let columns = self.interface_system.columns[variable.system].iter();

        by_states + columns.map(by_input).sum::<f64>()
    }

    /// A state of which nothing else is known has the scale of the outputs that it feeds.
    fn scale_by_fed(&self, system: usize, scales: &mut [f64], outputs: &[f64]) {
        let here = self.interface_system.linearization(system);
        for (state, scale) in scales.iter_mut().enumerate() {
            if *scale != 0.0 {
                continue;
            }
            for row in &self.interface_system.rows[system] {
                let gain = here.c[(row.position, state)].abs();
                if gain > 0.0 {
                    *scale = scale.max(outputs[row.variable] / gain);
                }
            }
        }
    }

    /// Of what degree inputs are. Slopes at the start of a first step say little where it is long
    /// for some system, and curvatures never say anything there; what a cubic misses on a first
    /// step is known, of a quintic it is not.
    pub(super) fn choose_degree(&mut self, step: MacroStep) {
        let stiff = self.scales.rates.is_long_for_any(step.size());
        let first = self.memory.kept() == 0;
        self.coupling.smooth = !(first && stiff);
        let tries = match &self.steps {
            Steps::Fixed(_) => true,
            Steps::Adaptive(_) => !first || self.options.inputs == Inputs::Quintic,
        };

        self.coupling.curved = self.abilities.quintics && self.coupling.smooth && !stiff && tries;
    }

    /// Predicts the step; with cubics, where they promise to be better than quintics: where the
    /// solution bends sharply they are.
    pub(super) fn predict(&mut self, workers: &mut dyn Workers) -> Result<(), Unsolved> {
        self.solve(workers)?;
        if self.coupling.curved && self.options.inputs == Inputs::Auto {
            let solution = &self.ends.solution[..self.unknowns()];
            let errors =
                self.errors
                    .local
                    .compare(&self.coupling, solution, &self.interface_system);
            let shares =
                errors.map(|errors| errors.map(|errors| self.scales.states.largest_share(errors)));
            if shares.is_some_and(|[cubic, quintic]| quintic > CUBIC_BETTER * cubic) {
                self.coupling.curved = false;
                self.solve(workers)?;
            }
        }

        self.judge_interpolation();
        Ok(())
    }

    /// What inputs that end as solved miss within the step.
    pub(super) fn judge_interpolation(&mut self) {
        let unknowns = self.unknowns();
        let ends = &self.ends.solution[..unknowns];
        let rates = &self.scales.rates;

        self.errors
            .local
            .interpolate(&self.coupling, ends, rates, &mut self.interface_system);
    }

    /// Solves `(I − K) z = r + d` for the change over the step.
    fn solve(&mut self, workers: &mut dyn Workers) -> Result<(), Unsolved> {
        let unknowns = self.unknowns();
        let start = &mut self.ends.solution[..unknowns];
        self.coupling.stack_start(start);
        self.expect_differences(unknowns);
        self.solve_for_change(unknowns, workers)?;
        self.expect_moves(unknowns);
        Ok(())
    }

    /// What is expected to come out differently than the linear operators say: what they have
    /// missed before, continued, and impulses that are returned.
    fn expect_differences(&mut self, unknowns: usize) {
        let step = self.coupling.step;
        let count = self.coupling.start.len();
        let expected = &mut self.ends.expected[..unknowns];
        let all_returned = &mut self.ends.returned[..unknowns];
        self.memory.predict(step.start, step.size(), 0, expected);

        for c in 0..count {
            let most = MOST_RETURNED * self.scales.outputs.scale(c);
            let returned = self.memory.return_impulse(c, step.size());
            return_within(most, returned, c, count, all_returned);
        }
        add(expected, all_returned);
    }

    /// From the start in `solution` to the end.
    fn solve_for_change(
        &mut self,
        unknowns: usize,
        workers: &mut dyn Workers,
    ) -> Result<(), Unsolved> {
        let ends = &mut self.ends;
        let solution = &mut ends.solution[..unknowns];
        let right = &mut ends.right[..unknowns];
        self.coupling.place(solution);
        self.interface_system
            .prepare(&self.coupling, workers, right)?;
        add_difference(right, &ends.expected, solution);
        self.interface_system.solve(right);
        add(solution, right);
        if !solution.iter().all(|z| z.is_finite()) {
            return Err(Unsolved::Singular);
        }

        self.coupling.place(solution);
        Ok(())
    }

    /// How far outputs and states are about to move: what their errors are measured by.
    fn expect_moves(&mut self, unknowns: usize) {
        let step = self.coupling.step;
        let solution = &self.ends.solution[..unknowns];
        self.scales.outputs.expect(self.coupling.moves_to(solution));
        let slopes = || self.interface_system.state_slopes();
        self.scales
            .states
            .expect(slopes().map(|slope| slope * step.size()));

        if self.scales.states.rest() {
            let tasks = self.coupling.tasks.iter();
            let ends = tasks.flat_map(|task| self.interface_system.estimate_states(task));
            self.scales.states.expect_from_zero(ends);
        }
        if let Some(controller) = self.steps.controller() {
            let rest = controller.rest(step.start);
            self.scales
                .states
                .set_horizon(slopes().map(|slope| slope * rest));
        }
    }

    /// Whether the step, predicted, promises to be accurate; if not the next one is shorter.
    pub(super) fn passes_lookahead(
        &mut self,
        step: MacroStep,
        workers: &mut dyn Workers,
    ) -> Result<bool, Error> {
        if !self.admits(step) {
            return Ok(false);
        }

        self.step_state.looked = false;
        if self.is_affine() {
            return Ok(true);
        }

        let far = self.look_ahead.look(
            &self.coupling,
            &self.ends,
            &self.interface_system,
            &self.scales.outputs,
            workers,
        )?;
        let Some(far) = far else { return Ok(true) };
        if (far > TOO_FAR || far.is_nan()) && self.halve(step) {
            return Ok(false);
        }

        if far.is_finite() {
            self.step_state.looked = true;
            self.use_look_ahead();
        }
        Ok(true)
    }

    /// Whether the controller, if there is one, admits the step by the errors that are expected.
    fn admits(&mut self, step: MacroStep) -> bool {
        if !self.steps.is_adaptive() {
            return true;
        }

        self.foresee_ends(step);
        let interpolation = self.share_of(Part::Interpolation);
        let ends = self.share_of(Part::Foreseen);
        let expected = Parts {
            interpolation,
            ends,
            total: interpolation.max(ends),
            points: self.memory.points(),
        };

        self.admits_by(step, expected)
    }

    /// Whether the controller, if there is one, admits the step by these errors.
    pub(super) fn admits_by(&mut self, step: MacroStep, expected: Parts) -> bool {
        let shape = self.coupling.shape();
        let controller = self.steps.controller_mut();
        controller.is_none_or(|controller| controller.admits(step, shape, expected))
    }

    /// The largest error of this kind that the step leaves, in units of ranges.
    pub(super) fn share_of(&self, part: Part) -> f64 {
        let local = &self.errors.local;
        let states = match part {
            Part::Interpolation => &local.interpolation,
            Part::Ends => &local.ends,
            Part::Foreseen => &local.foreseen,
        };
        let delayed = local.delayed.share(part, &self.scales.outputs);
        self.scales.states.largest_share(states).max(delayed)
    }

    /// What ends that are likely to be missed will leave in the states: one more point in the
    /// extrapolation of what operators miss, and what that changes.
    fn foresee_ends(&mut self, step: MacroStep) {
        let unknowns = self.unknowns();
        let ends = &mut self.ends;
        let missed = &mut ends.right[..unknowns];
        self.memory.predict(step.start, step.size(), 1, missed);
        subtract_difference(missed, &ends.expected, &ends.returned);
        let stacking = self.coupling.stacking();
        for c in (0..stacking.variables).filter(|c| self.static_part.settles(*c)) {
            for at in stacking.places(c, unknowns) {
                missed[at] = 0.0;
            }
        }

        self.errors
            .local
            .foresee_ends(&self.coupling, missed, &mut self.interface_system);
    }

    /// Predicts again with what the look ahead says, where it knows better than the memory.
    fn use_look_ahead(&mut self) {
        let unknowns = self.unknowns();
        let stacking = self.coupling.stacking();
        let mut any = false;

        for c in 0..stacking.variables {
            let better = self.look_ahead_is_better(c);
            any |= better;
            let ends = &mut self.ends;
            for at in stacking.places(c, unknowns) {
                let new = self.look_ahead.differences[at] + ends.returned[at];
                ends.right[at] = if better { new - ends.expected[at] } else { 0.0 };
                ends.expected[at] += ends.right[at];
            }
        }
        if any {
            self.correct_solution(unknowns);
        }
    }

    /// Whether the look ahead has seen something new of a variable, or has served better so far.
    fn look_ahead_is_better(&self, c: usize) -> bool {
        let tried = self.memory.knows(c, self.coupling.step.start);
        if tried || self.static_part.settles(c) {
            return false;
        }
        let remembered = self.ends.expected[c] - self.ends.returned[c];
        let surprise = self.look_ahead.differences[c] - remembered;
        surprise.abs() > SURPRISING * self.scales.outputs.scale(c) || self.memory.prefers_look(c)
    }

    /// `z ← z + (I − K)⁻¹ r`, for what is in `right`.
    pub(super) fn correct_solution(&mut self, unknowns: usize) {
        let solution = &mut self.ends.solution[..unknowns];
        let right = &mut self.ends.right[..unknowns];
        self.interface_system.solve(right);
        add(solution, right);
        self.coupling.place(solution);
    }

    /// Whether all systems are affine as they stand: then nothing is missed.
    fn is_affine(&self) -> bool {
        self.interface_system
            .local()
            .iter()
            .all(|local| local.linearization.affine != 0)
    }

    /// The slopes at which the inputs of the step ended, for variables of systems for which it was
    /// long: consistent slopes of a stiff system are its eigenvalue times the error of its state.
    /// On a loop that is kept where it switches nothing would damp an error of such a slope: there
    /// it is that of the values.
    pub(super) fn keep_stiff_slopes(&mut self, size: f64) {
        let shape = self.coupling.shape();
        let solution = &self.ends.solution[..self.unknowns()];

        for (c, variable) in self.coupling.variables.iter().enumerate() {
            if !self.scales.rates.is_long(variable.system, size) {
                continue;
            }
            let start = &mut self.coupling.start[c];
            let by_values = match self.scales.rates.is_kept(variable.system) {
                true => self.errors.local.slope_by_values(c, start.value),
                false => None,
            };
            start.slope = by_values.unwrap_or_else(|| shape.knot_of(solution, c).slope);
        }
    }
}
