//! Reference solutions in files.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use csv::StringRecord;

use dovetail_core::nearest;

use crate::csv_file::TIME_UNIT;

/// Times this near, as a fraction of the spacing of the rows, are the same time.
const COINCIDENT: f64 = 1e-9;

/// The largest reference that is read.
const LARGEST: u64 = 1 << 30;

/// A reference solution read from a CSV file: `time` first, then a column for each variable.
///
/// A last line without its end is what is left of a row whose writer was killed, and is dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceFile {
    file: String,
    names: Vec<String>,
    times: Vec<f64>,
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

    /// A time that is not later than the one before.
    #[error(
        "line {line} of the reference {file}: the time {time} is not later than {previous} before \
         it; keep one row for each time"
    )]
    NotIncreasing {
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
            if !(reference.times.is_empty() && record.get(0) == Some(TIME_UNIT)) {
                reference.push(&record)?;
            }
        }

        if reference.times.is_empty() {
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
            times: vec![],
            torn: false,
        }
    }

    fn push(&mut self, record: &StringRecord) -> Result<(), ReferenceError> {
        let line = record.position().map_or(0, csv::Position::line);
        let time = self.number(record, 0, line)?;
        self.check_increases(time, line)?;

        self.times.push(time);
        for i in 0..self.columns.len() {
            let value = self.number(record, i + 1, line)?;
            self.columns[i].push(value);
        }
        Ok(())
    }

    fn check_increases(&self, time: f64, line: u64) -> Result<(), ReferenceError> {
        match self.times.last() {
            Some(&previous) if time <= previous => Err(ReferenceError::NotIncreasing {
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
        &self.times
    }

    /// A variable at `times`: the row itself where there is one, elsewhere the cubic through the
    /// four rows around.
    pub fn evaluate(&self, variable: &str, times: &[f64]) -> Result<Vec<f64>, ReferenceError> {
        let Some(position) = self.names.iter().position(|name| name == variable) else {
            return Err(self.missing(variable));
        };
        let column = &self.columns[position];
        let values = times.iter().map(|&time| self.value_at(time, column));

        values.collect()
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

    fn value_at(&self, time: f64, column: &[f64]) -> Result<f64, ReferenceError> {
        // The interval that contains the time, or is the nearest to it.
        let after = self.times.partition_point(|&t| t <= time);
        let right = after.min(self.times.len() - 1);
        let left = right.saturating_sub(1);

        let near = COINCIDENT * (self.times[right] - self.times[left]);
        for row in [left, right] {
            if (time - self.times[row]).abs() <= near {
                return Ok(column[row]);
            }
        }

        self.check_covers(time)?;
        let rows = self.four_rows_around(left);
        Ok(lagrange(&self.times[rows.clone()], &column[rows], time))
    }

    fn check_covers(&self, time: f64) -> Result<(), ReferenceError> {
        let first = self.times[0];
        let last = self.times[self.times.len() - 1];
        if (first..=last).contains(&time) {
            return Ok(());
        }

        Err(ReferenceError::OutOfRange {
            file: self.file.clone(),
            time,
            first,
            last,
            torn: self.torn,
        })
    }

    /// Four rows, or as many as there are, with the interval that begins at `left` in their middle
    /// where that is possible.
    fn four_rows_around(&self, left: usize) -> Range<usize> {
        let count = self.times.len();
        let first = left.saturating_sub(1).min(count.saturating_sub(4));
        first..(first + 4).min(count)
    }
}

/// The polynomial through the points, at `time`.
fn lagrange(times: &[f64], values: &[f64], time: f64) -> f64 {
    let points = values.iter().enumerate();
    points.map(|(i, value)| value * basis(times, i, time)).sum()
}

/// The polynomial that is 1 at the time at `position` and 0 at the others, at `time`.
fn basis(times: &[f64], position: usize, time: f64) -> f64 {
    let others = times.iter().enumerate().filter(|(j, _)| *j != position);
    let factors = others.map(|(_, &other)| (time - other) / (times[position] - other));
    factors.product()
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
            message("time,x\n0,1\n\n1,1\n1,2\n")
                .contains("line 5 of the reference ref.csv: the time 1 is not later")
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
