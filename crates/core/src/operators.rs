//! How a linearized system answers polynomial inputs at the end of a step: a question that can be
//! answered where the system lives.

use serde::{Deserialize, Serialize};

use crate::interface::Interface;
use crate::linearization::Linearization;

/// What operators are for: how many there are of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OperatorShape {
    /// States of the system.
    pub states: usize,
    /// Its inputs.
    pub inputs: usize,
    /// Its outputs.
    pub outputs: usize,
    /// The degree of the input polynomials.
    pub degree: usize,
    /// There are operators of the states too, behind those of the outputs.
    pub with_states: bool,
    /// Laplace transforms are inverted numerically, instead of by matrix functions.
    pub inverted: bool,
}

impl OperatorShape {
    /// Value, slope and curvature.
    pub const ORDERS: usize = 3;

    /// Of a system with this interface, under inputs of this degree.
    pub fn of(interface: &Interface, degree: usize, with_states: bool, inverted: bool) -> Self {
        Self {
            states: interface.states.len(),
            inputs: interface.inputs.len(),
            outputs: interface.outputs.len(),
            degree,
            with_states,
            inverted,
        }
    }

    /// Outputs, and states where they are asked for.
    pub fn rows(&self) -> usize {
        self.outputs + if self.with_states { self.states } else { 0 }
    }

    /// Coefficients of an input.
    pub fn coefficients(&self) -> usize {
        self.degree + 1
    }

    /// The length of a row of operators: for each input those of its coefficients, then those of
    /// the state, of a forcing `f_C` and of its rate.
    pub fn row_length(&self) -> usize {
        self.inputs * self.coefficients() + 3 * self.states
    }

    /// How many numbers all operators are.
    pub fn operators(&self) -> usize {
        Self::ORDERS * self.rows() * self.row_length()
    }

    /// How many numbers the matrices A, B, C, D, B' and D' are.
    pub fn matrices(&self) -> usize {
        (self.states + self.outputs) * (self.states + 2 * self.inputs)
    }
}

/// A question for the operators of a linear system, with room for the answer.
///
/// The answer depends on nothing but what the task holds. It is asked of the system's worker
/// because that is where there is time for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperatorTask {
    /// Position of the system.
    pub system: usize,
    /// Whether it takes part in this call.
    pub due: bool,
    /// What there is of everything.
    pub shape: OperatorShape,
    /// The size of the step; NaN where there are no operators yet.
    pub size: f64,
    /// A, B, C, D, B' and D', one after the other, each column by column.
    pub matrices: Vec<f64>,
    /// The answer: a row for value, slope and curvature of each output, and of each state where
    /// they are asked for.
    pub operators: Vec<f64>,
    /// A pole of the system where its transforms cannot be inverted: then there is no answer.
    pub pole: Option<f64>,
}

impl OperatorTask {
    /// A question for `system`, which has no answer yet.
    pub fn new(system: usize, shape: OperatorShape) -> Self {
        Self {
            system,
            due: false,
            shape,
            size: f64::NAN,
            matrices: vec![f64::NAN; shape.matrices()],
            operators: vec![0.0; shape.operators()],
            pole: None,
        }
    }

    /// Whether the operators are those of these matrices and of a step of this size.
    pub fn is_for(&self, size: f64, here: &Linearization) -> bool {
        let mut kept = self.matrices.iter().zip(here.matrices());
        self.size == size && kept.all(|(kept, new)| kept == new)
    }

    /// Asks for the operators of these matrices, for a step of this size.
    pub fn ask(&mut self, size: f64, here: &Linearization) {
        for (kept, new) in self.matrices.iter_mut().zip(here.matrices()) {
            *kept = *new;
        }
        self.size = size;
        self.due = true;
    }

    /// The operators of one derivative of one row.
    pub fn row(&self, order: usize, row: usize) -> &[f64] {
        let length = self.shape.row_length();
        &self.operators[(order * self.shape.rows() + row) * length..][..length]
    }

    /// What one input alone causes, a polynomial with these coefficients.
    pub fn gain(&self, order: usize, row: usize, input: usize, polynomial: &[f64]) -> f64 {
        let coefficients = self.shape.coefficients();
        let gains = &self.row(order, row)[input * coefficients..][..coefficients];
        polynomial
            .iter()
            .zip(gains)
            .map(|(coefficient, gain)| gain * coefficient)
            .sum()
    }
}
