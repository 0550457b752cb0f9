//! Rows of a run that is under way: few enough to be sent on while it goes on.

use serde_json::{Value, json};

use crate::page::encoded;

/// So many numbers are kept at most.
const MOST_NUMBERS: usize = 2_000_000;
/// However many variables there are, they have so many rows; and however few, no more than these.
const ROWS: (usize, usize) = (500, 4000);
/// With jumps there are so many times as many rows at most.
const MOST_WITH_JUMPS: usize = 4;

/// The rows of a run so far. Rows that are too near to the one before are left out, but for both sides of a jump: what is
/// drawn when the run is over comes from elsewhere, and lacks nothing.
#[derive(Clone, Debug)]
pub struct LiveRows {
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
    /// No two rows are nearer than this.
    spacing: f64,
    most: usize,
    /// The newest row, where it was left out.
    left_out: Option<(f64, Vec<f64>)>,
}

impl LiveRows {
    /// Of so many variables, over a run of this length.
    pub fn new(columns: usize, span: f64) -> Self {
        let (least, most) = ROWS;
        let rows = (MOST_NUMBERS / columns.max(1)).clamp(least, most);
        Self {
            times: Vec::new(),
            columns: vec![Vec::new(); columns],
            spacing: span / rows as f64,
            most: MOST_WITH_JUMPS * rows,
            left_out: None,
        }
    }

    /// The next row.
    pub fn push(&mut self, time: f64, values: &[f64]) {
        let Some(&last) = self.times.last() else {
            return self.keep(time, values);
        };
        let room = self.times.len() < self.most;
        let before = self.left_out.take();
        let jump = room && (time == last || before.as_ref().is_some_and(|row| row.0 == time));
        if jump || time - last >= self.spacing {
            if let Some((time, values)) = before.filter(|_| jump) {
                self.keep(time, &values);
            }
            self.keep(time, values);
        } else {
            self.left_out = Some((time, values.to_vec()));
        }
    }

    fn keep(&mut self, time: f64, values: &[f64]) {
        self.times.push(time);
        for (column, &value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.times.len()
    }

    /// The rows from this one on, for a page that has those before it.
    pub fn since(&self, row: usize) -> Value {
        let row = row.min(self.rows());
        let columns = self.columns.iter().map(|column| encoded(&column[row..]));
        json!({
            "from": row,
            "time": encoded(&self.times[row..]),
            "columns": columns.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::decoded;

    #[test]
    fn rows_are_thinned_and_both_sides_of_a_jump_stay() {
        let mut rows = LiveRows::new(1, 4.0);
        for i in 0..100_000 {
            let time = f64::from(i) * 4e-5;
            rows.push(time, &[time]);
            if i == 50_001 {
                rows.push(time, &[100.0]);
            }
        }
        let all = rows.since(0);
        let (times, values) = (decoded(&all["time"]), decoded(&all["columns"][0]));
        assert!((3800..4010).contains(&times.len()), "{} rows", times.len());
        let jump = values
            .iter()
            .position(|value| *value == 100.0)
            .expect("the jump");
        assert_eq!(times[jump - 1], times[jump]);
        assert_eq!(values[jump - 1], times[jump]);
    }

    #[test]
    fn what_a_page_has_already_is_not_sent_again() {
        let mut rows = LiveRows::new(2, 4.0);
        rows.push(0.0, &[1.0, 2.0]);
        rows.push(1.0, &[3.0, 4.0]);
        let rest = rows.since(1);
        assert_eq!(rest["from"], 1);
        assert_eq!(decoded(&rest["columns"][1]), [4.0]);
        assert_eq!(decoded(&rows.since(9)["time"]), [0.0; 0]);
    }
}
