//! When the interface of a step cannot be solved, and what is said then.

use dovetail_core::{Error, Outcome};
use dovetail_numerics::{Pole, SingularMatrix};

use crate::coupling::Coupling;
use crate::initialization::algebraic_loops;

/// Why a step cannot be solved.
pub(crate) enum Unsolved {
    /// The matrix is singular.
    Singular,
    /// An operator cannot be evaluated for this step.
    Pole { system: usize, pole: Pole },
    /// A worker could not be asked for its operators: a shorter step is of no use.
    Failed(Error),
}

impl From<Error> for Unsolved {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<SingularMatrix> for Unsolved {
    fn from(_: SingularMatrix) -> Self {
        Self::Singular
    }
}

/// The interface of a step has no solution, although no loop is there that could be singular.
#[derive(Debug, thiserror::Error)]
#[error(
    "what it is coupled to cannot be predicted any more, however short the step: \
     values grow beyond all bounds, or the linearization fails"
)]
struct Unpredictable;

impl Unsolved {
    /// The step of the coupling is rejected where the next one is shorter; else the run ends.
    pub fn reject_or_fail<'a>(
        self,
        shortened: bool,
        coupling: &Coupling<'_>,
    ) -> Result<Outcome<'a>, Error> {
        let step = coupling.step;
        if shortened && !matches!(self, Self::Failed(_)) {
            Ok(Outcome::Rejected(step))
        } else {
            Err(self.into_error(coupling, step.start))
        }
    }

    /// What the user is told where the step cannot be shortened any more.
    pub fn into_error(self, coupling: &Coupling<'_>, time: f64) -> Error {
        let name = |system: usize| &coupling.connections.interfaces()[system].name;
        match self {
            Self::Failed(error) => error,
            Self::Pole { system, pole } => Error::system(name(system), time, pole),
            Self::Singular => {
                let variables = looped_outputs(coupling);
                match coupling.variables.first() {
                    Some(first) if variables.is_empty() => {
                        Error::system(name(first.system), time, Unpredictable)
                    }
                    _ => Error::SingularLoop { variables, time },
                }
            }
        }
    }
}

/// The names of all outputs that are part of an algebraic loop.
fn looped_outputs(coupling: &Coupling<'_>) -> Vec<String> {
    let connections = coupling.connections;
    let loops = algebraic_loops(connections).concat();
    loops
        .into_iter()
        .map(|output| connections.output_name(output))
        .collect()
}
