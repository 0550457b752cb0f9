//! What a driven system looks like close to where it stands, and elsewhere.

use super::Driven;
use crate::error::Error;
use crate::linearization::{Evaluation, Linearization};
use crate::macro_step::MacroStep;
use crate::signal::Knot;
use crate::system::{Evaluate, Linearize, System};
use crate::wrapping::{evaluation_of, linearization_of};

impl<S: System> Linearize for Driven<S> {
    /// What the driven inputs do in the course of time the system does by itself.
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let inner = &mut self.scratch.linearization;
        linearization_of(&mut self.system).linearize_into(inner)?;
        for driven in &mut self.drives {
            driven.drive.linearized(inner);
        }

        into.a.copy_from(&inner.a);
        into.x.copy_from(&inner.x);
        into.f.copy_from(&inner.f);
        into.f_time.copy_from(&inner.f_time);
        let own = inner.g.len();
        into.c.rows_mut(0, own).copy_from(&inner.c);
        into.g.rows_mut(0, own).copy_from(&inner.g);
        into.g_time.rows_mut(0, own).copy_from(&inner.g_time);
        into.kept = inner.kept;
        take_free_columns(&self.free, inner, into);

        let mut moves = false;
        for driven in &self.drives {
            for &input in driven.inputs.iter().filter(|&&input| !self.held[input]) {
                let Knot {
                    slope, curvature, ..
                } = self.knots[input];
                moves |= slope != 0.0 || curvature != 0.0;
                let rates = [(&inner.b, slope), (&inner.b_slope, curvature)];
                for (matrix, rate) in rates {
                    into.f_time.axpy(rate, &matrix.column(input), 1.0);
                }
                let rates = [(&inner.d, slope), (&inner.d_slope, curvature)];
                for (matrix, rate) in rates {
                    let mut g_time = into.g_time.rows_mut(0, own);
                    g_time.axpy(rate, &matrix.column(input), 1.0);
                }
                into.event.time += slope * inner.event.u[input];
                into.event.time += curvature * inner.event.u_slope[input];
            }
        }
        for (row, &input) in (own..).zip(&self.shown) {
            into.c.row_mut(row).fill(0.0);
            into.d.row_mut(row).fill(0.0);
            into.d_slope.row_mut(row).fill(0.0);
            let knot = self.knots[input];
            (into.g[row], into.g_time[row]) = (knot.value, knot.slope);
            moves |= knot.slope != 0.0;
        }
        // What moves in the course of time has a time of its own.
        into.affine = if moves { 0 } else { inner.affine };
        Ok(())
    }
}

/// Columns of inputs that are left.
fn take_free_columns(free: &[usize], inner: &Linearization, into: &mut Linearization) {
    let own = inner.g.len();
    let event = &inner.event;
    (into.event.due, into.event.value, into.event.time) = (event.due, event.value, event.time);
    into.event.x.copy_from(&event.x);
    into.event.make_reset(event.resets());
    if event.resets() {
        into.event.reset.copy_from(&event.reset);
    }

    for (column, &input) in free.iter().enumerate() {
        into.b.set_column(column, &inner.b.column(input));
        into.b_slope
            .set_column(column, &inner.b_slope.column(input));
        let mut d = into.d.view_mut((0, column), (own, 1));
        d.copy_from(&inner.d.column(input));
        let mut d_slope = into.d_slope.view_mut((0, column), (own, 1));
        d_slope.copy_from(&inner.d_slope.column(input));
        (into.u[column], into.u_slope[column]) = (inner.u[input], inner.u_slope[input]);
        into.event.u[column] = event.u[input];
        into.event.u_slope[column] = event.u_slope[input];
        if event.resets() {
            let reset = &event.reset_by_inputs.column(input);
            into.event.reset_by_inputs.set_column(column, reset);
        }
    }
}

impl<S: System> Evaluate for Driven<S> {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        // Where the system stands it may be on the left side of an event.
        if time != self.reached {
            self.drive(MacroStep::new(self.reached, time))?;
        }
        let inner = &mut self.scratch.evaluation;
        inner.x.copy_from(&into.x);
        for (column, &input) in self.free.iter().enumerate() {
            (inner.u[input], inner.u_slope[input]) = (into.u[column], into.u_slope[column]);
        }
        for driven in &self.drives {
            for &input in &driven.inputs {
                let there = match time == self.reached || self.held[input] {
                    true => self.knots[input],
                    false => self.exact[input].at(time - self.reached),
                };
                (inner.u[input], inner.u_slope[input]) = (there.value, there.slope);
            }
        }

        evaluation_of(&mut self.system).evaluate_into(time, inner)?;
        into.f.copy_from(&inner.f);
        let own = inner.g.len();
        into.g.rows_mut(0, own).copy_from(&inner.g);
        for (row, &input) in (own..).zip(&self.shown) {
            into.g[row] = inner.u[input];
        }
        Ok(())
    }
}
