//! Expressions as a list of instructions, each of which fills one register.
//!
//! Registers hold, in this order: constants, parameters, time, switches, states, inputs, slopes of
//! inputs, unknowns, then one result per instruction. The *prelude* is the instructions that depend
//! on constants and parameters only; it comes first and runs once per set of parameters.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::graph::{Graph, Leaf, LeafKinds, Node, NodeId};
use crate::operation::{Binary, Unary};

/// What one instruction computes, from the registers it names.
///
/// Arithmetic, which is most of a model, has instructions of its own: one branch to take, not two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Instruction {
    Add(u32, u32),
    Subtract(u32, u32),
    Multiply(u32, u32),
    Divide(u32, u32),
    Unary(Unary, u32),
    Binary(Binary, u32, u32),
    PowerInteger(u32, i32),
    Select(u32, u32, u32),
}

/// Which registers hold which leaves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Layout {
    pub parameters: Range<usize>,
    pub time: usize,
    pub switches: Range<usize>,
    pub states: Range<usize>,
    pub inputs: Range<usize>,
    pub slopes: Range<usize>,
    pub unknowns: Range<usize>,
}

impl Layout {
    fn register(&self, leaf: Leaf) -> usize {
        match leaf {
            Leaf::Parameter(index) => self.parameters.start + index as usize,
            Leaf::Time => self.time,
            Leaf::Switch(index) => self.switches.start + index as usize,
            Leaf::State(index) => self.states.start + index as usize,
            Leaf::Input(index) => self.inputs.start + index as usize,
            Leaf::InputSlope(index) => self.slopes.start + index as usize,
            Leaf::Unknown(index) => self.unknowns.start + index as usize,
        }
    }

    /// Registers for `constants` and for each kind of leaf up to the last one used.
    fn new(constants: usize, leaves: impl Iterator<Item = Leaf>) -> Self {
        let mut counts = [0; 6];
        for leaf in leaves {
            let (kind, index) = match leaf {
                Leaf::Time => continue,
                Leaf::Parameter(index) => (0, index),
                Leaf::Switch(index) => (1, index),
                Leaf::State(index) => (2, index),
                Leaf::Input(index) => (3, index),
                Leaf::InputSlope(index) => (4, index),
                Leaf::Unknown(index) => (5, index),
            };
            counts[kind] = counts[kind].max(index as usize + 1);
        }
        Self::with_counts(constants, counts)
    }

    fn with_counts(constants: usize, counts: [usize; 6]) -> Self {
        let mut next = constants;
        let mut reserve = |count| {
            let start = next;
            next += count;
            start..next
        };
        let [parameters, switches, states, inputs, slopes, unknowns] = counts;

        Self {
            parameters: reserve(parameters),
            time: reserve(1).start,
            switches: reserve(switches),
            states: reserve(states),
            inputs: reserve(inputs),
            slopes: reserve(slopes),
            unknowns: reserve(unknowns),
        }
    }

    fn end(&self) -> usize {
        self.unknowns.end
    }
}

/// A compiled set of expressions. Evaluate it with an [`Evaluator`](crate::Evaluator).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub(crate) constants: Vec<f64>,
    pub(crate) layout: Layout,
    pub(crate) prelude: Vec<Instruction>,
    pub(crate) body: Vec<Instruction>,
    pub(crate) results: Vec<usize>,
}

impl Program {
    /// Compiles the expressions at `roots`; results come in the order of `roots`.
    pub fn compile(graph: &Graph, roots: &[NodeId]) -> Self {
        let live = reachable(graph, roots);
        let constants = live.iter().filter_map(|&id| graph.constant_value(id));
        let constants: Vec<f64> = constants.collect();
        let leaves = live.iter().filter_map(|&id| graph.node(id).leaf());
        let layout = Layout::new(constants.len(), leaves);
        let mut compiler = Compiler {
            graph,
            layout: &layout,
            registers: vec![0; graph.len()],
        };
        compiler.place_leaves(&live);
        let is_early = |id: &NodeId| graph.kinds(*id).within(LeafKinds::PARAMETERS);
        let (early, late): (Vec<NodeId>, Vec<NodeId>) = live.into_iter().partition(is_early);
        let prelude = compiler.instructions(early, layout.end());
        let body = compiler.instructions(late, layout.end() + prelude.len());
        let results = roots.iter().map(|root| compiler.registers[root.index()]);

        Self {
            constants,
            prelude,
            body,
            results: results.collect(),
            layout,
        }
    }

