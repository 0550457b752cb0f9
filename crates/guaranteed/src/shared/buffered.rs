//! Rows that are reported when it is sure that they are the ones wanted.

use crate::api::EnclosureObserver;
use crate::interval::Interval;

/// Keeps rows for a watcher, and asks it now whether to go on.
pub(super) struct BufferedRows<'w> {
    rows: Vec<BufferedRow>,
    watcher: &'w mut dyn EnclosureObserver,
}

enum BufferedRow {
    Instant(f64, Vec<Interval>),
    Tube(f64, f64, Vec<Interval>),
    Part(f64, f64, Vec<Interval>),
}

impl<'w> BufferedRows<'w> {
    pub fn new(watcher: &'w mut dyn EnclosureObserver) -> Self {
        let rows = Vec::new();
        Self { rows, watcher }
    }

    /// The watcher, which sees nothing of the rows.
    pub fn watcher(&mut self) -> &mut dyn EnclosureObserver {
        self.watcher
    }

    /// Reports all rows.
    pub fn report(self) {
        for row in self.rows {
            match row {
                BufferedRow::Instant(time, row) => self.watcher.instant(time, &row),
                BufferedRow::Tube(from, to, row) => self.watcher.tube(from, to, &row),
                BufferedRow::Part(from, to, row) => self.watcher.part(from, to, &row),
            }
        }
    }
}

impl EnclosureObserver for BufferedRows<'_> {
    fn instant(&mut self, time: f64, row: &[Interval]) {
        self.rows.push(BufferedRow::Instant(time, row.to_vec()));
    }

    fn tube(&mut self, from: f64, to: f64, row: &[Interval]) {
        self.rows.push(BufferedRow::Tube(from, to, row.to_vec()));
    }

    fn part(&mut self, from: f64, to: f64, row: &[Interval]) {
        if self.watcher.wants_parts() {
            self.rows.push(BufferedRow::Part(from, to, row.to_vec()));
        }
    }

    fn wants_parts(&self) -> bool {
        self.watcher.wants_parts()
    }

    fn wants_tubes(&self) -> bool {
        self.watcher.wants_tubes()
    }

    fn proceed(&mut self, reached: f64) -> bool {
        self.watcher.proceed(reached)
    }
}
