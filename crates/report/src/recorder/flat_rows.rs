//! Rows from steps that come as numbers, many at a time.

use dovetail_core::{Error, FlatRows, PlannedSystem};

use super::Recorder;
use crate::column::RecordedColumn;
use crate::sink::{RowSummary, Sink};
use crate::variables::Kind;

/// Where a column is found in rows of numbers.
enum Place {
    /// Among all inputs.
    Input(usize),
    /// In a row.
    Value(usize),
}

impl Place {
    fn of(column: &RecordedColumn, system: &PlannedSystem) -> Self {
        match column.kind {
            Kind::Input => Self::Input(system.inputs.start + column.position),
            Kind::State => Self::Value(system.states[column.position]),
            _ => Self::Value(system.outputs[column.position]),
        }
    }

    fn value(&self, rows: FlatRows<'_>, n: usize) -> f64 {
        match *self {
            Self::Input(input) => rows.leg.inputs_of_step(rows.plan, n)[input],
            Self::Value(place) => rows.leg.values_after_step(rows.plan, n)[place],
        }
    }

    fn range(&self, rows: FlatRows<'_>) -> (f64, f64) {
        match *self {
            Self::Input(input) => rows.range_of_input(input),
            Self::Value(place) => rows.range_of_value(place),
        }
    }
}

impl<S: Sink> Recorder<S> {
    /// The steps of a leg: summed up where that says enough, otherwise row by row. The last one is held back, as always.
    pub(super) fn record_flat(&mut self, rows: FlatRows<'_>) -> Result<(), Error> {
        let steps = &rows.leg.steps[..rows.leg.done];
        let [first, .., last] = steps else {
            return steps.iter().enumerate().try_for_each(|(n, step)| {
                self.hold(step.end)?;
                self.fill_row(rows, n);
                Ok(())
            });
        };

        self.hold(first.end)?;
        if self.sink.sums_up(first.end, last.end) {
            self.sum_up(rows, last.end)?;
            self.row_time = Some(last.end);
        } else {
            for (n, step) in steps.iter().enumerate() {
                self.hold(step.end)?;
                self.fill_row(rows, n);
            }
        }
        self.fill_row(rows, steps.len() - 1);
        Ok(())
    }

    fn fill_row(&mut self, rows: FlatRows<'_>, n: usize) {
        for (history, system) in self.histories.iter().zip(&rows.plan.systems) {
            for column in history.columns() {
                self.row[column.index] = Place::of(column, system).value(rows, n);
            }
        }
    }

    fn sum_up(&mut self, rows: FlatRows<'_>, last: f64) -> Result<(), Error> {
        for (history, system) in self.histories.iter().zip(&rows.plan.systems) {
            for column in history.columns() {
                let (low, high) = Place::of(column, system).range(rows);
                self.low[column.index] = low;
                self.high[column.index] = high;
            }
        }
        let summary = RowSummary {
            last,
            low: &self.low,
            high: &self.high,
        };
        let written = self.sink.summary(summary);
        written.map_err(|source| self.failure(&format!(" at t = {last} s"), source))
    }
}
