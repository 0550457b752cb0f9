//! The series of a step: a polynomial in time, built order by order by all systems together.

use super::linear::Linear;
use super::run::{Failure, MOST_ORDER, Run};
use crate::interval::Interval;
use crate::rounding::above;
use crate::series::{Coefficient, Outlook};

impl Run<'_> {
    /// Builds `p`, to the order at which a step of length `reach` loses no more than `tolerances`, or to the highest.
    pub fn prepare(&mut self, reach: f64, tolerances: &[f64]) -> Result<(), Failure> {
        self.proved = None;
        let outlooks = match self.settled.take() {
            Some(settled) => settled,
            None => {
                let boxes = self.set.boxes();
                self.outlooks(Interval::point(self.time), &boxes)
            }
        };
        let limits: Vec<f64> = tolerances
            .iter()
            .map(|tolerance| tolerance / reach)
            .collect();
        self.build(&outlooks, |order, top| {
            // What is cut off at this order, over a step of the full length.
            let factor = reach.powi(order as i32) / (order + 1) as f64;
            order >= 2
                && top
                    .iter()
                    .zip(&limits)
                    .all(|(top, limit)| top * factor <= *limit)
        })?;
        // Conditions of an affine problem depend on switches alone.
        self.settled = self.problem.affine.then_some(outlooks);
        Ok(())
    }

    /// The series of all systems, order by order, until `enough` says so of an order and the magnitudes at it.
    pub(super) fn build(
        &mut self,
        outlooks: &[Outlook],
        enough: impl Fn(usize, &[f64]) -> bool,
    ) -> Result<(), Failure> {
        let (width, stride) = (self.set.shape.width(), MOST_ORDER + 1);
        self.coefficients
            .resize(self.dimension() * stride * width, 0.0);
        for (state, form) in self.set.forms.chunks_exact(width).enumerate() {
            self.coefficients[state * stride * width..][..width].copy_from_slice(form);
        }
        if self.linear.is_none() {
            for (tape, outlook) in self.forms.iter_mut().zip(outlooks) {
                tape.begin(
                    self.set.shape,
                    stride,
                    Interval::point(self.time),
                    &self.switches,
                );
                tape.set_outlook(outlook);
            }
        }
        for k in 0..=MOST_ORDER {
            self.order = k;
            match self.linear.take() {
                Some(linear) => {
                    self.multiply(&linear, k);
                    self.linear = Some(linear);
                }
                None => self.differentiate(k),
            }
            if enough(k, &self.top) {
                break;
            }
            if k < MOST_ORDER {
                (0..self.dimension()).try_for_each(|state| self.take_derivative(state, k))?;
            }
        }
        for state in 0..self.dimension() {
            for k in 0..=self.order {
                self.ranges[state * stride + k] = self.set.shape.range(self.coefficient(state, k));
            }
        }
        Ok(())
    }

    pub(super) fn coefficient(&self, state: usize, k: usize) -> &[f64] {
        let width = self.set.shape.width();
        &self.coefficients[(state * (MOST_ORDER + 1) + k) * width..][..width]
    }

    /// The ranges of a state's coefficients.
    pub(super) fn ranges_of(&self, state: usize) -> &[Interval] {
        &self.ranges[state * (MOST_ORDER + 1)..][..=self.order]
    }

    /// Gives every system coefficient `k` of the states that it depends on, its own and its neighbours'.
    fn exchange(&mut self, k: usize) {
        let width = self.set.shape.width();
        let (tapes, coefficients) = (&mut self.forms, &self.coefficients);
        for tape in tapes {
            tape.set_states(k, |state| {
                &coefficients[(state * (MOST_ORDER + 1) + k) * width..][..width]
            });
        }
    }

    /// `f_k` of all systems, each by its own tape, into [`Self::derivatives`].
    fn differentiate(&mut self, k: usize) {
        self.exchange(k);
        let (width, shape) = (self.set.shape.width(), self.set.shape);
        self.derivatives
            .resize(self.problem.dimension() * width, 0.0);
        for (system, tape) in self.forms.iter_mut().enumerate() {
            tape.compute(k);
            for (index, state) in self.problem.systems[system].clone().enumerate() {
                let form = &mut self.derivatives[state * width..][..width];
                match tape.result(index, k) {
                    Coefficient::Plain(range) => shape.set_constant(form, range),
                    Coefficient::Form(source) => form.copy_from_slice(source),
                }
                self.top[state] = shape.range(form).magnitude();
            }
        }
    }

    /// `f_k` of all states, where the flow is a matrix.
    fn multiply(&mut self, linear: &Linear, k: usize) {
        let (width, shape, dimension) = (self.set.shape.width(), self.set.shape, self.dimension());
        self.derivatives.resize(dimension * width, 0.0);
        let reaches: Vec<f64> = (0..dimension)
            .map(|state| shape.reach_of(self.coefficient(state, k)))
            .collect();
        let mut derivatives = std::mem::take(&mut self.derivatives);
        for (state, form) in derivatives.chunks_exact_mut(width).enumerate() {
            linear.derivative(
                state,
                k,
                shape,
                |column| (self.coefficient(column, k), reaches[column]),
                form,
            );
            self.top[state] = shape.range(form).magnitude();
        }
        self.derivatives = derivatives;
    }

    /// `p_{k+1} = f_k / (k + 1)`, what the form cannot express noted as a defect.
    fn take_derivative(&mut self, state: usize, k: usize) -> Result<(), Failure> {
        let (width, shape) = (self.set.shape.width(), self.set.shape);
        let form = &mut self.coefficients[(state * (MOST_ORDER + 1) + k + 1) * width..][..width];
        form.copy_from_slice(&self.derivatives[state * width..][..width]);
        let count = (k + 1) as f64;
        shape.divide(form, count);
        let radius = std::mem::take(&mut form[shape.radius()]);
        if !radius.is_finite() || form.iter().any(|c| !c.is_finite()) {
            return Err(self.blame(state));
        }
        self.defects[state * (MOST_ORDER + 1) + k] = above(count * radius);
        Ok(())
    }

    fn blame(&self, state: usize) -> Failure {
        let system = self
            .problem
            .systems
            .iter()
            .position(|states| states.contains(&state))
            .unwrap_or(0);
        if self.forms[system].is_undecided() {
            Failure::Undecided { system }
        } else {
            Failure::Unbounded { state }
        }
    }
}
