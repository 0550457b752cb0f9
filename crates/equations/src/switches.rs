//! Conditions on time alone, which change at instants that parameters decide.
//!
//! A comparison is such a switch when its sides depend on time and parameters only and their
//! difference is affine in time, `slope · t + offset`, with a slope free of time. An integrator
//! stops at the instant instead of losing steps at it; between instants the condition is a
//! constant.

use std::collections::HashMap;

use crate::graph::{Graph, Leaf, LeafKinds, Node, NodeId};
use crate::operation::{Binary, Unary};

/// The condition `slope · t + offset < 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Switch {
    /// The factor of time, an expression of parameters.
    pub slope: NodeId,
    /// The rest, an expression of parameters.
    pub offset: NodeId,
    /// Whether the condition holds at equality. Matters only where the slope is 0.
    pub inclusive: bool,
}

/// A switch whose parameters are known: `before` while `t < time`, its opposite from there on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// When the condition changes; infinite if it never does.
    pub time: f64,
    /// What it is until then.
    pub before: bool,
}

impl Threshold {
    /// The threshold of a switch with these values of slope and offset.
    pub fn new(slope: f64, offset: f64, inclusive: bool) -> Self {
        let time = -offset / slope + 0.0; // + 0.0: no negative zero
        if slope == 0.0 || time.is_nan() {
            let before = offset < 0.0 || (inclusive && offset == 0.0);
            return Self {
                time: f64::INFINITY,
                before,
            };
        }

        Self {
            time,
            before: slope > 0.0,
        }
    }

    /// The condition at `time`, and until the next threshold.
    pub fn holds_at(&self, time: f64) -> bool {
        (time < self.time) == self.before
    }

    /// The condition at `time` as a number, 1 or 0.
    pub(crate) fn value_at(&self, time: f64) -> f64 {
        f64::from(u8::from(self.holds_at(time)))
    }
}

/// Slope and offset of each switch, in turn.
pub(crate) fn switch_roots(switches: &[Switch]) -> Vec<NodeId> {
    let roots = switches
        .iter()
        .flat_map(|switch| [switch.slope, switch.offset]);
    roots.collect()
}

/// The thresholds of switches, from the values of their [`switch_roots`].
pub(crate) fn thresholds(switches: &[Switch], values: &[f64]) -> Vec<Threshold> {
    let lines = switches.iter().zip(values.chunks_exact(2));
    lines.map(|(switch, line)| switch.threshold(line)).collect()
}

impl Switch {
    /// From the values of its slope and offset.
    fn threshold(&self, line: &[f64]) -> Threshold {
        Threshold::new(line[0], line[1], self.inclusive)
    }
}

/// The first switching time after `time`.
pub(crate) fn next_switch(thresholds: &[Threshold], time: f64) -> f64 {
    let later = thresholds.iter().map(|threshold| threshold.time);
    later
        .filter(|&threshold| threshold > time)
        .fold(f64::INFINITY, f64::min)
}

/// An expression as `slope · t + offset`.
#[derive(Debug, Clone, Copy)]
struct Affine {
    slope: NodeId,
    offset: NodeId,
}

impl Affine {
    fn switch(self, inclusive: bool) -> Switch {
        Switch {
            slope: self.slope,
            offset: self.offset,
            inclusive,
        }
    }
}

/// The switches found so far; equal ones are one.
#[derive(Debug, Clone, Default)]
pub struct Switches {
    list: Vec<Switch>,
    known: HashMap<Switch, u32>,
    forms: HashMap<NodeId, Option<Affine>>,
}

impl Switches {
    /// The switches, in the order of their leaves.
    pub fn list(&self) -> &[Switch] {
        &self.list
    }

    /// The comparison of two numbers, as a switch if it is one.
    pub fn comparison(
        &mut self,
        graph: &mut Graph,
        operation: Binary,
        left: NodeId,
        right: NodeId,
    ) -> NodeId {
        let ordered = matches!(operation, Binary::Less | Binary::LessEqual);
        match self.difference(graph, left, right).filter(|_| ordered) {
            Some(difference) => self.switch(graph, difference, operation == Binary::LessEqual),
            None => graph.binary(operation, left, right),
        }
    }

