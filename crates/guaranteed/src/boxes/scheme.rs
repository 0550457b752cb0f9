//! Explicit Runge-Kutta schemes (4), whose every stage needs the one before only.

use super::input::Input;
use super::local_set::{Forms, LocalSet};
use super::shared_step::SharedStep;
use super::system_tape::SystemTape;
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
        let sum = self.stages.iter().map(|stage| stage.weight).sum();
        Interval::point(stage.weight) / Interval::point(sum)
    }
}

/// A step of a scheme.
pub(super) struct NumericalStep<'a> {
    pub scheme: &'a Scheme,
    pub shared: &'a SharedStep,
    /// As known.
    pub inputs: &'a [&'a Input],
}

impl NumericalStep<'_> {
    /// From all states of `set`.
    pub fn run(&self, set: &LocalSet, system: &mut SystemTape) -> Forms {
        let mut result = set.states.clone();
        let mut slopes = Forms::new();

        for stage in self.scheme.stages {
            slopes = self.stage_slopes(stage, set, &slopes, system);
            let weight = self.scheme.weight(stage) * self.shared.size;
            for (form, slope) in result.iter_mut().zip(&slopes) {
                set.shape.add_scaled(form, weight, slope);
            }
        }
        result
    }

    /// The slopes of a stage from those of the one before.
    fn stage_slopes(
        &self,
        stage: &Stage,
        set: &LocalSet,
        before: &Forms,
        system: &mut SystemTape,
    ) -> Forms {
        let shape = set.shape;
        let elapsed = Interval::point(stage.node) * self.shared.size;
        let tape = &mut system.tape;
        self.shared.begin_series(tape, shape, 1, elapsed);

        for &(i, register) in &system.own {
            let mut form = set.states[i].clone();
            if stage.node != 0.0 {
                shape.add_scaled(&mut form, elapsed, &before[i]);
            }
            tape.set_state_form(register, 0, &form);
        }

        let mut constant = vec![0.0; shape.width()];
        for &(j, register) in &system.foreign {
            shape.set_constant(&mut constant, self.inputs[j].coefficient(0, elapsed));
            tape.set_state_form(register, 0, &constant);
        }

        tape.compute(0);
        (0..set.states.len())
            .map(|i| slope(tape, i, shape.width()))
            .collect()
    }
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
