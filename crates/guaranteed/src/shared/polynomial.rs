//! The polynomial in time of a step: for each state a series of forms.

use super::linear::Linear;
use super::set::SymbolicSet;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::rounding::above;
use crate::system_part::ProblemPart;

/// The highest order of `p`.
pub(super) const MOST_ORDER: usize = 20;

/// Space for the coefficients of a state, or for one number for each of them.
pub(super) const STRIDE: usize = MOST_ORDER + 1;

/// `p`, and what it leaves.
pub(super) struct StepPolynomial {
    /// How far `p` goes; the derivative at that order only bounds the rest.
    pub order: usize,
    pub shape: FormShape,
    /// For each state its coefficients from 0 to `order`, with space for [`MOST_ORDER`].
    coefficients: Vec<f64>,
    /// Their ranges.
    ranges: Vec<Interval>,
    /// The derivatives at the last order, as forms.
    derivatives: Vec<f64>,
    /// For each state and order, how far `(k + 1) p_{k+1}` can be from `f_k`.
    defects: Vec<f64>,
    /// For each state, the largest magnitude of `f` at the last order, at the start of the step.
    pub top: Vec<f64>,
}

/// Layout.
impl StepPolynomial {
    pub fn new(dimension: usize) -> Self {
        Self {
            order: 0,
            shape: FormShape::NO_SYMBOLS,
            coefficients: Vec::new(),
            ranges: vec![Interval::ZERO; dimension * STRIDE],
            derivatives: Vec::new(),
            defects: vec![0.0; dimension * STRIDE],
            top: vec![0.0; dimension],
        }
    }

    pub fn dimension(&self) -> usize {
        self.top.len()
    }

    pub fn coefficient(&self, state: usize, k: usize) -> &[f64] {
        let width = self.shape.width();
        &self.coefficients[(state * STRIDE + k) * width..][..width]
    }

    /// Coefficient `k` of some states, one after the other.
    pub fn coefficients_of(&self, states: &[usize], k: usize) -> Vec<f64> {
        let states = states.iter();
        states
            .flat_map(|&state| self.coefficient(state, k))
            .copied()
            .collect()
    }

    /// The coefficients of a state from 0 to the order, one after the other.
    pub fn series_of(&self, state: usize) -> &[f64] {
        let width = self.shape.width();
        &self.coefficients[state * STRIDE * width..][..(self.order + 1) * width]
    }

    /// The ranges of a state's coefficients.
    pub fn ranges_of(&self, state: usize) -> &[Interval] {
        &self.ranges[state * STRIDE..][..=self.order]
    }

    /// What the coefficients of a state leave, below the order.
    pub fn defects_of(&self, state: usize) -> &[f64] {
        &self.defects[state * STRIDE..][..self.order]
    }
}

/// Values.
impl StepPolynomial {
    /// The box of a state on a span of the step.
    pub fn span_of(&self, state: usize, elapsed: Interval) -> Interval {
        let ranges = self.ranges_of(state).iter().rev();
        ranges.fold(Interval::ZERO, |sum, range| sum * elapsed + *range)
    }

    /// The boxes of all states on a span of the step.
    pub fn spans(&self, elapsed: Interval) -> Vec<Interval> {
        (0..self.dimension())
            .map(|state| self.span_of(state, elapsed))
            .collect()
    }

    /// The slopes of a state on a span of the step.
    pub fn slope_of(&self, state: usize, elapsed: Interval) -> Interval {
        let rates = self.ranges_of(state).iter().enumerate().skip(1).rev();
        rates.fold(Interval::ZERO, |sum, (k, range)| {
            sum * elapsed + Interval::point(k as f64) * *range
        })
    }
}

/// How it is built, order by order.
impl StepPolynomial {
    /// Begins with the forms of a set.
    pub fn begin(&mut self, set: &SymbolicSet) {
        self.shape = set.shape;
        let width = set.shape.width();
        let dimension = self.dimension();
        self.coefficients.resize(dimension * STRIDE * width, 0.0);
        self.derivatives.resize(dimension * width, 0.0);

        for (state, form) in set.forms.chunks_exact(width).enumerate() {
            self.coefficients[state * STRIDE * width..][..width].copy_from_slice(form);
        }
    }

    /// Sets `f_k` of a state, with `write`, and how large it is.
    pub fn set_derivative(&mut self, state: usize, write: impl FnOnce(FormShape, &mut [f64])) {
        let width = self.shape.width();
        let form = &mut self.derivatives[state * width..][..width];
        write(self.shape, form);
        self.top[state] = self.shape.range(form).magnitude();
    }

    /// `f_k` of all states of some systems, where the flow is a matrix.
    pub fn multiply(&mut self, linear: &Linear, part: &ProblemPart, k: usize) {
        let shape = self.shape;
        let width = shape.width();
        let magnitudes: Vec<f64> = (0..self.dimension())
            .map(|state| shape.magnitude_of(self.coefficient(state, k)))
            .collect();
        let mut derivatives = std::mem::take(&mut self.derivatives);

        for state in part.systems.iter().flat_map(|system| system.states.clone()) {
            let form = &mut derivatives[state * width..][..width];
            let coefficient = |column| (self.coefficient(column, k), magnitudes[column]);
            linear.derivative(state, k, shape, coefficient, form);
            self.top[state] = shape.range(form).magnitude();
        }
        self.derivatives = derivatives;
    }

    /// `p_{k+1} = f_k / (k + 1)` of a state, what the form cannot express noted as a defect;
    /// whether it is finite.
    pub fn take_derivative(&mut self, state: usize, k: usize) -> bool {
        let shape = self.shape;
        let width = shape.width();
        let next = state * STRIDE + k + 1;
        let form = &mut self.coefficients[next * width..][..width];
        form.copy_from_slice(&self.derivatives[state * width..][..width]);
        let count = (k + 1) as f64;
        shape.divide(form, count);
        let radius = std::mem::take(&mut form[shape.radius()]);
        if !radius.is_finite() || form.iter().any(|c| !c.is_finite()) {
            return false;
        }

        self.defects[state * STRIDE + k] = above(count * radius);
        true
    }

    /// Bounds all coefficients.
    pub fn find_ranges(&mut self) {
        for state in 0..self.dimension() {
            for k in 0..=self.order {
                let range = self.shape.range(self.coefficient(state, k));
                self.ranges[state * STRIDE + k] = range;
            }
        }
    }
}
