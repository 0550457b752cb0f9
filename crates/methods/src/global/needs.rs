//! What methods that solve for the whole interface need of systems, and what they say when it cannot be solved.

use dovetail_core::{Capabilities, Connections, Error, Grid, StepRule};

use super::Unsolved;
use crate::algebraic_loops;
use crate::coupling::Coupling;
use crate::jacobi::check_imposed_steps;

/// Checks that every system can be linearised and takes the steps of `grid`, or, without one, steps of any size.
pub(crate) fn check_needs(
    name: &'static str,
    grid: Option<&Grid>,
    connections: &Connections,
    all: &[Capabilities],
) -> Result<(), Error> {
    for (interface, capabilities) in connections.interfaces().iter().zip(all) {
        let missing =
            |need: &str, instead: &str| Error::missing(name, &interface.name, need, instead);
        if !capabilities.linearize {
            return Err(missing(
                "a linearisation",
                "ifosmondi needs rollback instead, f3ornits nothing",
            ));
        }
        if let (StepRule::Imposed(size), None) = (capabilities.step_rule, grid) {
            return Err(missing(
                "steps of any size, to choose them",
                &format!("with a fixed --step that is a multiple of {size} s it can take part"),
            ));
        }
    }
    grid.map_or(Ok(()), |grid| {
        check_imposed_steps(name, grid, connections, all)
    })
}

/// The interface of a step has no solution, although no loop is there that could be singular.
#[derive(Debug, thiserror::Error)]
#[error(
    "what it is coupled to cannot be predicted any more, however short the step: values grow beyond all bounds, or the linearisation fails"
)]
struct Unpredictable;

impl Unsolved {
    /// What the user is told where the step cannot be shortened any more.
    pub fn into_error(
        self,
        connections: &Connections,
        coupling: &Coupling<'_>,
        time: f64,
    ) -> Error {
        let system = |index: usize| connections.interfaces()[index].name.clone();
        match self {
            Self::Pole {
                system: index,
                pole,
            } => Error::System {
                system: system(index),
                time,
                reason: Box::new(pole),
            },
            Self::Singular => {
                let variables: Vec<String> = algebraic_loops(connections)
                    .concat()
                    .into_iter()
                    .map(|output| connections.output_name(output))
                    .collect();
                match coupling.variables.first() {
                    Some(first) if variables.is_empty() => Error::System {
                        system: system(first.system),
                        time,
                        reason: Box::new(Unpredictable),
                    },
                    _ => Error::SingularLoop { variables, time },
                }
            }
        }
    }
}
