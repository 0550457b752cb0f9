//! The last values of variables without slopes: what curves between communication times are drawn
//! through, as long as they go on as they did.

use dovetail_core::{Knot, Signal};
use serde::{Deserialize, Serialize};

use crate::interpolation::{MOST_POINTS, polynomial};

/// A value goes on as before if the polynomial through the points before misses it by at most so
/// many times what the polynomial before that missed, or by at most so many times the largest change
/// from point to point. Oscillations do, however coarsely they are sampled.
const SURPRISE: f64 = 8.0;
const FAR: f64 = 4.0;
/// Where a second value is so many times further from the first than the third is from it, the first
/// was no value yet: FMUs correct it in their first step. One in thirty smooth curves looks like
/// that by chance, and is a line up to its third value.
const CORRECTED: f64 = 32.0;

/// Points that a prediction is made from.
const PREDICTED_FROM: usize = MOST_POINTS - 1;

/// Earlier values since the last event, newest last, and their times.
#[derive(Serialize, Deserialize)]
pub(crate) struct RecentPoints {
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
    /// How many of the newest points each column goes on from: after a jump, that after it alone.
    smooth: Vec<usize>,
}

impl RecentPoints {
    pub fn new() -> Self {
        Self {
            times: vec![],
            values: vec![],
            smooth: vec![],
        }
    }

    pub fn reserve(&mut self, width: usize) {
        self.times.reserve(MOST_POINTS + 1);
        self.values = (0..=MOST_POINTS).map(|_| vec![0.0; width]).collect();
        self.smooth = vec![0; width];
    }

    pub fn clear(&mut self) {
        self.times.clear();
        self.smooth.fill(0);
    }

