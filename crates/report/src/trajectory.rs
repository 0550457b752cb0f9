//! Results in memory.

use std::io;

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use crate::sink::Sink;
use crate::variables::Selection;

/// The recorded variables over time, a column for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    names: Vec<String>,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

impl Trajectory {
    /// No rows yet, columns with these names.
    pub fn new(names: Vec<String>) -> Self {
        let columns = vec![vec![]; names.len()];
        Self {
            names,
            times: vec![],
            columns,
        }
    }

    /// No rows yet, a column for each selected variable.
    pub fn of(selection: &Selection) -> Self {
        Self::new(selection.names())
    }

    /// Columns with these names, each with one value for each time.
    pub fn from_columns(names: Vec<String>, times: Vec<f64>, columns: Vec<Vec<f64>>) -> Self {
        assert!(
            names.len() == columns.len()
                && columns.iter().all(|column| column.len() == times.len()),
            "BUG: one value for each time and name"
        );
        Self {
            names,
            times,
            columns,
        }
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The times of the rows, increasing.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The values of one variable, one for each time.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let position = self.names.iter().position(|n| n == name)?;
        Some(&self.columns[position])
    }

    /// Forgets every second row, from the second on.
    pub fn keep_every_other(&mut self) {
        for numbers in std::iter::once(&mut self.times).chain(&mut self.columns) {
            let mut row = 0_usize;
            numbers.retain(|_| {
                row += 1;
                row % 2 == 1
            });
        }
    }

    /// The names, the times and the columns themselves, for whoever keeps them elsewhere: nothing is copied.
    pub fn into_parts(self) -> (Vec<String>, Vec<f64>, Vec<Vec<f64>>) {
        (self.names, self.times, self.columns)
    }

    /// Names and values of all columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &[f64])> {
        let names = self.names.iter().map(String::as_str);
        let values = self.columns.iter().map(Vec::as_slice);
        names.zip(values)
    }
}

impl Checkpoint for Trajectory {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.same("what is recorded", &self.names)?;
        visit_fields!(archive, self.times, self.columns);
        Ok(())
    }
}

impl Sink for Trajectory {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        assert_eq!(
            values.len(),
            self.columns.len(),
            "BUG: one value for each column"
        );
        self.times.push(time);

        for (column, &value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let mut trajectory = Trajectory::new(vec!["a.x".into(), "b.y".into()]);
        trajectory.row(0.0, &[1.0, 2.0]).unwrap();
        trajectory.row(0.5, &[3.0, 4.0]).unwrap();
        assert_eq!(trajectory.times(), [0.0, 0.5]);
        assert_eq!(trajectory.column("b.y"), Some([2.0, 4.0].as_slice()));
        assert_eq!(trajectory.column("b.z"), None);
        assert_eq!(trajectory.columns().count(), 2);
    }
}
