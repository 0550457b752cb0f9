//! Explicit Runge-Kutta schemes (4), whose every stage needs the one before only.

use super::input::Input;
use super::local_set::{Forms, LocalSet};
use crate::api::Integrator;
use crate::interval::Interval;
use crate::series::tape::{Coefficient, SeriesTape};

/// A scheme with `k_i = f(t + c_i h, x + c_i h k_{i-1})`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheme {
    /// `p`.
    pub order: usize,
    pub stages: &'static [Stage],
}

/// One evaluation of the derivatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// `c_i`, zero or a power of two.
    pub node: f64,
    /// `b_i` is this over the sum of all weights.
    weight: f64,
}

impl Stage {
    const fn new(node: f64, weight: f64) -> Self {
        Self { node, weight }
    }
}

const HEUN: Scheme = Scheme {
    order: 2,
    stages: &[Stage::new(0.0, 1.0), Stage::new(1.0, 1.0)],
};
const RK4: Scheme = Scheme {
    order: 4,
    stages: &[
        Stage::new(0.0, 1.0),
        Stage::new(0.5, 2.0),
        Stage::new(0.5, 2.0),
        Stage::new(1.0, 1.0),
    ],
};

impl From<Integrator> for Scheme {
    fn from(integrator: Integrator) -> Self {
        match integrator {
            Integrator::Heun => HEUN,
            Integrator::Rk4 => RK4,
        }
    }
}

impl Scheme {
    /// `b_i` of a stage.
    pub fn weight(&self, stage: &Stage) -> Interval {
        Interval::point(stage.weight) / Interval::point(self.stages.iter().map(|s| s.weight).sum())
    }
}

/// Where a system's variables are on a tape.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    /// Own states, by their place in the system.
    pub own: Vec<(usize, usize)>,
    /// Inputs, by their place among the inputs.
    pub foreign: Vec<(usize, usize)>,
}

/// One step of the scheme from all states of `set`, with the inputs as known.
pub(super) fn numerical_step(
    scheme: &Scheme,
    set: &LocalSet,
    (tape, registers): (&mut SeriesTape, &Registers),
    (time, size, switches): (f64, Interval, &[Interval]),
    inputs: &[&Input],
) -> Forms {
    let shape = set.shape;
    let (mut result, mut slopes) = (set.states.clone(), Forms::new());
    let mut constant = vec![0.0; shape.width()];
    for stage in scheme.stages {
        let elapsed = Interval::point(stage.node) * size;
        tape.begin(shape, 1, Interval::point(time) + elapsed, switches);
        for &(i, register) in &registers.own {
            let mut form = set.states[i].clone();
            if stage.node != 0.0 {
                shape.add_scaled(&mut form, elapsed, &slopes[i]);
            }
            tape.set_state_form(register, 0, &form);
        }
        for &(j, register) in &registers.foreign {
            shape.set_constant(&mut constant, inputs[j].coefficient(0, elapsed));
            tape.set_state_form(register, 0, &constant);
        }
        tape.compute(0);
        slopes = (0..result.len())
            .map(|i| slope(tape, i, shape.width()))
            .collect();
        let weight = scheme.weight(stage) * size;
        for (form, slope) in result.iter_mut().zip(&slopes) {
            shape.add_scaled(form, weight, slope);
        }
    }
    result
}

/// A derivative as a form of `width` numbers.
fn slope(tape: &SeriesTape, index: usize, width: usize) -> Vec<f64> {
    match tape.result(index, 0) {
        Coefficient::Form(form) => form.to_vec(),
        Coefficient::Plain(value) => {
            let mut form = vec![0.0; width];
            form[0] = value.middle();
            form[width - 1] = value.radius();
            form
        }
    }
}
