//! Moving a set through time, step by step.

use crate::interval::Interval;

/// Why a step could not be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepFailure {
    /// A state's derivative is not bounded there.
    Unbounded { state: usize },
    /// A condition on states, or a jump such as that of `sign`, is not decided.
    Undecided { system: usize },
    /// The error of a state could not be enclosed.
    NoInclusion { state: usize },
    /// A loop through feedthrough could not be solved.
    OpenLoop,
    /// A switch of such a loop changes at a time that is not known exactly.
    SwitchedLoop,
    /// Two runs may not keep their order.
    Disordered,
    /// The series of a state is cut off too early for so long a step.
    Coarse { state: usize },
    /// The kink of a state is crossed in too long a step.
    LongOverKink { state: usize },
}

/// How much of a set is a matter of where trajectories begin, and of parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spread {
    /// What the polynomials of these numbers reach: about what trajectories do.
    pub boxes: Vec<Interval>,
    /// How much each number matters, over all states by what they amount to.
    pub effects: Vec<f64>,
}

/// A set that can be moved through time.
pub(super) trait Stepper {
    /// Begins a time between switching times, at `time`.
    fn enter(&mut self, time: f64, switches: &[Interval]) -> Result<(), StepFailure>;
    /// Prepares a step from `time` and returns how long it may be. Functions of time may be taken
    /// as constant until `freeze_until`.
    fn propose(&mut self, time: f64, freeze_until: f64) -> Result<f64, StepFailure>;
    /// Proves the prepared step up to `until`.
    fn prove(&mut self, until: f64) -> Result<(), StepFailure>;
    /// All states now.
    fn boxes(&mut self) -> Vec<Interval>;
    /// All states at an instant of the proved step.
    fn boxes_at(&mut self, time: f64) -> Vec<Interval>;
    /// All states throughout a part of the proved step.
    fn tube(&mut self, from: f64, to: f64) -> Vec<Interval>;
    /// What is asked for beside the states, from `from` to `to` in the proved step, where more is known of it than
    /// follows from the boxes.
    fn observed(&mut self, from: f64, to: f64) -> Option<Vec<Interval>> {
        let _ = (from, to);
        None
    }
    /// How much of the states now is a matter of where trajectories begin, as far as that is known.
    fn spread(&mut self) -> Option<Spread> {
        None
    }
    /// Moves to the end of the proved step.
    fn advance(&mut self);
    /// Moves to `until` while switches are open, and returns the tube.
    fn cross(&mut self, until: f64, switches: &[Interval]) -> Result<Vec<Interval>, StepFailure>;
}
