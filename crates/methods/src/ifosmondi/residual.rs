//! By how much the outputs that a guess of the interface causes differ from it.

use dovetail_core::{Error, Past, Workers};
use dovetail_numerics::nonlinear::Equations;

use crate::coupling::Coupling;

/// A guess beyond this has run away: there a residual vanishes in rounding.
const LARGEST_GUESS: f64 = 1e15;

/// `γ_τ`, (24): how far a guess is from what the connected outputs answer.
pub(super) struct Residual<'b, 'a> {
    pub coupling: &'b mut Coupling<'a>,
    pub past: &'b Past,
    pub workers: &'b mut dyn Workers,
    pub error: Option<Error>,
    /// A system has stopped at an event: there is no use in going on.
    pub stopped: bool,
    /// The residual of the first guess.
    first: &'b mut [f64],
    evaluations: usize,
}

impl<'b, 'a> Residual<'b, 'a> {
    /// The residual of a step; `first` is room for one residual.
    pub fn new(
        coupling: &'b mut Coupling<'a>,
        past: &'b Past,
        workers: &'b mut dyn Workers,
        first: &'b mut [f64],
    ) -> Self {
        Self { coupling, past, workers, error: None, stopped: false, first, evaluations: 0 }
    }

    /// A guess that runs away makes (27) true by its size alone. So a residual must also be small by the measure of the
    /// step's start, or smaller than that of the first guess.
    fn has_fallen(&self, unknown: usize, residual: f64) -> bool {
        let start = self.coupling.start[unknown % self.coupling.start.len()];
        let known = if unknown < self.coupling.start.len() { start.value } else { start.slope };
        let scale = if known.is_finite() { 1.0 + known.abs() } else { 1.0 };
        self.evaluations <= 1
            || residual.abs() <= self.coupling.tolerance * scale
            || residual.abs() <= 0.5 * self.first[unknown].abs()
    }
}

impl Equations for Residual<'_, '_> {
    fn size(&self) -> usize {
        self.coupling.answers.len()
    }

    fn evaluate(&mut self, guess: &[f64], residual: &mut [f64]) -> bool {
        if self.stopped {
            return false;
        }
        self.coupling.place(guess);
        match self.coupling.ask(self.past, self.workers) {
            Ok(whole) => self.stopped = !whole,
            Err(error) => self.error = Some(error),
        }
        if self.stopped || self.error.is_some() {
            return false;
        }
        let pairs = guess.iter().zip(&self.coupling.answers);
        residual.iter_mut().zip(pairs).for_each(|(residual, (asked, given))| *residual = asked - given);
        if self.evaluations == 0 {
            self.first.copy_from_slice(residual);
        }
        self.evaluations += 1;
        true
    }

    /// (27), with `ε_rel = ε_abs`.
    fn converged(&self, guess: &[f64], residual: &[f64]) -> bool {
        let tolerance = self.coupling.tolerance;
        let small = |r: f64, z: f64| r.abs() < tolerance * z.abs() + tolerance && z.abs() < LARGEST_GUESS;
        residual.iter().zip(guess).enumerate().all(|(i, (&r, &z))| small(r, z) && self.has_fallen(i, r))
    }

    fn weights(&self, guess: &[f64], weights: &mut [f64]) {
        let tolerance = self.coupling.tolerance;
        weights.iter_mut().zip(guess).for_each(|(weight, z)| *weight = 1.0 / (tolerance * z.abs() + tolerance));
    }
}
