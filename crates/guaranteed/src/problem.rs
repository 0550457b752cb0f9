//! The coupled model to be enclosed: one graph of expressions, a part of it for every system.

use std::ops::Range;
use std::sync::Arc;

use dovetail_core::Connections;
use dovetail_equations::{
    Definition, Evaluator, Graph, NodeId, NotComposable, Program, Shape, Switch, compose, shapes,
};

use crate::interval::Interval;
use crate::loops::{self, Loops};
use crate::rounding::MOST_TERMS;

/// Why a model cannot be enclosed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The systems cannot be coupled symbolically.
    #[error(transparent)]
    NotComposable(#[from] NotComposable),
    /// There are more states than bounds are computed for.
    #[error("the model has {states} states; bounds are computed for up to {most}")]
    TooLarge {
        /// How many it has.
        states: usize,
        /// How many it may have.
        most: usize,
    },
    /// A loop through feedthrough jumps.
    #[error(
        "the loop of {variables} has a jump or a condition in it (sign, floor, ceil, mod, atan2, a comparison): where its \
         unknowns jump nothing can be proved; write it with min, max or abs, or with a condition on time"
    )]
    JumpingLoop {
        /// The variables on the loop.
        variables: String,
    },
    /// A loop through feedthrough is singular.
    #[error(
        "the loop of {variables} has no unique solution at the start, so that nothing can be proved about it"
    )]
    SingularLoop {
        /// The variables on the loop.
        variables: String,
    },
}

/// The boxes of a system: what is known of it at the start.
#[derive(Clone, Debug)]
pub struct Boxes {
    /// Its states at the start.
    pub states: Vec<Interval>,
    /// Its parameters, constant but uncertain.
    pub parameters: Vec<Interval>,
}

impl Boxes {
    /// The numbers of a definition, taken as exact.
    pub fn points(definition: &Definition) -> Self {
        let points = |values: &[f64]| values.iter().map(|&v| Interval::point(v)).collect();
        Self {
            states: points(&definition.states),
            parameters: points(&definition.parameters),
        }
    }
}

/// A coupled model with its initial boxes and uncertain parameters.
///
/// What feeds an input is substituted for it, so that a system's derivatives depend on its own states and on those states
/// of its neighbours that it is coupled to.
#[derive(Clone, Debug)]
pub struct Problem {
    /// All expressions.
    pub(crate) graph: Graph,
    /// The derivatives of each system's states as a program; its leaves are the states of all.
    pub(crate) programs: Vec<Arc<Program>>,
    /// The derivative of each state; beyond the model's states, those of unknowns of nonlinear loops.
    pub(crate) derivatives: Vec<NodeId>,
    /// The states of each system; the unknowns of loops, if there are, are one system more.
    pub(crate) systems: Vec<Range<usize>>,
    /// The name of each state of the model, with its system.
    pub(crate) names: Vec<String>,
    /// The states of the model at the start.
    pub(crate) start: Vec<Interval>,
    pub(crate) parameters: Vec<Interval>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) start_time: f64,
    pub(crate) stop_time: f64,
    /// Nonlinear loops.
    pub(crate) loops: Option<Loops>,
    /// Whether every derivative is affine in the states, with coefficients that depend on parameters and switches only.
    pub(crate) affine: bool,
}

