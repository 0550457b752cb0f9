//! The coupled model to be enclosed: one graph of expressions, a part of it for every system.

use std::sync::Arc;

use dovetail_core::{Connections, list_names};
use dovetail_equations::{
    Definition, Evaluator, Graph, NodeId, Program, Shape, Switch, compose, shapes,
};

use crate::disturbance::{self, DisturbedModel};
use crate::interval::Interval;
use crate::loops::{self, Eliminated, Loops};
use crate::observed::{Expression, ObservedPart, ObservedRoots};
use crate::refusal::ProblemError;
use crate::rounding::MOST_TERMS;
use crate::system_part::{ProblemPart, SystemPart};

/// States and uncertain parameters that a model may have: forms have several numbers for each.
const MOST_STATES: usize = MOST_TERMS / 8;

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
        Self {
            states: points(&definition.states),
            parameters: points(&definition.parameters),
        }
    }
}

/// An input that may be anything in a range at every instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbance {
    /// The input, by its position among all.
    pub input: usize,
    /// The range.
    pub range: Interval,
}

/// What a problem may have beside systems, boxes and connections.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// Inputs that are disturbances, whatever feeds them else.
    pub disturbances: Vec<Disturbance>,
    /// Parameters (by their positions among all) that are one number, although nobody knows which.
    pub shared: Vec<Vec<usize>>,
    /// Expressions whose bounds are asked for.
    pub expressions: Vec<Expression>,
    /// Conditions whose margins are asked for: see [`Requirement`](crate::Requirement).
    pub conditions: Vec<Expression>,
    /// Times at which steps have to end.
    pub marks: Vec<f64>,
}

/// A coupled model with its initial boxes and uncertain parameters.
///
/// What feeds an input is substituted for it, so that a system's derivatives depend on its own
/// states and on those states of its neighbors that it is coupled to.
#[derive(Clone, Debug)]
pub struct Problem {
    /// All expressions.
    pub(crate) graph: Graph,
    /// Each system's states and their derivatives; the unknowns of nonlinear loops, if there are,
    /// are one system more.
    pub(crate) systems: Vec<SystemPart>,
    /// The name of each state of the model, with its system.
    pub(crate) names: Vec<String>,
    /// The states of the model at the start.
    pub(crate) start: Vec<Interval>,
    pub(crate) parameters: Vec<Interval>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) start_time: f64,
    pub(crate) stop_time: f64,
    /// For each parameter whether it may change at any instant.
    pub(crate) disturbed: Vec<bool>,
    /// For each parameter the first one that is the same number.
    pub(crate) same_as: Vec<usize>,
    /// What is computed beside the states.
    pub(crate) observed: Option<ObservedPart>,
    /// Times at which steps end.
    pub(crate) marks: Vec<f64>,
    /// Nonlinear loops.
    pub(crate) loops: Option<Loops>,
    /// Whether every derivative is affine in the states, with coefficients that depend on
    /// parameters and switches only.
    pub(crate) affine: bool,
}

/// States that are set anew are not followed, nor is what is delayed.
fn refuse_events(definitions: &[Definition]) -> Result<(), ProblemError> {
    for definition in definitions {
        if let Some(when) = definition.model.whens.first() {
            return Err(ProblemError::Events {
                system: definition.name.clone(),
                condition: when.text.clone(),
            });
        }
        if let Some(delay) = definition.model.delays.first() {
            return Err(ProblemError::Delay {
                system: definition.name.clone(),
                input: definition.model.inputs[delay.input].clone(),
            });
        }
    }
    Ok(())
}

impl Problem {
    /// Couples the systems, each with its boxes, from `start_time` to `stop_time`.
    pub fn new(
        definitions: &[Definition],
        boxes: &[Boxes],
        connections: &Connections,
        times: (f64, f64),
    ) -> Result<Self, ProblemError> {
        Self::with(
            definitions,
            boxes,
            connections,
            times,
            &Additions::default(),
        )
    }

