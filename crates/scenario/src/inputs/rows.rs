//! Tables as rows of numbers, one after the other.

use std::fmt;
use std::path::Path;

use super::csv_rows::CsvRows;

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

/// What a table in a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Parquet,
}

/// By the ending of the file.
pub(crate) fn format_of(path: &Path) -> Result<Format, TableError> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("csv" | "txt") => Ok(Format::Csv),
        Some("parquet") => Ok(Format::Parquet),
        _ => Err(TableError {
            file: path.display().to_string(),
            line: None,
            message: "a table of inputs is a file .csv or .parquet".to_owned(),
        }),
    }
}

/// The heads of the columns, time among them.
pub(crate) fn columns(path: &Path) -> Result<Vec<Column>, TableError> {
    match format_of(path)? {
        Format::Csv => CsvRows::columns(path),
        Format::Parquet => parquet::columns(path),
    }
}

/// The rows with these columns (their positions in the file).
pub(crate) fn open(path: &Path, wanted: &[usize]) -> Result<Box<dyn Rows>, TableError> {
    match format_of(path)? {
        Format::Csv => Ok(Box::new(CsvRows::open(path, wanted)?)),
        Format::Parquet => parquet::open(path, wanted),
    }
}

#[cfg(feature = "parquet")]
use super::parquet_rows as parquet;

#[cfg(not(feature = "parquet"))]
mod parquet {
    use super::{Column, Path, Rows, TableError};

    fn refuse(path: &Path) -> TableError {
        TableError {
            file: path.display().to_string(),
            line: None,
            message: "this build reads no Parquet files; it takes one with the feature `parquet`"
                .to_owned(),
        }
    }

    pub fn columns(path: &Path) -> Result<Vec<Column>, TableError> {
        Err(refuse(path))
    }

    pub fn open(path: &Path, _wanted: &[usize]) -> Result<Box<dyn Rows>, TableError> {
        Err(refuse(path))
    }
}
