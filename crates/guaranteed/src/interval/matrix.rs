//! Small dense matrices of intervals.

use std::ops::{Add, Index, IndexMut, Mul};

use nalgebra::DMatrix;

use super::Interval;

/// A dense matrix of intervals, stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalMatrix {
    rows: usize,
    columns: usize,
    entries: Vec<Interval>,
}

impl IntervalMatrix {
    /// A matrix with an entry for each row and column.
    pub fn from_fn(
        rows: usize,
        columns: usize,
        mut entry: impl FnMut(usize, usize) -> Interval,
    ) -> Self {
        let entries = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Self {
            rows,
            columns,
            entries: entries.map(|(row, column)| entry(row, column)).collect(),
        }
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            entries: vec![Interval::ZERO; rows * columns],
        }
    }

    /// Ones on the diagonal, zeros elsewhere.
    pub fn identity(size: usize) -> Self {
        Self::from_fn(size, size, |row, column| {
            if row == column {
                Interval::ONE
            } else {
                Interval::ZERO
            }
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[Interval] {
        &self.entries[row * self.columns..][..self.columns]
    }

    /// The middles of the entries.
    pub fn middle(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.rows, self.columns, |row, column| {
            self[(row, column)].middle()
        })
    }

    /// The largest absolute values of the entries.
    pub fn magnitude(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.rows, self.columns, |row, column| {
            self[(row, column)].magnitude()
        })
    }

    /// The product with a vector.
    pub fn apply(&self, vector: &[Interval]) -> Vec<Interval> {
        assert_eq!(
            vector.len(),
            self.columns,
            "BUG: a vector of the wrong length"
        );
        let entry = |row| {
            self.row(row)
                .iter()
                .zip(vector)
                .fold(Interval::ZERO, |sum, (&a, &x)| sum + a * x)
        };
        (0..self.rows).map(entry).collect()
    }
}

impl From<&DMatrix<f64>> for IntervalMatrix {
    fn from(matrix: &DMatrix<f64>) -> Self {
        Self::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
            Interval::point(matrix[(row, column)])
        })
    }
}

impl Index<(usize, usize)> for IntervalMatrix {
    type Output = Interval;

    fn index(&self, (row, column): (usize, usize)) -> &Interval {
        &self.entries[row * self.columns..][..self.columns][column]
    }
}

impl IndexMut<(usize, usize)> for IntervalMatrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut Interval {
        &mut self.entries[row * self.columns..][..self.columns][column]
    }
}

impl Mul for &IntervalMatrix {
    type Output = IntervalMatrix;

    fn mul(self, other: Self) -> IntervalMatrix {
        assert_eq!(self.columns, other.rows, "BUG: matrices that do not fit");
        let mut product = IntervalMatrix::zeros(self.rows, other.columns);

        for (row, entries) in product.entries.chunks_mut(other.columns.max(1)).enumerate() {
            for (inner, &factor) in self.row(row).iter().enumerate() {
                for (entry, &x) in entries.iter_mut().zip(other.row(inner)) {
                    *entry = *entry + factor * x;
                }
            }
        }
        product
    }
}

impl Add for &IntervalMatrix {
    type Output = IntervalMatrix;

    fn add(self, other: Self) -> IntervalMatrix {
        assert_eq!(
            (self.rows, self.columns),
            (other.rows, other.columns),
            "BUG: matrices that do not fit"
        );
        let entries = self
            .entries
            .iter()
            .zip(&other.entries)
            .map(|(&a, &b)| a + b)
            .collect();
        IntervalMatrix { entries, ..*self }
    }
}
