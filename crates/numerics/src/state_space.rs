//! A linear system, and what its outputs are made of at the end of a step.

use nalgebra::DMatrix;

/// A linear system; `b_slope` and `d_slope` act on the slopes of the inputs.
#[derive(Clone, Copy, Debug)]
pub struct StateSpace<'a> {
    /// `A`.
    pub a: &'a DMatrix<f64>,
    /// `B`.
    pub b: &'a DMatrix<f64>,
    /// `C`.
    pub c: &'a DMatrix<f64>,
    /// `D`.
    pub d: &'a DMatrix<f64>,
    /// `B'`.
    pub b_slope: &'a DMatrix<f64>,
    /// `D'`.
    pub d_slope: &'a DMatrix<f64>,
}

/// The operators of one derivative of the outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Gains {
    /// `G[p]`, outputs × inputs.
    pub inputs: Vec<DMatrix<f64>>,
    /// `P`, outputs × states.
    pub state: DMatrix<f64>,
    /// `R`, outputs × states.
    pub forcing: DMatrix<f64>,
    /// The same for a forcing that is `τ`.
    pub ramp: DMatrix<f64>,
}

impl Gains {
    /// For so many states, inputs and outputs, and inputs of `degree`; all zero.
    pub(crate) fn zeros(states: usize, inputs: usize, outputs: usize, degree: usize) -> Self {
        let by_states = DMatrix::zeros(outputs, states);
        Self {
            inputs: vec![DMatrix::zeros(outputs, inputs); degree + 1],
            state: by_states.clone(),
            forcing: by_states.clone(),
            ramp: by_states,
        }
    }

    /// Sets all operators to zero.
    pub(crate) fn clear(&mut self) {
        for gain in &mut self.inputs {
            gain.as_mut_slice().fill(0.0);
        }
        for gain in [&mut self.state, &mut self.forcing, &mut self.ramp] {
            gain.as_mut_slice().fill(0.0);
        }
    }
}
