//! Measured data: a table with a time in each row, from which cells may be missing.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::StudyError;

/// What stands in a cell without a value, in whatever case, beside nothing at all.
const MISSING: [&str; 2] = ["nan", "na"];

/// Measured data.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The file.
    pub file: String,
    /// The unit of time, where the head says one.
    pub time_unit: Option<String>,
    /// What was measured.
    pub columns: Vec<MeasuredColumn>,
}

/// What was measured of one variable: times and values, without those that are missing.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredColumn {
    /// The variable, as the head has it.
    pub name: String,
    /// The unit, where the head says one: `speed [km/h]`.
    pub unit: Option<String>,
    /// When it was measured; times do not go back.
    pub times: Vec<f64>,
    /// What was measured then.
    pub values: Vec<f64>,
}

impl Measured {
    /// Reads a CSV file: the time first, then a column for each variable. An empty cell, `NaN` and `NA` are missing values.
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path);
        let text =
            text.map_err(|error| StudyError::new(format!("{file} cannot be read: {error}")))?;
        Self::read(&text, file)
    }

    /// Reads a text, which errors will call `file`.
    pub fn read(text: &str, file: impl Into<String>) -> Result<Self, StudyError> {
        let file = file.into();
        let blame = |what: String| StudyError::new(format!("{file}{what}"));
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = ReaderBuilder::new();
        let mut reader = reader.trim(Trim::All).from_reader(text.as_bytes());
        let heads = reader.headers().cloned();
        let heads = heads.map_err(|error| blame(format!(": {error}")))?;
        let mut measured = Self::with_heads(&heads, &file).map_err(&blame)?;

        let mut last = f64::NEG_INFINITY;
        for record in reader.records() {
            let record = record.map_err(|error| blame(format!(": {error}")))?;
            let line = record.position().map_or(0, csv::Position::line);
            let at_line = |what: String| blame(format!(", line {line}: {what}"));
            last = measured.push(&record, last).map_err(at_line)?;
        }
        match measured
            .columns
            .iter()
            .find(|column| column.times.is_empty())
        {
            None => Ok(measured),
            Some(column) => Err(blame(format!(
                ": the column `{}` has no values",
                column.name
            ))),
        }
    }

    fn with_heads(heads: &StringRecord, file: &str) -> Result<Self, String> {
        let mut named = heads.iter().map(name_and_unit);
        let (first, time_unit) = named.next().unwrap_or_default();
        if !["time", "t"]
            .iter()
            .any(|time| first.eq_ignore_ascii_case(time))
        {
            return Err(format!(
                ", line 1: the first column must be `time`, not `{first}`"
            ));
        }
        let columns = named.map(|(name, unit)| MeasuredColumn {
            name,
            unit,
            times: Vec::new(),
            values: Vec::new(),
        });
        let columns: Vec<MeasuredColumn> = columns.collect();
        if columns.is_empty() {
            return Err(", line 1: there is no column but time".to_owned());
        }

        Ok(Self {
            file: file.to_owned(),
            time_unit,
            columns,
        })
    }

    /// Adds a row and returns its time.
    fn push(&mut self, record: &StringRecord, last: f64) -> Result<f64, String> {
        let time = number(&record[0]).map_err(|text| format!("the time `{text}` is no number"))?;
        let time = time.ok_or("the time is missing")?;
        if time < last {
            return Err(format!(
                "the time {time} is before the {last} of the row above: times must not go back"
            ));
        }
        for (column, cell) in self.columns.iter_mut().zip(record.iter().skip(1)) {
            let value = number(cell);
            let name = &column.name;
            let value =
                value.map_err(|text| format!("`{text}` in column `{name}` is no number"))?;
            if let Some(value) = value {
                column.times.push(time);
                column.values.push(value);
            }
        }
        Ok(time)
    }

    /// How many values were measured.
    pub fn values(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).sum()
    }

    /// All times at which something was measured, each once, in ascending order.
    pub fn times(&self) -> Vec<f64> {
        let all = self.columns.iter().flat_map(|column| &column.times);
        let mut times: Vec<f64> = all.copied().collect();
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        times
    }
}

impl MeasuredColumn {
    /// How far the values are apart, or how large they are where they are all the same.
    pub(crate) fn extent(&self) -> f64 {
        let (low, high) = self
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(*value), high.max(*value))
            });
        let extents = [high - low, high.abs(), 1.0];
        let first = extents.into_iter().find(|extent| *extent > 0.0);
        first.expect("BUG: one is above zero")
    }
}

/// A cell; none where the value is missing.
fn number(cell: &str) -> Result<Option<f64>, String> {
    if cell.is_empty() || MISSING.iter().any(|known| cell.eq_ignore_ascii_case(known)) {
        return Ok(None);
    }
    let number = cell.parse().ok().filter(|number: &f64| number.is_finite());
    number.map(Some).ok_or_else(|| cell.to_owned())
}

/// `speed [km/h]` taken apart.
fn name_and_unit(head: &str) -> (String, Option<String>) {
    let bracket = head
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once(" ["));
    match bracket {
        Some((name, unit)) => (name.trim().to_owned(), Some(unit.trim().to_owned())),
        None => (head.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_in_heads_and_cells_may_be_missing() {
        let text = "t [ms],car.v [km/h],\"a.r[1,2]\"\n0, 1,\n5,,2\n5,NaN,3e1\n";
        let measured = Measured::read(text, "data.csv").unwrap();
        assert_eq!(measured.time_unit.as_deref(), Some("ms"));
        let [speed, element] = &measured.columns[..] else {
            panic!("two columns")
        };
        assert_eq!(
            (speed.name.as_str(), speed.unit.as_deref()),
            ("car.v", Some("km/h"))
        );
        assert_eq!(
            (&speed.times[..], &speed.values[..]),
            (&[0.0][..], &[1.0][..])
        );
        assert_eq!(
            (element.name.as_str(), element.unit.as_deref()),
            ("a.r[1,2]", None)
        );
        assert_eq!(element.values, [2.0, 30.0]);
        assert_eq!(measured.times(), [0.0, 5.0]);
        assert_eq!(measured.values(), 3);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, words) in [
            ("", "first column must be `time`"),
            ("x,y\n", "line 1: the first column must be `time`, not `x`"),
            ("time\n1\n", "no column but time"),
            ("time,y\n", "`y` has no values"),
            ("time,y\n0,1\n1,one\n", "line 3: `one` in column `y`"),
            ("time,y\n0,1\n1,inf\n", "line 3: `inf` in column `y`"),
            ("time,y\n1,1\n0,1\n", "line 3: the time 0 is before the 1"),
            ("time,y\n,1\n", "line 2: the time is missing"),
            ("time,y\n0,1,2\n", "line: 2"),
        ] {
            let error = Measured::read(text, "data.csv").unwrap_err().to_string();
            assert!(
                error.starts_with("data.csv") && error.contains(words),
                "{error}"
            );
        }
    }
}
