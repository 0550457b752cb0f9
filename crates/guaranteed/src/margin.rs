//! How far a condition is from failing: a number that is negative where it holds and positive where it does not.
//!
//! `a < b` has the margin `a − b`; of `and` it is the larger one, of `or` the smaller one, and `not` turns it round.

use dovetail_equations::{Binary, Graph, Leaf, Model, Node, NodeId, Unary};

/// Whether a condition holds where its margin is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equality {
    Holds,
    Fails,
    /// It depends.
    Open,
}

impl Equality {
    fn with(self, other: Self) -> Self {
        if self == other { self } else { Self::Open }
    }

    fn negated(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
            Self::Open => Self::Open,
        }
    }
}

/// Why a condition has no margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMargin {
    /// It asks whether two numbers are equal.
    #[error(
        "whether two numbers are equal cannot be proved: write two comparisons, such as `x > 0.9 and x < 1.1`"
    )]
    Equality,
    /// It is no comparison.
    #[error("it is no condition: write a comparison, such as `plant.x < 5`")]
    NoCondition,
    /// It is nested too deeply.
    #[error("it has too many parts: ask for them one by one")]
    TooDeep,
}

/// How deeply `and`, `or` and `not` may be nested.
const MOST_LEVELS: usize = 200;

/// The margin of a condition.
pub(crate) struct Margin {
    pub graph: Graph,
    pub root: NodeId,
    pub equality: Equality,
}

impl Margin {
    /// The margin of the condition by which the only output of a model chooses between two numbers.
    pub fn of(model: &Model) -> Result<Self, NoMargin> {
        let mut graph = model.graph.clone();
        let Node::Select(condition, ..) = graph.node(model.output_roots[0]) else {
            return Err(NoMargin::NoCondition);
        };
        let (root, equality) = margin(&mut graph, model, condition, 0)?;
        Ok(Self {
            graph,
            root,
            equality,
        })
    }
}

fn margin(
    graph: &mut Graph,
    model: &Model,
    id: NodeId,
    level: usize,
) -> Result<(NodeId, Equality), NoMargin> {
    if level > MOST_LEVELS {
        return Err(NoMargin::TooDeep);
    }

    match graph.node(id) {
        Node::Binary(Binary::Less, a, b) => {
            Ok((graph.binary(Binary::Subtract, a, b), Equality::Fails))
        }
        Node::Binary(Binary::LessEqual, a, b) => {
            Ok((graph.binary(Binary::Subtract, a, b), Equality::Holds))
        }
        Node::Binary(operation @ (Binary::And | Binary::Or), a, b) => {
            let (left, one) = margin(graph, model, a, level + 1)?;
            let (right, other) = margin(graph, model, b, level + 1)?;
            let both = operation == Binary::And;
            let joined = if both { Binary::Max } else { Binary::Min };
            Ok((graph.binary(joined, left, right), one.with(other)))
        }
        Node::Unary(Unary::Not, a) => {
            let (inner, equality) = margin(graph, model, a, level + 1)?;
            Ok((graph.unary(Unary::Negate, inner), equality.negated()))
        }
        Node::Leaf(Leaf::Switch(index)) => {
            let switch = &model.switches[index as usize];
            let time = graph.leaf(Leaf::Time);
            let product = graph.binary(Binary::Multiply, switch.slope, time);
            let line = graph.binary(Binary::Add, product, switch.offset);
            Ok((line, Equality::Open))
        }
        Node::Binary(Binary::Equal, ..) => Err(NoMargin::Equality),
        _ => Err(NoMargin::NoCondition),
    }
}
