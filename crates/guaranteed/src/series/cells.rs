//! Where the coefficients of all registers are: intervals, or forms.

use std::ops::Range;

use super::operation::{Register, RegisterKind};
use crate::forms::FormShape;
use crate::interval::Interval;

/// A coefficient of a register's series.
pub(super) type Cell = (Register, usize);

/// The same coefficient of the register after it.
pub(super) fn companion((register, k): Cell) -> Cell {
    (register + 1, k)
}

/// The series of all registers. Those that depend on symbols have forms, the others intervals.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    shape: FormShape,
    /// How many coefficients a series may have.
    capacity: usize,
    /// Which of the series of forms a register has.
    slots: Vec<usize>,
    /// How many series of forms there are.
    form_series: usize,
    intervals: Vec<Interval>,
    forms: Vec<f64>,
}

impl Cells {
    pub fn new(kinds: &[RegisterKind]) -> Self {
        let mut form_series = 0;
        let mut slots = Vec::with_capacity(kinds.len());

        for kind in kinds {
            slots.push(if kind.plain { 0 } else { form_series });
            form_series += usize::from(!kind.plain);
        }
        Self {
            shape: FormShape::NO_SYMBOLS,
            capacity: 0,
            slots,
            form_series,
            intervals: Vec::new(),
            forms: Vec::new(),
        }
    }

    /// Makes space for series of up to `capacity` coefficients.
    pub fn resize(&mut self, shape: FormShape, capacity: usize) {
        self.shape = shape;
        self.capacity = capacity;
        let numbers = self.form_series * capacity * shape.width();
        self.forms.resize(numbers, 0.0);

        self.intervals
            .resize(self.slots.len() * capacity, Interval::ZERO);
    }

    pub fn shape(&self) -> FormShape {
        self.shape
    }

    pub fn interval(&self, (register, k): Cell) -> Interval {
        self.intervals[register * self.capacity + k]
    }

    pub fn set_interval(&mut self, (register, k): Cell, value: Interval) {
        self.intervals[register * self.capacity + k] = value;
    }

    fn form_range(&self, (register, k): Cell) -> Range<usize> {
        let width = self.shape.width();
        let index = self.slots[register] * self.capacity + k;
        index * width..(index + 1) * width
    }

    pub fn form(&self, cell: Cell) -> &[f64] {
        &self.forms[self.form_range(cell)]
    }

    pub fn form_mut(&mut self, cell: Cell) -> &mut [f64] {
        let range = self.form_range(cell);
        &mut self.forms[range]
    }

    /// The form of a cell to be written, and of one to be read.
    pub fn two_forms(&mut self, out: Cell, a: Cell) -> (&mut [f64], &[f64]) {
        let (out, a, _) = self.three_forms(out, a, a);
        (out, a)
    }

    /// The form of a cell to be written, and of two to be read.
    pub fn three_forms(&mut self, out: Cell, a: Cell, b: Cell) -> (&mut [f64], &[f64], &[f64]) {
        let out = self.form_range(out);
        let a = self.form_range(a);
        let b = self.form_range(b);
        let (before, rest) = self.forms.split_at_mut(out.start);
        let (written, after) = rest.split_at_mut(out.len());
        let others = Others {
            before,
            after,
            offset: out.end,
        };

        (written, others.form(a), others.form(b))
    }
}

/// All forms but one.
struct Others<'f> {
    before: &'f [f64],
    after: &'f [f64],
    /// Where `after` begins.
    offset: usize,
}

impl<'f> Others<'f> {
    fn form(&self, range: Range<usize>) -> &'f [f64] {
        if range.start < self.offset {
            &self.before[range]
        } else {
            &self.after[range.start - self.offset..range.end - self.offset]
        }
    }
}
