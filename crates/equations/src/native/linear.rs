//! Exact steps of systems that are affine between their switching times.
//!
//! `x' = A x + B u + B' u' + c` under polynomial inputs has a closed solution in matrix exponentials and phi functions.

use std::sync::atomic::{AtomicU64, Ordering};

use dovetail_core::{Linearization, MAX_DEGREE, Signal};
use dovetail_numerics::{LinearStep, exponential_rounding};

use nalgebra::DMatrix;

use super::dynamics::{Dynamics, Point};

/// Beyond so many states dense exponentials cost more than an integrator.
pub(crate) const MOST_STATES: usize = 200;

/// Step sizes for which the exponentials are kept: those of a fixed step, its halves, and the remains beside an event.
const KEPT: usize = 4;

/// Numbers for [`Linearization::affine`], each given once: systems may share the room for their linearisations.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// The exact stepper, with the exponentials it has computed.
pub(crate) struct LinearEngine {
    matrices: Linearization,
    /// The side of the time switches for which everything here was computed.
    switches: Vec<f64>,
    steps: Vec<(f64, LinearStep)>,
    oldest: usize,
    forcing: Vec<Vec<f64>>,
    zeros: Vec<f64>,
    /// What a step of unit size loses to rounding.
    rounding: f64,
    square: DMatrix<f64>,
}

impl LinearEngine {
    pub fn new(states: usize, inputs: usize, outputs: usize, switches: usize) -> Self {
        Self {
            matrices: Linearization::zeros(states, inputs, outputs),
            switches: vec![f64::NAN; switches.max(1)],
            steps: (0..KEPT)
                .map(|_| (f64::NAN, LinearStep::new(states, MAX_DEGREE)))
                .collect(),
            oldest: 0,
            forcing: vec![vec![0.0; states]; MAX_DEGREE + 1],
            zeros: vec![0.0; states.max(inputs)],
            rounding: 0.0,
            square: DMatrix::zeros(states, states),
        }
    }

    /// Whether a step of this size is exact to `tolerance`: rounding spoils the exponentials of very stiff systems.
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

    /// `x` after `size`, which was admitted, from `initial`, under signals whose elapsed time starts here.
    pub fn step(&mut self, size: f64, initial: &[f64], inputs: &[Signal], end: &mut [f64]) {
        let degree = self.force(inputs);
        let kept = self.kept(size);
        let forcing: [&[f64]; MAX_DEGREE + 1] = std::array::from_fn(|p| self.forcing[p].as_slice());
        self.steps[kept]
            .1
            .respond(initial, &forcing[..=degree], end);
    }

    /// The linearisation at a point: the matrices are the same everywhere.
    pub fn linearize(&mut self, dynamics: &mut Dynamics, at: Point<'_>, into: &mut Linearization) {
        self.refresh(dynamics, at.inputs.len());
        dynamics.stand(at, into);
        if into.affine == self.matrices.affine {
            return; // filled before
        }
        into.affine = self.matrices.affine;
        let Linearization {
            a,
            b,
            c,
            d,
            b_slope,
            d_slope,
            f_time,
            g_time,
            ..
        } = &self.matrices;
        into.a.copy_from(a);
        into.b.copy_from(b);
        into.c.copy_from(c);
        into.d.copy_from(d);
        into.b_slope.copy_from(b_slope);
        into.d_slope.copy_from(d_slope);
        into.f_time.copy_from(f_time);
        into.g_time.copy_from(g_time);
    }

    /// The matrices belong to one side of every switch: take them anew when a side has changed.
    fn refresh(&mut self, dynamics: &mut Dynamics, inputs: usize) {
        let now = dynamics.switches();
        let unset = self.switches[0].is_nan();
        if !unset && self.switches[..now.len()] == *now {
            return;
        }
        self.switches[0] = 0.0;
        self.switches[..now.len()].copy_from_slice(now);
        let states = self.matrices.x.len();
        let (inputs, states) = (&self.zeros[..inputs], &self.zeros[..states]);
        // At the origin f is the constant part.
        dynamics.linearize(
            Point {
                time: 0.0,
                states,
                inputs,
                slopes: inputs,
            },
            &mut self.matrices,
        );
        self.matrices.affine = NUMBERS.fetch_add(1, Ordering::Relaxed);
        self.rounding = exponential_rounding(&self.matrices.a, &mut self.square);
        self.steps.iter_mut().for_each(|(size, _)| *size = f64::NAN);
        self.oldest = 0; // their room is used again
    }

    /// The coefficients of `B u + B' u' + c` as a polynomial in elapsed time; returns its degree.
    fn force(&mut self, inputs: &[Signal]) -> usize {
        let degree = inputs.iter().map(Signal::degree).max().unwrap_or(0);
        for (p, forcing) in self.forcing.iter_mut().enumerate().take(degree + 1) {
            if p == 0 {
                forcing.copy_from_slice(self.matrices.f.as_slice());
            } else {
                forcing.fill(0.0);
            }
            for (i, signal) in inputs.iter().enumerate() {
                let coefficient = |p: usize| signal.coefficients().get(p).copied().unwrap_or(0.0);
                let (value, slope) = (coefficient(p), (p + 1) as f64 * coefficient(p + 1));
                let columns = self.matrices.b.column(i);
                forcing
                    .iter_mut()
                    .zip(columns.iter())
                    .for_each(|(sum, b)| *sum += b * value);
                if slope != 0.0 {
                    let columns = self.matrices.b_slope.column(i);
                    forcing
                        .iter_mut()
                        .zip(columns.iter())
                        .for_each(|(sum, b)| *sum += b * slope);
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
        let place = self.oldest;
        self.oldest = (place + 1) % KEPT;
        self.steps[place].0 = size;
        self.steps[place].1.compute(&self.matrices.a, size);
        place
    }
}
