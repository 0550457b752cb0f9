//! What is asked of an enclosure and what it reports.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::places::PlaceLost;

/// How a model is enclosed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Affine sets with symbols that all systems share: the engine's own.
    SharedSymbols,
    /// Boxes exchanged between systems: cross-Picard with validated Runge-Kutta steps.
    Boxes {
        /// The scheme of every system.
        integrator: Integrator,
        /// The degree of the interval polynomials through past boxes; `None` holds the inputs in
        /// their boxes.
        extrapolation: Option<usize>,
    },
}

/// A Runge-Kutta scheme whose truncation error is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integrator {
    /// Order 2.
    Heun,
    /// Order 4.
    Rk4,
}

/// How an enclosure is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which method.
    pub method: Method,
    /// The largest macro-step; `None` lets the method choose.
    pub step: Option<f64>,
    /// Instants to report in between, as multiples of this from the start; `None` reports the ends
    /// of macro-steps.
    pub output_interval: Option<f64>,
    /// Threads: those of [`Method::Boxes`] share its systems, those of [`Method::SharedSymbols`] the pieces of boxes.
    pub threads: usize,
    /// Into how many pieces [`Method::SharedSymbols`] cuts the boxes.
    pub pieces: Pieces,
}

/// Into how many pieces the boxes at the start are cut. What is reported are the hulls over all pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pieces {
    /// None, unless bounds would end early, or be much wider than what they bound: then as many as help, within a
    /// budget that is one of work and not of time.
    #[default]
    Automatic,
    /// So many, as far as there is something to cut; 1 for none in any case.
    Number(NonZeroUsize),
}

impl Pieces {
    /// The boxes in one piece.
    pub const ONE: Self = Self::Number(NonZeroUsize::MIN);
}

/// Receives boxes as they are proved.
pub trait EnclosureObserver {
    /// All states, and then all expressions that are asked for, lie in `row` at `time`.
    fn instant(&mut self, time: f64, row: &[Interval]);

    /// They lie in `row` throughout `from..=to`.
    fn tube(&mut self, from: f64, to: f64, row: &[Interval]);

    /// The same of the parts that tubes are made of, before the tube that they are a part of.
    fn part(&mut self, from: f64, to: f64, row: &[Interval]) {
        let _ = (from, to, row);
    }

    /// Whether it wants tubes at all; they cost a part of the time.
    fn wants_tubes(&self) -> bool {
        true
    }

    /// Whether it wants the parts of tubes, too.
    fn wants_parts(&self) -> bool {
        false
    }

    /// Whether to go on; asked after every macro-step, with the time proved so far.
    fn proceed(&mut self, reached: f64) -> bool {
        let _ = reached;
        true
    }
}

/// How an enclosure ended and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct EnclosureOutcome {
    /// Up to when the bounds are proved.
    pub reached: f64,
    /// Accepted macro-steps.
    pub steps: usize,
    /// Macro-steps that had to be repeated, smaller.
    pub rejected: usize,
    /// The boxes of all states at `reached`.
    pub states: Vec<Interval>,
    /// The expressions that were asked for at `reached`.
    pub observed: Vec<Interval>,
    /// Why it ended before the stop time, if it did.
    pub stopped: Option<StopReason>,
    /// Where it ended early, up to when the bounds said much: no box was wider than ten times the state's at the start,
    /// or than a tenth of what the state had amounted to.
    pub useful_until: Option<f64>,
    /// Into how many pieces the boxes at the start were cut.
    pub pieces: usize,
    /// What the method did that its name does not say, in a sentence.
    pub remarks: Vec<String>,
}

/// Why an enclosure ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StopReason {
    /// The watcher said so.
    #[error("it was interrupted at t = {time} s")]
    Interrupted {
        /// When.
        time: f64,
    },
    /// A place at which systems were computed no longer answers.
    #[error("the bounds end at t = {time} s: {lost}")]
    Lost {
        /// Up to when there are bounds.
        time: f64,
        /// Why.
        lost: PlaceLost,
    },
    /// No step, however small, could be proved.
    #[error("no bounds could be proved beyond t = {time} s: {reason}")]
    BlownUp {
        /// Up to when there are bounds.
        time: f64,
        /// What went wrong, naming the state, and what to try.
        reason: String,
    },
}
