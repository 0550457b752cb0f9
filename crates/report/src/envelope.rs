//! Results in bounded memory: of many rows the least and the largest value of each bin.

use std::io;

use crate::sink::Sink;
use crate::trajectory::Trajectory;

/// More rows than this are drawn as bins: a picture has some thousand points.
pub const MOST_ROWS: usize = 1_000_000;

/// Rows as long as they are few. When they become too many, each bin of four becomes two rows, in
/// which every variable has its least and its largest value of the bin, in the order in which they
/// came; and so on, with bins that double. Times are those of the bin.
#[derive(Clone, Debug)]
pub struct Envelope {
    rows: Trajectory,
    most: usize,
    /// So many rows make up a bin; 1: there are none.
    bin_size: usize,
    bin: Bin,
    last: (f64, Vec<f64>),
}

/// A bin that is being filled.
#[derive(Clone, Debug, Default)]
struct Bin {
    count: usize,
    first: f64,
    middle: f64,
    /// For each variable its least and largest value, and whether the least came first.
    ranges: Vec<(f64, f64, bool)>,
}

impl Bin {
    fn add(&mut self, time: f64, values: &[f64], size: usize) {
        if self.count == 0 {
            self.first = time;
            self.ranges.clear();
            self.ranges
                .extend(values.iter().map(|&value| (value, value, true)));
        }
        if self.count <= size / 2 {
            self.middle = time;
        }
        for ((least, largest, rises), &value) in self.ranges.iter_mut().zip(values) {
            if value < *least {
                (*least, *rises) = (value, false);
            }
            if value > *largest {
                (*largest, *rises) = (value, true);
            }
        }
        self.count += 1;
    }

    /// One end of the ranges.
    fn end(&self, first: bool) -> Vec<f64> {
        let value = |&(least, largest, rises): &(f64, f64, bool)| {
            if rises == first { least } else { largest }
        };
        self.ranges.iter().map(value).collect()
    }
}

impl Envelope {
    /// Over rows that are kept as they are up to so many.
    pub fn new(rows: Trajectory, most: usize) -> Self {
        Self {
            rows,
            most: most.max(8),
            bin_size: 1,
            bin: Bin::default(),
            last: (f64::NAN, Vec::new()),
        }
    }

    /// What was kept.
    pub fn into_rows(self) -> Trajectory {
        self.rows
    }

    fn write_bin(&mut self) -> io::Result<()> {
        if self.bin.count == 0 {
            return Ok(());
        }
        let Bin { first, middle, .. } = self.bin;
        self.rows.row(first, &self.bin.end(true))?;
        if middle > first {
            self.rows.row(middle, &self.bin.end(false))?;
        }
        self.bin.count = 0;
        Ok(())
    }

    /// Twice as many rows go into a bin from now on.
    fn coarsen(&mut self) -> io::Result<()> {
        let names = self.rows.names().to_vec();
        let rows = std::mem::replace(&mut self.rows, Trajectory::new(names));
        let columns: Vec<&[f64]> = rows.columns().map(|(_, values)| values).collect();
        let mut values = vec![0.0; columns.len()];
        for (row, &time) in rows.times().iter().enumerate() {
            for (value, column) in values.iter_mut().zip(&columns) {
                *value = column[row];
            }
            self.bin.add(time, &values, 4);
            if self.bin.count == 4 {
                self.write_bin()?;
            }
        }
        self.write_bin()?;
        self.bin_size = if self.bin_size == 1 {
            4
        } else {
            2 * self.bin_size
        };
        Ok(())
    }
}

impl Sink for Envelope {
    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        if self.rows.times().len() >= self.most && self.bin.count == 0 {
            self.coarsen()?;
        }
        if self.bin_size == 1 {
            return self.rows.row(time, values);
        }

        self.last.0 = time;
        self.last.1.clear();
        self.last.1.extend_from_slice(values);
        self.bin.add(time, values, self.bin_size);
        if self.bin.count == self.bin_size {
            self.write_bin()?;
        }
        Ok(())
    }

    /// The last row is kept as it is.
    fn close(&mut self) -> io::Result<()> {
        self.write_bin()?;
        let (time, values) = std::mem::take(&mut self.last);
        let is_new = self.rows.times().last().is_none_or(|&last| time > last);
        if !values.is_empty() && is_new {
            self.rows.row(time, &values)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(rows: usize, most: usize) -> Trajectory {
        let mut envelope = Envelope::new(Trajectory::new(vec!["a.x".into()]), most);
        for n in 0..rows {
            // One spike, which must not be lost.
            let spike = if n == rows / 3 { 100.0 } else { 0.0 };
            let value = (n as f64 * 0.01).sin() + spike;
            envelope.row(n as f64, &[value]).unwrap();
        }
        envelope.close().unwrap();
        envelope.into_rows()
    }

    #[test]
    fn few_rows_are_kept_as_they_are() {
        let rows = envelope(1000, 1000);
        assert_eq!(rows.times().len(), 1000);
    }

    #[test]
    fn many_rows_become_few_and_keep_their_extremes() {
        for most in [8, 100, 1000] {
            let rows = envelope(100_000, most);
            assert!(rows.times().len() <= most + 3, "{}", rows.times().len());
            assert!(rows.times().is_sorted_by(|a, b| a < b));
            let values = rows.column("a.x").unwrap();
            assert!(values.iter().any(|&value| value > 99.0), "the spike");
            assert!(values.iter().any(|&value| value < -0.99), "the least");
            assert_eq!(rows.times().last(), Some(&99_999.0));
        }
    }
}
