//! Expressions of states that are forms: what systems have in common cancels, as in the difference of two of them.

use std::sync::Arc;

use dovetail_equations::Evaluator;

use super::flowpipe::Flowpipe;
use crate::forms::FormShape;
use crate::interval::Interval;
use crate::observed::ObservedPart;
use crate::rounding::{UNIT, above};
use crate::series::tape::{Coefficient, SeriesTape};

/// Computes expressions on forms.
pub(super) struct FormObserver {
    tape: SeriesTape,
    evaluator: Evaluator<Interval>,
    count: usize,
}

impl FormObserver {
    pub fn new(
        observed: &ObservedPart,
        parameters: &[Interval],
        symbols: &[Option<usize>],
    ) -> Self {
        let program = &observed.program;
        Self {
            tape: SeriesTape::new(program, parameters, Some(symbols)),
            evaluator: Evaluator::new(Arc::clone(program), &Interval::ZERO, parameters),
            count: observed.count(),
        }
    }

    /// All expressions while time is in `span` and the states have these forms.
    fn observe(
        &mut self,
        span: Interval,
        switches: &[Interval],
        shape: FormShape,
        forms: &[f64],
    ) -> Vec<Interval> {
        self.evaluator.set_time(&span);
        self.evaluator.set_switches(switches);
        self.evaluator.set_states(&shape.ranges(forms));
        let plain = self.evaluator.results();

        let tape = &mut self.tape;
        tape.begin(shape, 1, span, switches);
        let assumptions = tape.assumptions_from(&self.evaluator);
        tape.set_assumptions(&assumptions);
        let width = shape.width();
        tape.set_states(0, |state| &forms[state * width..][..width]);
        tape.compute(0);

        let sharper = |index: usize| match tape.result(index, 0) {
            Coefficient::Plain(range) => range,
            Coefficient::Form(form) => shape.range(form),
        };
        let each = plain.into_iter().zip(0..self.count);
        each.map(|(plain, index)| common(plain, sharper(index)))
            .collect()
    }
}

/// What two enclosures of the same have in common; not-a-number says nothing.
fn common(plain: Interval, other: Interval) -> Interval {
    if other.lo.is_nan() || other.hi.is_nan() {
        return plain;
    }
    plain.intersection(other).unwrap_or(plain)
}

impl Flowpipe<'_> {
    /// What is observed of the proved step from `from` to `to`, which may be the same; nothing where nothing is
    /// asked for.
    pub fn observed(&mut self, from: f64, to: f64) -> Option<Vec<Interval>> {
        let mut observer = self.observer.take()?;
        let (shape, forms) = self.forms_over(from, to);
        let switches = self.field.switches();
        let found = observer.observe(Interval::new(from, to), switches, shape, &forms);
        self.observer = Some(observer);
        Some(found)
    }

    /// The forms of all states from `from` to `to` within the proved step. Time is a symbol more: what grows while
    /// something else shrinks stays so.
    fn forms_over(&self, from: f64, to: f64) -> (FormShape, Vec<f64>) {
        let shape = self.polynomial.shape;
        let middle = from + 0.5 * (to - from);
        let forms = self.forms_at(middle);
        if from == to {
            return (shape, forms);
        }

        let start = Interval::point(self.time);
        let elapsed = Interval::new(
            (Interval::point(from) - start).lo,
            (Interval::point(to) - start).hi,
        );
        let reach = (Interval::new(from, to) - Interval::point(middle)).magnitude();
        let moving = FormShape {
            errors: shape.errors + 1,
            ..shape
        };
        let mut all = vec![0.0; self.dimension() * moving.width()];
        let pairs = all
            .chunks_exact_mut(moving.width())
            .zip(forms.chunks_exact(shape.width()));

        for (state, (form, at_middle)) in pairs.enumerate() {
            let slope = self.polynomial.slope_of(state, elapsed);
            form[..shape.radius()].copy_from_slice(&at_middle[..shape.radius()]);
            form[moving.radius()] = at_middle[shape.radius()];
            let rate = slope.middle();
            let drift = rate * reach;
            if !drift.is_finite() || !slope.is_finite() {
                moving.set_unknown(form);
                continue;
            }
            form[shape.radius()] = drift;
            moving.widen(
                form,
                above(slope.radius() * reach + 2.0 * UNIT * drift.abs()),
            );
        }
        (moving, all)
    }
}
