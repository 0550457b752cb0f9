//! Nonlinear GMRES: after every fixed-point step, the best combination of what was seen is tried.
//!
//! An iteration takes the plain step `x_M = x − F(x)`, forms `x_A`, the affine combination of `x_M`
//! and earlier points with the smallest linearized residual, and selects between the two; two
//! evaluations. References: Oosterlee & Washio (2000), *Krylov subspace acceleration of nonlinear
//! multigrid*, whose criteria (A), (B) and (C) are named below; parameters of IFOSMONDI-JFM, table
//! 5, and its variant of table 6.
//!
//! Departures from PETSc's `SNESNGMRES`, which fails where the fixed-point map expands by 5 or
//! more:
//! - (B) compares the residual of `x_A`, as in the paper; PETSc looks at that of the iterate
//!   before;
//! - when `x_A` fails (A) or (B), `x_M` is taken only if its residual is the smaller one: the
//!   criteria trust that a plain step is an improvement, which an expanding map turns into the
//!   opposite;
//! - lack of progress leads to a restart only once as many points are stored as there are unknowns.
//!   On an oscillating coupling GMRES must stagnate before the last direction is found, and a
//!   restart forgets them;
//! - the line search (table 6) uses that the residual is nearly linear between `x_M` and `x_A`,
//!   where both are known: it evaluates one more point, and only if that is not `x_A` itself.

use super::evaluator::{CountedEvaluations, EvaluationState};
use super::history::{History, Pair, PairMut};
use super::solver::{Ending, Equations, NonlinearSolver, SolveOutcome};
use super::stagnation::StagnationMonitor;
use super::vector::{add_scaled, distance, norm, product, step};

/// A line search that wants to go this share of the way, or within it, goes to the end itself.
const CLOSE: f64 = 0.1;

/// How the next iterate is chosen, table 5 and table 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// One of the plain step and the combination, by their residuals and distances.
    Difference,
    /// A point on the line through both.
    LineSearch,
}

/// Options of [`Ngmres`]; the defaults are those of IFOSMONDI-JFM, table 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NgmresOptions {
    /// How the next iterate is chosen.
    pub selection: Selection,
    /// Points remembered, `m`.
    pub depth: usize,
    /// (A): the combination's residual may be this many times the smallest.
    pub gamma_a: f64,
    /// (C): a residual this many times the smallest asks for a restart.
    pub gamma_c: f64,
    /// (B): the combination is too close to an earlier point below this share of its distance to
    /// the plain step.
    pub epsilon_b: f64,
    /// (B): unless its residual is below this share of the smallest.
    pub delta_b: f64,
    /// Iterations in a row that must ask for a restart.
    pub restart_iterations: usize,
    /// Iterations allowed.
    pub iteration_limit: usize,
}

impl Default for NgmresOptions {
    fn default() -> Self {
        Self {
            selection: Selection::Difference,
            depth: 30,
            gamma_a: 2.0,
            gamma_c: 2.0,
            epsilon_b: 0.1,
            delta_b: 0.9,
            restart_iterations: 2,
            iteration_limit: 50,
        }
    }
}

/// Nonlinear GMRES.
#[derive(Clone, Debug)]
pub struct Ngmres {
    options: NgmresOptions,
    history: History,
    weights: Vec<f64>,
    plain: Point,
    combined: Point,
    searched: Point,
    /// The smallest residual since the last restart.
    smallest: f64,
    /// Iterations in a row that asked for a restart.
    restart_requests: usize,
}

/// A point, its residual and the norm of that.
#[derive(Clone, Debug)]
struct Point {
    x: Vec<f64>,
    residual: Vec<f64>,
    norm: f64,
}

impl Point {
    fn new(size: usize) -> Self {
        Self {
            x: vec![0.0; size],
            residual: vec![0.0; size],
            norm: f64::INFINITY,
        }
    }

    fn evaluate(&mut self, evaluator: &mut CountedEvaluations, weights: &[f64]) -> EvaluationState {
        let evaluation = evaluator.evaluate(&self.x, &mut self.residual);
        self.norm = if evaluation == EvaluationState::Unusable {
            f64::INFINITY
        } else {
            norm(weights, &self.residual)
        };
        evaluation
    }

    fn pair(&self) -> Pair<'_> {
        Pair {
            point: &self.x,
            residual: &self.residual,
        }
    }

    fn pair_mut(&mut self) -> PairMut<'_> {
        PairMut {
            point: &mut self.x,
            residual: &mut self.residual,
        }
    }

    fn write(&self, x: &mut [f64], residual: &mut [f64]) {
        x.copy_from_slice(&self.x);
        residual.copy_from_slice(&self.residual);
    }

    /// Hands over a solution.
    fn write_solution(&self, x: &mut [f64], residual: &mut [f64]) -> Option<Ending> {
        self.write(x, residual);
        Some(Ending::Converged)
    }
}

impl Ngmres {
    /// A solver for `size` unknowns.
    pub fn new(size: usize, options: NgmresOptions) -> Self {
        Self {
            options,
            history: History::new(size, options.depth),
            weights: vec![0.0; size],
            plain: Point::new(size),
            combined: Point::new(size),
            searched: Point::new(size),
            smallest: f64::INFINITY,
            restart_requests: 0,
        }
    }

