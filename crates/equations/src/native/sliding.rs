//! A system that slides along switching surfaces: both sides of each push it there.
//!
//! Filippov: the derivative is that mixture of both sides which stays on the surface,
//! `f = (1 − c) f₀ + c f₁` with `(1 − c) σ̇₀ + c σ̇₁ = 0`, where 1 is the side on which σ is negative. The
//! share c is what the leaf of the function holds, so that outputs are mixed alike. It depends on
//! states and inputs, and so derivatives are taken by differences here.

use dovetail_core::Linearization;
use nalgebra::{DMatrix, DVectorViewMut};

use super::dynamics::{Dynamics, Motion, Point};
use crate::model::Model;

/// What is held of a function that the system slides along.
pub(super) const SLIDING: f64 = 0.5;

/// What is held of a function that the system is kept at by others: see [`Layer`].
pub(super) const LAYER: f64 = 0.25;

/// How wide a layer is, as a part of how large its function has been.
const LAYER_WIDTH: f64 = 1e-6;

/// Where the switch is in one system and the states that it acts upon in another: the share of the
/// negative side falls with σ, steeply, from where both sides balance. Whoever couples the systems
/// finds the share with which σ stays.
#[derive(Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Layer {
    pub share: f64,
    value: f64,
    width: f64,
}

impl Layer {
    /// About this value of a function that has been so large, and that moves at these rates on its
    /// two sides, the negative one last.
    pub fn between(value: f64, span: f64, [above, below]: [f64; 2]) -> Self {
        Self {
            share: above / (above - below),
            value,
            width: LAYER_WIDTH * span,
        }
    }

    fn share_at(&self, value: f64) -> f64 {
        self.share - (value - self.value) / self.width
    }
}

/// Differences over this part of a point's size: the third root of rounding.
const PART: f64 = 1e-5;
/// Second differences: the fourth root.
const SECOND_PART: f64 = 1e-4;

/// The surfaces along which a system slides, and scratch.
pub(super) struct Sliding {
    /// Switching functions.
    pub along: Vec<usize>,
    /// Those at which others keep it, and for each function its layer.
    pub kept_at: Vec<usize>,
    pub layers: Vec<Layer>,
    /// The place of the first function among the switches.
    first: usize,
    derivative: Vec<f64>,
    values: Vec<f64>,
    rates: Vec<f64>,
    /// A point elsewhere: states, inputs, slopes.
    states: Vec<f64>,
    inputs: Vec<f64>,
    slopes: Vec<f64>,
    results: [Vec<f64>; 2],
}

/// What is differentiated.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Derivative,
    Outputs,
    /// The shares of the surfaces, in the order in which they are listed.
    Shares,
}

impl Sliding {
    pub fn new(model: &Model, functions: usize) -> Self {
        let states = vec![0.0; model.states.len()];
        let inputs = vec![0.0; model.input_leaves()];
        let most = states.len().max(model.outputs.len()).max(functions);

        Self {
            along: Vec::new(),
            kept_at: Vec::new(),
            layers: vec![Layer::default(); functions],
            first: 0,
            derivative: states.clone(),
            values: vec![0.0; functions],
            rates: vec![0.0; functions],
            states,
            slopes: inputs.clone(),
            inputs,
            results: [vec![0.0; most], vec![0.0; most]],
        }
    }

    /// These branches are taken; switches before `first` are no functions.
    pub fn note(&mut self, first: usize, branches: &[f64]) {
        self.first = first;
        self.along.clear();
        self.kept_at.clear();
        for (function, &held) in branches.iter().enumerate() {
            if held == SLIDING {
                self.along.push(function);
            } else if held == LAYER {
                self.kept_at.push(function);
            }
        }
    }

    /// Whether the system slides at all.
    pub fn slides(&self) -> bool {
        !(self.along.is_empty() && self.kept_at.is_empty())
    }
}

/// A small move of a point.
struct Direction<'a> {
    time: f64,
    motion: Motion<'a>,
}

