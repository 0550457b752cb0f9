//! A table in a file, read through once before a run: all that is wrong with it is said then.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::rows::{Rows, TableError};
use super::table_format::open;
use crate::source::takes::Takes;

/// What a signal is between two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Interpolation {
    /// A straight line.
    #[default]
    Linear,
    /// The value of the earlier one.
    Hold,
    /// A cubic, with slopes at the rows that are those of parabolas through three rows.
    Cubic,
}

/// What a signal is before the first row and after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Beyond {
    /// The value of the nearest row.
    #[default]
    Hold,
    /// An error.
    Error,
    /// All of it again and again.
    Periodic,
}

/// A column that is used, with its conversion: `factor · value + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UsedColumn {
    /// Its position in the file.
    pub position: usize,
    pub factor: f64,
    pub offset: f64,
    /// Its values jump, and are held.
    pub held: bool,
    /// The numbers that what it drives can take.
    pub takes: Takes,
}

/// A table, and how it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableUse {
    pub path: PathBuf,
    /// Seconds in a unit of its first column.
    pub time_factor: f64,
    pub columns: Vec<UsedColumn>,
    pub interpolation: Interpolation,
    pub beyond: Beyond,
    /// First and last time, in seconds.
    pub span: (f64, f64),
}

/// The rows of a table in the units of whoever uses it, with times that do not go back.
pub(crate) struct CheckedRows {
    rows: Box<dyn Rows>,
    time_factor: f64,
    columns: Vec<UsedColumn>,
    /// The row before; empty before the first.
    last: Vec<f64>,
}

impl CheckedRows {
    pub fn open(table: &TableUse) -> Result<Self, TableError> {
        let wanted: Vec<usize> = table.columns.iter().map(|c| c.position).collect();
        Ok(Self {
            rows: open(&table.path, &wanted)?,
            time_factor: table.time_factor,
            columns: table.columns.clone(),
            last: Vec::new(),
        })
    }

    /// The next row: its time, then its values. False after the last.
    pub fn next(&mut self, row: &mut [f64]) -> Result<bool, TableError> {
        if !self.rows.next(row)? {
            return Ok(false);
        }
        row[0] *= self.time_factor;
        for (value, column) in row[1..].iter_mut().zip(&self.columns) {
            *value = column.factor * *value + column.offset;
        }
        self.check(row)?;

        self.last.clear();
        self.last.extend_from_slice(row);
        Ok(true)
    }

    /// Refuses a time that goes back, values that their variable cannot take, and changes that are no number.
    fn check(&self, row: &[f64]) -> Result<(), TableError> {
        let last = self.last.first().copied().unwrap_or(f64::NEG_INFINITY);
        if row[0] < last {
            return Err(self.rows.wrong(format!(
                "the time {} s is before the {last} s of the row above: times must not go back",
                row[0]
            )));
        }
        for (k, (value, column)) in row[1..].iter().zip(&self.columns).enumerate() {
            let blame = |what: String| {
                let head = self.rows.head(k + 1);
                self.rows.wrong(format!("the column `{head}`: {what}"))
            };
            column.takes.check(*value).map_err(blame)?;
            let before = self.last.get(k + 1).copied().unwrap_or(*value);
            let change = value - before;
            let elapsed = row[0] - last;
            let steep = elapsed > 0.0 && !(change / elapsed).is_finite();
            if !change.is_finite() || (steep && !column.held) {
                return Err(blame(format!(
                    "from {before:e} to {value:e} within {elapsed} s is a slope beyond all numbers"
                )));
            }
        }
        Ok(())
    }
}

impl TableUse {
    /// Reads all rows once; finds the first and last time.
    pub fn check(&mut self) -> Result<(), TableError> {
        let mut rows = CheckedRows::open(self)?;
        let mut row = vec![0.0; self.columns.len() + 1];
        let mut span: Option<(f64, f64)> = None;
        while rows.next(&mut row)? {
            let first = span.map_or(row[0], |(first, _)| first);
            span = Some((first, row[0]));
        }
        let wrong = |message: &str| TableError {
            file: self.path.display().to_string(),
            line: None,
            message: message.to_owned(),
        };
        let span = span.ok_or_else(|| wrong("the table has no rows"))?;
        if self.beyond == Beyond::Periodic && span.1 <= span.0 {
            return Err(wrong(
                "all rows have the same time, so that there is no period to repeat",
            ));
        }

        self.span = span;
        Ok(())
    }

    /// Refuses a run that the table does not cover, where it must.
    pub fn check_covers(&self, start: f64, stop: f64) -> Result<(), TableError> {
        let (first, last) = self.span;
        if self.beyond != Beyond::Error || (first <= start && last >= stop) {
            return Ok(());
        }
        Err(TableError {
            file: self.path.display().to_string(),
            line: None,
            message: format!(
                "the table covers {first} s to {last} s, and the run goes from {start} s to {stop} s; \
                 beyond = \"hold\" keeps the values of its ends"
            ),
        })
    }
}
