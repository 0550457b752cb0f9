//! Questions about all trajectories: does a condition hold always, is it reached in time?
//!
//! An enclosure answers with *proved* where its margin has one sign, and otherwise nothing. What is left open is asked
//! again of smaller boxes and shorter steps, and of single trajectories, each enclosed from its point: one that
//! violates a requirement for certain is a counterexample.

mod judge;
mod refinement;
mod samples;

use crate::margin::Equality;

pub use judge::Judging;
pub(crate) use samples::{Dimension, Place};

/// What is required of a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// It holds at every instant from the start to this time.
    Always {
        /// Until when.
        until: f64,
    },
    /// It holds at some instant from the start to this time.
    Reach {
        /// By when.
        by: f64,
    },
}

impl Goal {
    /// Up to when it asks.
    pub fn deadline(self) -> f64 {
        match self {
            Self::Always { until } => until,
            Self::Reach { by } => by,
        }
    }
}

/// A question; its condition is that of the same position among [`Additions::conditions`](crate::Additions).
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As it was asked.
    pub text: String,
    /// What is required.
    pub goal: Goal,
}

/// What is known of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every trajectory meets it.
    Proved,
    /// A trajectory does not, for certain.
    Violated,
    /// Neither could be proved.
    Undecided,
}

impl Answer {
    /// As a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Violated => "violated",
            Self::Undecided => "undecided",
        }
    }
}

/// The start of a trajectory that violates a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterexample {
    /// All states at the start.
    pub states: Vec<f64>,
    /// All parameters; the disturbances, constant, are the last ones.
    pub parameters: Vec<f64>,
}

/// The answer to a requirement, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// As it was asked.
    pub text: String,
    /// The answer.
    pub answer: Answer,
    /// When it is violated at the latest (the first instant at which that is certain), or by when it is reached.
    pub time: Option<f64>,
    /// A trajectory that violates it.
    pub counterexample: Option<Counterexample>,
}

/// What one enclosure says of a requirement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Judgement {
    /// All of its trajectories meet it; by when, where it is about reaching something.
    Met(Option<f64>),
    /// None of them does; when, where it is about a condition that fails.
    Missed(Option<f64>),
    Open,
}

/// Whether a condition with this margin holds for certain.
fn holds(margin: crate::Interval, equality: Equality) -> bool {
    margin.hi < 0.0 || (margin.hi <= 0.0 && equality == Equality::Holds)
}

/// Whether it fails for certain.
fn fails(margin: crate::Interval, equality: Equality) -> bool {
    margin.lo > 0.0 || (margin.lo >= 0.0 && equality == Equality::Fails)
}