    /// The leaf of an equal switch, or of a new one.
    pub fn intern(&mut self, graph: &mut Graph, switch: Switch) -> NodeId {
        let next = self.list.len() as u32;
        let index = *self.known.entry(switch).or_insert(next);

        if index == next {
            self.list.push(switch);
        }
        graph.leaf(Leaf::Switch(index))
    }

    fn difference(&mut self, graph: &mut Graph, left: NodeId, right: NodeId) -> Option<Affine> {
        let kinds = graph.kinds(left) | graph.kinds(right);
        let timed = kinds.meets(LeafKinds::TIME);
        if !timed || !kinds.within(LeafKinds::TIME | LeafKinds::PARAMETERS) {
            return None;
        }

        let left = self.form(graph, left)?;
        let right = self.form(graph, right)?;
        Some(combine(graph, Binary::Subtract, left, right))
    }

    /// Slopes that are numbers are made positive, so that `t < 1` and `t >= 1` share a switch.
    fn switch(&mut self, graph: &mut Graph, form: Affine, inclusive: bool) -> NodeId {
        match graph.constant_value(form.slope) {
            Some(value) if value < 0.0 => {
                let opposite = negate(graph, form);
                let leaf = self.intern(graph, opposite.switch(false));
                graph.unary(Unary::Not, leaf)
            }
            Some(value) if value > 0.0 => self.intern(graph, form.switch(false)),
            _ => self.intern(graph, form.switch(inclusive)),
        }
    }

    /// The affine form of an expression of time and parameters.
    fn form(&mut self, graph: &mut Graph, root: NodeId) -> Option<Affine> {
        let mut pending = vec![root];
        while let Some(&id) = pending.last() {
            let unknown = |operand: &NodeId| !self.forms.contains_key(operand);
            let before = pending.len();
            if unknown(&id) && graph.kinds(id).meets(LeafKinds::TIME) {
                pending.extend(graph.node(id).operands().filter(unknown));
            }
            if pending.len() == before {
                pending.pop();
                let form = self.form_of_node(graph, id);
                self.forms.insert(id, form);
            }
        }
        self.forms[&root]
    }

    /// As `form`, for a node whose operands have theirs.
    fn form_of_node(&self, graph: &mut Graph, id: NodeId) -> Option<Affine> {
        let zero = graph.constant(0.0);
        if !graph.kinds(id).meets(LeafKinds::TIME) {
            return Some(Affine {
                slope: zero,
                offset: id,
            });
        }

        match graph.node(id) {
            Node::Leaf(_) => Some(Affine {
                slope: graph.constant(1.0),
                offset: zero,
            }),
            Node::Unary(Unary::Negate, a) => Some(negate(graph, self.forms[&a]?)),
            Node::Binary(operation, a, b) => self.form_of_binary(graph, operation, a, b),
            _ => None,
        }
    }

    fn form_of_binary(
        &self,
        graph: &mut Graph,
        operation: Binary,
        a: NodeId,
        b: NodeId,
    ) -> Option<Affine> {
        let left = self.forms[&a]?;
        let right = self.forms[&b]?;
        let timeless = |id: NodeId| !graph.kinds(id).meets(LeafKinds::TIME);

        match operation {
            Binary::Add | Binary::Subtract => Some(combine(graph, operation, left, right)),
            Binary::Multiply | Binary::Divide if timeless(b) => {
                Some(scale(graph, operation, left, b))
            }
            Binary::Multiply if timeless(a) => Some(scale(graph, operation, right, a)),
            _ => None,
        }
    }
}

fn negate(graph: &mut Graph, form: Affine) -> Affine {
    Affine {
        slope: graph.unary(Unary::Negate, form.slope),
        offset: graph.unary(Unary::Negate, form.offset),
    }
}

fn combine(graph: &mut Graph, operation: Binary, left: Affine, right: Affine) -> Affine {
    Affine {
        slope: graph.binary(operation, left.slope, right.slope),
        offset: graph.binary(operation, left.offset, right.offset),
    }
}

fn scale(graph: &mut Graph, operation: Binary, form: Affine, factor: NodeId) -> Affine {
    Affine {
        slope: graph.binary(operation, form.slope, factor),
        offset: graph.binary(operation, form.offset, factor),
    }
}
