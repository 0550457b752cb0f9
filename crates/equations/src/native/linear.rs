//! Exact steps of systems that are affine between their switching times.
//!
//! `x' = A x + B u + B' u' + c` under polynomial inputs has a closed solution in matrix
//! exponentials and phi functions.

use std::hash::{DefaultHasher, Hasher};

use dovetail_core::{Linearization, MAX_DEGREE, Signal};
use dovetail_numerics::{LinearStep, exponential_rounding, spectral_bound};

use nalgebra::{DMatrix, DVectorView};

use super::dynamics::{Dynamics, Point};
use crate::model::Model;

/// Beyond so many states dense exponentials cost more than an integrator.
pub(crate) const MOST_STATES: usize = 200;

/// Step sizes for which the exponentials are kept: those of a fixed step, its halves, and the
/// remains beside an event.
const KEPT: usize = 4;
/// They are kept for so many systems that are alike; with more of them, only who takes steps of
/// its own size computes anew.
const MOST_SYSTEMS: usize = 16;

/// The exact stepper, with the exponentials it has computed.
pub(crate) struct LinearEngine {
    matrices: Linearization,
    /// The side of the switches for which everything here was computed.
    switches: Vec<f64>,
    steps: Vec<(f64, LinearStep)>,
    oldest: usize,
    forcing: Vec<Vec<f64>>,
    zeros: Vec<f64>,
    /// What a step of unit size loses to rounding.
    rounding: f64,
    /// A bound of the eigenvalues, computed when it is asked for; NaN until then.
    rate: f64,
    square: DMatrix<f64>,
}

impl LinearEngine {
    /// For a model with so many switches of all kinds, and for so many systems that are alike.
    pub fn new(model: &Model, switches: usize, systems: usize) -> Self {
        let states = model.states.len();
        let inputs = model.input_leaves();
        let outputs = model.outputs.len();
        let unused = (f64::NAN, LinearStep::new(states, MAX_DEGREE));

        Self {
            matrices: Linearization::zeros(states, inputs, outputs),
            switches: vec![f64::NAN; switches.max(1)],
            steps: vec![unused; KEPT * systems.clamp(1, MOST_SYSTEMS)],
            oldest: 0,
            forcing: vec![vec![0.0; states]; MAX_DEGREE + 1],
            zeros: vec![0.0; states.max(inputs)],
            rounding: 0.0,
            rate: f64::NAN,
            square: DMatrix::zeros(states, states),
        }
    }

    /// Whether a step of this size is exact to `tolerance`: rounding spoils the exponentials of
    /// very stiff systems.
    pub fn admits(
        &mut self,
        dynamics: &mut Dynamics,
        size: f64,
        inputs: usize,
        tolerance: f64,
    ) -> bool {
        self.refresh(dynamics, inputs);
        self.rounding * size <= tolerance
    }

    /// A bound of how fast the system, as it was admitted, moves.
    pub fn rate(&mut self) -> f64 {
        if self.rate.is_nan() {
            self.rate = spectral_bound(&self.matrices.a, &mut self.square);
        }
        self.rate
    }

    /// `x` after `size`, which was admitted, from `initial`, under signals whose elapsed time
    /// starts here.
    pub fn step(&mut self, size: f64, initial: &[f64], inputs: &[Signal], end: &mut [f64]) {
        let degree = self.force(inputs);
        let kept = self.kept(size);
        let forcing: [&[f64]; MAX_DEGREE + 1] = std::array::from_fn(|p| self.forcing[p].as_slice());
        let (_, step) = &self.steps[kept];
        step.respond(initial, &forcing[..=degree], end);
    }

    /// The linearization at a point: the matrices are the same everywhere.
    pub fn linearize(&mut self, dynamics: &mut Dynamics, at: Point<'_>, into: &mut Linearization) {
        self.refresh(dynamics, at.inputs.len());
        dynamics.evaluate(at, into);
        let matrices = &self.matrices;
        if into.affine == matrices.affine {
            return; // filled before
        }

        into.affine = matrices.affine;
        into.a.copy_from(&matrices.a);
        into.b.copy_from(&matrices.b);
        into.c.copy_from(&matrices.c);
        into.d.copy_from(&matrices.d);
        into.b_slope.copy_from(&matrices.b_slope);
        into.d_slope.copy_from(&matrices.d_slope);
        into.f_time.copy_from(&matrices.f_time);

        into.g_time.copy_from(&matrices.g_time);
    }