    /// The same, with disturbances, shared parameters and questions.
    pub fn with(
        definitions: &[Definition],
        boxes: &[Boxes],
        connections: &Connections,
        (start_time, stop_time): (f64, f64),
        additions: &Additions,
    ) -> Result<Self, ProblemError> {
        refuse_events(definitions)?;
        let disturbed = DisturbedModel::new(definitions, boxes, connections, additions)?;
        let (definitions, boxes) = (&disturbed.definitions, &disturbed.boxes);
        let mut coupled = compose(definitions, &disturbed.connections)?;
        let observed =
            ObservedRoots::insert(&mut coupled, &additions.expressions, &additions.conditions)?;
        let start = stacked(boxes, |boxes| &boxes.states);
        let parameters = stacked(boxes, |boxes| &boxes.parameters);
        let switches = coupled.switches.clone();
        let eliminated =
            loops::eliminate(coupled, &observed.roots, &start, &parameters, start_time)?;
        refuse_large(eliminated.derivatives.len() + parameters.len())?;
        let moving = disturbed.parameters(parameters.len());
        disturbance::refuse_in_loops(&eliminated, &moving)?;
        let asked = !observed.roots.is_empty();

        Ok(Self {
            systems: system_parts(definitions, &eliminated),
            affine: is_affine(&eliminated),
            observed: asked.then(|| observed.compile(&eliminated.graph, &eliminated.observed)),
            same_as: first_of_each(parameters.len(), &additions.shared),
            disturbed: moving,
            marks: additions.marks.clone(),
            graph: eliminated.graph,
            names: definitions.iter().flat_map(state_names).collect(),
            start,
            parameters,
            switches,
            start_time,
            stop_time,
            loops: eliminated.loops,
        })
    }

    /// The name of each state, with its system: the order of all boxes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the expressions whose bounds are asked for: after the states in every row.
    pub fn expression_names(&self) -> &[String] {
        let observed = self.observed.as_ref();
        observed.map_or(&[], |observed| &observed.names)
    }

    /// Whether anything may change at any instant.
    pub fn is_disturbed(&self) -> bool {
        self.disturbed.contains(&true)
    }

    /// The name of each system of the model.
    pub fn system_names(&self) -> impl Iterator<Item = &str> {
        let systems = self.systems[..self.model_systems()].iter();
        systems.map(|system| system.name.as_str())
    }

    /// The states at the start.
    pub fn start(&self) -> &[Interval] {
        &self.start
    }

    /// How many states there are, with the unknowns of nonlinear loops.
    pub(crate) fn dimension(&self) -> usize {
        self.names.len() + self.unknowns().len()
    }

    /// What each system of the model costs, against the others: the operations of its derivatives.
    pub fn costs(&self) -> Vec<f64> {
        let systems = self.systems[..self.model_systems()].iter();
        let length = |system: &SystemPart| system.program.body_length() as f64;
        systems.map(length).collect()
    }

    /// How many systems the model has; unknowns of loops are one more.
    pub(crate) fn model_systems(&self) -> usize {
        self.systems.len() - usize::from(self.loops.is_some())
    }

    /// These systems, with what all share.
    pub(crate) fn part(&self, systems: impl IntoIterator<Item = usize>) -> ProblemPart {
        let systems = systems.into_iter();
        ProblemPart {
            dimension: self.dimension(),
            affine: self.affine,
            start_time: self.start_time,
            start: self.start.clone(),
            parameters: self.parameters.clone(),
            systems: systems.map(|system| self.systems[system].clone()).collect(),
        }
    }

    /// The name of a state or of an unknown.
    pub(crate) fn name(&self, state: usize) -> &str {
        let unknown = || &self.unknowns()[state - self.names.len()];
        self.names.get(state).unwrap_or_else(unknown)
    }

    /// The names of the unknowns of nonlinear loops.
    pub(crate) fn unknowns(&self) -> &[String] {
        self.loops.as_ref().map_or(&[], |loops| &loops.unknowns)
    }

    /// How long the run is.
    pub(crate) fn duration(&self) -> f64 {
        self.stop_time - self.start_time
    }

    /// Whether any parameter is uncertain.
    pub(crate) fn has_uncertain_parameters(&self) -> bool {
        self.parameters.iter().any(|range| !range.is_point())
    }

    /// The same problem from other boxes, up to another time.
    pub(crate) fn narrowed(
        &self,
        start: Vec<Interval>,
        parameters: Vec<Interval>,
        stop_time: f64,
    ) -> Self {
        Self {
            start,
            parameters,
            stop_time,
            ..self.clone()
        }
    }

