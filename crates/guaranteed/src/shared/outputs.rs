//! What is told on the way: instants and tubes, at macro-steps or on a grid.

use super::walk::Stepper;
use crate::api::{Options, Watcher};
use crate::interval::Interval;
use crate::problem::Problem;

/// Into how many parts the tube of a macro-step is cut before their hull is taken.
const PARTS: usize = 8;

/// Instants and tubes, on their way to a watcher.
pub(super) struct Outputs<'w> {
    watcher: &'w mut dyn Watcher,
    visible: usize,
    start: f64,
    stop: f64,
    interval: Option<f64>,
    /// How many instants of the grid have been told.
    told: usize,
    /// The tube since the last instant told, with its beginning.
    since: (f64, Option<Vec<Interval>>),
}

impl<'w> Outputs<'w> {
    pub fn new(problem: &Problem, options: &Options, watcher: &'w mut dyn Watcher) -> Self {
        Self {
            watcher,
            visible: problem.names.len(),
            start: problem.start_time,
            stop: problem.stop_time,
            interval: options.output_interval,
            told: 0,
            since: (problem.start_time, None),
        }
    }

    pub fn proceed(&mut self, reached: f64) -> bool {
        self.watcher.proceed(reached)
    }

    pub fn begin(&mut self, boxes: &[Interval]) {
        self.watcher.instant(self.start, boxes);
    }

    /// The next instant to tell after the last one.
    fn next(&self) -> Option<f64> {
        let interval = self.interval?;
        let next = self.start + (self.told + 1) as f64 * interval;
        Some(if next > self.stop - 1e-9 * interval {
            self.stop
        } else {
            next
        })
    }

    /// A proved step.
    pub fn step(&mut self, from: f64, until: f64, stepper: &mut dyn Stepper) {
        let mut reached = from;
        while let Some(next) = self.next().filter(|&next| next <= until && next > reached) {
            self.gather(reached, next, stepper);
            let boxes = stepper.boxes_at(next);
            self.tell(next, &boxes[..self.visible]);
            reached = next;
        }
        if reached < until {
            self.gather(reached, until, stepper);
            if self.interval.is_none() {
                let boxes = stepper.boxes_at(until);
                self.tell(until, &boxes[..self.visible]);
            }
        }
    }

    /// A span on which switches were open.
    pub fn crossed(&mut self, from: f64, until: f64, tube: &[Interval], boxes: &[Interval]) {
        let mut reached = from;
        while let Some(next) = self.next().filter(|&next| next <= until && next > reached) {
            self.join(tube);
            self.tell(next, &tube[..self.visible]);
            reached = next;
        }
        if reached < until {
            self.join(tube);
            if self.interval.is_none() {
                self.tell(until, &boxes[..self.visible]);
            }
        }
    }

    /// The end, early or not: tells what has not been told up to `reached`.
    pub fn finish(&mut self, reached: f64, boxes: &[Interval]) {
        if reached > self.since.0 {
            self.tell(reached, &boxes[..self.visible]);
        }
    }

    /// Adds the tube of a part of the step.
    fn gather(&mut self, from: f64, to: f64, stepper: &mut dyn Stepper) {
        if !self.watcher.wants_tubes() {
            return;
        }
        let at = |part: usize| {
            if part == PARTS {
                to
            } else {
                from + (to - from) * part as f64 / PARTS as f64
            }
        };
        for part in 0..PARTS {
            if at(part) < at(part + 1) {
                let tube = stepper.tube(at(part), at(part + 1));
                self.join(&tube);
            }
        }
    }

    fn join(&mut self, tube: &[Interval]) {
        match &mut self.since.1 {
            Some(all) => all
                .iter_mut()
                .zip(tube)
                .for_each(|(all, part)| *all = all.hull(*part)),
            None => self.since.1 = Some(tube.to_vec()),
        }
    }

    fn tell(&mut self, time: f64, boxes: &[Interval]) {
        if let Some(tube) = self.since.1.take() {
            self.watcher.tube(self.since.0, time, &tube[..self.visible]);
        }
        self.watcher.instant(time, boxes);
        self.since.0 = time;
        self.told += 1;
    }
}
