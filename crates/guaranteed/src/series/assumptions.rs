//! What is assumed of a step while its series are built.

use serde::{Deserialize, Serialize};

use crate::interval::Interval;

/// By which part of its width an assumed range is enlarged for another attempt.
const MARGIN: f64 = 0.05;

/// The range of every argument that decides something (of `abs`, `floor`, a condition). Whoever
/// builds series has to check afterwards that the assumptions hold throughout the step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Assumptions {
    pub ranges: Vec<Interval>,
}

impl Assumptions {
    /// Nothing is known of so many arguments.
    pub fn nothing(count: usize) -> Self {
        Self {
            ranges: vec![Interval::ENTIRE; count],
        }
    }

    fn pairs<'a>(&'a self, found: &'a Self) -> impl Iterator<Item = (&'a Interval, &'a Interval)> {
        self.ranges.iter().zip(&found.ranges)
    }

    /// Whether what was `found` is within what was assumed.
    pub fn covers(&self, found: &Self) -> bool {
        self.pairs(found)
            .all(|(assumed, found)| found.within(*assumed))
    }

    /// Whether an argument that had a sign throughout has none in what was `found`: a kink that the
    /// step meets.
    pub fn opens(&self, found: &Self) -> bool {
        self.pairs(found)
            .any(|(assumed, found)| has_sign(assumed) && !has_sign(found))
    }

    /// With a margin, so that a second attempt may find a little more; but what has a sign keeps
    /// it.
    pub fn widened(&self) -> Self {
        Self {
            ranges: self.ranges.iter().map(widened).collect(),
        }
    }
}

fn has_sign(range: &Interval) -> bool {
    range.lo >= 0.0 || range.hi <= 0.0
}

fn widened(range: &Interval) -> Interval {
    let wider = if range.is_point() {
        *range
    } else {
        range.widened(MARGIN * range.width())
    };
    if range.lo >= 0.0 {
        Interval::new(wider.lo.max(0.0), wider.hi)
    } else if range.hi <= 0.0 {
        Interval::new(wider.lo, wider.hi.min(0.0))
    } else {
        wider
    }
}
