//! What all systems do at the same time, and what comes of it.

use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::system_part::SystemPart;

/// What all systems do at the same time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Job {
    /// Find the Picard box while the inputs are in the boxes of the shared step.
    Picard,
    /// Compute the Taylor coefficient that follows the one in the shared step, of which `capacity`
    /// are wanted.
    Coefficient { capacity: usize },
    /// Integrate over the step.
    Advance,
    /// Keep what the integration gave.
    Accept,
}

/// What a system reports of its job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// The Picard box found, or the state for which none was, among those of the system.
    Picard(Result<Vec<Interval>, usize>),
    /// The Taylor coefficient found.
    Coefficient(Vec<Interval>),
    /// Whether the step could be integrated.
    Arrived(bool),
    /// Each state at the end of the step, with its divided differences of order 1 and higher.
    Accepted(Vec<StateReport>),
}

/// What a system lets others know of one of its states.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StateReport {
    pub range: Interval,
    pub differences: Vec<Interval>,
}

impl Report {
    /// Nothing is known, which is always true.
    pub fn unknown(job: Job, system: &SystemPart) -> Self {
        let states = system.states.len();
        match job {
            Job::Picard => Self::Picard(Err(0)),
            Job::Coefficient { .. } => Self::Coefficient(vec![Interval::ENTIRE; states]),
            Job::Advance => Self::Arrived(false),
            Job::Accept => {
                let unknown = StateReport {
                    range: Interval::ENTIRE,
                    differences: Vec::new(),
                };
                Self::Accepted(vec![unknown; states])
            }
        }
    }
}
