//! On which side of its switching functions a system is.

use dovetail_core::{Archive, Checkpoint, Error, visit_fields};

use super::sliding::{LAYER, SLIDING};
use crate::held::SwitchKind;

/// Clauses pile up (a ball that bounces to rest) when each of so many has followed the one before
/// sooner, and the last after this part of the time that all have taken.
const PILE: u32 = 12;
const PILED_UP: f64 = 1e-5;

/// What a system holds of its switching functions.
#[derive(Clone)]
pub(super) struct Branches {
    /// For each function 1 where it is negative, else 0; or its integer part; or [`SLIDING`]. NaN
    /// before anybody has asked.
    pub held: Vec<f64>,
    /// Right after an event a function may be so far on the wrong side yet.
    pub slack: Vec<f64>,
    /// The functions that change sides at the time reached, which has not been crossed.
    pub due: Vec<bool>,
    /// When the next function will change sides, where that is just beyond the time reached.
    pub near: f64,
    /// Those that have changed sides at `crossed_at`, and do so once only there.
    pub crossed: Vec<bool>,
    pub crossed_at: f64,
    /// How fast each function was on its way when it changed sides.
    pub approach: Vec<f64>,
    /// For each function at which others keep the system, the share of its negative side.
    pub shares: Vec<f64>,
    /// Those that may have crossed again there, since states were set.
    pub released: Vec<bool>,
    /// Whether the condition of each clause holds, as 1 or 0; NaN before the run.
    pub truths: Vec<f64>,
    /// How often the system's clock has ticked.
    pub ticks: u64,
    pub runs: ClauseRuns,
}

/// How clauses have followed one another.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
pub(super) struct ClauseRuns {
    /// When one ran last, and how long after the one before.
    last: f64,
    gap: f64,
    /// Since when, and how often, the time between two has become shorter.
    since: f64,
    shorter: u32,
}

impl ClauseRuns {
    const NONE: Self = Self {
        last: f64::NEG_INFINITY,
        gap: f64::INFINITY,
        since: f64::NEG_INFINITY,
        shorter: 0,
    };

    /// They have come to an end.
    pub fn forget(&mut self) {
        *self = Self::NONE;
    }

    /// One runs at `time`; true if they pile up: each follows the one before sooner, and now after
    /// next to no time.
    pub fn note(&mut self, time: f64) -> bool {
        let gap = time - self.last;
        if gap <= 0.0 {
            return false; // the same event
        }

        if gap < self.gap {
            self.shorter += 1;
        } else {
            self.shorter = 0;
            self.since = if gap.is_finite() { self.last } else { time };
        }
        self.last = time;
        self.gap = gap;

        self.shorter >= PILE && gap < PILED_UP * (time - self.since)
    }
}

/// How far a function is from switching.
#[derive(Clone, Copy)]
pub(super) struct Margin {
    /// Negative beyond the event.
    pub distance: f64,
    /// 1 or −1: how the distance goes with the function.
    pub sign: f64,
}

impl Branches {
    /// Nothing is known yet, of so many functions and conditions of clauses.
    pub fn new(functions: usize, conditions: usize) -> Self {
        Self {
            held: vec![f64::NAN; functions],
            slack: vec![0.0; functions],
            due: vec![false; functions],
            near: f64::INFINITY,
            crossed: vec![false; functions],
            released: vec![false; functions],
            crossed_at: f64::NAN,
            approach: vec![0.0; functions],
            shares: vec![0.0; functions],
            truths: vec![f64::NAN; conditions],
            ticks: 0,
            runs: ClauseRuns::NONE,
        }
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.held.copy_from_slice(&other.held);
        self.slack.copy_from_slice(&other.slack);
        self.due.copy_from_slice(&other.due);
        self.crossed.copy_from_slice(&other.crossed);
        self.released.copy_from_slice(&other.released);
        self.crossed_at = other.crossed_at;
        self.approach.copy_from_slice(&other.approach);
        self.shares.copy_from_slice(&other.shares);
        self.near = other.near;
        self.truths.copy_from_slice(&other.truths);
        self.ticks = other.ticks;
        self.runs = other.runs;
    }

    /// Whether nobody has asked yet.
    pub fn are_new(&self) -> bool {
        self.held.first().is_some_and(|held| held.is_nan())
    }

    pub fn any_due(&self) -> bool {
        self.due.iter().any(|due| *due)
    }

    /// How far a function with this value is from switching.
    pub fn margin(&self, kind: SwitchKind, function: usize, value: f64) -> Margin {
        let held = self.held[function];
        match kind {
            SwitchKind::Side if slides(held) => {
                let sign = if value < SLIDING { 1.0 } else { -1.0 };
                Margin {
                    distance: value.min(1.0 - value),
                    sign,
                }
            }
            SwitchKind::Side => {
                let sign = if held == 0.0 { 1.0 } else { -1.0 };
                Margin {
                    distance: sign * value,
                    sign,
                }
            }
            SwitchKind::Floor => {
                let below = value - held;
                let above = held + 1.0 - value;
                if below <= above {
                    Margin {
                        distance: below,
                        sign: 1.0,
                    }
                } else {
                    Margin {
                        distance: above,
                        sign: -1.0,
                    }
                }
            }
        }
    }

    /// Whether the system slides along a function.
    pub fn slides_along(&self, function: usize) -> bool {
        slides(self.held[function])
    }

    /// To the other side of the event that is near; off the surface, where the system slides.
    pub fn flip(&mut self, kind: SwitchKind, function: usize, value: f64) {
        let margin = self.margin(kind, function, value);
        let held = &mut self.held[function];
        *held = match kind {
            SwitchKind::Side if slides(*held) => f64::from(u8::from(value > SLIDING)),
            SwitchKind::Side => 1.0 - *held,
            SwitchKind::Floor => *held - margin.sign,
        };
    }

    /// What has been crossed before `time` may be crossed again.
    pub fn come_to(&mut self, time: f64) {
        if self.crossed_at != time {
            self.crossed_at = time;
            self.crossed.fill(false);
            self.released.fill(false);
        }
    }
}

/// Whether this is held of a function that the system slides along.
fn slides(held: f64) -> bool {
    held == SLIDING || held == LAYER
}

impl Checkpoint for Branches {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.crossed_at, self.near, self.ticks, self.runs);
        archive.slice(&mut self.truths)?;
        archive.slice(&mut self.held)?;
        archive.slice(&mut self.slack)?;
        archive.slice(&mut self.due)?;
        archive.slice(&mut self.crossed)?;
        archive.slice(&mut self.approach)?;
        archive.slice(&mut self.shares)?;
        archive.slice(&mut self.released)
    }
}
