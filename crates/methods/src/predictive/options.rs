//! What can be chosen.

use crate::step_bounds::StepBounds;

/// The options of the method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictiveOptions {
    /// Of what degree inputs are.
    pub inputs: Inputs,
    /// Whether a step is corrected and integrated again; none: where its prediction was poor and
    /// all systems can roll back.
    pub correction: Option<bool>,
    /// When linearizations are renewed.
    pub relinearize: Relinearize,
    /// Whether results have the estimated error added.
    pub corrected: bool,
    /// Steps are chosen so that the error stays within this, relative to the range of each state;
    /// none: they are fixed.
    pub tolerance: Option<f64>,
    /// No step of its own choice is shorter or longer than these.
    pub bounds: StepBounds,
}

/// Of what degree inputs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// Quintic where curvatures are known and nothing is stiff; with steps of its own choice,
    /// whichever allows the longer ones.
    #[default]
    Auto,
    /// Value, slope and curvature at both ends.
    Quintic,
    /// Value and slope at both ends.
    Cubic,
}

/// When linearizations are renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relinearize {
    /// With every step, but for systems that have hardly changed.
    #[default]
    Auto,
    /// With every step.
    Always,
    /// After events, and where a system has become another one.
    Never,
}
