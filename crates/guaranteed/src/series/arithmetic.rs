//! The arithmetic of cells: coefficients of registers, which are intervals or forms.

use std::ops::Range;

use super::angle::{AngleExpansion, angle_range};
use super::cells::Cell;
use super::operation::Register;
use super::tape::SeriesTape;
use crate::functions::IntervalFunction;
use crate::interval::Interval;

/// What cells are.
impl SeriesTape {
    /// Whether a register is free of symbols.
    pub(super) fn is_plain(&self, register: Register) -> bool {
        self.kinds[register].plain
    }

    /// Whether a register is constant in time.
    pub(super) fn is_still(&self, register: Register) -> bool {
        self.kinds[register].still
    }

    /// Whether a register is one interval for all times.
    pub(super) fn is_factor(&self, register: Register) -> bool {
        self.is_plain(register) && self.is_still(register)
    }

    /// Whether a coefficient is zero since its register is constant.
    fn is_nothing(&self, (register, k): Cell) -> bool {
        k > 0 && (self.is_still(register) || self.frozen[register].is_some())
    }

    pub(super) fn interval(&self, cell: Cell) -> Interval {
        self.cells.interval(cell)
    }

    /// All values of a cell.
    fn range(&self, cell: Cell) -> Interval {
        if self.is_plain(cell.0) {
            self.interval(cell)
        } else {
            self.cells.shape().range(self.cells.form(cell))
        }
    }
}

/// What is written to cells.
impl SeriesTape {
    pub(super) fn set(&mut self, cell: Cell, value: Interval) {
        if self.is_plain(cell.0) {
            return self.cells.set_interval(cell, value);
        }

        let shape = self.cells.shape();
        let form = self.cells.form_mut(cell);

        if value.is_finite() {
            shape.set_constant(form, value);
        } else {
            shape.set_unknown(form);
        }
    }

    pub(super) fn clear(&mut self, cell: Cell) {
        if self.is_plain(cell.0) {
            self.cells.set_interval(cell, Interval::ZERO);
        } else {
            self.cells.form_mut(cell).fill(0.0);
        }
    }

    /// `out = factor · a`.
    pub(super) fn copy(&mut self, out: Cell, a: Cell, factor: f64) {
        self.clear(out);
        self.add(out, a, factor);
    }

    /// `out = a + sign · b`, in one pass where both are forms.
    pub(super) fn sum_of_two(&mut self, out: Cell, a: Cell, b: Cell, sign: f64) {
        let plain = self.is_plain(a.0) || self.is_plain(b.0);
        if plain || self.is_nothing(a) || self.is_nothing(b) {
            self.copy(out, a, 1.0);
            return self.add(out, b, sign);
        }

        let shape = self.cells.shape();
        let (out, a, b) = self.cells.three_forms(out, a, b);
        shape.set_sum(out, a, b, sign);
    }

    /// The product of a constant and a form, in one pass.
    pub(super) fn scaled(&mut self, out: Cell, factor: Register, a: Cell) {
        if self.is_nothing(a) {
            return self.clear(out);
        }

        let scale = self.interval((factor, 0));
        let shape = self.cells.shape();
        let (out, a) = self.cells.two_forms(out, a);

        shape.set_scaled(out, scale, a);
    }

    pub(super) fn divide(&mut self, out: Cell, divisor: f64) {
        if self.is_plain(out.0) {
            let value = self.interval(out) / Interval::point(divisor);
            return self.set(out, value);
        }

        let shape = self.cells.shape();
        shape.divide(self.cells.form_mut(out), divisor);
    }

    pub(super) fn apply(&mut self, out: Cell, function: IntervalFunction, a: Cell) {
        if self.is_plain(a.0) {
            let value = function.value(self.interval(a));
            return self.set(out, value);
        }

        let shape = self.cells.shape();
        let (out, a) = self.cells.two_forms(out, a);
        shape.apply(function, a, out, &mut self.scratch);
    }

    /// The angle of a point.
    pub(super) fn apply_angle(&mut self, out: Cell, y: Cell, x: Cell) {
        let ys = self.range(y);
        let xs = self.range(x);
        let expansion = AngleExpansion::of(ys, xs).filter(|_| !self.is_plain(out.0));
        let Some(expansion) = expansion else {
            return self.set(out, angle_range(ys, xs));
        };
        self.clear(out);
        self.add_constant(out, expansion.constant);
        self.add_scaled(out, expansion.by_y, y);
        self.add_scaled(out, expansion.by_x, x);

        self.add_constant(out, expansion.rest);
    }
}

/// What is added to cells.
impl SeriesTape {
    pub(super) fn add_constant(&mut self, out: Cell, value: Interval) {
        if self.is_plain(out.0) {
            let sum = self.interval(out) + value;
            return self.set(out, sum);
        }

        let shape = self.cells.shape();
        shape.add_constant(self.cells.form_mut(out), value);
    }

    pub(super) fn add(&mut self, out: Cell, a: Cell, factor: f64) {
        if self.is_nothing(a) {
            return;
        }
        if self.is_plain(a.0) {
            return self.add_constant(out, Interval::point(factor) * self.interval(a));
        }

        let shape = self.cells.shape();
        let (out, a) = self.cells.two_forms(out, a);
        shape.add(out, a, factor);
    }

    pub(super) fn add_scaled(&mut self, out: Cell, scale: Interval, a: Cell) {
        if self.is_nothing(a) {
            return;
        }
        if self.is_plain(a.0) {
            return self.add_constant(out, scale * self.interval(a));
        }

        let shape = self.cells.shape();
        let (out, a) = self.cells.two_forms(out, a);
        shape.add_scaled(out, scale, a);
    }

    /// `out += factor · a · b`.
    pub(super) fn add_product(&mut self, out: Cell, a: Cell, b: Cell, factor: f64) {
        if self.is_nothing(a) || self.is_nothing(b) {
            return;
        }
        match (self.is_plain(a.0), self.is_plain(b.0)) {
            (true, true) => self.add_constant(out, self.interval_product(a, b, factor)),
            (true, false) => self.add_scaled(out, self.interval_multiple(a, factor), b),
            (false, true) => self.add_scaled(out, self.interval_multiple(b, factor), a),
            (false, false) => self.add_form_product(out, a, b, factor),
        }
    }

    fn interval_multiple(&self, cell: Cell, factor: f64) -> Interval {
        Interval::point(factor) * self.interval(cell)
    }

    /// A square is narrower than a product of two numbers from the same interval.
    fn interval_product(&self, a: Cell, b: Cell, factor: f64) -> Interval {
        if a == b {
            Interval::point(factor) * self.interval(a).square()
        } else {
            self.interval_multiple(a, factor) * self.interval(b)
        }
    }

    fn add_form_product(&mut self, out: Cell, a: Cell, b: Cell, factor: f64) {
        let shape = self.cells.shape();
        let (out, a, b) = self.cells.three_forms(out, a, b);
        shape.add_product(out, a, b, factor);
    }

    /// `out_k += Σ factor(j) a_j b_{k−j}` over `orders`.
    pub(super) fn add_convolution(
        &mut self,
        out: Cell,
        a: Register,
        b: Register,
        orders: Range<usize>,
        factor: impl Fn(f64) -> f64,
    ) {
        let k = out.1;
        for j in orders {
            self.add_product(out, (a, j), (b, k - j), factor(j as f64));
        }
    }

    /// `out += sign · Σ a_j a_{k−j}` over `range`, which is symmetric: every product but the middle
    /// one comes twice.
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
}
