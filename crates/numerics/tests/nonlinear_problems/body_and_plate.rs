//! The test case of IFOSMONDI-JFM, section 5: a body and a plate, coupled over 1000 macro-steps.
//!
//! Both systems are linear and their inputs cubic, so that a macro-step is integrated exactly; the
//! force (29) is replaced by its Hermite cubic on each step. Unknowns are `(f, v, x)` and their
//! slopes.

use dovetail_numerics::LinearStep;
use dovetail_numerics::nonlinear::{Equations, NonlinearSolver};
use nalgebra::DMatrix;

use super::small;

const STEP: f64 = 0.01;
const TOLERANCE: f64 = 1e-4;

/// What a whole simulation took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Evaluations, with the first of each step and, where need be, the last integration.
    pub evaluations: usize,
    /// Steps on which the solver did not converge.
    pub failures: usize,
}

/// One macro-step of the coupled systems, as equations for what both exchange at its end.
pub struct BodyAndPlate {
    damping: f64,
    index: usize,
    /// `(f, v, x)` and their slopes at the step's start.
    start: [f64; 6],
    body: State,
    plate: State,
    /// Whether weights are the reciprocals of the tolerances.
    pub weighted: bool,
}

/// A system's state at the start of the step and as integrated last, and how to integrate.
struct State {
    accepted: Vec<f64>,
    reached: Vec<f64>,
    step: LinearStep,
}

impl State {
    fn at_rest(matrix: &[f64], size: usize) -> Self {
        let mut step = LinearStep::new(size, 3);
        step.compute(&DMatrix::from_row_slice(size, size, matrix), STEP);
        Self {
            accepted: vec![0.0; size],
            reached: vec![0.0; size],
            step,
        }
    }
}

/// Coefficients of a signal in the time elapsed.
type Cubic = [f64; 4];

impl BodyAndPlate {
    pub fn new(damping: f64) -> Self {
        // Consistent from the start, where the paper lets the first step choose its slopes.
        let force_slope = 5.0 / (1.0 + 1.0 / damping);
        Self {
            damping,
            index: 0,
            start: [0.0, 0.0, 0.0, force_slope, force_slope / damping, 0.0],
            body: State::at_rest(&[-1.0, -1.0, 1.0, 0.0], 2),
            plate: State::at_rest(&[0.0], 1),
            weighted: true,
        }
    }

    /// Simulates up to `steps` macro-steps from rest, as IFOSMONDI-JFM does; ends where the solver
    /// fails.
    pub fn simulate(&mut self, solver: &mut dyn NonlinearSolver, steps: usize) -> Count {
        let mut count = Count::default();
        let mut residual = [0.0; 6];
        for index in 0..steps {
            self.index = index;
            let mut z = self.first_answer();
            let outcome = solver.solve(self, &mut z, &mut residual);
            count.evaluations += 1 + outcome.evaluations + usize::from(!outcome.at_last_evaluation);
            if !outcome.converged() {
                count.failures += 1;
                return count;
            }
            self.accept(z);
        }
        count
    }

    /// The position of the body at the time reached.
    pub fn position(&self) -> f64 {
        self.body.accepted[1]
    }

    fn accept(&mut self, z: [f64; 6]) {
        self.respond(&self.arriving_at(&z));
        self.start = z;
        self.body.accepted.copy_from_slice(&self.body.reached);
        self.plate.accepted.copy_from_slice(&self.plate.reached);
    }

    /// What the systems answer to inputs that return to where they started, (21).
    fn first_answer(&mut self) -> [f64; 6] {
        let start = self.start;
        self.respond(&[0, 1, 2].map(|k| [start[k], start[k + 3], -start[k + 3] / STEP, 0.0]))
    }

    /// The inputs (22) that end at `z`.
    fn arriving_at(&self, z: &[f64]) -> [Cubic; 3] {
        [0, 1, 2].map(|k| hermite(self.start[k], self.start[k + 3], z[k], z[k + 3]))
    }

    /// Integrates both systems, (32), and returns their outputs and slopes at the end.
    fn respond(&mut self, inputs: &[Cubic; 3]) -> [f64; 6] {
        let [force, velocity, position] = inputs;
        let (now, then) = (self.index as f64 * STEP, (self.index + 1) as f64 * STEP);
        let push = hermite(
            pushing(now).0,
            pushing(now).1,
            pushing(then).0,
            pushing(then).1,
        );
        let on_body = [0, 1, 2, 3].map(|p| [velocity[p] + position[p] + push[p], 0.0]);
        let on_plate = [0, 1, 2, 3].map(|p| [force[p] / self.damping]);
        let State {
            accepted,
            reached,
            step,
        } = &mut self.body;
        step.respond(accepted, &on_body.each_ref().map(|b| &b[..]), reached);
        let State {
            accepted,
            reached,
            step,
        } = &mut self.plate;
        step.respond(accepted, &on_plate.each_ref().map(|b| &b[..]), reached);

        let ((f, f_slope), (v, v_slope), (x, x_slope)) = (end(force), end(velocity), end(position));
        let (speed, place) = (self.body.reached[0], self.body.reached[1]);
        let acceleration = pushing(then).0 + x - place + v - speed;
        [
            speed + place - v - x,
            f / self.damping,
            self.plate.reached[0],
            acceleration + speed - v_slope - x_slope,
            f_slope / self.damping,
            f / self.damping,
        ]
    }
}

impl Equations for BodyAndPlate {
    fn size(&self) -> usize {
        6
    }

    fn evaluate(&mut self, z: &[f64], residual: &mut [f64]) -> bool {
        let answer = self.respond(&self.arriving_at(z));
        for k in 0..6 {
            residual[k] = z[k] - answer[k];
        }
        true
    }

    fn converged(&self, z: &[f64], residual: &[f64]) -> bool {
        small(TOLERANCE, z, residual)
    }

    fn weights(&self, z: &[f64], weights: &mut [f64]) {
        for (weight, z) in weights.iter_mut().zip(z) {
            *weight = if self.weighted {
                1.0 / (TOLERANCE * z.abs() + TOLERANCE)
            } else {
                1.0
            };
        }
    }
}

/// The cubic over a step with these values and slopes at its ends, (22).
fn hermite(left: f64, left_slope: f64, right: f64, right_slope: f64) -> Cubic {
    let mean = (right - left) / STEP;
    let square = (3.0 * mean - 2.0 * left_slope - right_slope) / STEP;
    [
        left,
        left_slope,
        square,
        (left_slope + right_slope - 2.0 * mean) / (STEP * STEP),
    ]
}

/// The value and slope of a signal at the end of the step.
fn end(signal: &Cubic) -> (f64, f64) {
    let [a, b, c, d] = signal;
    (
        a + STEP * (b + STEP * (c + STEP * d)),
        b + STEP * (2.0 * c + STEP * 3.0 * d),
    )
}

/// The force (29) on the body and its slope.
fn pushing(time: f64) -> (f64, f64) {
    if time >= 2.0 {
        return (0.0, 0.0);
    }
    let exponent = 1.0 / (time * time / 4.0 - 1.0);
    let force = 5.0 * (exponent + 1.0).exp();
    (force, -force * exponent * exponent * time / 2.0)
}
