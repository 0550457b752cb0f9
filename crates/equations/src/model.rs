//! A model: names and texts in, expressions out.

use std::sync::Arc;

use crate::analysis::{Dependencies, Shape, dependencies, shapes};
use crate::builder::build;
use crate::error::SyntaxError;
use crate::evaluator::Evaluator;
use crate::graph::{Graph, LeafKinds, Node, NodeId};
use crate::operation::{Binary, Unary};
use crate::switches::{Switch, Threshold};
use crate::tape::Program;

/// How long all names and texts of a model may be together, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// A model as it is written: `x' = f(t, x, u, u')`, `y = g(t, x, u, u')`.
#[derive(Debug, Clone, Default)]
pub struct Source<'s> {
    /// Names of the inputs `u`.
    pub inputs: Vec<&'s str>,
    /// Names of the parameters.
    pub parameters: Vec<&'s str>,
    /// Names of the states `x`.
    pub states: Vec<&'s str>,
    /// `der(state) = expression` and `name = expression`, one per line or separated by `;`.
    pub equations: &'s str,
    /// Names of the outputs `y`, and the expression of each.
    pub outputs: Vec<(&'s str, &'s str)>,
}

/// A variable that nothing uses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unused {
    Input(String),
    Parameter(String),
    Intermediate(String),
}

/// A model whose texts are understood.
#[derive(Debug, Clone)]
pub struct Model {
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Names and expressions of the intermediate variables, in the order of the text.
    pub intermediates: Vec<(String, NodeId)>,
    /// All expressions.
    pub graph: Graph,
    /// The derivative of each state.
    pub derivative_roots: Vec<NodeId>,
    /// The expression of each output.
    pub output_roots: Vec<NodeId>,
    /// Conditions on time alone.
    pub switches: Vec<Switch>,
    /// For each input, whether its slope is used.
    pub uses_slope: Vec<bool>,
    pub(crate) unused: Vec<Unused>,
}

impl Model {
    /// Understands the texts of a model, or says everything that is wrong with them.
    pub fn parse(source: &Source<'_>) -> Result<Self, Vec<SyntaxError>> {
        build(source)
    }

    /// Derivatives, then outputs, as one program.
    pub fn program(&self) -> Program {
        let roots = [self.derivative_roots.as_slice(), &self.output_roots].concat();
        Program::compile(&self.graph, &roots)
    }

    /// The derivatives of the states.
    pub fn derivative_program(&self) -> Program {
        Program::compile(&self.graph, &self.derivative_roots)
    }

    /// The outputs.
    pub fn output_program(&self) -> Program {
        Program::compile(&self.graph, &self.output_roots)
    }

    /// Slope and offset of each switch, in turn.
    pub fn switch_program(&self) -> Program {
        let roots: Vec<NodeId> = self
            .switches
            .iter()
            .flat_map(|switch| [switch.slope, switch.offset])
            .collect();
        Program::compile(&self.graph, &roots)
    }

    /// When each switch changes, given the parameters.
    pub fn thresholds(&self, parameters: &[f64]) -> Vec<Threshold> {
        let mut lines = vec![0.0; 2 * self.switches.len()];
        Evaluator::new(Arc::new(self.switch_program()), &0.0, parameters).run(&mut lines);
        let lines = lines.chunks_exact(2);
        let thresholds = self.switches.iter().zip(lines);
        thresholds
            .map(|(switch, line)| Threshold::new(line[0], line[1], switch.inclusive))
            .collect()
    }
}

/// What the structure tells.
impl Model {
    /// What the derivative of a state depends on.
    pub fn derivative_dependencies(&self, state: usize) -> Dependencies {
        dependencies(&self.graph, self.derivative_roots[state])
    }

    /// What an output depends on.
    pub fn output_dependencies(&self, output: usize) -> Dependencies {
        dependencies(&self.graph, self.output_roots[output])
    }

    /// Whether an output depends on an input directly, not only through states.
    pub fn output_depends_on_input(&self, output: usize, input: usize) -> bool {
        self.output_dependencies(output).inputs.contains(&input)
    }

    /// Whether derivatives and outputs are affine in states, inputs and slopes, with coefficients
    /// that depend on parameters and switches only: then time appears in switches alone.
    pub fn is_affine(&self) -> bool {
        let shapes = shapes(&self.graph);
        let mut roots = self.derivative_roots.iter().chain(&self.output_roots);
        roots.all(|root| shapes[root.index()] <= Shape::Affine)
    }

    /// Whether a condition, or a jump such as that of `floor`, depends on more than parameters: when it changes nobody knows ahead. A
    /// comparison of time alone is a switch, and not meant.
    pub fn jumps(&self) -> bool {
        self.graph.nodes().iter().enumerate().any(|(index, node)| {
            let jump = matches!(
                node,
                Node::Unary(Unary::Sign | Unary::Floor | Unary::Ceil, _)
                    | Node::Binary(
                        Binary::Less | Binary::LessEqual | Binary::Equal | Binary::Modulo,
                        ..
                    )
            );
            jump && !self
                .graph
                .kinds(NodeId(index as u32))
                .within(LeafKinds::PARAMETERS)
        })
    }

    /// Whether there is a corner, such as that of `abs`, `min` or `max`, that depends on more than parameters.
    pub fn bends(&self) -> bool {
        self.graph.nodes().iter().enumerate().any(|(index, node)| {
            let corner = matches!(
                node,
                Node::Unary(Unary::Abs, _) | Node::Binary(Binary::Min | Binary::Max, ..)
            );
            corner
                && !self
                    .graph
                    .kinds(NodeId(index as u32))
                    .within(LeafKinds::PARAMETERS)
        })
    }

    /// Inputs, parameters and intermediates that no text mentions, for warnings.
    pub fn unused(&self) -> &[Unused] {
        &self.unused
    }
}