    /// Forgets all but the current iterate.
    fn restart(&mut self, x: &[f64], residual: &[f64]) {
        self.history.clear();
        self.history.push(Pair { point: x, residual });
        self.smallest = norm(&self.weights, residual);
        self.restart_requests = 0;
    }

    /// One iteration: `Some` as soon as any of its evaluations ends the solve.
    fn advance(
        &mut self,
        evaluator: &mut CountedEvaluations,
        x: &mut [f64],
        residual: &mut [f64],
    ) -> Option<Ending> {
        step(&mut self.plain.x, x, -1.0, residual);
        match self.plain.evaluate(evaluator, &self.weights) {
            EvaluationState::Converged => return self.plain.write_solution(x, residual),
            EvaluationState::Unusable => return Some(Ending::Failed),
            EvaluationState::Open => {}
        }

        let combined = self.combined.pair_mut();
        self.history
            .minimize(&self.weights, self.plain.pair(), combined);
        if self.combined.evaluate(evaluator, &self.weights) == EvaluationState::Converged {
            return self.combined.write_solution(x, residual);
        }

        self.smallest = self.smallest.min(self.plain.norm);
        let close = self.is_close();
        let restart = self.asks_for_restart(close);

        if self.options.selection == Selection::Difference {
            self.select(close).write(x, residual);
        } else if self.search_line(evaluator) == EvaluationState::Converged {
            return self.searched.write_solution(x, residual);
        } else {
            self.best().write(x, residual);
        }

        self.remember(x, residual, restart);
        None
    }

    /// Whether the combination is too close to an earlier point, (B).
    fn is_close(&self) -> bool {
        let step = distance(&self.weights, &self.combined.x, &self.plain.x);
        let nearest = self.history.nearest(&self.weights, &self.combined.x);
        let reduces_little = self.combined.norm >= self.options.delta_b * self.smallest;
        self.options.epsilon_b * step >= nearest && reduces_little
    }

    /// Whether a restart is asked for, (C).
    fn asks_for_restart(&self, close: bool) -> bool {
        let exhausted = self.history.len() >= self.weights.len().min(self.options.depth);
        let grown = self.combined.norm > self.options.gamma_c * self.smallest;
        close && exhausted || grown
    }

    /// The combination if it meets (A) and (B); else the better of both.
    fn select(&self, close: bool) -> &Point {
        let acceptable = self.combined.norm < self.options.gamma_a * self.smallest && !close;
        if acceptable || self.combined.norm < self.plain.norm {
            &self.combined
        } else {
            &self.plain
        }
    }

    /// Evaluates the minimum on the line through both points, unless it is close to one of them.
    fn search_line(&mut self, evaluator: &mut CountedEvaluations) -> EvaluationState {
        let Self {
            plain,
            combined,
            searched,
            weights,
            ..
        } = self;
        searched.norm = f64::INFINITY;
        if !combined.norm.is_finite() {
            return EvaluationState::Unusable;
        }

        let change = &mut searched.residual;
        step(change, &combined.residual, -1.0, &plain.residual);
        let length = -product(weights, change, &plain.residual) / product(weights, change, change);
        let at_an_end = length.abs() < CLOSE || (length - 1.0).abs() < CLOSE;
        if at_an_end || !length.is_finite() {
            return EvaluationState::Unusable;
        }

        step(&mut searched.x, &plain.x, length, &combined.x);
        add_scaled(&mut searched.x, -length, &plain.x);
        searched.evaluate(evaluator, weights)
    }

    /// The point of this iteration with the smallest residual.
    fn best(&self) -> &Point {
        let mut best = &self.searched;
        for other in [&self.combined, &self.plain] {
            if other.norm < best.norm {
                best = other;
            }
        }
        best
    }

    /// Stores the new iterate, alone if a restart was asked for often enough.
    fn remember(&mut self, x: &[f64], residual: &[f64], restart: bool) {
        self.restart_requests = if restart {
            self.restart_requests + 1
        } else {
            0
        };
        if self.restart_requests >= self.options.restart_iterations {
            self.restart(x, residual);
        } else {
            self.history.push(Pair { point: x, residual });
            self.smallest = self.smallest.min(norm(&self.weights, residual));
        }
    }
}

impl NonlinearSolver for Ngmres {
    fn name(&self) -> &'static str {
        match self.options.selection {
            Selection::Difference => "ngmres",
            Selection::LineSearch => "ngmres-linesearch",
        }
    }

    fn solve_from(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
        residual_known: bool,
    ) -> SolveOutcome {
        let (mut evaluator, first) =
            CountedEvaluations::begin(equations, &mut self.weights, x, residual, residual_known);
        if let Some(ending) = first.ending() {
            return evaluator.outcome(ending, 0);
        }

        self.restart(x, residual);
        let mut monitor = StagnationMonitor::new(x.len());

        for iteration in 1..=self.options.iteration_limit {
            let ending = self
                .advance(&mut evaluator, x, residual)
                .or_else(|| monitor.judge(norm(&self.weights, residual)));
            if let Some(ending) = ending {
                return evaluator.outcome_after_trials(ending, iteration);
            }
        }
        evaluator.outcome_after_trials(Ending::IterationLimit, self.options.iteration_limit)
    }
}