    /// How many results a run gives.
    pub fn results(&self) -> usize {
        self.results.len()
    }

    /// How many instructions every run executes.
    pub fn body_length(&self) -> usize {
        self.body.len()
    }

    /// How many instructions run once per set of parameters.
    pub fn prelude_length(&self) -> usize {
        self.prelude.len()
    }

    /// The numbers that the first registers hold.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// Which registers hold which leaves.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All instructions, in order, each with the register that it fills.
    pub fn instructions(&self) -> impl Iterator<Item = (usize, Instruction)> {
        let all = self.prelude.iter().chain(&self.body).copied();
        (self.layout.end()..).zip(all)
    }

    /// The register of each result.
    pub fn result_registers(&self) -> &[usize] {
        &self.results
    }

    /// How many registers there are.
    pub fn registers(&self) -> usize {
        self.layout.end() + self.prelude.len() + self.body.len()
    }
}

/// The nodes that `roots` are made of, operands first.
pub(crate) fn reachable(graph: &Graph, roots: &[NodeId]) -> Vec<NodeId> {
    let end = roots.iter().map(|root| root.index() + 1).max().unwrap_or(0);
    let mut live = vec![false; end];

    for root in roots {
        live[root.index()] = true;
    }

    for index in (0..end).rev() {
        if live[index] {
            for operand in graph.nodes()[index].operands() {
                live[operand.index()] = true;
            }
        }
    }

    let indices = (0..end).filter(|&index| live[index]);
    indices.map(|index| NodeId(index as u32)).collect()
}

struct Compiler<'a> {
    graph: &'a Graph,
    layout: &'a Layout,
    /// The register of each node that has one yet.
    registers: Vec<usize>,
}

impl Compiler<'_> {
    fn place_leaves(&mut self, live: &[NodeId]) {
        let mut constants = 0..;
        for id in live {
            match self.graph.node(*id) {
                Node::Constant(_) => self.registers[id.index()] = constants.next().unwrap_or(0),
                Node::Leaf(leaf) => self.registers[id.index()] = self.layout.register(leaf),
                _ => {}
            }
        }
    }

    /// Instructions for those of `nodes` that need one, with results from `start` on.
    fn instructions(&mut self, nodes: Vec<NodeId>, start: usize) -> Vec<Instruction> {
        let mut instructions = Vec::new();
        for id in nodes {
            if let Some(instruction) = self.instruction(self.graph.node(id)) {
                self.registers[id.index()] = start + instructions.len();
                instructions.push(instruction);
            }
        }
        instructions
    }

    fn instruction(&self, node: Node) -> Option<Instruction> {
        let register = |id: NodeId| self.registers[id.index()] as u32;
        Some(match node {
            Node::Constant(_) | Node::Leaf(_) => return None,
            Node::Unary(operation, a) => Instruction::Unary(operation, register(a)),
            Node::Binary(operation, a, b) => binary(operation, register(a), register(b)),
            Node::PowerInteger(a, exponent) => Instruction::PowerInteger(register(a), exponent),
            Node::Select(a, b, c) => Instruction::Select(register(a), register(b), register(c)),
        })
    }
}

fn binary(operation: Binary, a: u32, b: u32) -> Instruction {
    match operation {
        Binary::Add => Instruction::Add(a, b),
        Binary::Subtract => Instruction::Subtract(a, b),
        Binary::Multiply => Instruction::Multiply(a, b),
        Binary::Divide => Instruction::Divide(a, b),
        _ => Instruction::Binary(operation, a, b),
    }
}
