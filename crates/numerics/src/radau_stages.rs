//! The five stages of a Radau IIA step, by simplified Newton iterations in decoupled variables.
//!
//! With `z_i` the increment of stage `i` and `w = T⁻¹ z`, the system of `5 n` equations falls apart
//! into one real and two complex systems of `n`. Reference: Hairer & Wanner, *Solving ODEs II*
//! (1996), section IV.8, cited "HW".

use nalgebra::{Complex, DMatrix};

use crate::attempt::not_finite;
use crate::collocation::continuation;
use crate::columns::Columns;
use crate::dense::{Lu, Singular};
use crate::radau_coefficients::{
    COMPLEX_EIGENVALUES, ERROR_WEIGHTS, FROM_TRANSFORMED, NODES, REAL_EIGENVALUE, STAGES,
    StageMatrix, TO_TRANSFORMED,
};
use crate::rhs::Rhs;
use crate::tolerance::scaled_norm;

/// Hairer's 7 for three stages, and 2.5 for each stage more.
pub(crate) const LARGEST_NUMBER_OF_ITERATIONS: usize = 12;

/// A contraction slower than this is a divergence.
const SLOWEST_CONTRACTION: f64 = 0.99;

/// How the iterations ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Convergence {
    /// The stages are solved.
    Reached { iterations: usize },
    /// They would not be solved in time; a step shorter by `shrinkage` might do.
    Failed { shrinkage: f64 },
    /// The right-hand side is not finite at a stage.
    NotFinite { component: usize },
}

/// How far to iterate, in units of the allowed error.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// The error to reach.
    pub tolerance: f64,
    /// Corrections of this size that shrink no more are rounding, and as good as the goal.
    pub noise: f64,
}

/// A step to take: where from, how far.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub time: f64,
    pub size: f64,
    pub state: &'a [f64],
}

/// The workspace of the stages; what is of type [`Columns`] has a vector for each.
#[derive(Clone, Debug)]
pub(crate) struct RadauStages {
    pub jacobian: DMatrix<f64>,
    real: Lu<f64>,
    complex: [Lu<Complex<f64>>; 2],
    increments: Columns,
    transformed: Columns,
    /// Derivatives at the stages, transformed; then the Newton correction.
    correction: Columns,
    derivatives: Columns,
    stage: Vec<f64>,
    complex_rhs: Vec<Complex<f64>>,
    allowed: Vec<f64>,
    /// The increments of the last accepted step.
    previous: Columns,
    previous_size: f64,
    contraction: f64,
    /// Contraction θ as the factor θ/(1−θ) from a correction to the error left after it, HW (8.10).
    correction_to_error: f64,
}

impl RadauStages {
    pub fn new(size: usize) -> Self {
        let vector = vec![0.0; size];
        let all = Columns::zeros(size, STAGES);

        Self {
            jacobian: DMatrix::zeros(size, size),
            real: Lu::new(size),
            complex: [Lu::new(size), Lu::new(size)],
            increments: all.clone(),
            transformed: all.clone(),
            correction: all.clone(),
            derivatives: all.clone(),
            stage: vector.clone(),
            complex_rhs: vec![Complex::new(0.0, 0.0); size],
            allowed: vector,
            previous: all,
            previous_size: 0.0,
            contraction: 1.0,
            correction_to_error: 1.0,
        }
    }

    /// Forgets what earlier steps taught.
    pub fn forget(&mut self) {
        self.previous_size = 0.0;
        self.contraction = 1.0;
        self.correction_to_error = 1.0;
    }

    /// The factor by which the last correction was smaller than the one before; small if one was
    /// enough.
    pub fn contraction(&self) -> f64 {
        self.contraction
    }

    /// The increment over the whole step: the method is stiffly accurate.
    pub fn increment(&self) -> &[f64] {
        self.increments.column(STAGES - 1)
    }

    /// Factors the three systems for steps of `size` with the present Jacobian.
    pub fn factor(&mut self, size: f64) -> Result<(), Singular> {
        self.real
            .factor_shifted(REAL_EIGENVALUE / size, &self.jacobian)?;
        for (lu, eigenvalue) in self.complex.iter_mut().zip(COMPLEX_EIGENVALUES) {
            lu.factor_shifted(eigenvalue / size, &self.jacobian)?;
        }
        Ok(())
    }

