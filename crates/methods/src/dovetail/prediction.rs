//! Before a step is integrated: a consistent interface, inputs, the linear system, and what can be
//! known of the error.

use dovetail_core::{Error, Knot, MacroStep, Past, Workers};

use super::controller::Parts;
use super::tuning::{CUBIC_BETTER, FEEDTHROUGH_ROUNDS, MOST_RETURNED, SURPRISING, TOO_FAR};
use super::{Dovetail, FromRest, Inputs};
use crate::coupling::Variable;
use crate::elementwise::add;
use crate::interface_system::steps::Steps;
use crate::interface_system::{MOST_ORDERS, Unsolved};
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

impl Dovetail<'_> {
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
        self.rates.locate(&self.interface_system);
        if let Some(error) = &mut self.global_error {
            error.locate(&self.interface_system);
        }
        self.outputs.include(self.coupling.start_values());
        self.states.include(self.interface_system.states());
        self.expect_from_rest();
    }

    /// States and outputs that are zero have the scale of what they will become.
    fn expect_from_rest(&mut self) {
        if !self.states.rest() && !self.outputs.rest() {
            return;
        }
        let FromRest {
            mut states,
            mut outputs,
        } = std::mem::take(&mut self.from_rest);
        for (system, (scales, local)) in states
            .iter_mut()
            .zip(self.interface_system.local())
            .enumerate()
        {
            let here = &local.linearization;
            let rate = self.rates.of(system);
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
        self.states
            .expect_from_rest(states.iter().flatten().copied());
        self.outputs.expect_from_rest(outputs.iter().copied());
        self.from_rest = FromRest { states, outputs };
    }

    /// What an output will become, given what the states of its system and the inputs that are fed
    /// will.
    fn output_scale(&self, variable: Variable, states: &[f64], outputs: &[f64]) -> f64 {
        let here = &self.interface_system.local()[variable.system].linearization;
        let by_states = states
            .iter()
            .enumerate()
            .map(|(j, scale)| (here.c[(variable.position, j)] * scale).abs());
        let columns = self.interface_system.columns[variable.system].iter();
        let by_inputs =
            columns.map(|c| (here.d[(variable.position, c.input)] * outputs[c.variable]).abs());
        by_states.sum::<f64>() + by_inputs.sum::<f64>()
    }

    /// A state of which nothing else is known has the scale of the outputs that it feeds.
    fn scale_by_fed(&self, system: usize, scales: &mut [f64], outputs: &[f64]) {
        let here = &self.interface_system.local()[system].linearization;
        for (state, scale) in scales
            .iter_mut()
            .enumerate()
            .filter(|(_, scale)| **scale == 0.0)
        {
            for (variable, place) in self
                .coupling
                .variables
                .iter()
                .enumerate()
                .filter(|(_, p)| p.system == system)
            {
                let gain = here.c[(place.position, state)].abs();
                *scale = if gain > 0.0 {
                    scale.max(outputs[variable] / gain)
                } else {
                    *scale
                };
            }
        }
    }

    /// Of what degree inputs are. Slopes at the start of a first step say little where it is long
    /// for some system, and curvatures never say anything there; what a cubic misses on a first
    /// step is known, of a quintic it is not.
    pub(super) fn choose_degree(&mut self, step: MacroStep) {
        let stiff = self.rates.is_long_for_any(step.size());
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
    pub(super) fn predict(&mut self) -> Result<(), Unsolved> {
        self.solve()?;
        if self.coupling.curved && self.options.inputs == Inputs::Auto {
            let solution = &self.ends.solution[..self.unknowns()];
            let errors = self
                .local_error
                .compare(&self.coupling, solution, &self.interface_system);
            let shares =
                errors.map(|errors| errors.map(|errors| self.states.largest_share(errors)));
            if shares.is_some_and(|[cubic, quintic]| quintic > CUBIC_BETTER * cubic) {
                self.coupling.curved = false;
                self.solve()?;
            }
        }
        self.judge_interpolation();
        Ok(())
    }

    /// What inputs that end as solved miss within the step.
    pub(super) fn judge_interpolation(&mut self) {
        let unknowns = self.unknowns();
        let ends = &self.ends.solution[..unknowns];
        let rates = &self.rates;
        self.local_error
            .interpolate(&self.coupling, ends, rates, &mut self.interface_system);
    }

    /// Solves `(I − K) z = r + d` for the change over the step.
    fn solve(&mut self) -> Result<(), Unsolved> {
        let step = self.coupling.step;
        let unknowns = self.unknowns();
        let count = self.coupling.start.len();
        let ends = &mut self.ends;
        self.coupling.stack_start(&mut ends.solution[..unknowns]);
        self.memory
            .predict(step.start, step.size(), 0, &mut ends.expected[..unknowns]);
        for c in 0..count {
            let returned = self.memory.return_impulse(c, step.size());
            return_within(
                MOST_RETURNED * self.outputs.scale(c),
                returned,
                c,
                count,
                &mut ends.returned[..unknowns],
            );
        }
        add(&mut ends.expected[..unknowns], &ends.returned);
        self.coupling.place(&ends.solution[..unknowns]);
        self.interface_system
            .prepare(&self.coupling, &mut ends.right[..unknowns])?;
        let known = ends.expected.iter().zip(&ends.solution);
        ends.right
            .iter_mut()
            .zip(known)
            .for_each(|(right, (expected, start))| *right += expected - start);
        self.interface_system.solve(&mut ends.right[..unknowns]);
        let solution = &mut ends.solution[..unknowns];
        add(solution, &ends.right);
        if !solution.iter().all(|z| z.is_finite()) {
            return Err(Unsolved::Singular);
        }
        self.coupling.place(solution);
        self.outputs.expect(self.coupling.moves_to(solution));
        let slopes = || self.interface_system.state_slopes();
        self.states
            .expect(slopes().map(|slope| slope * step.size()));
        if self.states.rest() {
            let interface_system = &self.interface_system;
            let ends = self
                .coupling
                .tasks
                .iter()
                .zip(interface_system.local())
                .flat_map(|(task, local)| {
                    let states = 0..local.linearization.x.len();
                    states.map(move |state| {
                        interface_system.estimate_state(task.system, state, &task.inputs)
                    })
                });
            self.states.expect_from_zero(ends);
        }
        if let Steps::Adaptive(controller) = &self.steps {
            let rest = controller.rest(step.start);
            self.states.set_horizon(slopes().map(|slope| slope * rest));
        }
        Ok(())
    }

    /// Whether the step, predicted, promises to be accurate; if not the next one is shorter.
    pub(super) fn passes_lookahead(
        &mut self,
        step: MacroStep,
        workers: &mut dyn Workers,
    ) -> Result<bool, Error> {
        let unknowns = self.unknowns();
        if let Steps::Adaptive(_) = self.steps {
            // One more point in the extrapolation of what operators miss: what that changes is
            // likely to be missed.
            let ends = &mut self.ends;
            self.memory
                .predict(step.start, step.size(), 1, &mut ends.right[..unknowns]);
            let known = ends.expected.iter().zip(&ends.returned);
            ends.right
                .iter_mut()
                .zip(known)
                .for_each(|(more, (expected, returned))| *more -= expected - returned);
            self.local_error.foresee_ends(
                &self.coupling,
                &ends.right[..unknowns],
                &mut self.interface_system,
            );
        }
        if let Steps::Adaptive(controller) = &mut self.steps {
            let interpolation = self.states.largest_share(&self.local_error.interpolation);
            let ends = self.states.largest_share(&self.local_error.foreseen);
            let points = self.memory.points();
            let expected = Parts {
                interpolation,
                ends,
                total: interpolation.max(ends),
                points,
            };
            if !controller.admits(step, self.coupling.shape(), expected) {
                return Ok(false);
            }
        }
        self.step_state.looked = false;
        if self.is_affine() {
            return Ok(true);
        }
        let far = self.look_ahead.look(
            &self.coupling,
            &self.ends,
            &self.interface_system,
            &self.outputs,
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

    /// Predicts again with what the look ahead says, where it knows better than the memory.
    fn use_look_ahead(&mut self) {
        let unknowns = self.unknowns();
        let count = self.coupling.start.len();
        let ends = &mut self.ends;
        let mut any = false;
        for c in 0..count {
            let surprise = self.look_ahead.differences[c] - (ends.expected[c] - ends.returned[c]);
            let better =
                surprise.abs() > SURPRISING * self.outputs.scale(c) || self.memory.prefers_look(c);
            any |= better;
            for at in (c..unknowns).step_by(count) {
                let new = self.look_ahead.differences[at] + ends.returned[at];
                ends.right[at] = if better { new - ends.expected[at] } else { 0.0 };
                ends.expected[at] += ends.right[at];
            }
        }
        if any {
            self.interface_system.solve(&mut ends.right[..unknowns]);
            add(&mut ends.solution[..unknowns], &ends.right);
            self.coupling.place(&ends.solution[..unknowns]);
        }
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
    pub(super) fn keep_stiff_slopes(&mut self, size: f64) {
        let shape = self.coupling.shape();
        for (c, variable) in self.coupling.variables.iter().enumerate() {
            if self.rates.is_long(variable.system, size) {
                let Knot { slope, .. } = shape.knot_of(
                    &self.ends.solution[..shape.orders() * self.coupling.start.len()],
                    c,
                );
                self.coupling.start[c].slope = slope;
            }
        }
    }
}
