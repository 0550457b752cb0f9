//! Expressions as a graph in which equal subexpressions are one node.
//!
//! Nodes are numbered so that operands come before what uses them: every traversal is a loop.
//!
//! The same graph is evaluated on floating point numbers, on duals and on intervals, so nothing is
//! computed ahead except where that is exact; `simplify.rs` lists what is simplified.

use std::collections::HashMap;
use std::ops::BitOr;

use crate::operation::{Binary, Unary};

/// The number of a node in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Its place among the nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an expression depends on, with the index of the variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Leaf {
    Parameter(u32),
    Time,
    /// A condition on time alone: 1 or 0, constant between events.
    Switch(u32),
    State(u32),
    Input(u32),
    /// The derivative of an input with respect to time.
    InputSlope(u32),
    /// A value that whoever composes models solves for.
    Unknown(u32),
}

/// One step of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// The bits of a number.
    Constant(u64),
    /// A variable.
    Leaf(Leaf),
    /// A function of one operand.
    Unary(Unary, NodeId),
    /// A function of two operands.
    Binary(Binary, NodeId, NodeId),
    /// A power whose exponent is written as an integer.
    PowerInteger(NodeId, i32),
    /// The second operand where the first is true, else the third.
    Select(NodeId, NodeId, NodeId),
}

impl Node {
    /// The variable that it is, if it is one.
    pub(crate) fn leaf(self) -> Option<Leaf> {
        match self {
            Self::Leaf(leaf) => Some(leaf),
            _ => None,
        }
    }

    /// What it is computed from.
    pub fn operands(self) -> impl Iterator<Item = NodeId> {
        let operands = match self {
            Self::Constant(_) | Self::Leaf(_) => [None; 3],
            Self::Unary(_, a) | Self::PowerInteger(a, _) => [Some(a), None, None],
            Self::Binary(_, a, b) => [Some(a), Some(b), None],
            Self::Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }
}

/// A set of kinds of leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeafKinds(u8);

impl LeafKinds {
    /// No leaf: a constant expression.
    pub const NONE: Self = Self(0);
    /// Parameters.
    pub const PARAMETERS: Self = Self(1);
    /// Time, other than through switches.
    pub const TIME: Self = Self(1 << 1);
    /// Conditions on time.
    pub const SWITCHES: Self = Self(1 << 2);
    /// States.
    pub const STATES: Self = Self(1 << 3);
    /// Inputs.
    pub const INPUTS: Self = Self(1 << 4);
    /// Slopes of inputs.
    pub const SLOPES: Self = Self(1 << 5);
    /// Unknowns of a composed model.
    pub const UNKNOWNS: Self = Self(1 << 6);

    /// Whether every kind of `self` is in `other`.
    pub fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether they have a kind in common.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for LeafKinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl From<Leaf> for LeafKinds {
    fn from(leaf: Leaf) -> Self {
        match leaf {
            Leaf::Parameter(_) => Self::PARAMETERS,
            Leaf::Time => Self::TIME,
            Leaf::Switch(_) => Self::SWITCHES,
            Leaf::State(_) => Self::STATES,
            Leaf::Input(_) => Self::INPUTS,
            Leaf::InputSlope(_) => Self::SLOPES,
            Leaf::Unknown(_) => Self::UNKNOWNS,
        }
    }
}

/// A graph of expressions, which only grows.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    kinds: Vec<LeafKinds>,
    known: HashMap<Node, NodeId>,
}

impl Graph {
    /// A graph without expressions.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The step that a node stands for.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// The kinds of leaves below a node.
    pub fn kinds(&self, id: NodeId) -> LeafKinds {
        self.kinds[id.index()]
    }

    /// All nodes in order: operands come before what uses them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number that a node is, if it is one.
    pub fn constant_value(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// A number.
    pub fn constant(&mut self, value: f64) -> NodeId {
        self.intern(Node::Constant(value.to_bits()))
    }

    /// A variable.
    pub fn leaf(&mut self, leaf: Leaf) -> NodeId {
        self.intern(Node::Leaf(leaf))
    }

    /// A function of one operand.
    pub fn unary(&mut self, operation: Unary, operand: NodeId) -> NodeId {
        match self.simpler_unary(operation, operand) {
            Some(simpler) => simpler,
            None => self.intern(Node::Unary(operation, operand)),
        }
    }

    /// A function of two operands.
    pub fn binary(&mut self, operation: Binary, left: NodeId, right: NodeId) -> NodeId {
        if let Some(simpler) = self.simpler_binary(operation, left, right) {
            return simpler;
        }

        // In one order, so that `a + b` and `b + a` are one node.
        let swap = operation.commutes() && right < left;
        let (left, right) = if swap { (right, left) } else { (left, right) };
        self.intern(Node::Binary(operation, left, right))
    }

    /// A power with an integer exponent.
    pub fn power_integer(&mut self, base: NodeId, exponent: i32) -> NodeId {
        match exponent {
            0 => self.constant(1.0),
            1 => base,
            _ => self.intern(Node::PowerInteger(base, exponent)),
        }
    }

    /// `then` where `condition` is true, else `otherwise`.
    pub fn select(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> NodeId {
        match self.constant_value(condition) {
            Some(value) if value != 0.0 => then,
            Some(_) => otherwise,
            None if then == otherwise => then,
            None => self.intern(Node::Select(condition, then, otherwise)),
        }
    }

    pub(crate) fn intern(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }

        let count = u32::try_from(self.nodes.len()).expect("BUG: a graph of four billion nodes");
        let id = NodeId(count);
        self.kinds.push(self.kinds_of(node));
        self.nodes.push(node);
        self.known.insert(node, id);

        id
    }

    fn kinds_of(&self, node: Node) -> LeafKinds {
        let below = node.operands().map(|id| self.kinds(id));
        match node {
            Node::Leaf(leaf) => leaf.into(),
            _ => below.fold(LeafKinds::NONE, LeafKinds::bitor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_expressions_are_one_node() {
        let mut graph = Graph::new();
        let x = graph.leaf(Leaf::State(0));
        let u = graph.leaf(Leaf::Input(0));
        let sum = graph.binary(Binary::Add, x, u);
        assert_eq!(graph.binary(Binary::Add, u, x), sum);
        assert_ne!(
            graph.binary(Binary::Subtract, u, x),
            graph.binary(Binary::Subtract, x, u)
        );
    }

    #[test]
    fn kinds_gather_from_operands() {
        let mut graph = Graph::new();
        let x = graph.leaf(Leaf::State(3));
        let t = graph.leaf(Leaf::Time);
        let sine = graph.unary(Unary::Sin, t);
        let product = graph.binary(Binary::Multiply, x, sine);
        assert_eq!(graph.kinds(product), LeafKinds::STATES | LeafKinds::TIME);
        assert!(graph.kinds(sine).within(LeafKinds::TIME));
        assert!(!graph.kinds(product).meets(LeafKinds::PARAMETERS));
    }

    #[test]
    fn a_choice_that_is_made_disappears() {
        let mut graph = Graph::new();
        let x = graph.leaf(Leaf::State(0));
        let u = graph.leaf(Leaf::Input(0));
        let no = graph.constant(0.0);
        let condition = graph.binary(Binary::Less, x, u);
        assert_eq!(graph.select(no, x, u), u);
        assert_eq!(graph.select(condition, x, x), x);
    }
}
