//! A quasi-Newton method that remembers: for equations that are solved again and again while they
//! change little.
//!
//! `x ← x − Z F(x)`, with Z an estimate of the inverse Jacobian. Every step of the iteration shows
//! how F changes with x: one secant, `Z ΔF = Δx`. Within one solve all its secants are honored,
//! and the estimate is carried to the next solve, as in the multi-vector method of Bogaers, Kok,
//! Reddy and Franz (2014, "IMVJ") for partitioned fluid-structure problems. The first estimate is
//! the identity: the fixed-point step.
//!
//! Ours: a secant that says nothing new (the step did what Z promised) or that drowns in the noise
//! of the evaluations leaves Z alone; a solve goes on well below the tolerance while that is cheap,
//! as what is left at one solve spoils the start of the next (with a good Z this is one correction,
//! and the evaluation that confirms it is the one the caller needs anyway); a Z that makes things
//! worse is forgotten.

use nalgebra::{DMatrix, DVector};

use super::evaluator::{CountedEvaluations, EvaluationState};
use super::solver::{Ending, Equations, NonlinearSolver, SolveOutcome};

/// How the method decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasiNewtonOptions {
    /// Corrections allowed.
    pub most_iterations: usize,
    /// A correction that leaves less than this of the residual teaches nothing.
    pub good_reduction: f64,
    /// Residuals below this, in units of the tolerance (the weights), are as good as zero: no
    /// correction is made to them.
    pub goal: f64,
    /// Residuals below this, in the same units, are noise: nothing is learnt from them.
    pub noise: f64,
}

impl Default for QuasiNewtonOptions {
    fn default() -> Self {
        Self {
            most_iterations: 40,
            good_reduction: 1e-3,
            goal: 1e-3,
            noise: 1e-4,
        }
    }
}

/// The method, with what it remembers.
#[derive(Clone, Debug)]
pub struct QuasiNewton {
    options: QuasiNewtonOptions,
    /// The estimate of the inverse Jacobian.
    inverse: DMatrix<f64>,
    weights: Vec<f64>,
    /// The secants of the current solve, residual parts orthogonal in the weighted inner product.
    secants: Vec<Secant>,
    used: usize,
    step: DVector<f64>,
    before: DVector<f64>,
    after: DVector<f64>,
    missed: DVector<f64>,
    /// The best point of the current solve.
    best: SavedPoint,
    /// Whether Z comes from an earlier solve.
    remembers: bool,
}

/// `Δx` and `ΔF`.
#[derive(Clone, Debug)]
struct Secant {
    x: DVector<f64>,
    residual: DVector<f64>,
    /// The weighted square of the residual part.
    square: f64,
}

impl Secant {
    fn new(size: usize) -> Self {
        Self {
            x: DVector::zeros(size),
            residual: DVector::zeros(size),
            square: 0.0,
        }
    }
}

/// A point to which a solve may return, and its residual.
#[derive(Clone, Debug)]
struct SavedPoint {
    x: Vec<f64>,
    residual: Vec<f64>,
}

impl SavedPoint {
    fn new(size: usize) -> Self {
        Self {
            x: vec![0.0; size],
            residual: vec![0.0; size],
        }
    }

    fn save(&mut self, x: &[f64], residual: &[f64]) {
        self.x.copy_from_slice(x);
        self.residual.copy_from_slice(residual);
    }

    fn restore(&self, x: &mut [f64], residual: &mut [f64]) {
        x.copy_from_slice(&self.x);
        residual.copy_from_slice(&self.residual);
    }
}

/// A secant that is new by less than this of its length repeats those before it.
const DEPENDENT: f64 = 1e-6;
/// So many corrections in a row that halve nothing, below the tolerance, and it is good enough.
const MOST_IDLE: usize = 2;
/// So often in a row a correction may fail to lower the residual before the solve is given up.
const MOST_SETBACKS: usize = 12;
/// So often in a row before an estimate that comes from earlier solves is forgotten.
const MOST_SETBACKS_OF_MEMORY: usize = 3;

