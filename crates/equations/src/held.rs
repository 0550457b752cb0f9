//! A model in which everything that switches is held: smooth from one event to the next.
//!
//! Conditions, `abs`, `min`, `max`, `sign`, `floor`, `ceil` and `mod` become *switching functions*
//! σ and leaves that hold on which side of zero σ is (or, for those that jump again and again, its
//! integer part). The leaves come after those of the conditions on time alone.
//!
//! A side is a number: 1 where σ is negative, 0 where it is not, and anything between while the
//! system slides along σ = 0.

use std::collections::HashMap;
use std::ops::Range;

use crate::analysis::{all_affine, leaves};
use crate::graph::{Graph, Leaf, LeafKinds, Node, NodeId};
use crate::model::Model;
use crate::operation::{Binary, Unary};
use crate::tape::{Program, reachable};

/// What a leaf holds of its switching function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SwitchKind {
    /// 1 where it is negative, else 0.
    Side,
    /// Its integer part.
    Floor,
}

impl SwitchKind {
    /// What is held of a function with this value.
    pub fn of(self, value: f64) -> f64 {
        match self {
            Self::Side => f64::from(u8::from(value < 0.0)),
            Self::Floor => value.floor(),
        }
    }
}

/// A function whose changes of sign, or of integer part, are events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SwitchingFunction {
    pub root: NodeId,
    pub kind: SwitchKind,
}

/// Expressions, held.
#[derive(Debug)]
pub(crate) struct Held {
    pub graph: Graph,
    /// Where the expressions are now.
    pub roots: Vec<NodeId>,
    pub functions: Vec<SwitchingFunction>,
}

/// Holds what switches in the expressions at `roots`; the leaves of the switching functions are
/// numbered from `first` on.
///
/// `discrete` says which states change at events only.
pub(crate) fn hold(
    graph: &Graph,
    roots: &[NodeId],
    first: usize,
    discrete: &dyn Fn(usize) -> bool,
) -> Held {
    let mut holder = Holder {
        source: graph,
        discrete,
        orders: HashMap::new(),
        first: first as u32,
        graph: Graph::new(),
        moved: vec![None; graph.len()],
        functions: Vec::new(),
        known: HashMap::new(),
    };
    for id in reachable(graph, roots) {
        let moved = holder.copy(id);
        holder.moved[id.index()] = Some(moved);
    }

    Held {
        roots: roots.iter().map(|&root| holder.to(root)).collect(),
        graph: holder.graph,
        functions: holder.functions,
    }
}

/// A model, held.
#[derive(Debug)]
pub(crate) struct HeldModel {
    held: Held,
    /// Where each part of the roots ends: derivatives, outputs, conditions of clauses; then come
    /// the values that clauses set.
    ends: [usize; 3],
    /// The number of the first leaf of a switching function.
    first: usize,
}

impl HeldModel {
    /// None where nothing in the model switches but conditions on time alone.
    pub fn of(model: &Model) -> Option<Self> {
        let mut roots = [model.derivative_roots.as_slice(), &model.output_roots].concat();
        let derivatives = model.derivative_roots.len();
        let outputs = roots.len();
        roots.extend(model.whens.iter().filter_map(|when| when.condition()));
        let conditions = roots.len();
        let assignments = model.whens.iter().flat_map(|when| when.all_assignments());
        roots.extend(assignments.map(|(_, value)| *value));
        let continuous = model.states.len() - model.discrete;
        let discrete = |state: usize| state >= continuous;
        let held = hold(&model.graph, &roots, model.switches.len(), &discrete);

        let switches = !held.functions.is_empty() || !model.whens.is_empty();
        switches.then_some(Self {
            held,
            ends: [derivatives, outputs, conditions],
            first: model.switches.len(),
        })
    }

    pub fn functions(&self) -> &[SwitchingFunction] {
        &self.held.functions
    }

    /// What is held of each function.
    pub fn kinds(&self) -> Vec<SwitchKind> {
        self.functions().iter().map(|f| f.kind).collect()
    }