impl Dynamics {
    /// The scratch of a system that slides, taken out while it is used.
    fn take_sliding(&mut self) -> Sliding {
        let switching = self.switching.as_mut().expect("BUG: nothing switches");
        let empty = Sliding {
            along: Vec::new(),
            kept_at: Vec::new(),
            layers: Vec::new(),
            first: 0,
            derivative: Vec::new(),
            values: Vec::new(),
            rates: Vec::new(),
            states: Vec::new(),
            inputs: Vec::new(),
            slopes: Vec::new(),
            results: [Vec::new(), Vec::new()],
        };
        std::mem::replace(&mut switching.sliding, empty)
    }

    fn return_sliding(&mut self, sliding: Sliding) {
        if let Some(switching) = &mut self.switching {
            switching.sliding = sliding;
        }
    }

    /// Takes the shares of both sides that keep the system on the surfaces.
    pub(super) fn slide(&mut self, at: Point<'_>) {
        let mut sliding = self.take_sliding();
        self.enter_layers(at, &mut sliding);
        if !sliding.along.is_empty() {
            self.balance(at, &mut sliding);
        }
        self.return_sliding(sliding);
    }

    /// The shares of functions at which others keep the system.
    fn enter_layers(&mut self, at: Point<'_>, sliding: &mut Sliding) {
        if sliding.kept_at.is_empty() {
            return;
        }
        self.evaluate_functions(at, sliding);
        for &function in &sliding.kept_at {
            let layer = sliding.layers[function];
            let share = layer.share_at(sliding.values[function]);
            self.switches[sliding.first + function] = share;
        }
        self.set_switches();
    }

    /// The switching functions at a point, into the scratch.
    fn evaluate_functions(&mut self, at: Point<'_>, sliding: &mut Sliding) {
        sliding.derivative.fill(0.0);
        let motion = Motion {
            states: &sliding.derivative,
            inputs: at.slopes,
            slopes: at.slopes,
        };
        self.plain_functions(at, motion, &mut sliding.values, &mut sliding.rates);
    }

    /// The layers are where the system is now, with these shares: what couples the systems has
    /// moved inputs a little, and shares are not to jump by that.
    pub(super) fn center_layers(&mut self, at: Point<'_>, shares: &[f64]) {
        if !self.is_kept() {
            return;
        }
        let mut sliding = self.take_sliding();
        self.evaluate_functions(at, &mut sliding);
        for &function in &sliding.kept_at {
            let layer = &mut sliding.layers[function];
            layer.share = shares[function];
            layer.value = sliding.values[function];
        }
        self.return_sliding(sliding);
    }

    /// The shares as they were last taken.
    pub(super) fn read_shares(&self, shares: &mut [f64]) {
        if let Some(switching) = &self.switching {
            let sliding = &switching.sliding;
            for &function in &sliding.kept_at {
                shares[function] = self.switches[sliding.first + function];
            }
        }
    }

    /// The shares that keep the system on its own surfaces.
    fn balance(&mut self, at: Point<'_>, sliding: &mut Sliding) {
        let count = sliding.along.len();
        let mut rates = DMatrix::zeros(count, count + 1);

        // The rates are affine in the shares: with none of them, then with one after the other.
        for column in 0..=count {
            for (row, &function) in sliding.along.iter().enumerate() {
                let share = f64::from(u8::from(row + 1 == column));
                self.switches[sliding.first + function] = share;
            }
            self.set_switches();
            self.plain_derivative(at, &mut sliding.derivative);
            let motion = Motion {
                states: &sliding.derivative,
                inputs: at.slopes,
                slopes: &sliding.slopes,
            };
            self.plain_functions(at, motion, &mut sliding.values, &mut sliding.rates);
            for (row, &function) in sliding.along.iter().enumerate() {
                rates[(row, column)] = sliding.rates[function];
            }
        }

        let base = rates.column(0).clone_owned();
        let mut gains = rates.columns(1, count).clone_owned();
        for mut column in gains.column_iter_mut() {
            column -= &base;
        }
        let shares = gains.lu().solve(&(-base));
        for (row, &function) in sliding.along.iter().enumerate() {
            let share = shares.as_ref().map_or(SLIDING, |shares| shares[row]);
            self.switches[sliding.first + function] = share;
        }
        self.set_switches();
    }