impl QuasiNewton {
    /// For `size` unknowns.
    pub fn new(size: usize, options: QuasiNewtonOptions) -> Self {
        let zeros = DVector::zeros(size);
        let secants = size.min(options.most_iterations);

        Self {
            options,
            inverse: DMatrix::identity(size, size),
            weights: vec![1.0; size],
            secants: vec![Secant::new(size); secants],
            used: 0,
            step: zeros.clone(),
            before: zeros.clone(),
            after: zeros.clone(),
            missed: zeros,
            best: SavedPoint::new(size),
            remembers: false,
        }
    }

    /// Forgets what earlier solves have shown.
    pub fn forget(&mut self) {
        self.inverse.fill_with_identity();
        self.remembers = false;
    }

    /// `x − Z F(x)`, written to `x`.
    fn correct(&mut self, x: &mut [f64], residual: &[f64]) {
        self.before.as_mut_slice().copy_from_slice(residual);
        self.inverse.mul_to(&self.before, &mut self.step);
        self.step.neg_mut();

        for (x, step) in x.iter_mut().zip(self.step.iter()) {
            *x += step;
        }
    }

    /// The largest component, in units of the tolerance.
    fn size_of(&self, residual: &[f64]) -> f64 {
        residual
            .iter()
            .zip(&self.weights)
            .fold(0.0, |most, (r, w)| most.max((r * w).abs()))
    }

    /// The inner product in units of the tolerance.
    fn weighted_product(&self, a: &DVector<f64>, b: &DVector<f64>) -> f64 {
        let pairs = a.iter().zip(b.iter());
        pairs
            .zip(&self.weights)
            .map(|((a, b), w)| a * b * w * w)
            .sum()
    }

    /// Takes in that `step` changed the residual from `before` to `residual`.
    fn learn(&mut self, residual: &[f64]) {
        // As many as there are unknowns: where F bends, the oldest are no longer true.
        if self.used == self.secants.len() {
            self.used = 0;
        }

        self.after.as_mut_slice().copy_from_slice(residual);
        self.after -= &self.before;
        let length = self.weighted_product(&self.after, &self.after);
        // Twice, as one round of Gram-Schmidt loses digits.
        self.orthogonalize();
        self.orthogonalize();
        let square = self.weighted_product(&self.after, &self.after);
        let independent = square > DEPENDENT * DEPENDENT * length;

        if independent && square.is_finite() {
            self.keep_secant(square);
            self.update(square);
        }
    }

    /// Removes from the change of the residual what the secants explain, and their steps from the
    /// step.
    fn orthogonalize(&mut self) {
        for known in 0..self.used {
            let secant = &self.secants[known];
            let share = self.weighted_product(&secant.residual, &self.after) / secant.square;
            self.after.axpy(-share, &secant.residual, 1.0);
            self.step.axpy(-share, &secant.x, 1.0);
        }
    }

    fn keep_secant(&mut self, square: f64) {
        let slot = &mut self.secants[self.used];
        slot.x.copy_from(&self.step);
        slot.residual.copy_from(&self.after);
        slot.square = square;
        self.used += 1;
    }

    /// The least change of Z (in the weighted norm) for which `Z ΔF = Δx`.
    fn update(&mut self, square: f64) {
        self.inverse.mul_to(&self.after, &mut self.missed);
        self.missed -= &self.step;
        self.missed.neg_mut();

        for (k, weight) in self.weights.iter().enumerate() {
            let share = weight * weight * self.after[k] / square;
            let mut column = self.inverse.column_mut(k);
            column.axpy(share, &self.missed, 1.0);
        }
    }
}

/// How far a solve has come.
struct SolveProgress {
    /// Whether Z knows nothing but this solve.
    fresh: bool,
    iterations: usize,
    /// The least residual so far, in units of the tolerance.
    best: f64,
    /// How many corrections in a row have not lowered it.
    setbacks: usize,
    /// How many corrections in a row have not halved the residual.
    idle: usize,
    /// Whether the best point so far is one that the equations would take.
    acceptable: bool,
}

