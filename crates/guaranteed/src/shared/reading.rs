//! What a proved step says of the states: at instants, throughout parts of it, and at its end.

use super::run::{MOST_ORDER, Run};
use crate::interval::Interval;
use crate::rounding::above;

impl Run<'_> {
    /// The forms of all states at `time` within the proved step, the radius holding what is missing.
    fn forms_at(&self, time: f64) -> Vec<f64> {
        let step = Interval::point(time) - Interval::point(self.time);
        let powers = powers(step, self.order);
        let (width, shape) = (self.set.shape.width(), self.set.shape);
        let mut result = vec![0.0; self.dimension() * width];
        for (state, form) in result.chunks_exact_mut(width).enumerate() {
            let series =
                &self.coefficients[state * (MOST_ORDER + 1) * width..][..(self.order + 1) * width];
            shape.combine(form, series, &powers);
            let error = self
                .proved
                .as_ref()
                .map_or(f64::INFINITY, |proved| proved.error[state]);
            form[shape.radius()] = above(form[shape.radius()] + error);
        }
        result
    }

    /// The boxes of all states at `time` within the proved step.
    pub fn boxes_at(&self, time: f64) -> Vec<Interval> {
        let shape = self.set.shape;
        self.forms_at(time)
            .chunks_exact(shape.width())
            .map(|form| shape.range(form))
            .collect()
    }

    /// Boxes that hold from `from` to `to` within the proved step: about the middle, and by the slope on either side.
    pub fn tube(&self, from: f64, to: f64) -> Vec<Interval> {
        let start = Interval::point(self.time);
        let elapsed = Interval::new(
            (Interval::point(from) - start).lo,
            (Interval::point(to) - start).hi,
        );
        let middle = from + 0.5 * (to - from);
        let around = Interval::new(from, to) - Interval::point(middle);
        let boxes = self.boxes_at(middle);
        let state_tube = |(state, at_middle): (usize, &Interval)| {
            let rates = self.ranges_of(state).iter().enumerate().skip(1).rev();
            let slope = rates.fold(Interval::ZERO, |sum, (k, range)| {
                sum * elapsed + Interval::point(k as f64) * *range
            });
            // The box about the middle includes the error already, and it is the same all along the step.
            let linear = *at_middle + slope * around;
            let error = self
                .proved
                .as_ref()
                .map_or(f64::INFINITY, |proved| proved.error[state]);
            let whole = self.span_of(state, elapsed).widened(error);
            linear.intersection(whole).unwrap_or(whole)
        };
        boxes.iter().enumerate().map(state_tube).collect()
    }

    /// Moves to the end of the proved step.
    pub fn advance(&mut self) {
        let Some(until) = self.proved.as_ref().map(|proved| proved.until) else {
            return;
        };
        self.set.forms = self.forms_at(until);
        self.time = until;
        self.renew();
        self.set.absorb();
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