    /// The first time after `time` at which a step has to end.
    pub(crate) fn next_mark(&self, time: f64) -> f64 {
        let later = self.marks.iter().copied().filter(|&mark| mark > time);
        later.fold(f64::INFINITY, f64::min)
    }

    /// When each switch changes, as an interval, and what it is before.
    pub(crate) fn thresholds(&self) -> Vec<Threshold> {
        let roots: Vec<NodeId> = self
            .switches
            .iter()
            .flat_map(|switch| [switch.slope, switch.offset])
            .collect();
        let program = Arc::new(Program::compile(&self.graph, &roots));
        let lines = Evaluator::new(program, &Interval::ZERO, &self.parameters).results();
        let lines = lines.chunks_exact(2).zip(&self.switches);

        lines
            .map(|(line, switch)| Threshold::new(line[0], line[1], switch.inclusive))
            .collect()
    }
}

/// For each parameter the first one that is the same number.
fn first_of_each(count: usize, shared: &[Vec<usize>]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..count).collect();
    for group in shared {
        let representative = group.iter().copied().min().unwrap_or(0);
        for &member in group {
            first[member] = representative;
        }
    }
    first
}

/// One kind of boxes of all systems.
fn stacked(boxes: &[Boxes], kind: fn(&Boxes) -> &Vec<Interval>) -> Vec<Interval> {
    boxes.iter().flat_map(kind).copied().collect()
}

/// The names of a system's states, with its own.
fn state_names(definition: &Definition) -> impl Iterator<Item = String> {
    let states = definition.model.states.iter();
    states.map(|state| format!("{}.{state}", definition.name))
}

/// Each system with its states among all; the unknowns of loops are one system more.
fn system_parts(definitions: &[Definition], eliminated: &Eliminated) -> Vec<SystemPart> {
    let models = definitions
        .iter()
        .map(|d| (d.name.clone(), d.model.states.len()));
    let unknowns = eliminated.loops.iter();
    let unknowns = unknowns.map(|loops| (list_names(&loops.unknowns), loops.unknowns.len()));
    let mut first = 0;
    let part = |(index, (name, count)): (usize, (String, usize))| {
        let states = first..first + count;
        first = states.end;
        let (graph, derivatives) = (&eliminated.graph, &eliminated.derivatives);
        SystemPart::new((index, name), states, graph, derivatives)
    };

    models.chain(unknowns).enumerate().map(part).collect()
}

fn refuse_large(states: usize) -> Result<(), ProblemError> {
    if states > MOST_STATES {
        return Err(ProblemError::TooLarge {
            states,
            most: MOST_STATES,
        });
    }
    Ok(())
}

fn points(values: &[f64]) -> Vec<Interval> {
    values.iter().copied().map(Interval::point).collect()
}

fn is_affine(eliminated: &Eliminated) -> bool {
    let shapes = shapes(&eliminated.graph);
    let mut roots = eliminated.derivatives.iter();
    roots.all(|root| shapes[root.index()] <= Shape::Affine)
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
        if slope.lo > 0.0 {
            Self::changing(-offset / slope, Interval::ONE, Interval::ZERO)
        } else if slope.hi < 0.0 {
            Self::changing(-offset / slope, Interval::ZERO, Interval::ONE)
        } else if slope != Interval::ZERO {
            Self::constant(Interval::new(0.0, 1.0))
        } else {
            Self::constant(is_negative(offset, inclusive))
        }
    }

    fn changing(time: Interval, before: Interval, after: Interval) -> Self {
        Self {
            time,
            before,
            after,
        }
    }

    /// A condition that never changes.
    fn constant(value: Interval) -> Self {
        Self::changing(Interval::point(f64::MAX), value, value)
    }

    /// The condition throughout `from..to`, where no threshold lies strictly between or the answer
    /// is both.
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

/// Whether `offset < 0`, or `offset ≤ 0` if it is inclusive, as a truth value.
fn is_negative(offset: Interval, inclusive: bool) -> Interval {
    if offset.hi < 0.0 || (inclusive && offset.hi == 0.0) {
        Interval::ONE
    } else if offset.lo > 0.0 || (!inclusive && offset.lo == 0.0) {
        Interval::ZERO
    } else {
        Interval::new(0.0, 1.0)
    }
}
