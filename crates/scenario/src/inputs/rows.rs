//! Tables as rows of numbers, one after the other.

use std::fmt;

/// The rows of a table, from the first on: time, then the columns that were asked for.
pub(crate) trait Rows: Send {
    /// Reads the next row; false after the last.
    fn next(&mut self, row: &mut [f64]) -> Result<bool, TableError>;
}

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableError {
    pub file: String,
    /// The line, counted from 1, of a text; the row of another file.
    pub line: Option<u64>,
    pub message: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}, line {line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// A column of a table: its head, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// As it is written, `speed [km/h]`.
    pub head: String,
    pub name: String,
    pub unit: Option<String>,
}

impl Column {
    pub fn of(head: &str) -> Self {
        let head = head.trim();
        let bracket = head
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once(" ["));
        let (name, unit) = match bracket {
            Some((name, unit)) => (name.trim(), Some(unit.trim().to_owned())),
            None => (head, None),
        };
        Self {
            head: head.to_owned(),
            name: name.to_owned(),
            unit: unit.filter(|unit| !unit.is_empty()),
        }
    }
}
