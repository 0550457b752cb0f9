//! By how much the outputs that a guess of the interface causes differ from it.

use std::iter::zip;

use dovetail_core::{Error, Past, Workers};
use dovetail_numerics::nonlinear::Equations;

use super::criterion::{Criterion, Measure};
use crate::coupling::Coupling;
use crate::elementwise::set_difference;
use crate::ranges::Ranges;

/// `γ_τ`, (24): how far a guess is from what the connected outputs answer.
pub(super) struct Residual<'b, 'a> {
    pub coupling: &'b mut Coupling<'a>,
    pub past: &'b Past,
    pub workers: &'b mut dyn Workers,
    pub error: Option<Error>,
    /// A system has stopped at an event: there is no use in going on.
    pub stopped: bool,
    criterion: Criterion,
    tolerance: f64,
    ranges: &'b mut Ranges,
    /// The residual of the first guess; the largest so far, where residuals are measured by ranges.
    before: &'b mut [f64],
    evaluations: usize,
}

impl<'b, 'a> Residual<'b, 'a> {
    /// The residual of a step; `before` is room for one residual.
    pub fn new(
        coupling: &'b mut Coupling<'a>,
        past: &'b Past,
        workers: &'b mut dyn Workers,
        (criterion, tolerance): (Criterion, f64),
        ranges: &'b mut Ranges,
        before: &'b mut [f64],
    ) -> Self {
        let error = None;
        let stopped = false;
        let evaluations = 0;

        Self {
            coupling,
            past,
            workers,
            error,
            stopped,
            criterion,
            tolerance,
            ranges,
            before,
            evaluations,
        }
    }

    /// What systems answer to a guess; false if the step is not to be solved for any more.
    fn ask(&mut self, guess: &[f64]) -> bool {
        self.coupling.place(guess);
        match self.coupling.ask(self.past, self.workers) {
            Ok(whole) => self.stopped = !whole,
            Err(error) => self.error = Some(error),
        }
        !self.stopped && self.error.is_none()
    }

    /// What has never moved has the scale of what it is about to become.
    fn expect_from_zero(&mut self) {
        let size = self.coupling.step.size();
        let (values, slopes) = self.coupling.answers.split_at(self.coupling.start.len());
        let ends = zip(values, slopes).map(|(y, slope)| y.abs().max((size * slope).abs()));
        self.ranges.expect_from_zero(ends);
    }

    fn measure(&self) -> Measure<'_> {
        Measure {
            criterion: self.criterion,
            tolerance: self.tolerance,
            ranges: self.ranges,
        }
    }
}

impl Equations for Residual<'_, '_> {
    fn size(&self) -> usize {
        self.coupling.answers.len()
    }

    fn evaluate(&mut self, guess: &[f64], residual: &mut [f64]) -> bool {
        if self.stopped || !self.ask(guess) {
            return false;
        }

        set_difference(residual, guess, &self.coupling.answers);
        if self.ranges.rest() {
            self.expect_from_zero();
        }

        if self.evaluations == 0 {
            self.before.copy_from_slice(residual);
        }

        if self.criterion == Criterion::Range {
            self.before
                .iter_mut()
                .zip(&*residual)
                .for_each(|(most, r)| *most = most.abs().max(r.abs()));
        }

        self.evaluations += 1;
        true
    }

    /// (27), or its like by the ranges of the variables.
    fn converged(&self, guess: &[f64], residual: &[f64]) -> bool {
        let measure = self.measure();
        let coupling = &*self.coupling;

        residual.iter().zip(guess).enumerate().all(|(i, (&r, &z))| {
            r.abs() < measure.allows(coupling, i, z)
                && !measure.has_run_away(coupling, i, z)
                && (self.evaluations <= 1 || measure.has_fallen(coupling, i, r, self.before[i]))
        })
    }

    fn weights(&self, guess: &[f64], weights: &mut [f64]) {
        for (unknown, (weight, z)) in weights.iter_mut().zip(guess).enumerate() {
            *weight = self.measure().weight(self.coupling, unknown, *z);
        }
    }
}