impl SolveProgress {
    fn record(&mut self, before: f64, after: f64) {
        self.iterations += 1;
        self.idle += 1;

        if after <= 0.5 * before {
            self.idle = 0;
        }

        self.setbacks += 1;
        if after < self.best {
            self.setbacks = 0;
        }
        self.best = self.best.min(after);
    }

    /// Whether the corrections lead nowhere.
    fn is_lost(&self) -> bool {
        let most = if self.fresh {
            MOST_SETBACKS
        } else {
            MOST_SETBACKS_OF_MEMORY
        };
        self.setbacks > most
    }

    fn decide_when_lost(&self, evaluation: EvaluationState) -> Decision {
        if self.acceptable {
            Decision::SettleForBest
        } else if !self.fresh {
            Decision::StartAfresh
        } else if evaluation == EvaluationState::Unusable {
            Decision::End(Ending::Failed)
        } else {
            Decision::End(Ending::Diverged)
        }
    }
}

/// What to do after an evaluation.
enum Decision {
    Correct,
    /// Memory has misled: forget it, and go on from the best point.
    StartAfresh,
    /// Nothing better was found than a point that the equations take.
    SettleForBest,
    End(Ending),
}

impl QuasiNewton {
    fn decide(
        &self,
        evaluation: EvaluationState,
        residual: &[f64],
        progress: &SolveProgress,
    ) -> Decision {
        if evaluation == EvaluationState::Converged && self.is_good_enough(residual, progress) {
            return Decision::End(Ending::Converged);
        }
        if evaluation == EvaluationState::Unusable || progress.is_lost() {
            return progress.decide_when_lost(evaluation);
        }

        if progress.iterations < self.options.most_iterations {
            Decision::Correct
        } else if progress.acceptable {
            Decision::SettleForBest
        } else {
            Decision::End(Ending::IterationLimit)
        }
    }

    /// Whether another correction of a point that has converged would not pay.
    fn is_good_enough(&self, residual: &[f64], progress: &SolveProgress) -> bool {
        self.size_of(residual) <= self.options.goal || progress.idle >= MOST_IDLE
    }

    /// One correction, and what it teaches.
    fn iterate(
        &mut self,
        evaluator: &mut CountedEvaluations<'_>,
        x: &mut [f64],
        residual: &mut [f64],
        progress: &mut SolveProgress,
    ) -> EvaluationState {
        let before = self.size_of(residual);
        self.correct(x, residual);
        let evaluation = evaluator.evaluate(x, residual);
        let after = match evaluation {
            EvaluationState::Unusable => f64::INFINITY,
            _ => self.size_of(residual),
        };
        let well_predicted = self.options.good_reduction * before;

        if after.is_finite() && after > self.options.noise.max(well_predicted) {
            self.learn(residual);
        }

        if after < progress.best {
            progress.acceptable = evaluation == EvaluationState::Converged;
            self.best.save(x, residual);
        }

        progress.record(before, after);
        evaluation
    }

    fn begin(&mut self, x: &[f64], residual: &[f64], first: EvaluationState) -> SolveProgress {
        self.used = 0;
        self.best.save(x, residual);

        SolveProgress {
            fresh: !self.remembers,
            iterations: 0,
            best: self.size_of(residual),
            setbacks: 0,
            idle: 0,
            acceptable: first == EvaluationState::Converged,
        }
    }

    fn start_afresh(&mut self, x: &mut [f64], residual: &mut [f64], progress: &mut SolveProgress) {
        self.forget();
        self.used = 0;
        self.best.restore(x, residual);
        progress.fresh = true;
        progress.setbacks = 0;

        progress.idle = 0;
    }
}

