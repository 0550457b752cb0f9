//! Reference solutions in files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use dovetail_core::nearest;

use crate::csv_file::TIME_UNIT;
use crate::reference_rows::{Rows, Side};

/// The largest reference that is read.
const LARGEST: u64 = 1 << 30;

/// A reference solution read from a CSV file: `time` first, then a column for each variable. Rows of one time are the sides of
/// an event.
///
/// A last line without its end is what is left of a row whose writer was killed, and is dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceFile {
    file: String,
    names: Vec<String>,
    rows: Rows,
    columns: Vec<Vec<f64>>,
    /// Its last line had no end.
    torn: bool,
}

/// Why a reference cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// It could not be opened, or is not comma-separated text with lines of equal length.
    #[error("the reference {file} cannot be read: {source}")]
    Unreadable {
        /// Which file.
        file: String,
        /// What went wrong; it names the line.
        source: csv::Error,
    },

    /// There is no end of it.
    #[error("the reference {file} has more than {limit} bytes, which is more than is read")]
    TooLarge {
        /// Which file.
        file: String,
        /// What would be read.
        limit: u64,
    },

    /// The first column is not the time.
    #[error("the reference {file} must have `time` as its first column, not `{found}`")]
    NoTime {
        /// Which file.
        file: String,
        /// The name of its first column.
        found: String,
    },

    /// There is no row.
    #[error("the reference {file} has no rows")]
    Empty {
        /// Which file.
        file: String,
    },

    /// A field that is not a finite number.
    #[error(
        "line {line} of the reference {file}: `{text}` in column `{column}` is not a finite number"
    )]
    BadNumber {
        /// Which file.
        file: String,
        /// Which line, counted from 1.
        line: u64,
        /// Which column.
        column: String,
        /// What is there.
        text: String,
    },

    /// A time that is earlier than the one before.
    #[error(
        "line {line} of the reference {file}: the time {time} is earlier than {previous} before it"
    )]
    GoesBack {
        /// Which file.
        file: String,
        /// Which line, counted from 1.
        line: u64,
        /// The time there.
        time: f64,
        /// The time before.
        previous: f64,
    },

    /// A variable that the file does not have.
    #[error(
        "the reference {file} has no column `{variable}`{}",
        suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default()
    )]
    MissingVariable {
        /// Which file.
        file: String,
        /// What was asked for.
        variable: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },

    /// A time that the file does not cover.
    #[error(
        "the reference {file} covers t = {first} s to {last} s, but a value at t = {time} s is \
         needed{}", if *.torn { "; its last line has no end, and was dropped" } else { "" }
    )]
    OutOfRange {
        /// Which file.
        file: String,
        /// The time asked for.
        time: f64,
        /// The file's first time.
        first: f64,
        /// The file's last time.
        last: f64,
        /// Whether it had a last line without its end.
        torn: bool,
    },
}

