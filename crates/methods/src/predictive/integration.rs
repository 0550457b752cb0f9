//! A step is integrated: once, or again under corrected inputs where all systems can roll back.

use dovetail_core::{Error, Knot, MacroStep, Workers};

use super::Predictive;
use super::controller::Parts;
use super::delayed_errors::Part;
use super::tuning::{
    BAD, EVENT_MISS_OF_RANGE, EVENT_MISS_OF_TOLERANCE, FALLING, FAR, MOST_CORRECTIONS,
    NEGLIGIBLE_OF_VALUE, PATIENCE, POOR_PREDICTION,
};
use crate::coupling::CouplingVariable;
use crate::finite::finite_or_zero;
use crate::interface_system::CoupledInput;
use crate::interface_vector::numbers_of;
use crate::shape::Shape;

impl Predictive<'_> {
    /// Integrates the step; false if it was tried and not taken.
    pub(super) fn integrate(
        &mut self,
        step: MacroStep,
        workers: &mut dyn Workers,
    ) -> Result<bool, Error> {
        self.step_state.corrections = 0;
        self.step_state.corrected = 0.0;
        if self.abilities.revocable && !self.try_until_good(step, workers)? {
            return Ok(false);
        }

        workers.advance(&mut self.coupling.tasks)?;
        Ok(true)
    }

    /// Tries the step, and corrects it while that is worth it; false if it is not to be taken.
    fn try_until_good(
        &mut self,
        step: MacroStep,
        workers: &mut dyn Workers,
    ) -> Result<bool, Error> {
        let mut last = f64::INFINITY;
        for round in 0.. {
            match self.coupling.try_step(workers) {
                Ok(true) => {}
                Ok(false) => {
                    self.learn_from_trial(step);
                    return Ok(false); // the next one ends at the event
                }
                Err(_) if self.halve_after_failure(step) => return Ok(false),
                Err(error) => return Err(error),
            }
            if self.learns_from_rest() && !self.holds_its_promise(step) {
                self.counts.refused_after += 1;
                return Ok(false);
            }
            let missed = self.compare();
            if missed > last || (missed.is_nan() && last.is_finite()) {
                self.take_back_correction();
                break;
            }
            if self.is_too_long(step, missed) {
                return Ok(false);
            }
            if self.misplaces_event() && self.coupling.stops.try_again(step) {
                self.learn_from_trial(step);
                return Ok(false);
            }
            if !(round < MOST_CORRECTIONS && self.is_worth_correcting(round, missed, last)) {
                break;
            }
            self.correct();
            last = missed;
        }
        Ok(true)
    }

    /// The step was tried and is not taken: what the linear operators have missed in it says more
    /// of the next attempt than any step before. Not of systems that have stopped on the way.
    fn learn_from_trial(&mut self, step: MacroStep) {
        let measured = self.measured();
        let linear = &mut self.ends.difference[..measured];
        self.interface_system.estimate_all(&self.coupling, linear);
        let stacking = self.coupling.stacking();

        for (c, variable) in self.coupling.variables.iter().enumerate() {
            let answer = self.coupling.answer(variable);
            let said = stacking.knot(linear, c);
            let difference = Knot {
                value: answer.value - said.value,
                slope: answer.slope - said.slope,
                curvature: answer.curvature - said.curvature,
            };
            let arrived = self.coupling.tasks[variable.system].response.reached == step.end;
            if arrived && difference.value.is_finite() && difference.slope.is_finite() {
                self.memory
                    .learn_trial(step.start, step.size(), c, difference);
            }
        }
    }

    /// Whether the step ends at an event that was located under inputs which the systems that feed
    /// them do not confirm.
    fn misplaces_event(&self) -> bool {
        let most = match self.options.tolerance {
            Some(tolerance) => EVENT_MISS_OF_TOLERANCE * tolerance,
            None => EVENT_MISS_OF_RANGE,
        };
        let missed = |column: &CoupledInput| {
            let miss = self.ends.missed[column.variable].abs();
            miss > most * self.scales.outputs.scale(column.variable)
        };
        let mut tasks = self.coupling.tasks.iter();

        tasks.any(|task| {
            let columns = &self.interface_system.columns[task.system];
            task.response.located && columns.iter().any(missed)
        })
    }

    /// Whether the step, tried, went too far and is cut. One that can be made to agree with itself
    /// may still be too long for what happens in it: it is cut first.
    fn is_too_long(&mut self, step: MacroStep, missed: f64) -> bool {
        let bad = missed > BAD || missed.is_nan();
        let cut = (self.leaves_its_range() && self.halve(step)) || (bad && self.halve(step));

        if cut {
            self.memory.forget();
            self.counts.refused_after += 1;
        }
        cut
    }

    /// Where nothing said what would become of states and outputs that were zero, the first
    /// tentative step does; whether there were any.
    fn learns_from_rest(&mut self) -> bool {
        if !self.scales.states.rest() && !self.scales.outputs.rest() {
            return false;
        }

        let tasks = self.coupling.tasks.iter();
        let states = tasks.flat_map(|task| task.response.states.iter());
        self.scales.states.expect_from_rest(states.map(|x| x.abs()));
        let answer = |variable: &CouplingVariable| self.coupling.answer(variable).value.abs();
        let answers = self.coupling.variables.iter().map(answer);
        self.scales.outputs.expect_from_rest(answers);

        true
    }

    /// Whether the step still promises to be accurate, now that it is known what has become of what
    /// was at rest.
    fn holds_its_promise(&mut self, step: MacroStep) -> bool {
        self.judge_interpolation();
        let interpolation = self.share_of(Part::Interpolation);
        let expected = Parts {
            interpolation,
            total: interpolation,
            ..Parts::default()
        };

        self.admits_by(step, expected)
    }

    /// Whether some state has left its range by far in this one step.
    fn leaves_its_range(&self) -> bool {
        let tasks = self.coupling.tasks.iter();
        let after = tasks.flat_map(|task| task.response.states.iter());
        let moves = after
            .zip(self.interface_system.states())
            .map(|(after, before)| (after - before).abs());
        let is_far = |(state, moved): (usize, f64)| {
            let scale = self.scales.states.scale(state);
            scale > 0.0 && moved > FAR * scale
        };

        moves.enumerate().any(is_far)
    }

    /// A correction has made it worse: the inputs before it were better.
    fn take_back_correction(&mut self) {
        let unknowns = self.unknowns();
        self.ends.restore_uncorrected(unknowns);
        self.coupling.place(&self.ends.solution[..unknowns]);
    }

    fn is_worth_correcting(&mut self, round: usize, missed: f64, last: f64) -> bool {
        match self.options.correction {
            Some(false) => false,
            Some(true) => round == 0 && missed.is_finite(),
            None if missed >= FALLING * last || !missed.is_finite() => false,
            None => match self.steps.controller() {
                Some(controller) => {
                    let allowed = controller.allowed(self.coupling.shape());
                    self.leaves_too_much(allowed) || self.misses_share_of_sides()
                }
                None => self.is_predicted_poorly(missed) && !self.misses_are_negligible(),
            },
        }
    }

    /// Whether something that is kept where it switches ends on the wrong mixture of both sides:
    /// that leaves next to nothing in the states, which keep it there, but it can be seen.
    fn misses_share_of_sides(&self) -> bool {
        let tolerance = self.options.tolerance.unwrap_or(f64::INFINITY);
        let ends = || {
            self.errors
                .local
                .effect_of_ends(self.coupling.variables.len())
        };
        self.scales.rates.any_kept() && self.scales.outputs.largest_share(ends()) > tolerance
    }

    /// Fixed steps: whether the prediction missed by more than is usual.
    fn is_predicted_poorly(&self, missed: f64) -> bool {
        let [of_cubics, of_quintics] = POOR_PREDICTION;
        match self.coupling.shape() {
            Shape::Quintic => missed > of_quintics,
            _ => missed > of_cubics,
        }
    }

    /// Chosen steps: whether the ends, as missed, leave far more in the states than is allowed.
    fn leaves_too_much(&mut self, allowed: f64) -> bool {
        let unknowns = self.unknowns();
        // With steps of its own choice nothing is returned.
        let missed = &self.ends.missed[..unknowns];
        self.errors
            .local
            .judge_ends(&self.coupling, missed, &mut self.interface_system);
        let share = self.share_of(Part::Ends);
        let poor = share > PATIENCE * allowed;

        if poor {
            self.step_state.corrected = self.step_state.corrected.max(share);
        }
        poor
    }

    /// Where inputs were meant to end minus where they did; the largest part of a range that a
    /// value misses by. What is not told agrees.
    fn compare(&mut self) -> f64 {
        let stacking = self.coupling.stacking();
        let orders = self.coupling.shape().orders();

        for (c, variable) in self.coupling.variables.iter().enumerate() {
            let knot = self.coupling.answer(variable);
            for (order, answered) in numbers_of(knot).into_iter().enumerate().take(orders) {
                let at = stacking.place(order, c);
                // Where an impulse is returned, that is where inputs are meant to end.
                let meant = answered + self.ends.returned[at];
                let miss = meant - self.ends.solution[at];
                self.ends.missed[at] = if order == 0 {
                    miss
                } else {
                    finite_or_zero(miss)
                };
            }
        }

        let misses = self.ends.missed.values();
        if misses.iter().any(|miss| !miss.is_finite()) {
            f64::NAN
        } else {
            self.scales.outputs.largest_share(misses)
        }
    }

    /// Whether nothing misses by more than a trifle of its value: while ranges are small yet, all
    /// seems large beside them.
    fn misses_are_negligible(&self) -> bool {
        let misses = self.coupling.start.iter().zip(self.ends.missed.values());
        misses
            .into_iter()
            .all(|(knot, miss)| miss.abs() <= NEGLIGIBLE_OF_VALUE * knot.value.abs())
    }

    /// `z ← z + (I − K)⁻¹ (Y − z)`.
    fn correct(&mut self) {
        let unknowns = self.unknowns();
        let ends = &mut self.ends;
        ends.right[..unknowns].copy_from_slice(&ends.missed[..unknowns]);
        ends.keep_uncorrected(unknowns);
        self.correct_solution(unknowns);

        self.step_state.corrections += 1;
    }
}