impl NonlinearSolver for QuasiNewton {
    fn name(&self) -> &'static str {
        "quasi-newton"
    }

    fn memory(&self) -> Vec<f64> {
        if self.remembers {
            self.inverse.as_slice().to_vec()
        } else {
            Vec::new()
        }
    }

    fn recall(&mut self, memory: &[f64]) -> bool {
        self.forget();
        if memory.is_empty() {
            return true;
        }

        let fits = memory.len() == self.inverse.len();
        if fits {
            self.inverse.as_mut_slice().copy_from_slice(memory);
            self.remembers = true;
        }
        fits
    }

    fn solve_from(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
        residual_known: bool,
    ) -> SolveOutcome {
        let (mut evaluator, mut evaluation) =
            CountedEvaluations::begin(equations, &mut self.weights, x, residual, residual_known);
        if evaluation == EvaluationState::Unusable {
            return evaluator.outcome(Ending::Failed, 0);
        }

        let mut progress = self.begin(x, residual, evaluation);
        loop {
            match self.decide(evaluation, residual, &progress) {
                Decision::Correct => {
                    evaluation = self.iterate(&mut evaluator, x, residual, &mut progress);
                }
                Decision::StartAfresh => {
                    self.start_afresh(x, residual, &mut progress);
                    evaluation = EvaluationState::Open;
                }
                Decision::SettleForBest => {
                    self.best.restore(x, residual);
                    self.forget();
                    return SolveOutcome {
                        at_last_evaluation: false,
                        ..evaluator.outcome(Ending::Converged, progress.iterations)
                    };
                }
                Decision::End(ending) => {
                    self.remembers = ending == Ending::Converged;
                    if !self.remembers {
                        self.forget();
                    }
                    return evaluator.outcome(ending, progress.iterations);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A x = b(k)`, the right-hand side moving a little with every solve; counts its evaluations.
    struct Moving {
        matrix: DMatrix<f64>,
        right: DVector<f64>,
        bend: f64,
    }

    impl Equations for Moving {
        fn size(&self) -> usize {
            self.right.len()
        }

        fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> bool {
            let x = DVector::from_column_slice(x);
            let value = &self.matrix * &x - &self.right + x.map(|x| self.bend * x * x);
            residual.copy_from_slice(value.as_slice());
            true
        }

        fn converged(&self, _x: &[f64], residual: &[f64]) -> bool {
            residual.iter().all(|r| r.abs() < 1e-6)
        }

        fn weights(&self, _x: &[f64], weights: &mut [f64]) {
            weights.fill(1e6);
        }
    }

    /// A loop whose fixed-point step multiplies errors by ten.
    fn expanding(bend: f64) -> Moving {
        let matrix =
            DMatrix::from_row_slice(3, 3, &[1.0, 10.0, 1.0, -10.0, 1.0, 0.5, 0.0, 0.3, 1.0]);
        Moving {
            matrix,
            right: DVector::from_vec(vec![1.0, -2.0, 0.5]),
            bend,
        }
    }

    #[test]
    fn memory_makes_later_solves_cheap() {
        for bend in [0.0, 0.05] {
            let mut problem = expanding(bend);
            let mut solver = QuasiNewton::new(3, QuasiNewtonOptions::default());
            let mut x = vec![0.0; 3];
            let mut residual = vec![0.0; 3];
            let mut counts = Vec::new();
            for k in 0..30 {
                problem.right[0] = 1.0 + 0.01 * f64::from(k);
                problem.right[2] = 0.5 + 0.01 * (0.3 * f64::from(k)).sin();
                let outcome = solver.solve(&mut problem, &mut x, &mut residual);
                assert!(outcome.converged());
                counts.push(outcome.evaluations);
            }
            assert!(counts[0] <= 9, "{counts:?}");
            assert!(
                counts[10..]
                    .iter()
                    .all(|&count| count <= if bend == 0.0 { 2 } else { 4 }),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn equations_without_a_solution_are_given_up() {
        struct Hopeless;
        impl Equations for Hopeless {
            fn size(&self) -> usize {
                1
            }
            fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> bool {
                residual[0] = x[0] * x[0] + 1.0;
                true
            }
            fn converged(&self, _x: &[f64], residual: &[f64]) -> bool {
                residual[0].abs() < 1e-9
            }
        }
        let outcome = QuasiNewton::new(1, QuasiNewtonOptions::default()).solve(
            &mut Hopeless,
            &mut [0.3],
            &mut [0.0],
        );
        assert!(
            matches!(
                outcome.ending,
                Ending::IterationLimit | Ending::Diverged | Ending::Failed
            ),
            "{outcome:?}"
        );
        assert!(outcome.evaluations <= 41);
    }
}
