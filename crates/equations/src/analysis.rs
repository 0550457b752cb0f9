//! What the structure of expressions shows without evaluating them.

use std::collections::HashSet;

use crate::graph::{Graph, Leaf, Node, NodeId};
use crate::operation::{Binary, Unary};

/// The variables that an expression depends on, each list sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Dependencies {
    pub parameters: Vec<usize>,
    /// Time, other than through switches.
    pub time: bool,
    pub switches: Vec<usize>,
    pub states: Vec<usize>,
    pub inputs: Vec<usize>,
    /// Inputs whose slope it depends on.
    pub slopes: Vec<usize>,
    pub unknowns: Vec<usize>,
}

impl Dependencies {
    fn insert(&mut self, leaf: Leaf) {
        match leaf {
            Leaf::Parameter(index) => self.parameters.push(index as usize),
            Leaf::Time => self.time = true,
            Leaf::Switch(index) => self.switches.push(index as usize),
            Leaf::State(index) => self.states.push(index as usize),
            Leaf::Input(index) => self.inputs.push(index as usize),
            Leaf::InputSlope(index) => self.slopes.push(index as usize),
            Leaf::Unknown(index) => self.unknowns.push(index as usize),
        }
    }
}

/// The leaves below `root`, in order.
pub fn leaves(graph: &Graph, root: NodeId) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut seen = HashSet::from([root]);
    let mut pending = vec![root];

    while let Some(id) = pending.pop() {
        let node = graph.node(id);
        leaves.extend(node.leaf());
        pending.extend(node.operands().filter(|&operand| seen.insert(operand)));
    }

    leaves.sort_unstable();
    leaves
}

/// What the expression at `root` depends on.
pub fn dependencies(graph: &Graph, root: NodeId) -> Dependencies {
    let mut dependencies = Dependencies::default();
    for leaf in leaves(graph, root) {
        dependencies.insert(leaf);
    }
    dependencies
}

/// How an expression depends on states, inputs, their slopes and unknowns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Not at all: constants, parameters and switches only.
    Constant,
    /// As a sum of products with such constants.
    Affine,
    /// In another way, or through time.
    Other,
}

/// The shape of every node of a graph.
pub fn shapes(graph: &Graph) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::with_capacity(graph.len());
    for &node in graph.nodes() {
        let shape = shape(node, |id| shapes[id.index()]);
        shapes.push(shape);
    }
    shapes
}

fn shape(node: Node, of: impl Fn(NodeId) -> Shape) -> Shape {
    let widest = || node.operands().map(&of).max().unwrap_or(Shape::Constant);
    let constant = |id| of(id) == Shape::Constant;
    let keeps = match node {
        Node::Constant(_) => true,
        Node::Leaf(leaf) => return leaf_shape(leaf),
        Node::Unary(operation, _) => operation == Unary::Negate,
        Node::Binary(Binary::Add | Binary::Subtract, ..) => true,
        Node::Binary(Binary::Multiply, a, b) => constant(a) || constant(b),
        Node::Binary(Binary::Divide, _, b) => constant(b),
        Node::Select(condition, ..) => constant(condition),
        Node::Binary(..) | Node::PowerInteger(..) => false,
    };

    match widest() {
        Shape::Affine if !keeps => Shape::Other,
        shape => shape,
    }
}

fn leaf_shape(leaf: Leaf) -> Shape {
    match leaf {
        Leaf::Parameter(_) | Leaf::Switch(_) => Shape::Constant,
        Leaf::Time => Shape::Other,
        _ => Shape::Affine,
    }
}

/// Whether all these expressions are affine.
pub(crate) fn all_affine<'r>(graph: &Graph, roots: impl IntoIterator<Item = &'r NodeId>) -> bool {
    let shapes = shapes(graph);
    let mut roots = roots.into_iter();
    roots.all(|root| shapes[root.index()] <= Shape::Affine)
}

/// Whether all these expressions are affine in one input, with all else kept.
pub(crate) fn affine_in_input<'r>(
    graph: &Graph,
    roots: impl IntoIterator<Item = &'r NodeId>,
    input: usize,
) -> bool {
    let mut shapes: Vec<Shape> = Vec::with_capacity(graph.len());
    for &node in graph.nodes() {
        let shape = match node {
            Node::Leaf(Leaf::Input(index)) if index as usize == input => Shape::Affine,
            Node::Leaf(Leaf::InputSlope(index)) if index as usize == input => Shape::Other,
            Node::Leaf(_) => Shape::Constant,
            _ => shape(node, |id| shapes[id.index()]),
        };
        shapes.push(shape);
    }
    let mut roots = roots.into_iter();
    roots.all(|root| shapes[root.index()] <= Shape::Affine)
}
