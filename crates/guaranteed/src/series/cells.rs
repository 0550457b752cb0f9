//! The arithmetic of cells: coefficients of registers, which are intervals or forms.

use std::ops::Range;

use super::SeriesTape;
use super::lowering::Register;
use crate::functions::Function;
use crate::interval::Interval;

/// A coefficient of a register's series.
pub(super) type Cell = (Register, usize);

/// The arithmetic of cells.
impl SeriesTape {
    pub(super) fn interval(&self, (register, k): Cell) -> Interval {
        self.intervals[register * self.room + k]
    }

    pub(super) fn form_range(&self, (register, k): Cell) -> Range<usize> {
        let width = self.shape.width();
        let start = (self.slots[register] * self.room + k) * width;
        start..start + width
    }

    pub(super) fn form_mut(&mut self, cell: Cell) -> &mut [f64] {
        let range = self.form_range(cell);
        &mut self.forms[range]
    }

    pub(super) fn set(&mut self, register: Register, k: usize, value: Interval) {
        if self.plain[register] {
            self.intervals[register * self.room + k] = value;
            return;
        }
        let shape = self.shape;
        let form = self.form_mut((register, k));
        match value.is_finite() {
            true => shape.set_constant(form, value),
            false => shape.set_unknown(form),
        }
    }

    pub(super) fn clear(&mut self, (register, k): Cell) {
        match self.plain[register] {
            true => self.intervals[register * self.room + k] = Interval::ZERO,
            false => self.form_mut((register, k)).fill(0.0),
        }
    }

    pub(super) fn is_nothing(&self, (register, k): Cell) -> bool {
        k > 0 && (self.still[register] || self.frozen[register].is_some())
    }

    /// `out = a + sign · b`, in one pass where both are forms.
    pub(super) fn sum_of_two(&mut self, out: Cell, a: Cell, b: Cell, sign: f64) {
        if self.plain[a.0] || self.plain[b.0] || self.is_nothing(a) || self.is_nothing(b) {
            return self.sum(out, [(a, 1.0), (b, sign)]);
        }
        let shape = self.shape;
        let (out, a, b) = self.apart(out, a, b);
        shape.set_sum(out, a, b, sign);
    }

    /// Whether a register is one interval for all times.
    pub(super) fn is_factor(&self, register: Register) -> bool {
        self.plain[register] && self.still[register]
    }

    /// The product of a constant and a form, in one pass.
    pub(super) fn scaled(&mut self, out: Register, factor: Register, a: Register, k: usize) {
        if self.is_nothing((a, k)) {
            return self.clear((out, k));
        }
        let scale = self.interval((factor, 0));
        let shape = self.shape;
        let (out, a, _) = self.apart((out, k), (a, k), (a, k));
        shape.set_scaled(out, scale, a);
    }

    pub(super) fn sum<const N: usize>(&mut self, out: Cell, terms: [(Cell, f64); N]) {
        self.clear(out);
        for (cell, factor) in terms {
            self.add(out, cell, factor);
        }
    }

    pub(super) fn add_constant(&mut self, out: Cell, value: Interval) {
        if self.plain[out.0] {
            let sum = self.interval(out) + value;
            return self.set(out.0, out.1, sum);
        }
        let shape = self.shape;
        shape.add_constant(self.form_mut(out), value);
    }

    pub(super) fn add(&mut self, out: Cell, a: Cell, factor: f64) {
        if self.is_nothing(a) {
            return;
        }
        if self.plain[a.0] {
            return self.add_constant(out, Interval::point(factor) * self.interval(a));
        }
        let shape = self.shape;
        let (out, a, _) = self.apart(out, a, a);
        shape.add(out, a, factor);
    }

    pub(super) fn add_scaled(&mut self, out: Cell, scale: Interval, a: Cell) {
        if self.is_nothing(a) {
            return;
        }
        if self.plain[a.0] {
            return self.add_constant(out, scale * self.interval(a));
        }
        let shape = self.shape;
        let (out, a, _) = self.apart(out, a, a);
        shape.add_scaled(out, scale, a);
    }

