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
    /// The row that was asked for last, counted from 1.
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
        self.count += 1;
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
        Ok(true)
    }

    fn wrong(&self, message: String) -> TableError {
        TableError {
            file: self.file.clone(),
            line: None,
            message: format!("row {}: {message}", self.count),
        }
    }

    fn head(&self, column: usize) -> &str {
        &self.wanted[column].1
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::column::writer::ColumnWriter;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    const ROWS: usize = 10_000;

    /// Two groups of rows: time, a number that may be missing, an integer, a truth value.
    fn written(path: &Path, missing: Option<usize>) {
        let schema = "message rows { required double time; optional double u; required int32 n; \
                      required boolean on; }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let file = File::create(path).expect("a file");
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(file, schema, properties).expect("a writer");
        for group in 0..2 {
            let rows = (group * ROWS / 2)..((group + 1) * ROWS / 2);
            let mut out = writer.next_row_group().expect("a group");
            while let Some(mut column) = out.next_column().expect("a column") {
                write_column(column.untyped(), rows.clone(), missing);
                column.close().expect("closed");
            }
            out.close().expect("closed");
        }
        writer.close().expect("closed");
    }

    fn write_column(
        column: &mut ColumnWriter<'_>,
        rows: std::ops::Range<usize>,
        missing: Option<usize>,
    ) {
        match column {
            ColumnWriter::DoubleColumnWriter(out) => {
                let optional = out.get_descriptor().max_def_level() > 0;
                let there = rows
                    .clone()
                    .filter(|&row| !optional || Some(row) != missing);
                let values: Vec<f64> = there
                    .map(|row| row as f64 * if optional { 2.0 } else { 1.0 })
                    .collect();
                let levels: Vec<i16> = rows.map(|row| i16::from(Some(row) != missing)).collect();
                let levels = optional.then_some(&levels[..]);
                out.write_batch(&values, levels, None).expect("written");
            }
            ColumnWriter::Int32ColumnWriter(out) => {
                let values: Vec<i32> = rows.map(|row| row as i32 % 5).collect();
                out.write_batch(&values, None, None).expect("written");
            }
            ColumnWriter::BoolColumnWriter(out) => {
                let values: Vec<bool> = rows.map(|row| row % 2 == 0).collect();
                out.write_batch(&values, None, None).expect("written");
            }
            _ => unreachable!("the schema has no other column"),
        }
    }

    #[test]
    fn rows_of_several_groups_are_read_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        written(&path, None);
        let heads: Vec<String> = columns(&path)
            .expect("heads")
            .into_iter()
            .map(|c| c.name)
            .collect();
        assert_eq!(heads, ["time", "u", "n", "on"]);
        let mut rows = open(&path, &[3, 1, 2]).expect("rows");
        let mut row = [0.0; 4];
        for k in 0..ROWS {
            assert!(rows.next(&mut row).expect("a row"));
            let number = k as f64;
            let expected = [
                number,
                f64::from(u8::from(k % 2 == 0)),
                2.0 * number,
                (k % 5) as f64,
            ];
            assert_eq!(row, expected);
        }
        assert_eq!(rows.next(&mut row), Ok(false));
    }

    #[test]
    fn a_missing_value_is_said_with_its_row() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        written(&path, Some(7_000));
        let mut rows = open(&path, &[1]).expect("rows");
        let mut row = [0.0; 2];
        let error = loop {
            match rows.next(&mut row) {
                Ok(true) => continue,
                Ok(false) => panic!("a value is missing"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(
            error.contains("row 7001") && error.contains("`u`"),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_parquet_file_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        std::fs::write(&path, "time,u\n0,1\n").expect("written");
        let error = columns(&path).expect_err("refused").to_string();
        assert!(error.contains("cannot be read"), "{error}");
    }
}
