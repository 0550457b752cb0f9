//! A system where it stands: its linearization, and f and g elsewhere.

use dovetail_core::{Error, Evaluate, Evaluation, Linearization, Linearize};

use super::dynamics::Point;
use super::stepper::Stepper;
use super::system::NativeSystem;

impl Linearize for NativeSystem {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        self.work(|system| system.linearize(into));
        Ok(())
    }
}

impl Evaluate for NativeSystem {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        self.work(|system| system.evaluate(time, into));
        Ok(())
    }
}

impl Stepper<'_> {
    fn linearize(&mut self, into: &mut Linearization) {
        self.dynamics.enter(self.now.side, &self.now.branches.held);
        let time = if self.now.side == self.now.time {
            self.now.time
        } else {
            self.before_switch(self.now.time)
        };
        let at = Point {
            time,
            states: &self.now.values,
            inputs: &self.now.inputs,
            slopes: &self.now.slopes,
        };

        match self.exact.as_deref_mut() {
            Some(engine) if !self.dynamics.slides() && self.delays.is_none() => {
                engine.linearize(self.dynamics, at, into)
            }
            _ => self.dynamics.linearize(at, into),
        }

        into.kept = self.dynamics.is_kept();
        self.preview_event(&mut into.event);
        let branches = &self.now.branches;
        into.event.due = branches.due.iter().filter(|due| **due).count() as u64;
        if let Some(function) = branches.due.iter().position(|due| *due) {
            self.dynamics.enter(self.now.side, &self.now.branches.held);
            let at = Point {
                time,
                states: &self.now.values,
                inputs: &self.now.inputs,
                slopes: &self.now.slopes,
            };
            self.dynamics
                .function_gradient(at, function, &mut into.event);
            // An integer part changes where the function is this, not where it is zero.
            into.event.value = self.past_switching(function, into.event.value);
        }
    }

    fn evaluate(&mut self, time: f64, into: &mut Evaluation) {
        self.dynamics.enter(self.now.side, &self.now.branches.held);
        let time = self.before_switch(time);
        let mut at = Point {
            time,
            states: into.x.as_slice(),
            inputs: into.u.as_slice(),
            slopes: into.u_slope.as_slice(),
        };
        if let Some(delays) = self.delays {
            delays.look_up(time, at.inputs, &mut self.drive.values);
            at.inputs = &self.drive.values;
            self.drive.slopes[..at.slopes.len()].copy_from_slice(at.slopes);
            at.slopes = &self.drive.slopes;
        }
        self.dynamics.derivative(at, into.f.as_mut_slice());
        self.dynamics.outputs(at, into.g.as_mut_slice());
    }
}