    pub(super) fn add_product(&mut self, out: Cell, a: Cell, b: Cell, factor: f64) {
        if self.is_nothing(a) || self.is_nothing(b) {
            return;
        }
        let factors = |tape: &Self, cell: Cell| Interval::point(factor) * tape.interval(cell);
        match (self.plain[a.0], self.plain[b.0]) {
            (true, true) if a == b => {
                self.add_constant(out, Interval::point(factor) * self.interval(a).square());
            }
            (true, true) => self.add_constant(out, factors(self, a) * self.interval(b)),
            (true, false) => self.add_scaled(out, factors(self, a), b),
            (false, true) => self.add_scaled(out, factors(self, b), a),
            (false, false) => {
                let shape = self.shape;
                let (out, a, b) = self.apart(out, a, b);
                shape.add_product(out, a, b, factor);
            }
        }
    }

    /// `out += sign · Σ a_j a_{k−j}` over `range`, which is symmetric: every product but the middle one comes twice.
    pub(super) fn add_square(&mut self, out: Cell, a: Register, range: Range<usize>, sign: f64) {
        let total = range.start + range.end - 1;
        for j in range {
            let i = total - j;
            if j < i {
                self.add_product(out, (a, j), (a, i), 2.0 * sign);
            } else if j == i {
                self.add_product(out, (a, j), (a, j), sign);
            }
        }
    }

    pub(super) fn divide(&mut self, out: Cell, divisor: f64) {
        if self.plain[out.0] {
            let value = self.interval(out) / Interval::point(divisor);
            return self.set(out.0, out.1, value);
        }
        let shape = self.shape;
        shape.divide(self.form_mut(out), divisor);
    }

    pub(super) fn apply(&mut self, out: Cell, function: Function, a: Cell) {
        if self.plain[a.0] {
            let value = function.value(self.interval(a));
            return self.set(out.0, out.1, value);
        }
        let shape = self.shape;
        let mut scratch = std::mem::take(&mut self.scratch);
        let (out, a, _) = self.apart(out, a, a);
        shape.apply(function, a, out, &mut scratch);
        self.scratch = scratch;
    }

    /// The angle of a point: about the centres to first order, the second bounded by the distance from the origin.
    pub(super) fn apply_angle(&mut self, out: Cell, y: Cell, x: Cell) {
        let range = |tape: &Self, cell: Cell| match tape.plain[cell.0] {
            true => tape.interval(cell),
            false => tape.shape.range(tape.form(cell.0, cell.1)),
        };
        let (ys, xs) = (range(self, y), range(self, x));
        let whole = ys.atan2(xs);
        let (y0, x0) = (Interval::point(ys.middle()), Interval::point(xs.middle()));
        let square = Interval::ONE / (x0.square() + y0.square());
        let nearest = Interval::point((xs.square() + ys.square()).lo);
        let cut = xs.lo <= 0.0 && ys.contains(0.0);
        let bend = ((ys - y0).square() + (xs - x0).square()) / (nearest + nearest);
        if self.plain[out.0] || cut || !(square.is_finite() && bend.is_finite()) {
            let value = if cut { Interval::ENTIRE } else { whole };
            return self.set(out.0, out.1, value);
        }
        self.clear(out);
        let (by_y, by_x) = (x0 * square, -y0 * square);
        self.add_constant(out, y0.atan2(x0) - by_y * y0 - by_x * x0);
        self.add_scaled(out, by_y, y);
        self.add_scaled(out, by_x, x);
        self.add_constant(out, Interval::new(-bend.hi, bend.hi));
    }

    /// The forms of three cells, the first of them to be written.
    pub(super) fn apart(&mut self, out: Cell, a: Cell, b: Cell) -> (&mut [f64], &[f64], &[f64]) {
        let (out, a, b) = (self.form_range(out), self.form_range(a), self.form_range(b));
        let (before, rest) = self.forms.split_at_mut(out.start);
        let (out_form, after) = rest.split_at_mut(out.len());
        let (before, after): (&[f64], &[f64]) = (before, after);
        let pick = |range: Range<usize>| match range.start < out.start {
            true => &before[range],
            false => &after[range.start - out.end..range.end - out.end],
        };
        (out_form, pick(a), pick(b))
    }
}
