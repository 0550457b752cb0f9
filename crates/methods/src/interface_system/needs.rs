//! What methods that solve for the whole interface need of systems, and what they say when it cannot be solved.

use dovetail_core::{Connections, Error, StepRule};

use super::Unsolved;
use crate::coupling::Coupling;
use crate::imposed_steps::check_imposed_steps;
use crate::initialization::algebraic_loops;
use crate::registry::context::Context;
use crate::registry::refusal::Refusal;

/// Checks that every system can be linearised and takes the steps of the grid, or, where steps are chosen, steps of any size.
pub(crate) fn check_needs(
    name: &'static str,
    context: &Context<'_>,
    chooses_steps: bool,
) -> Result<(), Refusal> {
    for (interface, capabilities) in context.systems() {
        let missing =
            |need: &str, instead: &str| Error::missing(name, &interface.name, need, instead);
        if !capabilities.linearize {
            let instead = "ifosmondi needs rollback instead, f3ornits nothing";
            return Err(missing("a linearisation", instead).into());
        }
        if let (StepRule::Imposed(size), true) = (capabilities.step_rule, chooses_steps) {
            let instead =
                format!("with a fixed --step that is a multiple of {size} s it can take part");
            return Err(missing("steps of any size, to choose them", &instead).into());
        }
    }
    if chooses_steps {
        Ok(())
    } else {
        check_imposed_steps(name, context)
    }
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