    /// The shares and their rates in the places of their functions.
    pub(super) fn put_shares(
        &mut self,
        at: Point<'_>,
        motion: Motion<'_>,
        values: &mut [f64],
        rates: &mut [f64],
    ) {
        let mut changes = vec![0.0; values.len()];
        self.difference(at, motion, Of::Shares, &mut changes);
        self.slide(at);
        let switching = self.switching.as_ref().expect("BUG: nothing switches");
        let sliding = &switching.sliding;

        for (row, &function) in sliding.along.iter().chain(&sliding.kept_at).enumerate() {
            values[function] = self.switches[sliding.first + function];
            rates[function] = changes[row];
        }
    }

    /// How something changes along a motion: a central difference.
    pub(super) fn difference(
        &mut self,
        at: Point<'_>,
        motion: Motion<'_>,
        of: Of,
        rate: &mut [f64],
    ) {
        let direction = Direction { time: 1.0, motion };
        let step = PART * distance(at, motion);
        self.difference_along(at, &direction, step, of, rate);
    }

    fn difference_along(
        &mut self,
        at: Point<'_>,
        direction: &Direction<'_>,
        step: f64,
        of: Of,
        rate: &mut [f64],
    ) {
        let mut sliding = self.take_sliding();
        let along = [sliding.along.as_slice(), &sliding.kept_at].concat();
        let first = sliding.first;
        let mut results = std::mem::take(&mut sliding.results);

        for (side, result) in [-step, step].into_iter().zip(&mut results) {
            move_to(&mut sliding, at, direction, side);
            let [states, inputs, slopes] =
                [&sliding.states, &sliding.inputs, &sliding.slopes].map(Clone::clone);
            sliding.slopes.fill(0.0);
            self.return_sliding(sliding);
            let there = Point {
                time: at.time + side * direction.time,
                states: &states,
                inputs: &inputs,
                slopes: &slopes,
            };
            match of {
                Of::Derivative => self.derivative(there, &mut result[..states.len()]),
                Of::Outputs => self.outputs(there, &mut result[..rate.len()]),
                Of::Shares => {
                    self.slide(there);
                    for (share, function) in result.iter_mut().zip(&along) {
                        *share = self.switches[first + function];
                    }
                }
            }
            sliding = self.take_sliding();
        }

        for (i, rate) in rate.iter_mut().enumerate() {
            *rate = (results[1][i] - results[0][i]) / (2.0 * step);
        }
        sliding.results = results;
        self.return_sliding(sliding);
    }

    /// `y''` along a motion that bends: what its rate changes by.
    pub(super) fn second_difference(
        &mut self,
        at: Point<'_>,
        motion: Motion<'_>,
        bend: Motion<'_>,
        rate: &mut [f64],
    ) {
        let step = SECOND_PART * distance(at, motion);
        let mut sum = vec![0.0; rate.len()];
        let mut there = vec![0.0; rate.len()];

        for (side, weight) in [(-step, 1.0), (0.0, -2.0), (step, 1.0)] {
            let moved = |values: &[f64], rates: &[f64], bends: &[f64]| -> Vec<f64> {
                let terms = values.iter().zip(rates).zip(bends);
                terms
                    .map(|((value, rate), bend)| value + side * rate + 0.5 * side * side * bend)
                    .collect()
            };
            let states = moved(at.states, motion.states, bend.states);
            let inputs = moved(at.inputs, motion.inputs, bend.inputs);
            let slopes = moved(at.slopes, motion.slopes, bend.slopes);
            let point = Point {
                time: at.time + side,
                states: &states,
                inputs: &inputs,
                slopes: &slopes,
            };
            self.outputs(point, &mut there);
            for (sum, there) in sum.iter_mut().zip(&there) {
                *sum += weight * there;
            }
        }

        for (rate, sum) in rate.iter_mut().zip(&sum) {
            *rate = sum / (step * step);
        }
    }

