//! What a proved step says of the states: at instants, throughout parts of it, and at its end.

use super::flowpipe::Flowpipe;
use super::modal::ModalStep;
use crate::interval::Interval;

impl Flowpipe<'_> {
    /// How far a state can be from `p` in the proved step.
    fn proved_error(&self, state: usize) -> f64 {
        let proved = self.proved.as_ref();
        proved.map_or(f64::INFINITY, |proved| proved.error[state])
    }

    /// The forms of all states at `time` within the proved step, the radius holding what is
    /// missing.
    pub(super) fn forms_at(&self, time: f64) -> Vec<f64> {
        let mut forms = self.polynomial_at(time);
        let shape = self.polynomial.shape;
        for (state, form) in forms.chunks_exact_mut(shape.width()).enumerate() {
            shape.widen(form, self.proved_error(state));
        }
        forms
    }

    /// `p` at `time` within the proved step.
    fn polynomial_at(&self, time: f64) -> Vec<f64> {
        let polynomial = &self.polynomial;
        let shape = polynomial.shape;
        let elapsed = Interval::point(time) - Interval::point(self.time);
        let powers = powers(elapsed, polynomial.order);
        let mut forms = vec![0.0; self.dimension() * shape.width()];

        for (state, form) in forms.chunks_exact_mut(shape.width()).enumerate() {
            shape.combine(form, polynomial.series_of(state), &powers);
        }
        forms
    }

    /// The boxes of all states at `time` within the proved step.
    pub fn boxes_at(&self, time: f64) -> Vec<Interval> {
        self.polynomial.shape.ranges(&self.forms_at(time))
    }

    /// Boxes that hold from `from` to `to` within the proved step: about the middle, and by the
    /// slope on either side.
    pub fn tube(&self, from: f64, to: f64) -> Vec<Interval> {
        let start = Interval::point(self.time);
        let first = (Interval::point(from) - start).lo;
        let last = (Interval::point(to) - start).hi;
        let elapsed = Interval::new(first, last);
        let middle = from + 0.5 * (to - from);
        let around = Interval::new(from, to) - Interval::point(middle);
        let boxes = self.boxes_at(middle);
        let states = boxes.into_iter().enumerate();

        states
            .map(|(state, at_middle)| self.state_tube(state, at_middle, around, elapsed))
            .collect()
    }

    fn state_tube(
        &self,
        state: usize,
        at_middle: Interval,
        around: Interval,
        elapsed: Interval,
    ) -> Interval {
        // The box about the middle includes the error already, and it is the same all along the
        // step.
        let slope = self.polynomial.slope_of(state, elapsed);
        let linear = at_middle + slope * around;
        let span = self.polynomial.span_of(state, elapsed);
        let whole = span.widened(self.proved_error(state));

        linear.intersection(whole).unwrap_or(whole)
    }

    /// Moves to the end of the proved step.
    pub fn advance(&mut self) {
        let Some(until) = self.proved.as_ref().map(|proved| proved.until) else {
            return;
        };
        let modal_step = self.proved.as_mut().and_then(|proved| proved.modal.take());
        if let Some(step) = modal_step {
            self.set.forms = self.polynomial_at(until);
            self.time = until;
            self.keep_in_modes(step);
            return;
        }

        self.set.forms = self.forms_at(until);
        self.time = until;
        self.renew_unknowns();
        self.set.absorb();
    }
}

/// Errors of linear flows.
impl Flowpipe<'_> {
    /// Takes what a step lost, and the radii of all forms at its end.
    fn keep_in_modes(&mut self, step: ModalStep) {
        let radii = self.set.take_radii();
        if let Some(modal) = &mut self.modal {
            modal.set_radii(step.end);
            modal.add(&radii);
        }
    }
}

/// The powers of a number from 0 to `order`.
fn powers(base: Interval, order: usize) -> Vec<Interval> {
    let mut powers = vec![Interval::ONE];
    for k in 0..order {
        powers.push(powers[k] * base);
    }
    powers
}
