//! Numbers that are expressions: computing with them builds a graph.
//!
//! Evaluating a program on symbols copies its expressions into another graph, with any expressions
//! in place of its variables: so models are composed. On `Dual<Symbol>` it differentiates.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::graph::{Graph, Leaf, NodeId};
use crate::number::Number;
use crate::operation::{Binary, Unary};

/// An expression in a graph that grows as symbols are combined.
#[derive(Clone)]
pub struct Symbol {
    graph: Rc<RefCell<Graph>>,
    node: NodeId,
}

impl Symbol {
    /// The expression at `node` of `graph`.
    pub fn new(graph: &Rc<RefCell<Graph>>, node: NodeId) -> Self {
        Self {
            graph: Rc::clone(graph),
            node,
        }
    }

    /// A variable of `graph`.
    pub fn leaf(graph: &Rc<RefCell<Graph>>, leaf: Leaf) -> Self {
        Self::new(graph, graph.borrow_mut().leaf(leaf))
    }

    /// A number in `graph`.
    pub fn constant(graph: &Rc<RefCell<Graph>>, value: f64) -> Self {
        Self::new(graph, graph.borrow_mut().constant(value))
    }

    /// Where the expression is in its graph.
    pub fn node(&self) -> NodeId {
        self.node
    }

    fn built(&self, build: impl FnOnce(&mut Graph) -> NodeId) -> Self {
        Self::new(&self.graph, build(&mut self.graph.borrow_mut()))
    }

    fn check_same_graph(&self, other: &Self) {
        assert!(
            Rc::ptr_eq(&self.graph, &other.graph),
            "BUG: symbols of two graphs are combined"
        );
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Symbol({:?})", self.graph.borrow().node(self.node))
    }
}

impl Number for Symbol {
    fn lift(&self, value: f64) -> Self {
        self.built(|graph| graph.constant(value))
    }

    fn unary(&self, operation: Unary) -> Self {
        self.built(|graph| graph.unary(operation, self.node))
    }

    fn binary(&self, operation: Binary, other: &Self) -> Self {
        self.check_same_graph(other);
        self.built(|graph| graph.binary(operation, self.node, other.node))
    }

    fn power_integer(&self, exponent: i32) -> Self {
        self.built(|graph| graph.power_integer(self.node, exponent))
    }

    fn select(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        condition.check_same_graph(then);
        condition.check_same_graph(otherwise);
        condition.built(|graph| graph.select(condition.node, then.node, otherwise.node))
    }

    fn is_zero(&self) -> bool {
        self.graph.borrow().constant_value(self.node) == Some(0.0)
    }
}