impl ReferenceFile {
    /// Reads the file at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReferenceError> {
        let file = path.as_ref().display().to_string();
        match File::open(path) {
            Ok(opened) => Self::read(opened, file),
            Err(error) => Err(ReferenceError::Unreadable {
                file,
                source: error.into(),
            }),
        }
    }

    /// Reads from `source`, which errors will call `file`.
    pub fn read(source: impl Read, file: impl Into<String>) -> Result<Self, ReferenceError> {
        Self::read_limited(source, file.into(), LARGEST)
    }

    /// A reference of which the columns are known, `time` first; errors will call it `file`.
    pub fn of_columns(
        file: impl Into<String>,
        names: Vec<String>,
        columns: Vec<Vec<f64>>,
    ) -> Result<Self, ReferenceError> {
        let header: StringRecord = names.into();
        let mut reference = Self::with_header(&file.into(), &header)?;
        let mut columns = columns.into_iter();
        for (row, time) in columns.next().unwrap_or_default().into_iter().enumerate() {
            reference.check_goes_on(time, row as u64 + 1)?;
            reference.rows.push(time);
        }
        reference.columns = columns.collect();
        match reference.rows.is_empty() {
            true => Err(ReferenceError::Empty {
                file: reference.file,
            }),
            false => Ok(reference),
        }
    }

    fn read_limited(source: impl Read, file: String, limit: u64) -> Result<Self, ReferenceError> {
        let unreadable = |source| ReferenceError::Unreadable {
            file: file.clone(),
            source,
        };
        let mut bytes = Vec::new();
        let read = source.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(error.into()))?;
        if bytes.len() as u64 > limit {
            return Err(ReferenceError::TooLarge { file, limit });
        }

        let whole = bytes
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(&bytes[..whole]);
        let header = reader.headers().map_err(unreadable)?.clone();
        let mut reference = Self::with_header(&file, &header)?;
        reference.torn = whole < bytes.len();

        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(unreadable)? {
            // The second line may have units.
            if !(reference.rows.is_empty() && record.get(0) == Some(TIME_UNIT)) {
                reference.push(&record)?;
            }
        }

        if reference.rows.is_empty() {
            Err(ReferenceError::Empty { file })
        } else {
            Ok(reference)
        }
    }

    fn with_header(file: &str, header: &StringRecord) -> Result<Self, ReferenceError> {
        match header.get(0) {
            None | Some("") if header.len() < 2 => Err(ReferenceError::Empty { file: file.into() }),
            Some(first) if first.eq_ignore_ascii_case("time") => {
                let names = header.iter().skip(1);
                Ok(Self::without_rows(file, names.map(String::from).collect()))
            }
            found => Err(ReferenceError::NoTime {
                file: file.into(),
                found: found.unwrap_or_default().into(),
            }),
        }
    }

    fn without_rows(file: &str, names: Vec<String>) -> Self {
        Self {
            file: file.into(),
            columns: vec![vec![]; names.len()],
            names,
            rows: Rows::default(),
            torn: false,
        }
    }

    fn push(&mut self, record: &StringRecord) -> Result<(), ReferenceError> {
        let line = record.position().map_or(0, csv::Position::line);
        let time = self.number(record, 0, line)?;
        self.check_goes_on(time, line)?;

        self.rows.push(time);
        for i in 0..self.columns.len() {
            let value = self.number(record, i + 1, line)?;
            self.columns[i].push(value);
        }
        Ok(())
    }

    fn check_goes_on(&self, time: f64, line: u64) -> Result<(), ReferenceError> {
        match self.rows.times().last() {
            Some(&previous) if time < previous => Err(ReferenceError::GoesBack {
                file: self.file.clone(),
                line,
                time,
                previous,
            }),
            _ => Ok(()),
        }
    }

    fn number(
        &self,
        record: &StringRecord,
        position: usize,
        line: u64,
    ) -> Result<f64, ReferenceError> {
        let text = &record[position];
        let finite = text.parse().ok().filter(|number: &f64| number.is_finite());

        finite.ok_or_else(|| ReferenceError::BadNumber {
            file: self.file.clone(),
            line,
            column: self.column_name(position).into(),
            text: text.into(),
        })
    }

    /// The name of a column of the file, of which the first is the time.
    fn column_name(&self, position: usize) -> &str {
        match position.checked_sub(1) {
            Some(variable) => &self.names[variable],
            None => "time",
        }
    }

    /// Names of the variables.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The times of the rows.
    pub fn times(&self) -> &[f64] {
        self.rows.times()
    }

    /// A variable at `times`: the row itself where there is one, elsewhere the cubic through the
    /// four rows around, as far as no event is among them. Of equal times the first is the near side of an event, and the
    /// last the far side; a time that is there once is the far side of events of the reference.
    pub fn evaluate(&self, variable: &str, times: &[f64]) -> Result<Vec<f64>, ReferenceError> {
        let Some(position) = self.names.iter().position(|name| name == variable) else {
            return Err(self.missing(variable));
        };
        let column = &self.columns[position];
        let value = |position: usize| {
            let side = Side::of(times, position);
            let found = self.rows.value(times[position], side, column);
            found.ok_or_else(|| self.out_of_range(times[position]))
        };

        (0..times.len()).map(value).collect()
    }

    fn missing(&self, variable: &str) -> ReferenceError {
        let names = self.names.iter().map(String::as_str);
        let suggestion = nearest(variable, names);

        ReferenceError::MissingVariable {
            file: self.file.clone(),
            variable: variable.into(),
            suggestion: suggestion.map(String::from),
        }
    }

    fn out_of_range(&self, time: f64) -> ReferenceError {
        let times = self.rows.times();
        ReferenceError::OutOfRange {
            file: self.file.clone(),
            time,
            first: times[0],
            last: times[times.len() - 1],
            torn: self.torn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ReferenceFile, ReferenceError> {
        ReferenceFile::read(text.as_bytes(), "ref.csv")
    }

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn a_time_of_the_file_gives_its_row_to_the_last_bit() {
        let reference = read("time,a.x,\"a.r[1,2]\"\n0,1,5\n0.3,0.1,6\n0.7,7,7\n").unwrap();
        assert_eq!(reference.names(), ["a.x", "a.r[1,2]"]);
        let nearly = 0.1 + 0.2; // 0.30000000000000004
        assert_eq!(
            reference
                .evaluate("a.x", &[0.0, nearly, 0.7 + 1e-13])
                .unwrap(),
            [1.0, 0.1, 7.0]
        );
        assert_eq!(reference.evaluate("a.r[1,2]", &[0.7]).unwrap(), [7.0]);
    }

    #[test]
    fn cubics_are_reproduced_between_rows_and_lines_with_two_rows() {
        let cubic = |t: f64| 1.0 - 2.0 * t + 3.0 * t * t - t * t * t;
        let times = [0.0, 0.5, 0.9, 1.4, 2.0, 3.0];
        let rows: String = times
            .iter()
            .map(|&t| format!("{t:?},{:?}\n", cubic(t)))
            .collect();
        let reference = read(&format!("time,x\n{rows}")).unwrap();
        for time in [0.1, 0.7, 1.0, 1.99, 2.9] {
            let found = reference.evaluate("x", &[time]).unwrap()[0];
            assert!((found - cubic(time)).abs() < 1e-12, "{found} at {time}");
        }
        assert_eq!(
            read("time,x\n0,0\n2,4\n")
                .unwrap()
                .evaluate("x", &[0.5])
                .unwrap(),
            [1.0]
        );
        assert_eq!(
            read("time,x\n1,3\n")
                .unwrap()
                .evaluate("x", &[1.0])
                .unwrap(),
            [3.0]
        );
    }

    #[test]
    fn times_outside_the_file_are_refused_with_its_range() {
        let error = read("time,x\n0,0\n2,4\n")
            .unwrap()
            .evaluate("x", &[2.5])
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the reference ref.csv covers t = 0 s to 2 s, but a value at t = 2.5 s is needed"
        );
        assert!(
            read("time,x\n1,3\n")
                .unwrap()
                .evaluate("x", &[1.5])
                .is_err()
        );
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let bad = "line 3 of the reference ref.csv: `1,5` in column `x` is not a finite number";
        assert_eq!(message("time,x\n0,1\n1,\"1,5\"\n"), bad);
        assert!(
            message("time,x\n0,\n").contains("line 2 of the reference ref.csv: `` in column `x`")
        );
        assert!(
            message("time,x\n0,1\n\n1,1\n0.5,2\n")
                .contains("line 5 of the reference ref.csv: the time 0.5 is earlier than 1")
        );
        assert!(message("time,x\n0,1\n1\n").contains("line: 3"));
        assert!(message("time,x\nNaN,1\n").contains("`NaN` in column `time`"));
    }

    #[test]
    fn an_empty_file_and_one_without_time_are_refused() {
        assert_eq!(message(""), "the reference ref.csv has no rows");
        assert_eq!(message("time,x\n"), "the reference ref.csv has no rows");
        assert_eq!(
            message("t,x\n0,1\n"),
            "the reference ref.csv must have `time` as its first column, not `t`"
        );
        let missing = ReferenceFile::open("/nonexistent/ref.csv")
            .unwrap_err()
            .to_string();
        assert!(
            missing.contains("/nonexistent/ref.csv cannot be read"),
            "{missing}"
        );
    }

    #[test]
    fn a_missing_variable_gets_a_suggestion() {
        let error = read("time,mass.x\n0,1\n")
            .unwrap()
            .evaluate("mas.x", &[0.0])
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the reference ref.csv has no column `mas.x`; did you mean `mass.x`?"
        );
    }

    #[test]
    fn a_last_line_without_its_end_is_dropped() {
        let torn = read("time,a.x\n0,1\n1,2\n2,3.1").unwrap();
        assert_eq!(torn.evaluate("a.x", &[0.0, 1.0]).unwrap(), [1.0, 2.0]);
        let beyond = torn.evaluate("a.x", &[2.0]).unwrap_err();
        assert!(
            beyond.to_string().contains("its last line has no end"),
            "{beyond}"
        );
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let refused = ReferenceFile::read_limited(std::io::repeat(0), "zeros".into(), 1000);
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("zeros has more than 1000 bytes"),
            "{refused}"
        );
    }
}
