//! Inputs that drive a system over a step, from one switching time to the next.

use std::ops::ControlFlow;

use dovetail_core::{MacroStep, Signal};
use dovetail_numerics::Rhs;
use nalgebra::DMatrix;

use super::branches::Branches;
use super::dynamics::{Dynamics, Motion, Point};
use super::trail::Trail;
use super::watch::{Crossing, Watch};

/// The inputs at one time: values and derivatives.
pub(super) struct Drive {
    pub values: Vec<f64>,
    pub slopes: Vec<f64>,
    pub curvatures: Vec<f64>,
    pub thirds: Vec<f64>,
}

impl Drive {
    pub fn new(inputs: &[f64]) -> Self {
        let zeros = vec![0.0; inputs.len()];
        Self {
            values: inputs.to_vec(),
            slopes: zeros.clone(),
            curvatures: zeros.clone(),
            thirds: zeros,
        }
    }

    pub fn point<'a>(&'a self, time: f64, states: &'a [f64]) -> Point<'a> {
        Point {
            time,
            states,
            inputs: &self.values,
            slopes: &self.slopes,
        }
    }

    /// These values and slopes; nothing is known of how slopes change.
    pub fn hold(&mut self, values: &[f64], slopes: &[f64]) {
        self.values.copy_from_slice(values);
        self.slopes.copy_from_slice(slopes);
        self.curvatures.fill(0.0);
        self.thirds.fill(0.0);
    }

    /// How a point moves whose states have these derivatives.
    pub fn motion<'a>(&'a self, states: &'a [f64]) -> Motion<'a> {
        Motion {
            states,
            inputs: &self.slopes,
            slopes: &self.curvatures,
        }
    }

    /// How that motion itself changes, with these second derivatives of the states.
    pub fn bend<'a>(&'a self, states: &'a [f64]) -> Motion<'a> {
        Motion {
            states,
            inputs: &self.curvatures,
            slopes: &self.thirds,
        }
    }

    /// Values and slopes, and higher derivatives as far as `derivatives` of the outputs need them.
    pub fn set(&mut self, inputs: &[Signal], elapsed: f64, derivatives: usize) {
        for (i, signal) in inputs.iter().enumerate() {
            self.values[i] = signal.value(elapsed);
            self.slopes[i] = signal.derivative(1, elapsed);
            if derivatives > 0 {
                self.curvatures[i] = signal.derivative(2, elapsed);
                self.thirds[i] = signal.derivative(3, elapsed);
            }
        }
    }
}

/// The part of a step between two switching times, in elapsed time.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub step: MacroStep,
    pub start: f64,
    pub end: f64,
    pub end_time: f64,
    /// No evaluation is later than this: at a switching time itself the other side begins.
    pub latest: f64,
}

impl Segment {
    pub fn new(step: MacroStep, elapsed: f64, switch: f64) -> Self {
        let (end, end_time) = if switch < step.end {
            ((switch - step.start).min(step.size()), switch)
        } else {
            (step.size(), step.end)
        };
        let latest = if switch <= step.end {
            switch.next_down()
        } else {
            f64::INFINITY
        };

        Self {
            step,
            start: elapsed,
            end,
            end_time,
            latest,
        }
    }

    pub fn time(&self, elapsed: f64) -> f64 {
        (self.step.start + elapsed).min(self.latest)
    }

    /// A part of it, in elapsed time.
    pub fn part(&self, start: f64, end: f64) -> Self {
        Self {
            start,
            end,
            end_time: self.time(end),
            ..*self
        }
    }
}

/// `x' = f` under input signals.
pub(super) struct Driven<'a> {
    pub dynamics: &'a mut Dynamics,
    pub drive: &'a mut Drive,
    pub inputs: &'a [Signal],
    pub segment: &'a Segment,
    /// Where the integrator leaves its steps, and on which side of time switches it is.
    pub trail: Option<(&'a mut Trail, f64)>,
}

impl Driven<'_> {
    pub fn set_inputs(&mut self, elapsed: f64) {
        for (i, signal) in self.inputs.iter().enumerate() {
            self.drive.values[i] = signal.value(elapsed);
            self.drive.slopes[i] = signal.derivative(1, elapsed);
        }
    }
}

/// The same, watched: an integration ends where the watch finds an event.
pub(super) struct Watched<'a> {
    pub driven: Driven<'a>,
    pub watch: &'a mut Watch,
    pub branches: &'a Branches,
    pub crossing: Option<Crossing>,
}

impl Rhs for Watched<'_> {
    fn size(&self) -> usize {
        self.driven.size()
    }

    fn derivative(&mut self, elapsed: f64, states: &[f64], derivative: &mut [f64]) {
        self.driven.derivative(elapsed, states, derivative);
    }

    fn jacobian(&mut self, elapsed: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        self.driven.jacobian(elapsed, states, jacobian);
    }

    fn arrived(&mut self, elapsed: f64, states: &[f64]) -> ControlFlow<()> {
        let _ = self.driven.arrived(elapsed, states);
        self.watch.after.measure(&mut self.driven, elapsed, states);
        self.crossing = self.watch.find(&mut self.driven, self.branches);
        if self.crossing.is_some() {
            return ControlFlow::Break(());
        }
        self.watch.go_on();
        ControlFlow::Continue(())
    }
}

impl Rhs for Driven<'_> {
    fn size(&self) -> usize {
        self.dynamics.states()
    }

    fn derivative(&mut self, elapsed: f64, states: &[f64], derivative: &mut [f64]) {
        self.set_inputs(elapsed);
        let at = self.drive.point(self.segment.time(elapsed), states);
        self.dynamics.derivative(at, derivative);
    }

    fn jacobian(&mut self, elapsed: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        self.set_inputs(elapsed);
        let at = self.drive.point(self.segment.time(elapsed), states);
        self.dynamics.state_jacobian(at, jacobian);
    }

    fn arrived(&mut self, elapsed: f64, states: &[f64]) -> ControlFlow<()> {
        if let Some((trail, side)) = &mut self.trail {
            trail.push(elapsed, *side, states);
        }
        ControlFlow::Continue(())
    }
}
