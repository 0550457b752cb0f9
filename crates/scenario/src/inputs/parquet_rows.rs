//! Tables as Parquet files, read a batch of rows at a time.

use std::fs::File;
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::rows::{Column, Rows, TableError};

/// So many rows are in memory at once.
const BATCH: usize = 4096;

/// A Parquet file whose columns are plain numbers.
struct ParquetRows {
    file: String,
    reader: SerializedFileReader<File>,
    /// The positions and heads of the columns, time first.
    wanted: Vec<(usize, String)>,
    /// The group of rows that comes next.
    group: usize,
    columns: Vec<ColumnReader>,
    /// The batch of rows in memory, column by column; NaN where there is no value.
    batch: Vec<Vec<f64>>,
    place: usize,
    /// Rows that were handed out.
    count: u64,
}

fn refuse(path: &Path, message: String) -> TableError {
    TableError {
        file: path.display().to_string(),
        line: None,
        message,
    }
}

fn file_reader(path: &Path) -> Result<SerializedFileReader<File>, TableError> {
    let unreadable =
        |error: &dyn std::fmt::Display| refuse(path, format!("the table cannot be read: {error}"));
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    SerializedFileReader::new(file).map_err(|error| unreadable(&error))
}

/// The heads of the columns.
pub(crate) fn columns(path: &Path) -> Result<Vec<Column>, TableError> {
    let reader = file_reader(path)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns().iter();
    Ok(columns
        .map(|column| Column::of(&column.path().string()))
        .collect())
}

/// The rows with these columns.
pub(crate) fn open(path: &Path, wanted: &[usize]) -> Result<Box<dyn Rows>, TableError> {
    let heads = columns(path)?;
    let reader = file_reader(path)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let mut all = Vec::new();
    for &position in [0].iter().chain(wanted) {
        let Some(head) = heads.get(position) else {
            return Err(refuse(path, "the file has changed".to_owned()));
        };
        if schema.column(position).max_rep_level() > 0 {
            let message = format!("the column `{}` has lists, not numbers", head.head);
            return Err(refuse(path, message));
        }
        all.push((position, head.head.clone()));
    }

    Ok(Box::new(ParquetRows {
        file: path.display().to_string(),
        reader,
        batch: vec![Vec::with_capacity(BATCH); all.len()],
        wanted: all,
        group: 0,
        columns: Vec::new(),
        place: 0,
        count: 0,
    }))
}

impl ParquetRows {
    fn wrong(&self, message: String) -> TableError {
        TableError {
            file: self.file.clone(),
            line: None,
            message: format!("row {}: {message}", self.count + 1),
        }
    }

    fn unreadable(&self, error: &ParquetError) -> TableError {
        self.wrong(format!("the table cannot be read: {error}"))
    }

    /// Reads the next rows; false where there are none.
    fn refill(&mut self) -> Result<bool, TableError> {
        loop {
            self.place = 0;
            for (column, batch) in self.columns.iter_mut().zip(&mut self.batch) {
                batch.clear();
                let read = read_batch(column, batch);
                if let Err(message) = read {
                    return Err(self.wrong(message));
                }
            }
            if !self.columns.is_empty() && !self.batch[0].is_empty() {
                return Ok(true);
            }
            if self.group == self.reader.num_row_groups() {
                return Ok(false);
            }
            let group = self.reader.get_row_group(self.group);
            let group = group.map_err(|error| self.unreadable(&error))?;
            let columns = self.wanted.iter();
            let columns = columns.map(|(position, _)| group.get_column_reader(*position));
            let columns: Result<_, ParquetError> = columns.collect();
            self.columns = columns.map_err(|error| self.unreadable(&error))?;
            self.group += 1;
        }
    }
}

impl Rows for ParquetRows {
    fn next(&mut self, row: &mut [f64]) -> Result<bool, TableError> {
        if self.place >= self.batch[0].len() && !self.refill()? {
            return Ok(false);
        }
        for (k, value) in row.iter_mut().enumerate() {
            *value = self.batch[k].get(self.place).copied().unwrap_or(f64::NAN);
            if !value.is_finite() {
                let head = &self.wanted[k].1;
                let message = match value.is_nan() {
                    true => format!("there is no number in column `{head}`: every row needs one"),
                    false => format!("`{value}` in column `{head}` is not a finite number"),
                };
                return Err(self.wrong(message));
            }
        }
        self.place += 1;
        self.count += 1;
        Ok(true)
    }
}

/// The next values of a column, as numbers; NaN for those that are missing.
fn read_batch(column: &mut ColumnReader, batch: &mut Vec<f64>) -> Result<(), String> {
    match column {
        ColumnReader::BoolColumnReader(reader) => read(reader, batch, |&v| f64::from(u8::from(v))),
        ColumnReader::Int32ColumnReader(reader) => read(reader, batch, |&v| f64::from(v)),
        ColumnReader::Int64ColumnReader(reader) => read(reader, batch, |&v| v as f64),
        ColumnReader::FloatColumnReader(reader) => read(reader, batch, |&v| f64::from(v)),
        ColumnReader::DoubleColumnReader(reader) => read(reader, batch, |&v| v),
        _ => Err("a column holds something else than numbers or truth values".to_owned()),
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    batch: &mut Vec<f64>,
    number: impl Fn(&T::T) -> f64,
) -> Result<(), String> {
    let mut values: Vec<T::T> = Vec::with_capacity(BATCH);
    let mut levels: Vec<i16> = Vec::with_capacity(BATCH);
    let read = reader.read_records(BATCH, Some(&mut levels), None, &mut values);
    let (records, ..) = read.map_err(|error| format!("the table cannot be read: {error}"))?;

    if levels.is_empty() {
        batch.extend(values.iter().map(number)); // nothing may be missing in such a column
        return Ok(());
    }
    let mut values = values.iter();
    let most = levels.iter().copied().max().unwrap_or(0).max(1);
    for &level in levels.iter().take(records) {
        let value = (level == most).then(|| values.next()).flatten();
        batch.push(value.map_or(f64::NAN, &number));
    }
    Ok(())
}