    /// `∂f/∂x`.
    pub(super) fn difference_columns(&mut self, at: Point<'_>, jacobian: &mut DMatrix<f64>) {
        for state in 0..at.states.len() {
            let column = jacobian.column_mut(state);
            self.difference_by(at, Leaf::State(state), Of::Derivative, column);
        }
    }

    /// All matrices.
    pub(super) fn linearize_by_differences(&mut self, at: Point<'_>, into: &mut Linearization) {
        for state in 0..at.states.len() {
            let leaf = Leaf::State(state);
            self.difference_by(at, leaf, Of::Derivative, into.a.column_mut(state));
            self.difference_by(at, leaf, Of::Outputs, into.c.column_mut(state));
        }

        for input in 0..at.inputs.len() {
            let leaf = Leaf::Input(input);
            self.difference_by(at, leaf, Of::Derivative, into.b.column_mut(input));
            self.difference_by(at, leaf, Of::Outputs, into.d.column_mut(input));
            let leaf = Leaf::Slope(input);
            self.difference_by(at, leaf, Of::Derivative, into.b_slope.column_mut(input));
            self.difference_by(at, leaf, Of::Outputs, into.d_slope.column_mut(input));
        }

        let time = Leaf::Time;
        self.difference_by(at, time, Of::Derivative, into.f_time.column_mut(0));
        self.difference_by(at, time, Of::Outputs, into.g_time.column_mut(0));
        into.affine = 0;
    }

    fn difference_by(
        &mut self,
        at: Point<'_>,
        leaf: Leaf,
        of: Of,
        mut column: DVectorViewMut<'_, f64>,
    ) {
        let mut states = vec![0.0; at.states.len()];
        let mut inputs = vec![0.0; at.inputs.len()];
        let mut slopes = vec![0.0; at.inputs.len()];
        let size = match leaf {
            Leaf::Time => at.time,
            Leaf::State(i) => at.states[i],
            Leaf::Input(i) => at.inputs[i],
            Leaf::Slope(i) => at.slopes[i],
        };
        match leaf {
            Leaf::Time => {}
            Leaf::State(i) => states[i] = 1.0,
            Leaf::Input(i) => inputs[i] = 1.0,
            Leaf::Slope(i) => slopes[i] = 1.0,
        }
        let direction = Direction {
            time: f64::from(u8::from(matches!(leaf, Leaf::Time))),
            motion: Motion {
                states: &states,
                inputs: &inputs,
                slopes: &slopes,
            },
        };
        let step = PART * size.abs().max(1e-3);
        self.difference_along(at, &direction, step, of, column.as_mut_slice());
    }
}

/// What is varied.
#[derive(Clone, Copy)]
enum Leaf {
    Time,
    State(usize),
    Input(usize),
    Slope(usize),
}

fn move_to(sliding: &mut Sliding, at: Point<'_>, direction: &Direction<'_>, side: f64) {
    let parts = [
        (&mut sliding.states, at.states, direction.motion.states),
        (&mut sliding.inputs, at.inputs, direction.motion.inputs),
        (&mut sliding.slopes, at.slopes, direction.motion.slopes),
    ];
    for (there, values, rates) in parts {
        for (i, there) in there.iter_mut().enumerate() {
            *there = values[i] + side * rates[i];
        }
    }
}

/// A time in which the motion leads about as far as the point is from the origin.
fn distance(at: Point<'_>, motion: Motion<'_>) -> f64 {
    let size = |states: &[f64], inputs: &[f64]| -> f64 {
        states.iter().chain(inputs).map(|value| value.abs()).sum()
    };
    let ratio = size(at.states, at.inputs) / size(motion.states, motion.inputs);
    if ratio.is_finite() && ratio > 0.0 {
        ratio
    } else {
        1.0
    }
}
