//! A step has been taken: what is learnt from it, and where the next one starts.

use dovetail_core::{Error, Linearization, MacroStep, Workers};

use super::controller::Parts;
use super::delayed_errors::Part;
use super::global_error::StepErrors;
use super::local_error::LocalError;
use super::restart::Restart;
use super::run_state::Doubt;
use super::tuning::{BAD, GOOD, LEAST_OF_GRID, OUTDATED, SAME, TRUSTED_AT_LEAST};
use super::{Predictive, Relinearize};
use crate::elementwise::{set_difference, set_sum};
use crate::finite::finite_or_zero;
use crate::interface_system::CoupledInput;
use crate::interface_system::steps::Steps;
use crate::shape::Shape;

impl Predictive<'_> {
    /// Systems have moved to the end of the step.
    pub(super) fn complete_step(&mut self, workers: &mut dyn Workers) -> Result<(), Error> {
        let step = self.coupling.step;
        let solved = self.unknowns();
        self.coupling
            .note_predictions(&self.ends.solution, &mut self.predictions);
        self.errors.global.begin_step();
        self.note_crossed_events();

        self.note_start_of_step();
        self.interface_system.localize(step.end, workers)?;
        self.look_for_unseen_events(step);
        self.learn(step);
        // By the ends as integrated: a prediction that missed would show as a high derivative.
        let ends = &self.ends.integrated[..solved];
        let rates = &self.scales.rates;
        self.errors
            .local
            .interpolate(&self.coupling, ends, rates, &mut self.interface_system);
        self.errors.local.judge_taken_ends(
            &self.coupling,
            &self.ends.missed[..solved],
            &self.scales.rates,
            &mut self.interface_system,
        );
        self.errors.local.learn(&self.coupling);
        self.choose_linearizations();
        let event = self.coupling.at_event();
        self.coupling.stops.accepted(step);
        self.restart_from_integrated(step.end)?;

        if !event {
            self.agree(step, workers)?;
        }

        self.keep_stiff_slopes(step.size());
        self.refresh_scales();
        self.judge(step);
        self.provide_consistent_outputs();

        if event {
            self.note_event(step.size());
            self.cross(step.end, workers)?;
            self.note_crossed_events();
            self.carry_over_event();
            self.provide_consistent_outputs();
        }

        self.record_signals(step);
        Ok(())
    }

    /// Events that systems have crossed within the step are not where the error was followed; nor
    /// is one at its end that sets states anew in a way that its system cannot tell.
    fn note_crossed_events(&mut self) {
        let crossed = self.coupling.tasks.iter().any(|task| task.response.crossed);
        if crossed {
            self.errors.knowledge.doubt(Doubt::Crossed);
        }
    }

    /// What linear operators missed, and what the prediction missed.
    fn learn(&mut self, step: MacroStep) {
        let measured = self.measured();
        let known = self.unknowns().min(measured);
        let ends = &mut self.ends;
        let integrated = &mut ends.integrated[..measured];
        Restart::measure(&self.coupling, &self.interface_system, integrated);
        let linear = &mut ends.difference[..measured];
        self.interface_system.estimate_all(&self.coupling, linear);

        for (difference, integrated) in ends.difference.iter_mut().zip(ends.integrated.iter()) {
            *difference = integrated - *difference;
        }

        set_difference(&mut ends.missed, &ends.integrated, &ends.solution);
        // Curvatures of what is stiff are the square of its eigenvalue times an error.
        let believed = if self.scales.rates.is_long_for_any(step.size()) {
            measured.min(2 * self.coupling.start.len())
        } else {
            measured
        };
        let looked = self.step_state.looked;

        self.memory.learn(
            step.start,
            step.size(),
            &ends.difference[..believed],
            &ends.missed[..known],
            looked.then_some(&self.look_ahead.differences[..]),
        );
    }

    /// Which linearizations the next step stands on.
    fn choose_linearizations(&mut self) {
        let coupling = &self.coupling;
        let ends = &self.ends;
        let is_outdated = |c: usize| {
            let change = ends.integrated[c] - coupling.start[c].value;
            ends.difference[c].abs() > OUTDATED * change.abs()
        };
        let any_outdated = |system: usize| {
            let mut variables = coupling.variables.iter().enumerate();
            variables.any(|(c, variable)| variable.system == system && is_outdated(c))
        };

        match self.options.relinearize {
            Relinearize::Always => {}
            Relinearize::Never => self
                .interface_system
                .keep(|system, _, _| !any_outdated(system)),
            Relinearize::Auto => self
                .interface_system
                .keep(|_, kept, new| is_same(kept, new)),
        }
    }

    /// The error of the step, the size of the next, and the error of the whole run.
    fn judge(&mut self, step: MacroStep) {
        let shortest = !self.may_shrink(step);
        let missed = self.scales.outputs.largest_share(self.ends.missed.values());
        let parts = self.error_parts();
        self.carry_error(step);
        self.choose_next_size(step, missed, parts);
        self.step_state.missed = missed;

        self.update_advice(missed, shortest);
    }

    /// What the step has left in the states.
    fn error_parts(&mut self) -> Parts {
        let LocalError {
            interpolation,
            ends,
            ..
        } = &self.errors.local;
        set_sum(&mut self.scales.states.errors, interpolation, ends);
        // What was corrected would have been missed: the next step is to do without.
        let corrected = self.step_state.corrected;

        let interpolation = self.share_of(Part::Interpolation);
        let ends = self.share_of(Part::Ends).max(corrected);
        let delayed = &self.errors.local.delayed;
        let ranges = &self.scales.outputs;
        let of_delayed =
            delayed.share(Part::Interpolation, ranges) + delayed.share(Part::Ends, ranges);
        let of_states = self.scales.states.largest_own_share();

        Parts {
            interpolation,
            ends,
            total: of_states.max(of_delayed).max(corrected),
            points: self.memory.points(),
        }
    }

    /// The error of the run, with that of the step; and how far the next one may go.
    fn carry_error(&mut self, step: MacroStep) {
        let shape = self.coupling.shape();
        let errors = &self.errors.local;
        let size = step.size();
        // A parabola that nobody could refuse is not enough to judge a run by; another step is to
        // follow.
        let judged = shape != Shape::Parabola || self.steps.is_adaptive();
        let grown = size.powi(2 * shape.orders() as i32 + 1);
        let times = self.errors.knowledge.count(errors.known, judged, grown);
        let step_errors = StepErrors {
            interpolation: &errors.interpolation,
            times,
            ends: &errors.ends,
        };
        let error = &mut self.errors.global;
        let rate = self.scales.rates.fastest();
        error.carry(size, rate, &self.scales.states, step_errors);
        error.estimate_outputs(&self.coupling, &self.interface_system);
        let change = error.change(size, &self.scales.states);

        // One step to the next tells nothing of steps much shorter.
        self.step_state.trust = (size / change).sqrt().max(TRUSTED_AT_LEAST * size);
    }

    fn choose_next_size(&mut self, step: MacroStep, missed: f64, parts: Parts) {
        let magnification = self.magnification();
        match &mut self.steps {
            Steps::Fixed(plan) if self.abilities.revocable || missed < GOOD => plan.lengthen(),
            Steps::Fixed(plan) => {
                let long = step.size() > plan.grid().size() / LEAST_OF_GRID;
                if missed > BAD && long && self.abilities.free {
                    plan.shorten(step);
                }
            }
            Steps::Adaptive(controller) => {
                controller.accept(step, self.coupling.shape(), parts);
                controller.allow_for_loops(magnification);
                let error = self.scales.states.largest_share(&self.errors.global.states);
                controller.steer(step.end, error);
            }
        }
    }

    /// Crosses the event at the end of the step: the stretch after it starts as the run did.
    fn cross(&mut self, time: f64, workers: &mut dyn Workers) -> Result<(), Error> {
        self.interface_system.forget();
        self.errors.unseen.forget();
        self.coupling.cross_event(workers)?;
        self.make_consistent(time, workers)?;

        if let Steps::Adaptive(controller) = &mut self.steps {
            controller.restart();
        }

        self.step_state.trust = f64::INFINITY;
        Ok(())
    }

    /// What is recorded of coupled outputs is what the next step starts from, and what feeds nobody
    /// follows from the same inputs.
    fn provide_consistent_outputs(&mut self) {
        for system in 0..self.coupling.tasks.len() {
            for output in 0..self.coupling.tasks[system].response.outputs.len() {
                let moved = finite_or_zero(self.moved_by_inputs(system, output));
                self.coupling.tasks[system].response.outputs[output].value += moved;
            }
        }
        for (variable, knot) in self.coupling.variables.iter().zip(&self.coupling.start) {
            self.coupling.tasks[variable.system].response.outputs[variable.position] = *knot;
        }
    }

    /// By how much an output changes where its system's inputs are those that agree.
    fn moved_by_inputs(&self, system: usize, output: usize) -> f64 {
        let here = self.interface_system.linearization(system);
        let by_input = |column: &CoupledInput| {
            let now = self.coupling.start[column.variable];
            let bent = here.d_slope[(output, column.input)];
            let by_slope = if bent != 0.0 {
                bent * (now.slope - here.u_slope[column.input])
            } else {
                0.0
            };
            here.d[(output, column.input)] * (now.value - here.u[column.input]) + by_slope
        };
        if here.kept {
            return 0.0;
        }
        let columns = self.interface_system.columns[system].iter();

        columns.map(by_input).sum()
    }
}

fn is_same(kept: &Linearization, new: &Linearization) -> bool {
    if new.affine != 0 {
        return false; // known to be the same by its number, or to be another one
    }

    let pairs = [
        (&kept.a, &new.a),
        (&kept.b, &new.b),
        (&kept.c, &new.c),
        (&kept.d, &new.d),
    ];
    let slopes = [(&kept.b_slope, &new.b_slope), (&kept.d_slope, &new.d_slope)];

    pairs.into_iter().chain(slopes).all(|(kept, new)| {
        let largest = new
            .iter()
            .fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        kept.iter()
            .zip(new)
            .all(|(kept, new)| (kept - new).abs() <= SAME * largest)
    })
}
