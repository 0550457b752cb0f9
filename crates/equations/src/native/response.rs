//! Outputs, states and their derivatives at one time.

use dovetail_core::{Knot, Response, Signal};

use super::drive::Drive;
use super::dynamics::{Dynamics, Point};
use crate::model::Model;

/// Scratch for one evaluation.
pub(super) struct EvaluationScratch {
    pub outputs: Vec<f64>,
    pub derivative: Vec<f64>,
    pub second: Vec<f64>,
    pub shifted: Vec<Signal>,
}

impl EvaluationScratch {
    pub fn new(model: &Model) -> Self {
        Self {
            outputs: vec![0.0; model.outputs.len()],
            derivative: vec![0.0; model.states.len()],
            second: vec![0.0; model.states.len()],
            shifted: vec![Signal::constant(0.0); model.input_leaves()],
        }
    }
}

/// A response being filled, order by order.
pub(super) struct ResponseFiller<'a> {
    pub dynamics: &'a mut Dynamics,
    pub at: Point<'a>,
    pub drive: &'a Drive,
    pub work: &'a mut EvaluationScratch,
}

impl ResponseFiller<'_> {
    pub fn fill_values(&mut self, response: &mut Response) {
        let outputs = &mut self.work.outputs;
        self.dynamics.outputs(self.at, outputs);

        for (knot, &value) in response.outputs.iter_mut().zip(&*outputs) {
            *knot = Knot::value_only(value);
        }
        response.states.copy_from_slice(self.at.states);
    }

    /// Leaves the derivative of the states in the scratch, for the curvatures.
    pub fn fill_slopes(&mut self, response: &mut Response) {
        let EvaluationScratch {
            outputs,
            derivative,
            ..
        } = &mut *self.work;
        self.dynamics.derivative(self.at, derivative);
        let motion = self.drive.motion(derivative);
        self.dynamics.output_rate(self.at, motion, outputs);

        for (knot, &slope) in response.outputs.iter_mut().zip(&*outputs) {
            knot.slope = slope;
        }
        for (state, &slope) in response.motion.iter_mut().zip(&*derivative) {
            *state = [slope, f64::NAN];
        }
    }

    pub fn fill_curvatures(&mut self, response: &mut Response) {
        let EvaluationScratch {
            outputs,
            derivative,
            second,
            ..
        } = &mut *self.work;
        let motion = self.drive.motion(derivative);
        self.dynamics.derivative_rate(self.at, motion, second);

        for ([_, curvature], &second) in response.motion.iter_mut().zip(&*second) {
            *curvature = second;
        }

        let bend = self.drive.bend(second);
        self.dynamics
            .output_second_rate(self.at, motion, bend, outputs);

        for (knot, &curvature) in response.outputs.iter_mut().zip(&*outputs) {
            knot.curvature = curvature;
        }
    }
}
