//! What is reported on the way: instants and tubes, at macro-steps or on a grid.

use super::stepper::Stepper;
use crate::api::{EnclosureObserver, Options};
use crate::interval::Interval;
use crate::problem::Problem;

/// Into how many parts the tube of a macro-step is cut before their hull is taken.
const PARTS: usize = 8;

/// Instants and tubes, on their way to a watcher.
pub(super) struct Outputs<'w> {
    watcher: &'w mut dyn EnclosureObserver,
    visible: usize,
    start: f64,
    stop: f64,
    interval: Option<f64>,
    /// How many instants of the grid have been reported.
    reported: usize,
    /// The last instant reported.
    tube_start: f64,
    /// The tube since then.
    tube: Option<Vec<Interval>>,
    /// The boxes that were reported last.
    last: Vec<Interval>,
}

impl<'w> Outputs<'w> {
    pub fn new(
        problem: &Problem,
        options: &Options,
        watcher: &'w mut dyn EnclosureObserver,
    ) -> Self {
        Self {
            watcher,
            visible: problem.names.len(),
            start: problem.start_time,
            stop: problem.stop_time,
            interval: options.output_interval,
            reported: 0,
            tube_start: problem.start_time,
            tube: None,
            last: Vec::new(),
        }
    }

    pub fn proceed(&mut self, reached: f64) -> bool {
        self.watcher.proceed(reached)
    }

    pub fn begin(&mut self, boxes: &[Interval]) {
        self.watcher.instant(self.start, boxes);
        self.last = boxes.to_vec();
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
            self.report(next, &stepper.boxes_at(next));
            reached = next;
        }

        if reached < until {
            self.gather(reached, until, stepper);
            if self.interval.is_none() {
                self.report(until, &stepper.boxes_at(until));
            }
        }
    }

    /// A span on which switches were open.
    pub fn crossed(&mut self, from: f64, until: f64, tube: &[Interval], boxes: &[Interval]) {
        let mut reached = from;
        while let Some(next) = self.next_within(reached, until) {
            self.join(tube);
            self.report(next, if next == until { boxes } else { tube });
            reached = next;
        }

        if reached < until {
            self.join(tube);
            if self.interval.is_none() {
                self.report(until, boxes);
            }
        }
    }

    /// The end, early or not: reports what has not been reported up to `reached`.
    pub fn finish(&mut self, reached: f64, boxes: &[Interval]) {
        if reached > self.tube_start {
            self.report(reached, boxes);
        }
    }

    /// The boxes that were reported last: those at the end, once it has been reported.
    pub fn into_last(self) -> Vec<Interval> {
        self.last
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
                self.join(&stepper.tube(start, end));
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

    /// Reports the tube gathered so far, and the boxes at its end.
    fn report(&mut self, time: f64, boxes: &[Interval]) {
        let visible = ..self.visible;
        if let Some(tube) = self.tube.take() {
            self.watcher.tube(self.tube_start, time, &tube[visible]);
        }

        self.watcher.instant(time, &boxes[visible]);
        self.last = boxes[visible].to_vec();
        self.tube_start = time;
        self.reported += 1;
    }
}