    /// Takes on the points of another history, some of its columns; there is room for them.
    pub fn take_up(&mut self, other: &Self, places: &[usize]) {
        self.times.clone_from(&other.times);
        for (own, values) in self.values.iter_mut().zip(&other.values) {
            for (value, &place) in own.iter_mut().zip(places) {
                *value = values[place];
            }
        }
        for (own, &place) in self.smooth.iter_mut().zip(places) {
            *own = other.smooth[place];
        }
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Adds a point, and forgets the oldest where there would be too many. Of a variable that has
    /// jumped, those before are forgotten.
    pub fn push(&mut self, time: f64, knots: &[Knot]) {
        for (column, knot) in knots.iter().enumerate() {
            let jumps = self.is_jump(column, time, knot.value);
            let before = if jumps { 0 } else { self.smooth[column] };
            self.smooth[column] = (before + 1).min(MOST_POINTS);
        }

        if self.times.len() == MOST_POINTS {
            self.times.remove(0);
            self.values.rotate_left(1);
        }

        let newest = self.times.len();
        self.times.push(time);
        for (value, knot) in self.values[newest].iter_mut().zip(knots) {
            *value = knot.value;
        }
    }

    /// How far a variable has moved over the points, this value included.
    pub fn range(&self, column: usize, value: f64) -> f64 {
        self.range_of(self.len(), column, value)
    }

    /// The same over the points since its last jump.
    pub fn smooth_range(&self, column: usize, value: f64) -> f64 {
        self.range_of(self.smooth[column], column, value)
    }

    fn range_of(&self, points: usize, column: usize, value: f64) -> f64 {
        let mut low = value;
        let mut high = value;

        for back in 0..points {
            let value = self.value(column, back);
            low = value.min(low);
            high = value.max(high);
        }
        high - low
    }

    /// Whether the next value cannot be what the points before lead to: it jumps there, or they
    /// begin with a jump.
    pub fn is_jump(&self, column: usize, time: f64, value: f64) -> bool {
        let count = self.smooth[column];
        if count < 2 {
            return false;
        }

        let size = time - self.time(0);
        let before = self.largest_change(column, size);

        if count == 2 {
            let change = (value - self.value(column, 0)).abs();
            return change > SURPRISE * before || before > CORRECTED * change;
        }

        let from = count.min(PREDICTED_FROM);
        let missed = (value - self.predicted(column, 0, from, time)).abs();
        missed > FAR * before && missed > SURPRISE * self.missed_by_newest(column, size)
    }

    /// How far the newest point is from what those before it lead to, for a step of this size.
    fn missed_by_newest(&self, column: usize, size: f64) -> f64 {
        let from = (self.smooth[column] - 1).min(PREDICTED_FROM);
        let expected = self.predicted(column, 1, from, self.time(0));
        let missed = (self.value(column, 0) - expected).abs();

        let longer = (size / (self.time(0) - self.time(1))).max(1.0);
        missed * longer.powi(from as i32)
    }

    /// The largest change from point to point, for a step of this size.
    fn largest_change(&self, column: usize, size: f64) -> f64 {
        let change = |back: usize| {
            let moved = (self.value(column, back) - self.value(column, back + 1)).abs();
            let longer = size / (self.time(back) - self.time(back + 1));
            moved * longer.max(1.0)
        };
        let changes = (0..self.smooth[column] - 1).map(change);
        changes.fold(0.0, f64::max)
    }

    /// What the polynomial through so many points, but for the newest `skipped`, makes of a time.
    fn predicted(&self, column: usize, skipped: usize, count: usize, time: f64) -> f64 {
        let mut times = [0.0; MOST_POINTS];
        let mut values = [0.0; MOST_POINTS];
        for place in 0..count {
            times[place] = self.time(skipped + place) - time;
            values[place] = self.value(column, skipped + place);
        }
        polynomial(&times[..count], &mut values[..count]).value(0.0)
    }

    /// The polynomial through the last points and `value` at the end of a step of this size, in the
    /// time since its start.
    pub fn polynomial(&self, column: usize, start: f64, size: f64, value: f64) -> Signal {
        let count = self.smooth[column].min(PREDICTED_FROM);
        // The newest point first.
        let mut times = [size; MOST_POINTS];
        let mut values = [value; MOST_POINTS];

        for back in 0..count {
            times[back + 1] = self.time(back) - start;
            values[back + 1] = self.value(column, back);
        }
        polynomial(&times[..=count], &mut values[..=count])
    }

    /// The time of a point, counted back from the newest.
    fn time(&self, back: usize) -> f64 {
        self.times[self.times.len() - 1 - back]
    }

    fn value(&self, column: usize, back: usize) -> f64 {
        self.values[self.times.len() - 1 - back][column]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times at which a curve that is sampled at these times is taken to jump.
    fn jumps(times: &[f64], value: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut points = RecentPoints::new();
        points.reserve(1);
        let mut found = vec![];
        for &time in times {
            let value = value(time);
            if points.len() > 0 && points.is_jump(0, time, value) {
                found.push(time);
            }
            points.push(time, &[Knot::value_only(value)]);
        }
        found
    }

    fn regular(step: f64, count: u32) -> Vec<f64> {
        (0..count).map(|n| f64::from(n) * step).collect()
    }

    #[test]
    fn smooth_curves_do_not_jump() {
        let grid = regular(0.1, 60);
        let mut irregular = vec![0.0];
        for n in 1..60 {
            let last = irregular[n - 1];
            irregular.push(last + 0.02 * f64::from([1, 3, 2, 5, 1][n % 5]));
        }

        for times in [grid, irregular] {
            for phase in regular(0.1, 63) {
                for speed in [5.0, 12.0, 30.0] {
                    let found = jumps(&times, |t| (speed * t + phase).sin());
                    assert!(found.iter().all(|time| *time <= times[2]), "{found:?}");
                }
            }
            assert_eq!(jumps(&times, |t| t.powi(3)), [0.0; 0], "from rest");
            assert_eq!(jumps(&times, |t| (-4.0 * t).exp()), [0.0; 0]);
            assert_eq!(jumps(&times, |t| (4.0 * t).exp()), [0.0; 0]);
            assert_eq!(jumps(&times, |_| 3.0), [0.0; 0]);
        }
    }

    #[test]
    fn jumps_and_steps_are_found() {
        let times = regular(0.01, 60);
        let bounce = |t: f64| if t > 0.255 { 7.0 - t } else { -t };
        assert_eq!(jumps(&times, bounce), [0.26]);

        let rests = |t: f64| if t > 0.255 { 4.0 } else { 0.0 };
        assert_eq!(jumps(&times, rests)[0], 0.26);
    }
}
