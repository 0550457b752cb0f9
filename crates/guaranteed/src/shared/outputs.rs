//! What is reported on the way: instants and tubes, at macro-steps or on a grid.

use super::stepper::Stepper;
use crate::api::{EnclosureObserver, Options};
use crate::interval::Interval;
use crate::observed::BoxObserver;
use crate::problem::Problem;

/// Into how many parts the tube of a macro-step is cut before their hull is taken.
const PARTS: usize = 8;

/// Instants and tubes, on their way to a watcher. A row has the states of the model, and then what is asked for beside
/// them.
pub(super) struct Outputs<'w> {
    watcher: &'w mut dyn EnclosureObserver,
    observer: BoxObserver,
    /// The present switches.
    switches: Vec<Interval>,
    visible: usize,
    start: f64,
    stop: f64,
    interval: Option<f64>,
    /// How many instants of the grid have been reported.
    reported: usize,
    begun: bool,
    /// The last instant reported.
    tube_start: f64,
    /// The tube since then.
    tube: Option<Vec<Interval>>,
    /// The row that was reported last.
    last: Vec<Interval>,
}

impl<'w> Outputs<'w> {
    pub fn new(
        problem: &Problem,
        options: &Options,
        watcher: &'w mut dyn EnclosureObserver,
    ) -> Self {
        let start = problem.start_time;
        let around = Interval::new(start.next_down(), start.next_up());
        let thresholds = problem.thresholds().into_iter();
        Self {
            watcher,
            observer: BoxObserver::new(problem.observed.as_ref(), &problem.parameters),
            switches: thresholds
                .map(|threshold| threshold.throughout(around.lo, around.hi))
                .collect(),
            visible: problem.names.len(),
            start,
            stop: problem.stop_time,
            interval: options.output_interval,
            reported: 0,
            begun: false,
            tube_start: start,
            tube: None,
            last: Vec::new(),
        }
    }

    pub fn proceed(&mut self, reached: f64) -> bool {
        self.watcher.proceed(reached)
    }

    pub fn set_switches(&mut self, switches: &[Interval]) {
        self.switches = switches.to_vec();
    }

    /// Reports the start, once. The unknowns of loops are known when these have been closed.
    pub fn begin(&mut self, stepper: &mut dyn Stepper, closed: bool) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }

        let mut boxes = stepper.boxes();
        if !closed {
            boxes[self.visible..].fill(Interval::ENTIRE);
        }
        let row = self.row(self.start, self.start, &boxes, None);
        self.watcher.instant(self.start, &row);
        self.last = row;
    }

    /// The states of the model and what is asked for beside them, of which something may be known already.
    fn row(
        &mut self,
        from: f64,
        to: f64,
        boxes: &[Interval],
        known: Option<Vec<Interval>>,
    ) -> Vec<Interval> {
        let span = Interval::new(from, to);
        let mut observed = self.observer.observe(span, &self.switches, boxes);
        for (range, known) in observed.iter_mut().zip(known.into_iter().flatten()) {
            *range = range.intersection(known).unwrap_or(known);
        }

        let mut row = boxes[..self.visible].to_vec();
        row.extend(observed);
        row
    }

    /// The next instant to report after the last one.
    fn next(&self) -> Option<f64> {
        let interval = self.interval?;
        let next = self.start + (self.reported + 1) as f64 * interval;

        Some(if next > self.stop - 1e-9 * interval {
            self.stop
        } else {
            next
        })
    }

    /// The next instant to report, if it is in the part of a step after `reached`.
    fn next_within(&self, reached: f64, until: f64) -> Option<f64> {
        self.next().filter(|&next| next <= until && next > reached)
    }

    /// A proved step.
    pub fn step(&mut self, from: f64, until: f64, stepper: &mut dyn Stepper) {
        let mut reached = from;
        while let Some(next) = self.next_within(reached, until) {
            self.gather(reached, next, stepper);
            self.report_instant(next, stepper);
            reached = next;
        }

        if reached < until {
            self.gather(reached, until, stepper);
            if self.interval.is_none() {
                self.report_instant(until, stepper);
            }
        }
    }

    /// Reports an instant of the proved step.
    fn report_instant(&mut self, time: f64, stepper: &mut dyn Stepper) {
        let boxes = stepper.boxes_at(time);
        let known = stepper.observed(time, time);
        let row = self.row(time, time, &boxes, known);
        self.report(time, row);
    }

    /// A span on which switches were open.
    pub fn crossed(&mut self, from: f64, until: f64, tube: &[Interval], boxes: &[Interval]) {
        let along = self.row(from, until, tube, None);
        self.watcher.part(from, until, &along);
        let mut reached = from;
        while let Some(next) = self.next_within(reached, until) {
            self.join(&along);
            let row = match next == until {
                true => self.row(until, until, boxes, None),
                false => along.clone(),
            };
            self.report(next, row);
            reached = next;
        }

        if reached < until {
            self.join(&along);
            if self.interval.is_none() {
                let row = self.row(until, until, boxes, None);
                self.report(until, row);
            }
        }
    }

    /// The end, early or not: reports what has not been reported up to `reached`.
    pub fn finish(&mut self, reached: f64, stepper: &mut dyn Stepper) {
        self.begin(stepper, false);
        if reached > self.tube_start {
            let row = self.row(reached, reached, &stepper.boxes(), None);
            self.report(reached, row);
        }
    }

    /// The row that was reported last, which is that of the end: the states, and what was asked for beside them.
    pub fn into_last(mut self) -> (Vec<Interval>, Vec<Interval>) {
        let observed = self.last.split_off(self.visible);
        (self.last, observed)
    }

    /// Adds the tube of a part of the step.
    fn gather(&mut self, from: f64, to: f64, stepper: &mut dyn Stepper) {
        if !self.watcher.wants_tubes() {
            return;
        }

        let mut start = from;
        for part in 1..=PARTS {
            let end = if part == PARTS {
                to
            } else {
                from + (to - from) * part as f64 / PARTS as f64
            };
            if start < end {
                let boxes = stepper.tube(start, end);
                let known = stepper.observed(start, end);
                let row = self.row(start, end, &boxes, known);
                self.watcher.part(start, end, &row);
                self.join(&row);
            }
            start = end;
        }
    }

    fn join(&mut self, tube: &[Interval]) {
        let Some(all) = &mut self.tube else {
            self.tube = Some(tube.to_vec());
            return;
        };
        for (all, part) in all.iter_mut().zip(tube) {
            *all = all.hull(*part);
        }
    }

    /// Reports the tube gathered so far, and the row at its end.
    fn report(&mut self, time: f64, row: Vec<Interval>) {
        if let Some(tube) = self.tube.take() {
            self.watcher.tube(self.tube_start, time, &tube);
        }

        self.watcher.instant(time, &row);
        self.last = row;
        self.tube_start = time;
        self.reported += 1;
    }
}