    /// The matrices belong to one side of every switch: take them anew when a side has changed.
    fn refresh(&mut self, dynamics: &mut Dynamics, inputs: usize) {
        let now = dynamics.switches();
        let computed = !self.switches[0].is_nan();
        if computed && self.switches[..now.len()] == *now {
            return;
        }

        self.switches[0] = 0.0;
        self.switches[..now.len()].copy_from_slice(now);
        // At the origin f is the constant part.
        let origin = Point {
            time: 0.0,
            states: &self.zeros[..self.matrices.x.len()],
            inputs: &self.zeros[..inputs],
            slopes: &self.zeros[..inputs],
        };
        dynamics.linearize(origin, &mut self.matrices);
        self.matrices.affine = digest(&self.matrices);
        self.rounding = exponential_rounding(&self.matrices.a, &mut self.square);
        self.rate = f64::NAN;

        self.forget_steps();
    }

    /// Forgets the exponentials; their memory is used again.
    fn forget_steps(&mut self) {
        for (size, _) in &mut self.steps {
            *size = f64::NAN;
        }
        self.oldest = 0;
    }

    /// The coefficients of `B u + B' u' + c` as a polynomial in elapsed time; returns its degree.
    fn force(&mut self, inputs: &[Signal]) -> usize {
        let degree = inputs.iter().map(Signal::degree).max().unwrap_or(0);
        let matrices = &self.matrices;

        for (p, forcing) in self.forcing[..=degree].iter_mut().enumerate() {
            if p == 0 {
                forcing.copy_from_slice(matrices.f.as_slice());
            } else {
                forcing.fill(0.0);
            }
            for (i, signal) in inputs.iter().enumerate() {
                add_multiple(forcing, coefficient(signal, p), matrices.b.column(i));
                let slope = (p + 1) as f64 * coefficient(signal, p + 1);
                if slope != 0.0 {
                    add_multiple(forcing, slope, matrices.b_slope.column(i));
                }
            }
        }
        degree
    }

    /// Where the exponentials for `size` are, computed if need be.
    fn kept(&mut self, size: f64) -> usize {
        if let Some(kept) = self.steps.iter().position(|(kept, _)| *kept == size) {
            return kept;
        }

        let slot = self.oldest;
        self.oldest = (slot + 1) % self.steps.len();
        let (kept, step) = &mut self.steps[slot];
        *kept = size;
        step.compute(&self.matrices.a, size);

        slot
    }
}

/// A number for [`Linearization::affine`]: matrices that differ have another one, in whatever
/// process.
fn digest(matrices: &Linearization) -> u64 {
    let mut hasher = DefaultHasher::new();
    let by_states_and_inputs = [
        &matrices.a,
        &matrices.b,
        &matrices.c,
        &matrices.d,
        &matrices.b_slope,
        &matrices.d_slope,
    ];
    let numbers = by_states_and_inputs
        .into_iter()
        .flat_map(|matrix| matrix.iter());
    let by_time = matrices.f_time.iter().chain(&matrices.g_time);

    // The constant part as well: forcings stay for as long as the number does.
    for number in numbers.chain(by_time).chain(&matrices.f).chain(&matrices.g) {
        hasher.write_u64(number.to_bits());
    }
    hasher.finish().max(1)
}

/// The coefficient of that power; zero beyond the degree.
fn coefficient(signal: &Signal, power: usize) -> f64 {
    signal.coefficients().get(power).copied().unwrap_or(0.0)
}

/// `sum += factor · column`.
fn add_multiple(sum: &mut [f64], factor: f64, column: DVectorView<'_, f64>) {
    for (sum, entry) in sum.iter_mut().zip(column.iter()) {
        *sum += entry * factor;
    }
}
