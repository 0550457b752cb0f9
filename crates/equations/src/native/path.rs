//! What a system goes through within a step, for those who look between communication times.
//!
//! An integrator leaves its own steps; a system that is stepped exactly is stepped again in parts,
//! once the step is taken. Neither is done where the ends of the step say enough.

use dovetail_core::{Knot, MacroStep, Path, Response, Signal};

use super::response::ResponseFiller;
use super::stepper::Stepper;
use super::trail::{PartScratch, Trail};

/// An integrator that took fewer steps than this found nothing that the ends do not say.
const MANY_STEPS: usize = 6;
/// An exact step is looked at where it is longer than this many time constants,
const LONG: f64 = 1.0;
/// in parts of this many, and if these were too many in parts that double.
const PART: f64 = 0.25;
/// A system without states is looked at in so many parts.
const PARTS_WITHOUT_STATES: u32 = 4;

impl Stepper<'_> {
    /// The path of the step that is being taken, into the response: knots before its end.
    pub(super) fn retrace(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) {
        // What is kept where it switches follows not its inputs but those who keep it.
        if *self.crossed || self.dynamics.is_kept() {
            return;
        }
        if self.end.values.is_empty() {
            return self.follow_inputs(step, inputs, response);
        }
        let mut trail = std::mem::take(self.trail);
        if trail.elapsed.len() >= MANY_STEPS {
            self.read_trail(&trail, step, inputs, response);
        } else if trail.elapsed.is_empty() && self.end.side == step.start {
            self.step_in_parts(step, inputs, &mut trail.parts, response);
        }
        *self.trail = trail;
    }

    fn read_trail(
        &mut self,
        trail: &Trail,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) {
        let width = self.end.values.len();
        let points = trail.elapsed.iter().zip(&trail.sides);
        for ((&elapsed, &side), states) in points.zip(trail.states.chunks_exact(width)) {
            if elapsed < step.size() {
                self.add_knot(step, elapsed, side, states, inputs, response);
            }
        }
    }

    /// A system without states that switches follows its inputs round corners of their own.
    fn follow_inputs(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) {
        if self.watch.is_none() || self.end.side != step.start {
            return;
        }
        for part in 1..PARTS_WITHOUT_STATES {
            let share = f64::from(part) / f64::from(PARTS_WITHOUT_STATES);
            self.add_knot(step, share * step.size(), step.start, &[], inputs, response);
        }
    }

    /// An exact step, in parts.
    fn step_in_parts(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        scratch: &mut PartScratch,
        response: &mut Response,
    ) {
        let size = step.size();
        self.dynamics.enter(step.start, &self.now.branches.held);
        let Some(mut engine) = self.exact.take_if(|_| !self.dynamics.slides()) else {
            return;
        };
        let admitted = engine.admits(self.dynamics, size, inputs.len(), self.tolerance);
        let constants = size * engine.rate();

        if admitted && constants > LONG && constants.is_finite() {
            let even = (constants / PART).ceil();
            let doubles = even > Path::MOST as f64;
            let mut part = if doubles {
                size * PART / constants
            } else {
                size / even
            };
            let mut elapsed = 0.0;
            let PartScratch {
                initial,
                states,
                shifted,
            } = scratch;
            states.clone_from(&self.now.values);

            while elapsed + 1.5 * part < size && response.path.has_room() {
                shifted.clear();
                shifted.extend(inputs.iter().map(|signal| signal.shifted(elapsed)));
                initial.clone_from(states);
                engine.step(part, initial, shifted, states);
                elapsed += part;
                self.add_knot(step, elapsed, step.start, states, inputs, response);
                part *= if doubles { 2.0 } else { 1.0 };
            }
        }
        *self.exact = Some(engine);
    }

    fn add_knot(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        side: f64,
        states: &[f64],
        inputs: &[Signal],
        response: &mut Response,
    ) {
        let time = step.start + elapsed;
        let inputs = match self.delays {
            Some(delays) => {
                delays.enter(step, side, inputs);
                delays.signals()
            }
            None => inputs,
        };
        self.drive.set(inputs, elapsed, 2);
        self.dynamics.enter(side, &self.end.branches.held);
        let mut evaluation = ResponseFiller {
            dynamics: self.dynamics,
            at: self.drive.point(time, states),
            drive: self.drive,
            work: self.work,
        };
        evaluation.fill_values(response);
        evaluation.fill_slopes(response);
        evaluation.fill_curvatures(response);

        let Response {
            path,
            outputs,
            states,
            motion,
            ..
        } = response;
        path.push(time);
        outputs.iter().for_each(|output| path.push_output(*output));
        for (&value, &[slope, curvature]) in states.iter().zip(&*motion) {
            path.push_state(Knot {
                value,
                slope,
                curvature,
            });
        }
    }
}
