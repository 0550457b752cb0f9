//! The rows of a reference by their times, of which some are there more than once: at events, before and after what jumps.

use std::ops::Range;

/// Times this near, as a fraction of the spacing of the rows, are the same time.
const COINCIDENT: f64 = 1e-9;

/// A polynomial goes through so many rows.
const POINTS: usize = 4;

/// Which of the rows at a time is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Side {
    /// Its place among those who ask for this time, and how many there are.
    place: usize,
    count: usize,
}

impl Side {
    /// That of one of these times: equal ones stand beside each other.
    pub fn of(times: &[f64], position: usize) -> Self {
        let time = times[position];
        let before = times[..position].iter().rev();
        let place = before.take_while(|other| **other == time).count();
        let after = times[position..].iter();
        let left = after.take_while(|other| **other == time).count();
        Self {
            place,
            count: place + left,
        }
    }

    /// The row that is meant of those of a time: one by one where there are as many, else the first or the last.
    fn row(self, rows: &Range<usize>) -> usize {
        let is_near = self.place == 0 && self.count > 1;
        match (rows.len() == self.count, is_near) {
            (true, _) => rows.start + self.place,
            (false, true) => rows.start,
            (false, false) => rows.end - 1,
        }
    }
}

/// The times of all rows, and where they jump.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    times: Vec<f64>,
    /// The first row of every different time.
    firsts: Vec<usize>,
}

impl Rows {
    /// Adds a row whose time is not earlier than the last one.
    pub fn push(&mut self, time: f64) {
        if self.times.last() != Some(&time) {
            self.firsts.push(self.times.len());
        }
        self.times.push(time);
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The value of a column at a time; none where that is outside of all rows.
    pub fn value(&self, time: f64, side: Side, column: &[f64]) -> Option<f64> {
        // The interval that contains the time, or is the nearest to it.
        let after = self
            .firsts
            .partition_point(|&first| self.times[first] <= time);
        let right = after.min(self.firsts.len() - 1);
        let left = right.saturating_sub(1);

        let near = COINCIDENT * (self.time_of(right) - self.time_of(left));
        for group in [left, right] {
            if (time - self.time_of(group)).abs() <= near {
                return Some(column[side.row(&self.rows_of(group))]);
            }
        }
        if !(self.time_of(left)..=self.time_of(right)).contains(&time) {
            return None;
        }
        let rows = self.rows_around(left);
        Some(lagrange(&self.times[rows.clone()], &column[rows], time))
    }

    fn time_of(&self, group: usize) -> f64 {
        self.times[self.firsts[group]]
    }

    /// The rows of one time.
    fn rows_of(&self, group: usize) -> Range<usize> {
        let next = self.firsts.get(group + 1);
        self.firsts[group]..next.copied().unwrap_or(self.times.len())
    }

    /// The rows that a curve between one time and the next goes through: that interval in their middle where that is possible,
    /// and none beyond an event.
    fn rows_around(&self, left: usize) -> Range<usize> {
        let is_event = |group: usize| self.rows_of(group).len() > 1;
        let mut lowest = left;
        while lowest > 0 && left - lowest < POINTS && !is_event(lowest) {
            lowest -= 1;
        }
        let mut highest = left + 1;
        while highest + 1 < self.firsts.len() && highest - left < POINTS && !is_event(highest) {
            highest += 1;
        }

        let latest_start = (highest + 1).saturating_sub(POINTS).max(lowest);
        let first = left.saturating_sub(1).clamp(lowest, latest_start);
        let last = (first + POINTS - 1).min(highest);
        // The last row of the first time, and the first row of the last.
        self.rows_of(first).end - 1..self.rows_of(last).start + 1
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

    /// A cubic up to 2, and another one from there on.
    const TIMES: [f64; 10] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0, 3.5, 4.0];

    fn before(t: f64) -> f64 {
        1.0 - t + t * t * t
    }

    fn after(t: f64) -> f64 {
        -5.0 + 2.0 * t - t * t * t
    }

    fn found(asked: &[f64]) -> Vec<f64> {
        let mut rows = Rows::default();
        TIMES.iter().for_each(|time| rows.push(*time));
        let column = TIMES.iter().enumerate();
        let column = column.map(|(row, &t)| if row < 5 { before(t) } else { after(t) });
        let column: Vec<f64> = column.collect();
        let value = |position| rows.value(asked[position], Side::of(asked, position), &column);
        (0..asked.len()).map(|k| value(k).unwrap()).collect()
    }

    #[test]
    fn curves_do_not_go_across_events() {
        for time in [0.1, 0.7, 1.7, 1.99] {
            let found = found(&[time])[0];
            assert!((found - before(time)).abs() < 1e-12, "{found} at {time}");
        }
        for time in [2.01, 2.3, 3.7] {
            let found = found(&[time])[0];
            assert!((found - after(time)).abs() < 1e-12, "{found} at {time}");
        }
    }

    #[test]
    fn rows_of_one_time_are_its_sides() {
        assert_eq!(found(&[2.0, 2.0]), [before(2.0), after(2.0)]);
        assert_eq!(found(&[2.0]), [after(2.0)]);
        assert_eq!(found(&[2.0, 2.0, 2.0])[0], before(2.0));
        assert_eq!(found(&[2.0, 2.0, 2.0])[1..], [after(2.0); 2]);
        assert_eq!(found(&[3.0, 3.0]), [after(3.0); 2]);
    }

    #[test]
    fn rows_that_are_all_of_one_time_say_nothing_of_others() {
        let mut rows = Rows::default();
        rows.push(1.0);
        rows.push(1.0);
        let times = [1.0, 1.0, 2.0];
        let value = |position| rows.value(times[position], Side::of(&times, position), &[3.0, 4.0]);
        assert_eq!([0, 1, 2].map(value), [Some(3.0), Some(4.0), None]);
    }
}
