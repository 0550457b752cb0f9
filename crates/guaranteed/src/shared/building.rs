//! The series of a step: a polynomial in time, built order by order by all systems together.

use super::flowpipe::Flowpipe;
use super::polynomial::MOST_ORDER;
use super::stepper::StepFailure;
use crate::interval::Interval;
use crate::series::assumptions::Assumptions;

impl Flowpipe<'_> {
    /// Builds `p`, to the order at which a step of length `reach` loses no more than `tolerances`,
    /// or to the highest.
    pub fn prepare(&mut self, reach: f64, tolerances: &[f64]) -> Result<(), StepFailure> {
        self.proved = None;
        let assumptions = self.present_assumptions();
        let limits: Vec<f64> = tolerances
            .iter()
            .map(|tolerance| tolerance / reach)
            .collect();
        self.build(&assumptions, |order, top| {
            // What is cut off at this order, over a step of the full length.
            let factor = reach.powi(order as i32) / (order + 1) as f64;
            let mut states = top.iter().zip(&limits);
            order >= 2 && states.all(|(top, limit)| top * factor <= *limit)
        })?;
        // Conditions of an affine problem depend on switches alone.
        self.phase.assumptions = self.problem.affine.then_some(assumptions);
        Ok(())
    }

    fn present_assumptions(&mut self) -> Vec<Assumptions> {
        match self.phase.assumptions.take() {
            Some(assumptions) => assumptions,
            None => {
                let now = Interval::point(self.time);
                self.field.assumptions_over(now, &self.boxes())
            }
        }
    }

    /// The series of all systems, order by order, until `enough` says so of an order and the
    /// magnitudes at it.
    pub(super) fn build(
        &mut self,
        assumptions: &[Assumptions],
        enough: impl Fn(usize, &[f64]) -> bool,
    ) -> Result<(), StepFailure> {
        self.polynomial.begin(&self.set);
        if self.phase.linear.is_none() {
            self.field
                .begin_series(self.set.shape, self.time, assumptions);
        }

        for k in 0..=MOST_ORDER {
            self.polynomial.order = k;
            self.find_derivatives(k);
            if enough(k, &self.polynomial.top) {
                break;
            }
            if k < MOST_ORDER {
                self.take_derivatives(k)?;
            }
        }

        self.polynomial.find_ranges();
        Ok(())
    }

    /// The series again, to this order, with other assumptions.
    pub(super) fn rebuild(
        &mut self,
        assumptions: &[Assumptions],
        order: usize,
    ) -> Result<(), StepFailure> {
        self.build(assumptions, |k, _| k == order)
    }

    /// `f_k` of all states.
    fn find_derivatives(&mut self, k: usize) {
        let polynomial = &mut self.polynomial;
        match &self.phase.linear {
            Some(linear) => self.field.multiply(linear, k, polynomial),
            None => self.field.differentiate(k, polynomial),
        }
    }

    /// `p_{k+1}` of all states.
    fn take_derivatives(&mut self, k: usize) -> Result<(), StepFailure> {
        for state in 0..self.dimension() {
            if !self.polynomial.take_derivative(state, k) {
                return Err(self.not_finite(state));
            }
        }
        Ok(())
    }

    fn not_finite(&self, state: usize) -> StepFailure {
        match self.field.undecided_system_of(state) {
            Some(system) => StepFailure::Undecided { system },
            None => StepFailure::Unbounded { state },
        }
    }
}