    /// Solves the stages to `goal`, in units of `allowed`.
    pub fn solve<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        step: Step,
        allowed: &[f64],
        goal: Goal,
    ) -> Convergence {
        self.allowed.copy_from_slice(allowed);
        self.start(step.size);
        self.correction_to_error = self.correction_to_error.max(f64::EPSILON).powf(0.8);
        self.contraction = 0.0;
        let mut corrections = Corrections::default();

        for iterations in 1..=LARGEST_NUMBER_OF_ITERATIONS {
            self.correct(rhs, step);
            let size = self.size_of_correction();
            if !size.is_finite() {
                let entries = self.correction.entries();
                let component = not_finite(entries, self.stage.len()).unwrap_or(0);
                return Convergence::NotFinite { component };
            }
            // A correction of a rounding error or two says nothing of contraction.
            if iterations > 1 && size > 0.1 * goal.tolerance {
                self.contraction = corrections.contraction(size, iterations);
                if let Some(shrinkage) = self.hopeless(size / goal.tolerance, iterations) {
                    return if size <= goal.noise {
                        Convergence::Reached { iterations }
                    } else {
                        Convergence::Failed { shrinkage }
                    };
                }
            }
            corrections.last_size = size.max(f64::MIN_POSITIVE);
            self.apply();
            if self.correction_to_error.min(10.0) * size <= goal.tolerance {
                return Convergence::Reached { iterations };
            }
        }
        Convergence::Failed { shrinkage: 0.5 }
    }

    /// Keeps the increments, from which the next step's are continued.
    pub fn keep(&mut self, size: f64) {
        self.previous.copy_from(&self.increments);
        self.previous_size = size;
    }

    /// `(γ₀/h I − J)⁻¹ (derivative + Σ_i e_i z_i / h)`, HW (8.19), written to `error`.
    pub fn error(&self, size: f64, derivative: &[f64], error: &mut [f64]) {
        for (k, error) in error.iter_mut().enumerate() {
            let sum = self.increments.combine(&ERROR_WEIGHTS, k);
            *error = derivative[k] + sum / size;
        }
        self.real.solve_in_place(error);
    }

    /// Starting values: the previous step continued, or nothing.
    fn start(&mut self, size: f64) {
        if self.previous_size == 0.0 {
            self.increments.fill(0.0);
            self.transformed.fill(0.0);
            return;
        }

        let weights = continuation(size / self.previous_size);
        transform(&weights, &self.previous, &mut self.increments);
        transform(&TO_TRANSFORMED, &self.increments, &mut self.transformed);
    }

    /// One correction of the transformed variables, HW (8.13).
    fn correct<R: Rhs + ?Sized>(&mut self, rhs: &mut R, step: Step) {
        for (i, node) in NODES.into_iter().enumerate() {
            let increments = self.increments.column(i);
            for (k, stage) in self.stage.iter_mut().enumerate() {
                *stage = step.state[k] + increments[k];
            }
            let time = step.time + node * step.size;
            rhs.derivative(time, &self.stage, self.derivatives.column_mut(i));
        }

        transform(&TO_TRANSFORMED, &self.derivatives, &mut self.correction);
        self.solve_real(step.size);

        for pair in 0..COMPLEX_EIGENVALUES.len() {
            self.solve_complex(pair, step.size);
        }
    }

    fn solve_real(&mut self, size: f64) {
        let rhs = self.correction.column_mut(0);
        let shift = REAL_EIGENVALUE / size;

        for (rhs, transformed) in rhs.iter_mut().zip(self.transformed.column(0)) {
            *rhs -= shift * transformed;
        }
        self.real.solve_in_place(rhs);
    }

    fn solve_complex(&mut self, pair: usize, size: f64) {
        let shift = COMPLEX_EIGENVALUES[pair] / size;
        for (k, rhs) in self.complex_rhs.iter_mut().enumerate() {
            let transformed = complex_entry(&self.transformed, pair, k);
            *rhs = complex_entry(&self.correction, pair, k) - shift * transformed;
        }

        self.complex[pair].solve_in_place(&mut self.complex_rhs);
        let real_parts = self.correction.column_mut(1 + 2 * pair);

        for (part, solution) in real_parts.iter_mut().zip(&self.complex_rhs) {
            *part = solution.re;
        }

        let imaginary_parts = self.correction.column_mut(2 + 2 * pair);
        for (part, solution) in imaginary_parts.iter_mut().zip(&self.complex_rhs) {
            *part = solution.im;
        }
    }

    fn apply(&mut self) {
        self.transformed.add(&self.correction);
        transform(&FROM_TRANSFORMED, &self.transformed, &mut self.increments);
    }

    fn size_of_correction(&self) -> f64 {
        let stages = (0..STAGES).map(|stage| self.correction.column(stage));
        let squares: f64 = stages
            .map(|stage| scaled_norm(stage, &self.allowed).powi(2))
            .sum();
        (squares / STAGES as f64).sqrt()
    }

    /// The shrinkage of the step, if at the present contraction the iterations left will not do.
    /// Code RADAU.
    fn hopeless(&mut self, size_to_tolerance: f64, iteration: usize) -> Option<f64> {
        if self.contraction >= SLOWEST_CONTRACTION {
            return Some(0.5);
        }

        self.correction_to_error = self.contraction / (1.0 - self.contraction);
        let left = (LARGEST_NUMBER_OF_ITERATIONS - iteration) as i32;
        let contraction_left = self.contraction.powi(left - 1);
        let predicted = self.correction_to_error * size_to_tolerance * contraction_left;
        if left == 0 || predicted < 1.0 {
            return None;
        }

        Some(0.8 * predicted.min(20.0).powf(-1.0 / f64::from(3 + left)))
    }
}

