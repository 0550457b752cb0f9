//! What is carried from step to step, and counted.

use dovetail_core::Connections;
use serde::{Deserialize, Serialize};

use super::tuning::MOST_UNKNOWN;

/// The step under way, and what the last ones have left.
#[derive(Serialize, Deserialize)]
pub(super) struct StepState {
    /// Corrections of the step under way.
    pub corrections: u64,
    /// What the step would have left in the states without them, in units of their ranges.
    pub corrected: f64,
    /// Whether there was a look at the end of the step under way.
    pub looked: bool,
    /// By what part of a range the last prediction missed.
    pub missed: f64,
    /// Steps, one after the other, that could not be cut any more and missed.
    pub misses: u32,
    /// Whether Newton on the interface did not come to an end at the last step.
    pub disagrees: bool,
    /// The longest step for which the linearizations say something.
    pub trust: f64,
}

impl Default for StepState {
    fn default() -> Self {
        Self {
            corrections: 0,
            corrected: 0.0,
            looked: false,
            missed: 0.0,
            misses: 0,
            disagrees: false,
            trust: f64::INFINITY,
        }
    }
}

/// Counts of a run.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RunCounts {
    /// Steps that were refused before they were integrated, and after.
    pub refused_before: u64,
    pub refused_after: u64,
}

/// What is known of the error of the run.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ErrorKnowledge {
    /// First steps whose interpolation error is not known yet, and their sizes to the power with
    /// which that error grows.
    pub unknown: u32,
    pub unmeasured: f64,
    /// Why the error of the run is not known any more, where that is so.
    pub doubt: Option<Doubt>,
    /// Whether the estimate became too large to be added to the results.
    pub uncorrected: bool,
}

/// Why the error of a run is not known.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum Doubt {
    /// Too many first steps, whose interpolation error is not known.
    FirstSteps,
    /// An event that might as well not have happened.
    Grazed,
    /// Something seems to have switched unseen, in this system.
    Unseen(usize),
    /// A system remembers errors of the past.
    Delayed,
    /// An event within a step, or one of which its system cannot tell what it makes of errors.
    Crossed,
}

impl Doubt {
    pub fn reason(self, connections: &Connections) -> String {
        match self {
            Self::FirstSteps => "too few steps follow one another without an event".to_owned(),
            Self::Grazed => "an event was grazed rather than crossed".to_owned(),
            Self::Unseen(system) => {
                let name = &connections.interfaces()[system].name;
                format!("`{name}` seems to have switched within a step, without telling of it")
            }
            Self::Delayed => {
                "a system delays an input, and with it the errors of the past".to_owned()
            }
            Self::Crossed => {
                "there were events of which systems cannot tell what they make of errors".to_owned()
            }
        }
    }
}

impl ErrorKnowledge {
    /// At the start of a run of these systems.
    pub fn of(connections: &Connections) -> Self {
        let interfaces = connections.interfaces().iter();
        let mut inputs = interfaces.flat_map(|interface| &interface.inputs);
        let delays = inputs.any(|input| input.delayed);
        Self {
            doubt: delays.then_some(Doubt::Delayed),
            ..Self::default()
        }
    }

    /// From here on the error is not known. The first reason counts.
    pub fn doubt(&mut self, reason: Doubt) {
        self.doubt.get_or_insert(reason);
    }

    /// How many times the interpolation error of a step counts. That of a first step may not be
    /// known: it is that of the next, but for their sizes. `grown` is the size to the power with
    /// which the error grows; a step that is not `judged` needs another one to follow.
    pub fn count(&mut self, known: bool, judged: bool, grown: f64) -> f64 {
        let times = if known {
            self.unknown = u32::from(!judged);
            1.0 + std::mem::take(&mut self.unmeasured) / grown
        } else {
            self.unknown += 1;
            self.unmeasured += grown;
            0.0
        };
        // One step can stand for a few others, not for a run in which every step begins at an
        // event.
        if self.unknown > MOST_UNKNOWN {
            self.doubt(Doubt::FirstSteps);
        }
        times
    }
}
