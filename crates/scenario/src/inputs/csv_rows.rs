//! Tables as comma-separated text, read line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::rows::{Column, Rows, TableError};

/// A head longer than this is none.
const LONGEST_HEAD: usize = 1 << 20;

/// A text with a row in each line.
pub(crate) struct CsvRows {
    file: String,
    reader: Reader<File>,
    record: ByteRecord,
    /// Time, and the columns that were asked for: their positions and heads.
    wanted: Vec<(usize, String)>,
}

impl CsvRows {
    /// The heads of the columns.
    pub fn columns(path: &Path) -> Result<Vec<Column>, TableError> {
        let mut reader = reader(path)?;
        let file = path.display().to_string();
        let heads = reader
            .headers()
            .map_err(|error| unreadable(&file, &error))?;
        Ok(heads.iter().map(Column::of).collect())
    }

    pub fn open(path: &Path, wanted: &[usize]) -> Result<Self, TableError> {
        let columns = Self::columns(path)?;
        let file = path.display().to_string();
        let head = |&position: &usize| {
            let column = columns.get(position);
            let message = "the file has changed since its head was read".to_owned();
            let missing = TableError {
                file: file.clone(),
                line: Some(1),
                message,
            };
            column
                .map(|column| (position, column.head.clone()))
                .ok_or(missing)
        };
        let wanted = [0].iter().chain(wanted).map(head);
        let wanted = wanted.collect::<Result<_, _>>()?;

        Ok(Self {
            file,
            reader: reader(path)?,
            record: ByteRecord::new(),
            wanted,
        })
    }

    fn number(&self, position: usize, head: &str) -> Result<f64, TableError> {
        let field = self.record.get(position).unwrap_or_default();
        let field = field.trim_ascii();
        let parsed = std::str::from_utf8(field).ok();
        let number = parsed.and_then(|text| match text {
            "true" | "True" | "TRUE" => Some(1.0),
            "false" | "False" | "FALSE" => Some(0.0),
            _ => text.parse::<f64>().ok(),
        });
        if let Some(number) = number.filter(|number| number.is_finite()) {
            return Ok(number);
        }

        let text = String::from_utf8_lossy(field);
        let text: String = text.chars().take(40).collect();
        let message = match (field.is_empty(), number) {
            (true, _) => format!("there is no value in column `{head}`: every row needs one"),
            (_, Some(_)) => format!("`{text}` in column `{head}` is not a finite number"),
            _ => format!("`{text}` in column `{head}` is not a number"),
        };
        Err(self.wrong(message))
    }
}

impl Rows for CsvRows {
    fn next(&mut self, row: &mut [f64]) -> Result<bool, TableError> {
        let more = self.reader.read_byte_record(&mut self.record);
        if !more.map_err(|error| unreadable(&self.file, &error))? {
            return Ok(false);
        }
        for (value, (position, head)) in row.iter_mut().zip(&self.wanted) {
            *value = self.number(*position, head)?;
        }
        Ok(true)
    }

    fn wrong(&self, message: String) -> TableError {
        let position = self.record.position();
        TableError {
            file: self.file.clone(),
            line: position.map(|position| line_of(&self.file, position)),
            message,
        }
    }

    fn head(&self, column: usize) -> &str {
        &self.wanted[column].1
    }
}

/// The reader of a file, whose first line says what separates its columns: a comma, a semicolon or a tab.
fn reader(path: &Path) -> Result<Reader<File>, TableError> {
    let file = path.display().to_string();
    let refuse = |error: std::io::Error| TableError {
        file: file.clone(),
        line: None,
        message: format!("the table cannot be read: {error}"),
    };
    let opened = File::open(path).map_err(refuse)?;
    // The table is read more than once, and must have an end.
    if !opened.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(refuse(std::io::Error::other("it is not a file")));
    }
    let delimiter = delimiter(path).map_err(refuse)?;
    let mut builder = ReaderBuilder::new();
    Ok(builder.delimiter(delimiter).from_reader(opened))
}

fn delimiter(path: &Path) -> std::io::Result<u8> {
    let mut line = Vec::new();
    let file = File::open(path)?.take(LONGEST_HEAD as u64);
    BufReader::new(file).read_until(b'\n', &mut line)?;
    let has = |sign: u8| line.contains(&sign);
    Ok(match (has(b','), has(b';'), has(b'\t')) {
        (false, true, _) => b';',
        (false, false, true) => b'\t',
        _ => b',',
    })
}

/// The line of a row: what the reader has is where the row before ended, and empty lines may come first.
pub(crate) fn line_of(file: impl AsRef<Path>, position: &csv::Position) -> u64 {
    let count = || -> std::io::Result<u64> {
        let mut opened = File::open(file)?;
        opened.seek(SeekFrom::Start(position.byte()))?;
        let mut empty = 0;
        for byte in BufReader::new(opened).bytes() {
            match byte? {
                b'\n' => empty += 1,
                b'\r' => {}
                _ => break,
            }
        }
        Ok(empty)
    };
    position.line() + count().unwrap_or(0)
}

/// In the words of whoever reads the text, with the line.
fn unreadable(file: &str, error: &csv::Error) -> TableError {
    let line = error.position().map(|position| line_of(file, position));
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("there are {len} values, and the head has {expected_len} columns")
        }
        csv::ErrorKind::Io(error) => format!("the table cannot be read: {error}"),
        csv::ErrorKind::Utf8 { .. } => "the head is not text (UTF-8)".to_owned(),
        _ => format!("the table cannot be read: {error}"),
    };
    TableError {
        file: file.to_owned(),
        line,
        message,
    }
}