    /// For each function, whether derivatives or outputs depend on it, and not conditions alone.
    pub fn acting(&self) -> Vec<bool> {
        let graph = &self.held.graph;
        let mut acting = vec![false; self.functions().len()];
        let mut pending = self.held.roots[..self.ends[1]].to_vec();

        while let Some(root) = pending.pop() {
            for leaf in leaves(graph, root) {
                let Leaf::Switch(index) = leaf else { continue };
                let function = (index as usize).checked_sub(self.first);
                if let Some(function) = function
                    && !std::mem::replace(&mut acting[function], true)
                {
                    pending.push(self.functions()[function].root);
                }
            }
        }
        acting
    }

    fn program(&self, roots: Range<usize>) -> Program {
        Program::compile(&self.held.graph, &self.held.roots[roots])
    }

    pub fn derivative_program(&self) -> Program {
        self.program(0..self.ends[0])
    }

    pub fn output_program(&self) -> Program {
        self.program(self.ends[0]..self.ends[1])
    }

    /// The conditions of the clauses that have one.
    pub fn condition_program(&self) -> Program {
        self.program(self.ends[1]..self.ends[2])
    }

    /// What the clauses set, one after the other.
    pub fn assignment_program(&self) -> Program {
        self.program(self.ends[2]..self.held.roots.len())
    }

    /// The switching functions.
    pub fn function_program(&self) -> Program {
        self.held.function_program()
    }

    /// Whether derivatives and outputs are affine for as long as nothing switches.
    pub fn is_affine(&self) -> bool {
        all_affine(&self.held.graph, &self.held.roots[..self.ends[1]])
    }
}

impl Held {
    /// The switching functions.
    pub fn function_program(&self) -> Program {
        let roots: Vec<NodeId> = self.functions.iter().map(|f| f.root).collect();
        Program::compile(&self.graph, &roots)
    }
}

/// Copies expressions, with leaves where they switch.
struct Holder<'a> {
    source: &'a Graph,
    discrete: &'a dyn Fn(usize) -> bool,
    /// For two sides of a comparison which of them the other is subtracted from.
    orders: HashMap<[NodeId; 2], [NodeId; 2]>,
    /// The number of the first leaf.
    first: u32,
    graph: Graph,
    /// Where each node has gone.
    moved: Vec<Option<NodeId>>,
    functions: Vec<SwitchingFunction>,
    known: HashMap<SwitchingFunction, u32>,
}

