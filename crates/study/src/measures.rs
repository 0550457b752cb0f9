//! What the rows of a run come to: last values, extremes and means.

use std::io;

use dovetail_core::Need;
use dovetail_report::Sink;

use crate::condition::{Condition, Search};

/// What a trajectory is reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its last value.
    Final,
    /// Its least value.
    Min,
    /// Its largest value.
    Max,
    /// Its mean over time.
    Mean,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Final, Self::Min, Self::Max, Self::Mean];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::Min => "min",
            Self::Max => "max",
            Self::Mean => "mean",
        }
    }

    /// The measure of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }
}

/// All measures of all columns. Means are those of straight lines between rows.
#[derive(Clone, Debug)]
pub struct Measures {
    last_only: bool,
    /// The first time and the newest.
    span: Option<(f64, f64)>,
    last: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    integral: Vec<f64>,
    searches: Vec<Search>,
}

impl Measures {
    /// Of so many columns; of their last values only, which needs no row but the last.
    pub fn new(columns: usize, last_only: bool) -> Self {
        Self {
            last_only,
            span: None,
            last: vec![f64::NAN; columns],
            low: vec![f64::INFINITY; columns],
            high: vec![f64::NEG_INFINITY; columns],
            integral: vec![0.0; columns],
            searches: Vec::new(),
        }
    }

    /// The times of these conditions besides.
    pub(crate) fn with_conditions<'a>(
        mut self,
        conditions: impl Iterator<Item = &'a Condition>,
    ) -> Self {
        self.searches = conditions.map(Search::new).collect();
        self
    }

    /// The first times at which the conditions are true, in their order; NaN where they never are.
    pub(crate) fn times(&self) -> impl Iterator<Item = f64> {
        self.searches.iter().map(Search::time)
    }

    /// A measure of a column; NaN where there was no row.
    pub fn value(&self, measure: Measure, column: usize) -> f64 {
        let Some((first, last)) = self.span else {
            return f64::NAN;
        };
        match measure {
            Measure::Final => self.last[column],
            Measure::Min => self.low[column],
            Measure::Max => self.high[column],
            // The mean over an instant is the value there.
            Measure::Mean if first == last => self.last[column],
            Measure::Mean => self.integral[column] / (last - first),
        }
    }
}

impl Sink for Measures {
    fn need(&self) -> Need {
        if self.last_only {
            Need::LastStep
        } else {
            Need::Steps
        }
    }

    fn row(&mut self, time: f64, values: &[f64]) -> io::Result<()> {
        let (first, before) = self.span.unwrap_or((time, time));
        let half = 0.5 * (time - before);
        for (column, value) in values.iter().enumerate() {
            self.low[column] = self.low[column].min(*value);
            self.high[column] = self.high[column].max(*value);
            if half > 0.0 {
                self.integral[column] += half * (self.last[column] + value);
            }
        }
        for search in &mut self.searches {
            search.row(time, values);
        }
        self.last.copy_from_slice(values);
        self.span = Some((first, time));
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
    fn means_are_weighted_by_time_and_jumps_have_two_rows() {
        let mut measures = Measures::new(1, false);
        for (time, value) in [(1.0, 2.0), (2.0, 4.0), (2.0, -1.0), (5.0, -1.0)] {
            measures.row(time, &[value]).unwrap();
        }
        let found = Measure::ALL.map(|measure| measures.value(measure, 0));
        assert_eq!(found, [-1.0, -1.0, 4.0, (3.0 - 3.0) / 4.0]);
    }

    #[test]
    fn without_rows_there_is_no_value() {
        let measures = Measures::new(1, false);
        let mut found = Measure::ALL
            .map(|measure| measures.value(measure, 0))
            .into_iter();
        assert!(found.all(f64::is_nan));
    }
}
