//! Which kind of file a table is in, and the reader for it.

use std::path::Path;

use super::csv_rows::CsvRows;
use super::rows::{Column, Rows, TableError};

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