/// The sizes of the Newton corrections so far.
#[derive(Default)]
struct Corrections {
    last_size: f64,
    /// The size of the last one that counted, as a share of the one before.
    last_ratio: f64,
}

impl Corrections {
    /// The contraction that a correction of this size shows, HW (8.9).
    fn contraction(&mut self, size: f64, iterations: usize) -> f64 {
        let ratio = size / self.last_size;
        let contraction = if iterations == 2 {
            ratio
        } else {
            (ratio * self.last_ratio).sqrt()
        };
        self.last_ratio = ratio;

        contraction
    }
}

/// The component of the complex variable that two real ones stand for; the first is real.
fn complex_entry(variables: &Columns, pair: usize, component: usize) -> Complex<f64> {
    let real = variables.entry(1 + 2 * pair, component);
    let imaginary = variables.entry(2 + 2 * pair, component);
    Complex::new(real, imaginary)
}

/// Applies a matrix over the stages to every component.
fn transform(matrix: &StageMatrix, from: &Columns, to: &mut Columns) {
    for (stage, row) in matrix.iter().enumerate() {
        for (k, target) in to.column_mut(stage).iter_mut().enumerate() {
            *target = from.combine(row, k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rhs::from_fn;

    const GOAL: Goal = Goal {
        tolerance: 1e-6,
        noise: 1e-6,
    };

    /// The error at t = 2 on `x' = x cos t` with steps of equal size.
    fn error_with(steps: usize) -> f64 {
        let mut rhs = from_fn(1, |time, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[0] * time.cos()
        });
        let mut stages = RadauStages::new(1);
        let mut state = [1.0];
        let size = 2.0 / steps as f64;
        for n in 0..steps {
            let time = n as f64 * size;
            rhs.jacobian(time, &state, &mut stages.jacobian);
            stages.factor(size).unwrap();
            let step = Step {
                time,
                size,
                state: &state,
            };
            let convergence = stages.solve(&mut rhs, step, &[1e-8], GOAL);
            assert!(
                matches!(convergence, Convergence::Reached { .. }),
                "{convergence:?}"
            );
            state[0] += stages.increment()[0];
            stages.keep(size);
        }
        (state[0] - 2.0f64.sin().exp()).abs()
    }

    #[test]
    fn the_order_is_nine() {
        let order = (error_with(4) / error_with(8)).log2();
        assert!((8.7..9.6).contains(&order), "{order}");
    }

    #[test]
    fn a_linear_problem_takes_one_iteration_and_a_check() {
        let mut rhs = from_fn(1, |_, x: &[f64], dx: &mut [f64]| dx[0] = -1e6 * x[0]);
        let mut stages = RadauStages::new(1);
        stages.jacobian[(0, 0)] = -1e6;
        stages.factor(1.0).unwrap();
        let step = Step {
            time: 0.0,
            size: 1.0,
            state: &[1.0],
        };
        let convergence = stages.solve(&mut rhs, step, &[1e-8], GOAL);
        assert_eq!(convergence, Convergence::Reached { iterations: 2 });
        assert!((1.0 + stages.increment()[0]).abs() < 1e-4);
    }
}