impl Problem {
    /// Couples the systems, each with its boxes, from `start_time` to `stop_time`.
    pub fn new(
        definitions: &[Definition],
        boxes: &[Boxes],
        connections: &Connections,
        (start_time, stop_time): (f64, f64),
    ) -> Result<Self, Refusal> {
        let coupled = compose(definitions, connections)?;
        let names = definitions.iter().flat_map(|d| {
            d.model
                .states
                .iter()
                .map(|state| format!("{}.{state}", d.name))
        });
        let names: Vec<String> = names.collect();
        let mut systems: Vec<Range<usize>> = Vec::new();
        for definition in definitions {
            let first = systems.last().map_or(0, |range| range.end);
            systems.push(first..first + definition.model.states.len());
        }
        let parameters: Vec<Interval> = boxes
            .iter()
            .flat_map(|b| b.parameters.iter().copied())
            .collect();
        let start: Vec<Interval> = boxes
            .iter()
            .flat_map(|b| b.states.iter().copied())
            .collect();
        let switches = coupled.switches.clone();
        let closed = loops::close(coupled, &start, &parameters, start_time)?;
        if let Some(loops) = &closed.loops {
            systems.push(names.len()..names.len() + loops.unknowns.len());
        }
        let (states, most) = (closed.derivatives.len() + parameters.len(), MOST_TERMS / 8);
        if states > most {
            return Err(Refusal::TooLarge { states, most });
        }
        let shapes = shapes(&closed.graph);
        let affine = closed
            .derivatives
            .iter()
            .all(|root| shapes[root.index()] <= Shape::Affine);
        let program = |states: &Range<usize>| {
            Program::compile(&closed.graph, &closed.derivatives[states.clone()])
        };
        let programs = systems
            .iter()
            .map(|states| Arc::new(program(states)))
            .collect();
        Ok(Self {
            programs,
            graph: closed.graph,
            derivatives: closed.derivatives,
            systems,
            names,
            start,
            parameters,
            switches,
            start_time,
            stop_time,
            loops: closed.loops,
            affine,
        })
    }

    /// The name of each state, with its system: the order of all boxes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The states at the start.
    pub fn start(&self) -> &[Interval] {
        &self.start
    }

    /// How many states there are, with the unknowns of nonlinear loops.
    pub(crate) fn dimension(&self) -> usize {
        self.derivatives.len()
    }

    /// The name of a state or of an unknown.
    pub(crate) fn name(&self, state: usize) -> &str {
        match &self.loops {
            Some(loops) if state >= self.names.len() => &loops.unknowns[state - self.names.len()],
            _ => &self.names[state],
        }
    }

    /// The derivatives of one system's states.
    pub(crate) fn program(&self, system: usize) -> Arc<Program> {
        Arc::clone(&self.programs[system])
    }

    /// When each switch changes, as an interval, and what it is before.
    pub(crate) fn thresholds(&self) -> Vec<Threshold> {
        let roots: Vec<NodeId> = self
            .switches
            .iter()
            .flat_map(|switch| [switch.slope, switch.offset])
            .collect();
        let program = Arc::new(Program::compile(&self.graph, &roots));
        let mut lines = vec![Interval::ZERO; roots.len()];
        Evaluator::new(program, &Interval::ZERO, &self.parameters).run(&mut lines);
        let lines = lines.chunks_exact(2).zip(&self.switches);
        lines
            .map(|(line, switch)| Threshold::new(line[0], line[1], switch.inclusive))
            .collect()
    }
}

/// A switch that changes somewhere within `time`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// When; empty of meaning where the condition never changes.
    pub time: Interval,
    /// What the condition is before and after, 1 or 0 or, where the parameters leave it open, both.
    pub before: Interval,
    pub after: Interval,
}

impl Threshold {
    /// The condition `slope · t + offset < 0`.
    fn new(slope: Interval, offset: Interval, inclusive: bool) -> Self {
        let undecided = Interval::new(0.0, 1.0);
        let never = Interval::point(f64::MAX);
        let constant = |value: Interval| Self {
            time: never,
            before: value,
            after: value,
        };
        if slope.lo > 0.0 {
            return Self {
                time: -offset / slope,
                before: Interval::ONE,
                after: Interval::ZERO,
            };
        }
        if slope.hi < 0.0 {
            return Self {
                time: -offset / slope,
                before: Interval::ZERO,
                after: Interval::ONE,
            };
        }
        if slope != Interval::ZERO {
            return constant(undecided);
        }
        if offset.hi < 0.0 || (inclusive && offset.hi == 0.0) {
            return constant(Interval::ONE);
        }
        if offset.lo > 0.0 || (!inclusive && offset.lo == 0.0) {
            return constant(Interval::ZERO);
        }
        constant(undecided)
    }

    /// The condition throughout `from..to`, where no threshold lies strictly between or the answer is both.
    pub fn throughout(&self, from: f64, to: f64) -> Interval {
        if to <= self.time.lo {
            self.before
        } else if from >= self.time.hi {
            self.after
        } else {
            self.before.hull(self.after)
        }
    }
}
