//! What a system looks like close to where it stands.

use nalgebra::{DMatrix, DVector};

use crate::interface::Interface;

/// `x' ≈ f + A (x − x̃) + B (u − ũ)`, `y ≈ g + C (x − x̃) + D (u − ũ)` at the time reached, under the inputs last applied.
///
/// `b_slope` and `d_slope` are the derivatives by the *slopes* of the inputs; they are zero unless a model uses
/// `der(input)`. `f_time` and `g_time` are the partial derivatives by time.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Linearization {
    /// `∂f/∂x`.
    pub a: DMatrix<f64>,
    /// `∂f/∂u`.
    pub b: DMatrix<f64>,
    /// `∂g/∂x`.
    pub c: DMatrix<f64>,
    /// `∂g/∂u`: the feedthrough.
    pub d: DMatrix<f64>,
    /// `∂f/∂u'`.
    pub b_slope: DMatrix<f64>,
    /// `∂g/∂u'`.
    pub d_slope: DMatrix<f64>,
    /// `x̃`.
    pub x: DVector<f64>,
    /// `ũ`.
    pub u: DVector<f64>,
    /// `ũ'`.
    pub u_slope: DVector<f64>,
    /// `f(t, x̃, ũ)`.
    pub f: DVector<f64>,
    /// `g(t, x̃, ũ)`.
    pub g: DVector<f64>,
    /// `∂f/∂t`.
    pub f_time: DVector<f64>,
    /// `∂g/∂t`.
    pub g_time: DVector<f64>,
    /// Not zero for a system that is affine as it stands, with no time of its own: then all of this but `x`, `u`, `u_slope`, `f` and
    /// `g` stays the same for as long as this number does. It is a digest of what stays.
    pub affine: u64,
    /// Others keep the system where it switches: it answers them as steeply as can be, and slopes
    /// on the loop say little.
    pub kept: bool,
    /// The event at which the system stands, not yet crossed, if it does.
    pub event: EventGradient,
}

/// What moves an event that a system has located: its switching function σ, to first order.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EventGradient {
    /// How many switching functions are at zero. Without any, the rest says nothing.
    pub due: u64,
    /// σ itself, under the inputs last applied: what its location has left.
    pub value: f64,
    /// `∂σ/∂t`.
    pub time: f64,
    /// `∂σ/∂x`; NaN where it is not known.
    pub x: DVector<f64>,
    /// `∂σ/∂u`.
    pub u: DVector<f64>,
    /// `∂σ/∂u'`.
    pub u_slope: DVector<f64>,
    /// `∂x⁺/∂x` of states that the event sets anew, also at a time that was known; empty where they
    /// stay.
    pub reset: DMatrix<f64>,
    /// `∂x⁺/∂u` of the same.
    pub reset_by_inputs: DMatrix<f64>,
}

impl EventGradient {
    /// No event, of a system with so many states and inputs.
    pub fn none(states: usize, inputs: usize) -> Self {
        Self {
            due: 0,
            value: 0.0,
            time: 0.0,
            x: DVector::zeros(states),
            u: DVector::zeros(inputs),
            u_slope: DVector::zeros(inputs),
            reset: DMatrix::zeros(0, 0),
            reset_by_inputs: DMatrix::zeros(0, 0),
        }
    }

    /// Whether the event sets states anew.
    pub fn resets(&self) -> bool {
        self.reset.nrows() > 0
    }

    /// States that are set anew, or not: as if they stayed.
    pub fn make_reset(&mut self, resets: bool) {
        let states = if resets { self.x.len() } else { 0 };
        if self.reset.nrows() != states {
            self.reset = DMatrix::zeros(states, states);
            self.reset_by_inputs = DMatrix::zeros(states, self.u.len());
        }
        self.reset.fill(0.0);
        self.reset.fill_diagonal(1.0);
        self.reset_by_inputs.fill(0.0);
    }
}

impl Linearization {
    /// Zeros, to be filled: for a system with this interface.
    pub fn of(interface: &Interface) -> Self {
        Self::zeros(
            interface.states.len(),
            interface.inputs.len(),
            interface.outputs.len(),
        )
    }

    /// Zeros, to be filled: for a system with so many states, inputs and outputs.
    pub fn zeros(states: usize, inputs: usize, outputs: usize) -> Self {
        Self {
            a: DMatrix::zeros(states, states),
            b: DMatrix::zeros(states, inputs),
            c: DMatrix::zeros(outputs, states),
            d: DMatrix::zeros(outputs, inputs),
            b_slope: DMatrix::zeros(states, inputs),
            d_slope: DMatrix::zeros(outputs, inputs),
            x: DVector::zeros(states),
            u: DVector::zeros(inputs),
            u_slope: DVector::zeros(inputs),
            f: DVector::zeros(states),
            g: DVector::zeros(outputs),
            f_time: DVector::zeros(states),
            g_time: DVector::zeros(outputs),
            affine: 0,
            kept: false,
            event: EventGradient::none(states, inputs),
        }
    }

    /// The entries of A, B, C, D, B' and D', one after the other, each column by column.
    pub fn matrices(&self) -> impl Iterator<Item = &f64> {
        let matrices = [
            &self.a,
            &self.b,
            &self.c,
            &self.d,
            &self.b_slope,
            &self.d_slope,
        ];
        matrices.into_iter().flat_map(|matrix| matrix.as_slice())
    }
}

/// `f(t, x, u)` and `g(t, x, u)` of a system, wherever it stands itself.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Evaluation {
    /// `x`.
    pub x: DVector<f64>,
    /// `u`.
    pub u: DVector<f64>,
    /// `u'`.
    pub u_slope: DVector<f64>,
    /// `f(t, x, u)`.
    pub f: DVector<f64>,
    /// `g(t, x, u)`.
    pub g: DVector<f64>,
}

impl Evaluation {
    /// Zeros, to be filled: for a system with this interface.
    pub fn of(interface: &Interface) -> Self {
        let states = interface.states.len();
        let inputs = interface.inputs.len();

        Self {
            x: DVector::zeros(states),
            u: DVector::zeros(inputs),
            u_slope: DVector::zeros(inputs),
            f: DVector::zeros(states),
            g: DVector::zeros(interface.outputs.len()),
        }
    }
}
