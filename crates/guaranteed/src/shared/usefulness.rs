//! Whether bounds still say something.

use super::stepper::Spread;
use crate::interval::Interval;
use crate::problem::Problem;

/// Bounds are given up where one is so many times wider than anything has amounted to, and hardly anything of that has
/// to do with where trajectories begin.
const MOST_WIDTH: f64 = 1e3;
const LEAST_SHARE: f64 = 0.1;

/// They say much while they are narrower than so many times what they were at the start, or than this part of what the
/// state has amounted to.
const USEFUL_GROWTH: f64 = 10.0;
const USEFUL_PART: f64 = 0.1;

/// What has been seen of widths.
pub(super) struct Usefulness {
    /// The largest magnitude at the start, of any state, or what one has amounted to since.
    magnitude: f64,
    /// The widths at the start.
    widths: Vec<f64>,
    /// The largest magnitude of each state so far.
    scale: Vec<f64>,
    /// The widest width at the last step.
    before: f64,
    /// Up to when bounds said much.
    pub until: f64,
    /// The set then.
    pub spread: Option<Spread>,
}

impl Usefulness {
    pub fn new(problem: &Problem) -> Self {
        let start = &problem.start;
        Self {
            magnitude: largest(start.iter().map(|range| range.magnitude())),
            widths: start.iter().map(|range| range.width()).collect(),
            scale: start.iter().map(|range| range.magnitude()).collect(),
            before: 0.0,
            until: problem.start_time,
            spread: None,
        }
    }

    /// A state whose bounds have become pointless, if there is one.
    pub fn lost(&mut self, time: f64, boxes: &[Interval], spread: Option<Spread>) -> Option<usize> {
        for (scale, range) in self.scale.iter_mut().zip(boxes) {
            *scale = scale.max(range.mignitude());
            self.magnitude = self.magnitude.max(*scale);
        }

        let states = self.widths.iter().zip(&self.scale).zip(boxes);
        let mut narrow = states.map(|((width, scale), range)| {
            range.width() <= (USEFUL_GROWTH * width).max(USEFUL_PART * scale)
        });
        if narrow.all(|narrow| narrow) {
            self.until = time;
            self.spread = spread;
            return None;
        }

        let widest = largest(boxes.iter().map(|range| range.width()));
        let grows = widest > std::mem::replace(&mut self.before, widest);
        spread.filter(|_| grows).and_then(|spread| {
            let pairs = boxes.iter().zip(&spread.boxes);
            let mut states = pairs.take(self.widths.len());
            states.position(|(range, own)| self.is_pointless(*range, *own))
        })
    }

    fn is_pointless(&self, range: Interval, own: Interval) -> bool {
        let width = range.width();
        self.magnitude > 0.0
            && width > MOST_WIDTH * self.magnitude
            && width > range.middle().abs()
            && own.width() < LEAST_SHARE * width
    }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}
