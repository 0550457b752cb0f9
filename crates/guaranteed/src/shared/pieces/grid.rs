//! Rows of several pieces at the same times.

use crate::api::EnclosureObserver;
use crate::interval::Interval;

/// The rows of a piece, on the grid that all have.
#[derive(Default)]
pub(super) struct GridRows {
    instants: Vec<(f64, Vec<Interval>)>,
    /// Between one instant and the next.
    tubes: Vec<Vec<Interval>>,
    wants_tubes: bool,
    most_steps: usize,
    steps: usize,
}

impl GridRows {
    /// For a piece that may take so many steps.
    pub fn new(wants_tubes: bool, most_steps: usize) -> Self {
        Self {
            wants_tubes,
            most_steps,
            ..Self::default()
        }
    }

    /// Whether all steps have been taken that there may be.
    pub fn is_spent(&self) -> bool {
        self.steps >= self.most_steps
    }

    /// Leaves out the row of an early end, which is at no time of the grid.
    pub fn close(&mut self, complete: bool) {
        if !complete && self.instants.len() > 1 {
            self.instants.pop();
            self.tubes.truncate(self.instants.len() - 1);
        }
    }
}

impl EnclosureObserver for GridRows {
    fn instant(&mut self, time: f64, row: &[Interval]) {
        self.instants.push((time, row.to_vec()));
    }

    fn tube(&mut self, _from: f64, _to: f64, row: &[Interval]) {
        self.tubes.push(row.to_vec());
    }

    fn wants_tubes(&self) -> bool {
        self.wants_tubes
    }

    fn proceed(&mut self, _reached: f64) -> bool {
        self.steps += 1;
        !self.is_spent()
    }
}

/// Up to when all have rows.
pub(super) fn reached<'r>(rows: impl Iterator<Item = &'r GridRows>) -> f64 {
    let ends = rows.map(|rows| rows.instants.last().map_or(f64::NEG_INFINITY, |row| row.0));
    ends.fold(f64::INFINITY, f64::min)
}

/// Reports the hulls of all rows, as far as all have some; gives the last.
pub(super) fn report<'r>(
    rows: impl Iterator<Item = &'r GridRows>,
    watcher: &mut dyn EnclosureObserver,
) -> Vec<Interval> {
    let rows: Vec<&GridRows> = rows.collect();
    let count = rows
        .iter()
        .map(|rows| rows.instants.len())
        .min()
        .unwrap_or(0);
    let parts = watcher.wants_parts();
    let mut last = Vec::new();

    for index in 0..count {
        let time = rows[0].instants[index].0;
        if index > 0 && rows.iter().all(|rows| index <= rows.tubes.len()) {
            let from = rows[0].instants[index - 1].0;
            let tube = hull(rows.iter().map(|rows| &rows.tubes[index - 1]));
            if parts {
                watcher.part(from, time, &tube);
            }
            watcher.tube(from, time, &tube);
        }
        last = hull(rows.iter().map(|rows| &rows.instants[index].1));
        watcher.instant(time, &last);
    }
    last
}

fn hull<'r>(mut rows: impl Iterator<Item = &'r Vec<Interval>>) -> Vec<Interval> {
    let mut all = rows.next().cloned().unwrap_or_default();
    for row in rows {
        for (all, one) in all.iter_mut().zip(row) {
            *all = all.hull(*one);
        }
    }
    all
}