impl Holder<'_> {
    /// Where a node has gone; operands come before what uses them.
    fn to(&self, id: NodeId) -> NodeId {
        self.moved[id.index()].expect("BUG: an operand has not been copied")
    }

    fn copy(&mut self, id: NodeId) -> NodeId {
        let fixed = LeafKinds::PARAMETERS | LeafKinds::SWITCHES;
        let varies = !self.source.kinds(id).within(fixed);

        match self.source.node(id) {
            Node::Constant(bits) => self.graph.constant(f64::from_bits(bits)),
            Node::Leaf(leaf) => self.graph.leaf(leaf),
            Node::Unary(operation, a) => {
                let a = self.to(a);
                match varies {
                    true => self.copy_unary(operation, a),
                    false => self.graph.unary(operation, a),
                }
            }
            Node::Binary(operation, a, b) => {
                let a = self.to(a);
                let b = self.to(b);
                let natural = !varies || self.cannot_be_held(id, operation, [a, b]);
                match natural {
                    true => self.graph.binary(operation, a, b),
                    false => self.copy_binary(operation, a, b),
                }
            }
            Node::PowerInteger(a, exponent) => {
                let a = self.to(a);
                self.graph.power_integer(a, exponent)
            }
            Node::Select(condition, a, b) => {
                let [condition, a, b] = [condition, a, b].map(|operand| self.to(operand));
                self.graph.select(condition, a, b)
            }
        }
    }

    fn copy_unary(&mut self, operation: Unary, a: NodeId) -> NodeId {
        match operation {
            Unary::Abs => {
                let negative = self.leaf(a, SwitchKind::Side);
                let opposite = self.graph.unary(Unary::Negate, a);
                self.graph.select(negative, opposite, a)
            }
            Unary::Sign => {
                let negative = self.leaf(a, SwitchKind::Side);
                let minus_one = self.graph.constant(-1.0);
                let one = self.graph.constant(1.0);
                self.graph.select(negative, minus_one, one)
            }
            Unary::Floor => self.leaf(a, SwitchKind::Floor),
            Unary::Ceil => {
                let opposite = self.graph.unary(Unary::Negate, a);
                let below = self.leaf(opposite, SwitchKind::Floor);
                self.graph.unary(Unary::Negate, below)
            }
            _ => self.graph.unary(operation, a),
        }
    }

    fn copy_binary(&mut self, operation: Binary, a: NodeId, b: NodeId) -> NodeId {
        match operation {
            Binary::Less => self.is_less(a, b, [a, b]),
            Binary::LessEqual => self.is_less(a, b, [b, a]),
            Binary::Min => {
                let less = self.is_less(a, b, [a, b]);
                self.graph.select(less, a, b)
            }
            Binary::Max => {
                let less = self.is_less(a, b, [a, b]);
                self.graph.select(less, b, a)
            }
            Binary::Modulo => {
                let turns = self.graph.binary(Binary::Divide, a, b);
                let whole = self.leaf(turns, SwitchKind::Floor);
                let part = self.graph.binary(Binary::Multiply, whole, b);
                self.graph.binary(Binary::Subtract, a, part)
            }
            _ => self.graph.binary(operation, a, b),
        }
    }

    /// Comparisons that share a switching function differ from what they say where both sides are
    /// equal, which is nothing where they move; but numbers that only events change stay equal.
    fn cannot_be_held(&self, id: NodeId, operation: Binary, [a, b]: [NodeId; 2]) -> bool {
        let wanted = match operation {
            Binary::Less => [a, b],
            Binary::LessEqual => [b, a],
            _ => return false,
        };
        let known = self.orders.get(&unordered(a, b));
        let stays = |leaf: &Leaf| match leaf {
            Leaf::State(state) => (self.discrete)(*state as usize),
            leaf => matches!(leaf, Leaf::Parameter(_) | Leaf::Switch(_)),
        };
        known.is_some_and(|order| *order != wanted) && leaves(self.source, id).iter().all(stays)
    }

    /// The leaf that holds whether `a < b`; the function is the difference in this order where it
    /// is a new one. It is not negative where both are equal: so `a < b` takes them in this order,
    /// and `a <= b` in the other.
    fn is_less(&mut self, a: NodeId, b: NodeId, order: [NodeId; 2]) -> NodeId {
        let order = *self.orders.entry(unordered(a, b)).or_insert(order);
        let difference = self.difference(order);
        let negative = self.leaf(difference, SwitchKind::Side);

        if order == [a, b] {
            negative
        } else {
            self.graph.unary(Unary::Not, negative)
        }
    }

    fn difference(&mut self, [a, b]: [NodeId; 2]) -> NodeId {
        let is_zero = |id: NodeId| self.graph.constant_value(id) == Some(0.0);
        if is_zero(b) {
            a
        } else if is_zero(a) {
            self.graph.unary(Unary::Negate, b)
        } else {
            self.graph.binary(Binary::Subtract, a, b)
        }
    }

    /// The leaf of an equal function, or of a new one.
    fn leaf(&mut self, root: NodeId, kind: SwitchKind) -> NodeId {
        let function = SwitchingFunction { root, kind };
        let next = self.functions.len() as u32;
        let index = *self.known.entry(function).or_insert(next);
        if index == next {
            self.functions.push(function);
        }

        self.graph.leaf(Leaf::Switch(self.first + index))
    }
}

/// The same for both orders.
fn unordered(a: NodeId, b: NodeId) -> [NodeId; 2] {
    [a.min(b), a.max(b)]
}
