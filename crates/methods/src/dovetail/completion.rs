//! A step has been taken: what is learnt from it, and where the next one starts.

use dovetail_core::{Error, Linearization, MacroStep, Workers};

use super::controller::Parts;
use super::restart::Restart;
use super::tuning::{BAD, GOOD, LEAST_OF_GRID, MOST_UNKNOWN, OUTDATED, SAME, TRUSTED_AT_LEAST};
use super::{Dovetail, Relinearize};
use crate::interface_system::Column;
use crate::interface_system::steps::Steps;
use crate::shape::Shape;

impl Dovetail<'_> {
    /// Systems have moved to the end of the step.
    pub(super) fn complete_step(&mut self, workers: &mut dyn Workers) -> Result<(), Error> {
        let step = self.coupling.step;
        let solved = self.unknowns();
        self.coupling
            .note_predictions(&self.ends.solution, &mut self.predictions);
        if let Some(error) = &mut self.global_error {
            error.begin_step();
        }
        self.interface_system.localize(step.end, workers)?;
        self.learn(step);
        // By the ends as integrated: a prediction that missed would show as a high derivative.
        let ends = &self.ends.integrated[..solved];
        let rates = &self.rates;
        self.local_error
            .interpolate(&self.coupling, ends, rates, &mut self.interface_system);
        self.local_error.judge_taken_ends(
            &self.coupling,
            &self.ends.missed[..solved],
            &self.rates,
            &mut self.interface_system,
        );
        self.local_error.learn(&self.coupling);
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
            self.cross(step.end, workers)?;
            self.provide_consistent_outputs();
        }
        self.record_signals(step);
        Ok(())
    }

    /// What linear operators missed, and what the prediction missed.
    fn learn(&mut self, step: MacroStep) {
        let measured = self.measured();
        let solved = self.unknowns();
        let ends = &mut self.ends;
        Restart::measure(
            &self.coupling,
            &self.interface_system,
            &mut ends.integrated[..measured],
        );
        self.interface_system
            .estimate_all(&self.coupling, &mut ends.difference[..measured]);
        ends.difference
            .iter_mut()
            .zip(&ends.integrated)
            .for_each(|(d, integrated)| *d = integrated - *d);
        let missed = ends
            .missed
            .iter_mut()
            .zip(ends.integrated.iter().zip(&ends.solution));
        missed.for_each(|(missed, (integrated, solved))| *missed = integrated - solved);
        let known = solved.min(measured);
        // Curvatures of what is stiff are the square of its eigenvalue times an error.
        let stiff = self.rates.is_long_for_any(step.size());
        let known_orders = if stiff {
            measured.min(2 * self.coupling.start.len())
        } else {
            measured
        };
        let looked = self
            .step_state
            .looked
            .then_some(&self.look_ahead.differences[..]);
        self.memory.learn(
            step.start,
            step.size(),
            &ends.difference[..known_orders],
            &ends.missed[..known],
            looked,
        );
    }

    /// Which linearizations the next step stands on.
    fn choose_linearizations(&mut self) {
        if self.options.relinearize == Relinearize::Always {
            return;
        }
        let coupling = &self.coupling;
        let ends = &self.ends;
        let never = self.options.relinearize == Relinearize::Never;
        let outdated = |system: usize| {
            coupling
                .variables
                .iter()
                .enumerate()
                .filter(|(_, variable)| variable.system == system)
                .any(|(c, _)| {
                    let change = ends.integrated[c] - coupling.start[c].value;
                    ends.difference[c].abs() > OUTDATED * change.abs()
                })
        };
        self.interface_system.keep(|system, kept, new| {
            if never {
                !outdated(system)
            } else {
                is_same(kept, new)
            }
        });
    }

    /// The error of the step, the size of the next, and the error of the whole run.
    fn judge(&mut self, step: MacroStep) {
        let shortest = !self.may_shrink(step);
        let errors = &self.local_error;
        let count = self.coupling.start.len();
        let missed = self.outputs.largest_share(&self.ends.missed[..count]);
        let both = errors.interpolation.iter().zip(&errors.ends);
        self.states
            .errors
            .iter_mut()
            .zip(both)
            .for_each(|(sum, (one, other))| *sum = one + other);
        let parts = Parts {
            interpolation: self.states.largest_share(&errors.interpolation),
            ends: self
                .states
                .largest_share(&errors.ends)
                .max(self.step_state.corrected),
            // What was corrected would have been missed: the next step is to do without.
            total: self
                .states
                .largest_own_share()
                .max(self.step_state.corrected),
            points: self.memory.points(),
        };
        if let Some(error) = &mut self.global_error {
            // The interpolation error of a first step may not be known: it is that of the next, but
            // for their sizes.
            let grown = |size: f64| size.powi(2 * self.coupling.shape().orders() as i32 + 1);
            // A parabola that nobody could refuse is not enough to judge a run by; another step is
            // to follow.
            let judged = self.coupling.shape() != Shape::Parabola
                || matches!(self.steps, Steps::Adaptive(_));
            let times = if errors.known {
                self.error_knowledge.unknown = u32::from(!judged);
                1.0 + std::mem::take(&mut self.error_knowledge.unmeasured) / grown(step.size())
            } else {
                self.error_knowledge.unknown += 1;
                self.error_knowledge.unmeasured += grown(step.size());
                0.0
            };
            // One step can stand for a few others, not for a run in which every step begins at an
            // event.
            self.error_knowledge.unsure |= self.error_knowledge.unknown > MOST_UNKNOWN;
            error.carry(step.size(), [&errors.interpolation, &errors.ends], times);
            error.estimate_outputs(&self.coupling, &self.interface_system);
            let change = error.change(step.size(), &self.states);
            // One step to the next tells nothing of steps much shorter.
            self.step_state.trust = (step.size() / change)
                .sqrt()
                .max(TRUSTED_AT_LEAST * step.size());
        }
        let magnification = self.magnification();
        match &mut self.steps {
            Steps::Fixed(plan) if self.abilities.revocable || missed < GOOD => plan.lengthen(),
            Steps::Fixed(plan)
                if missed > BAD
                    && step.size() > plan.grid().size() / LEAST_OF_GRID
                    && self.abilities.free =>
            {
                plan.shorten(step);
            }
            Steps::Fixed(_) => {}
            Steps::Adaptive(controller) => {
                controller.accept(step, self.coupling.shape(), parts);
                controller.allow_for_loops(magnification);
                if let Some(error) = &self.global_error {
                    controller.steer(step.end, self.states.largest_share(&error.states));
                }
            }
        }
        self.step_state.missed = missed;
        self.update_advice(missed, shortest);
    }

    /// Crosses the event at the end of the step: the stretch after it starts as the run did.
    fn cross(&mut self, time: f64, workers: &mut dyn Workers) -> Result<(), Error> {
        self.interface_system.forget();
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
        for (task, (columns, local)) in self.coupling.tasks.iter_mut().zip(
            self.interface_system
                .columns
                .iter()
                .zip(self.interface_system.local()),
        ) {
            let here = &local.linearization;
            for (output, knot) in task.response.outputs.iter_mut().enumerate() {
                let by_input = |column: &Column| {
                    let now = self.coupling.start[column.variable];
                    let bent = here.d_slope[(output, column.input)];
                    let by_slope = if bent != 0.0 {
                        bent * (now.slope - here.u_slope[column.input])
                    } else {
                        0.0
                    };
                    here.d[(output, column.input)] * (now.value - here.u[column.input]) + by_slope
                };
                let moved: f64 = columns.iter().map(by_input).sum();
                knot.value += if moved.is_finite() { moved } else { 0.0 };
            }
        }
        for (variable, knot) in self.coupling.variables.iter().zip(&self.coupling.start) {
            self.coupling.tasks[variable.system].response.outputs[variable.position] = *knot;
        }
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
