//! What the work of single systems needs to know of a problem: what another process is sent.

use std::ops::Range;
use std::sync::Arc;

use dovetail_equations::{Graph, Leaf, NodeId, Program, leaves};
use serde::{Deserialize, Serialize};

use crate::interval::Interval;

/// One system of a coupled model: its derivatives, as functions of its own states and of those
/// states of others that it is coupled to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SystemPart {
    pub name: String,
    /// Its position among all systems.
    pub index: usize,
    /// Its states among all.
    pub states: Range<usize>,
    /// The states of other systems that its derivatives depend on.
    pub foreign: Vec<usize>,
    /// The parameters that its derivatives depend on, in the order in which they appear.
    pub parameters: Vec<usize>,
    /// The derivatives of its states; its leaves are the states of all.
    pub program: Arc<Program>,
}

impl SystemPart {
    /// The system whose states are `states`, with these derivatives.
    pub fn new(
        (index, name): (usize, String),
        states: Range<usize>,
        graph: &Graph,
        derivatives: &[NodeId],
    ) -> Self {
        let roots = &derivatives[states.clone()];
        let mut foreign = Vec::new();
        let mut parameters = Vec::new();

        for leaf in roots.iter().flat_map(|&root| leaves(graph, root)) {
            match leaf {
                Leaf::State(index) if !states.contains(&(index as usize)) => {
                    foreign.push(index as usize);
                }
                Leaf::Parameter(index) if !parameters.contains(&(index as usize)) => {
                    parameters.push(index as usize);
                }
                _ => {}
            }
        }
        foreign.sort_unstable();
        foreign.dedup();

        Self {
            name,
            index,
            states,
            foreign,
            parameters,
            program: Arc::new(Program::compile(graph, roots)),
        }
    }
}

/// Some systems of a problem, with what all systems share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProblemPart {
    /// How many states all systems have, with the unknowns of nonlinear loops.
    pub dimension: usize,
    /// Whether every derivative of the problem is affine in the states.
    pub affine: bool,
    pub start_time: f64,
    /// The states of the model at the start.
    pub start: Vec<Interval>,
    pub parameters: Vec<Interval>,
    pub systems: Vec<SystemPart>,
}

impl ProblemPart {
    /// How many states its own systems have.
    pub fn own_states(&self) -> usize {
        self.systems.iter().map(|system| system.states.len()).sum()
    }

    /// What its systems have of something that all systems have.
    pub fn pick<T: Clone>(&self, of_all: &[T]) -> Vec<T> {
        let systems = self.systems.iter();
        systems.map(|system| of_all[system.index].clone()).collect()
    }

    /// The states that its systems have or depend on.
    pub fn known_states(&self) -> Vec<usize> {
        let systems = self.systems.iter();
        let mut known: Vec<usize> = systems
            .flat_map(|system| system.states.clone().chain(system.foreign.iter().copied()))
            .collect();
        known.sort_unstable();
        known.dedup();
        known
    }
}
