//! What is done with one instance of an FMU while it is tried out.
//!
//! Every experiment has an instance that is fresh, or as good as fresh, and asks it a few things:
//! FMUs that live once in a process can be tried so, each experiment in a process of its own. What
//! the answers mean is decided elsewhere (`probe`).

use dovetail_core::Error;
use serde::{Deserialize, Serialize};

use crate::abilities::OutputSlopes;
use crate::call_error::CallError;
use crate::measures::differ;
use crate::reactions::Reactions;

/// One thing to try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Experiment {
    /// From the values of inputs that are known before initialization mode, or in it only, to the
    /// end of a step.
    Start {
        /// Whether inputs are set before initialization mode as well as in it.
        early: bool,
        /// How far continuous inputs are from their start values, in units of their size.
        offset: f64,
    },
    /// Inputs and states are moved one by one: what reacts, and whether directional derivatives
    /// agree.
    Reactions {
        /// As above.
        early: bool,
        /// Whether directional derivatives are asked for.
        directional: bool,
        /// Whether they can be compared in initialization mode: not where outputs come later.
        comparable: bool,
    },
    /// Steps of these sizes.
    Steps {
        /// As above.
        early: bool,
        /// What the inputs do meanwhile.
        course: InputCourse,
        /// The steps.
        sizes: Vec<f64>,
    },
    /// After a step, shorter and shorter ones under inputs that change every time: an inner solver
    /// then starts anew, as in a coupled run.
    ShorterSteps {
        /// As above.
        early: bool,
        /// Whether each is tried from the end of the first step, rather than taken.
        tried: bool,
        /// How far inputs are away, as in [`InputCourse::Moved`].
        offset: f64,
        /// The steps, the first one included.
        sizes: Vec<f64>,
    },
    /// After a step the FMU is linearized by its directional derivatives, and read again.
    Linearization {
        /// As above.
        early: bool,
        /// How far inputs are away, as in [`InputCourse::Moved`].
        offset: f64,
    },
    /// A step is tried, also under other inputs, and tried again; then taken, and the next one
    /// tried twice.
    Rollback {
        /// As above.
        early: bool,
    },
    /// Slopes of outputs, after the start, over three steps under inputs that have moved, and after
    /// one that is next to nothing.
    OutputSlopes {
        /// As above.
        early: bool,
        /// Who knows them: the FMU itself, or its directional derivatives.
        by: OutputSlopes,
        /// Whether they are asked for before the first step too.
        at_start: bool,
        /// How far inputs are away, as in [`InputCourse::Moved`].
        offset: f64,
    },
}

impl Experiment {
    /// Whether inputs are set before initialization mode as well as in it.
    pub fn sets_inputs_early(&self) -> bool {
        match self {
            Self::Start { early, .. }
            | Self::Reactions { early, .. }
            | Self::Steps { early, .. }
            | Self::ShorterSteps { early, .. }
            | Self::Linearization { early, .. }
            | Self::Rollback { early }
            | Self::OutputSlopes { early, .. } => *early,
        }
    }
}

/// What inputs do over a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum InputCourse {
    /// They keep their start values.
    Held,
    /// They keep other values: so far away, in units of their size.
    Moved(f64),
    /// They leave their start values with this power of time, given by their derivatives (2.0).
    Derivatives(usize),
    /// They leave their start values with time, asked for during intermediate update (3.0).
    Intermediate,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Outputs and states, one reading after the other.
    pub readings: Vec<Vec<f64>>,
    /// How many of the numbers of a reading are outputs.
    pub outputs: usize,
    /// Slopes of continuous outputs, one reading after the other, where they were asked for.
    pub slopes: Vec<Vec<f64>>,
    /// The FMU does not let its inputs be set before initialization mode.
    pub refused_early: bool,
    /// What reacts to what.
    pub reactions: Option<Reactions>,
}

impl Observation {
    /// Nothing yet, of a system with so many outputs.
    pub(crate) fn new(outputs: usize) -> Self {
        Self {
            outputs,
            ..Self::default()
        }
    }

    /// That an FMU does not let its inputs be set before initialization mode.
    pub(crate) fn refusal_of_early_inputs() -> Self {
        Self {
            refused_early: true,
            ..Self::default()
        }
    }

    /// Whether exactly the same was read, bit for bit.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let bits = |readings: &[Vec<f64>]| -> Vec<Vec<u64>> {
            let of_one = |reading: &Vec<f64>| reading.iter().map(|v| v.to_bits()).collect();
            readings.iter().map(of_one).collect()
        };
        self.outputs == other.outputs
            && self.refused_early == other.refused_early
            && bits(&self.readings) == bits(&other.readings)
    }

    /// Whether outputs differ between readings, the first two of them apart.
    pub(crate) fn outputs_move_after_first_step(&self) -> bool {
        let outputs = |reading: usize| &self.readings[reading][..self.outputs];
        (2..self.readings.len()).any(|at| differ(outputs(at - 1), outputs(at)))
    }
}

/// How a fresh instance started under the start values of its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Whether inputs were set before initialization mode as well as in it.
    pub early: bool,
    /// What was seen.
    pub seen: Observation,
}

/// Why nothing was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum ExperimentFailure {
    /// The FMU said no.
    #[error("{0}")]
    Refused(String),
    /// There is no instance.
    #[error("{0}")]
    NoInstance(String),
    /// It crashed, or ended its process: nothing more can be done where that happened.
    #[error("{0}")]
    Crashed(String),
    /// It did not answer.
    #[error("{0}")]
    Silent(String),
}

impl ExperimentFailure {
    /// It does not do what it was asked for, for this reason.
    pub(crate) fn refused(reason: &str) -> Self {
        Self::Refused(reason.to_owned())
    }

    /// Whether nothing was answered in time.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::Silent(_))
    }
}

impl From<CallError> for ExperimentFailure {
    fn from(error: CallError) -> Self {
        let text = error.to_string();
        match error {
            CallError::Crashed { .. } | CallError::Dead { .. } => Self::Crashed(text),
            CallError::NotInstantiated { .. } => Self::NoInstance(text),
            _ => Self::Refused(text),
        }
    }
}

impl From<Error> for ExperimentFailure {
    /// What an FMU itself says of a failure, without our frame.
    fn from(error: Error) -> Self {
        let Error::System { reason, .. } = error else {
            return Self::Refused(error.to_string());
        };
        let crashed = matches!(
            reason.downcast_ref(),
            Some(CallError::Crashed { .. } | CallError::Dead { .. })
        );

        if crashed {
            Self::Crashed(reason.to_string())
        } else {
            Self::Refused(reason.to_string())
        }
    }
}
