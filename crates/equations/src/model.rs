//! A model: names and expressions.

use std::sync::Arc;

use crate::analysis::{Dependencies, affine_in_input, all_affine, dependencies};
use crate::evaluator::Evaluator;
use crate::graph::{Graph, LeafKinds, Node, NodeId};
use crate::native::{SharedCell, SharedModel};
use crate::operation::{Binary, Unary};
use crate::switches::{Switch, Threshold, switch_roots, thresholds};
use crate::tape::Program;

/// A variable that nothing uses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unused {
    Input(String),
    Parameter(String),
    Intermediate(String),
}

/// What makes a clause run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// A condition becomes true.
    Condition(NodeId),
    /// The system's clock ticks.
    Sample,
}

/// A clause: states that are set anew at events.
#[derive(Debug, Clone, PartialEq)]
pub struct When {
    /// What makes it run.
    pub trigger: Trigger,
    /// The condition as it is written.
    pub text: String,
    /// States, and their new values in terms of what is before the event.
    pub assignments: Vec<(usize, NodeId)>,
    /// The same of what is set where it runs ever more often without end.
    pub at_rest: Vec<(usize, NodeId)>,
}

impl When {
    /// All that it may set, in order.
    pub(crate) fn all_assignments(&self) -> impl Iterator<Item = &(usize, NodeId)> {
        self.assignments.iter().chain(&self.at_rest)
    }

    /// The condition, if it is one.
    pub(crate) fn condition(&self) -> Option<NodeId> {
        match self.trigger {
            Trigger::Condition(condition) => Some(condition),
            Trigger::Sample => None,
        }
    }
}

/// An input as it was some time before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    /// The position of the input.
    pub input: usize,
    /// How long before: an expression of parameters.
    pub time: NodeId,
}

/// A model whose texts are understood.
#[derive(Debug, Clone)]
pub struct Model {
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Names of the states, the discrete ones last: their derivatives are zero.
    pub states: Vec<String>,
    /// How many of them are discrete.
    pub discrete: usize,
    /// What is set anew at events.
    pub whens: Vec<When>,
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
    /// Inputs as they were before: among the leaves they come after the inputs themselves.
    pub delays: Vec<Delay>,
    /// For each input, whether its slope is used.
    pub uses_slope: Vec<bool>,
    pub(crate) unused: Vec<Unused>,
    pub(crate) shared: SharedCell,
}

impl Model {
    /// What all systems of this model share.
    pub(crate) fn shared(&self) -> &SharedModel {
        self.shared.of(self)
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
        Program::compile(&self.graph, &switch_roots(&self.switches))
    }

    /// How many leaves inputs take: those that are delayed are further ones.
    pub fn input_leaves(&self) -> usize {
        self.inputs.len() + self.delays.len()
    }

    /// How long each delayed input is delayed, given the parameters.
    pub fn delay_times(&self, parameters: &[f64]) -> Vec<f64> {
        let roots: Vec<NodeId> = self.delays.iter().map(|delay| delay.time).collect();
        let program = Arc::new(Program::compile(&self.graph, &roots));
        Evaluator::new(program, &0.0, parameters).results()
    }

    /// When each switch changes, given the parameters.
    pub fn thresholds(&self, parameters: &[f64]) -> Vec<Threshold> {
        let program = Arc::new(self.switch_program());
        let lines = Evaluator::new(program, &0.0, parameters).results();
        thresholds(&self.switches, &lines)
    }
}

/// What the structure shows.
impl Model {
    /// What the derivative of a state depends on.
    pub fn derivative_dependencies(&self, state: usize) -> Dependencies {
        self.dependencies(self.derivative_roots[state])
    }

    /// What an output depends on. Before the start nothing is delayed: what is delayed counts.
    pub fn output_dependencies(&self, output: usize) -> Dependencies {
        self.dependencies(self.output_roots[output])
    }

    fn dependencies(&self, root: NodeId) -> Dependencies {
        let mut dependencies = dependencies(&self.graph, root);
        for input in &mut dependencies.inputs {
            if let Some(delay) = input.checked_sub(self.inputs.len()) {
                *input = self.delays[delay].input;
            }
        }
        dependencies.inputs.sort_unstable();
        dependencies.inputs.dedup();
        dependencies
    }

    /// Whether an output depends on an input directly, not only through states.
    pub fn output_depends_on_input(&self, output: usize, input: usize) -> bool {
        self.output_dependencies(output).inputs.contains(&input)
    }

    /// Whether derivatives and outputs are affine in states, inputs and slopes, with coefficients
    /// that depend on parameters and switches only: then time appears in switches alone.
    pub fn is_affine(&self) -> bool {
        let roots = self.derivative_roots.iter().chain(&self.output_roots);
        all_affine(&self.graph, roots)
    }

    /// Whether derivatives and outputs are affine in an input, and no clause depends on it.
    pub fn is_affine_in(&self, input: usize) -> bool {
        let roots = self.derivative_roots.iter().chain(&self.output_roots);
        let delayed = self.delays.iter().any(|delay| delay.input == input);
        let in_clauses = self.whens.iter().any(|when| {
            let values = when.all_assignments().map(|(_, value)| *value);
            let mut roots = values.chain(when.condition());
            roots.any(|root| self.dependencies(root).inputs.contains(&input))
        });
        !delayed && !in_clauses && affine_in_input(&self.graph, roots, input)
    }

    /// Whether a condition, or a jump such as that of `floor`, depends on more than parameters:
    /// when it changes nobody knows ahead. A comparison of time alone is a switch, and not meant.
    pub fn jumps(&self) -> bool {
        self.varies_at(|node| match node {
            Node::Unary(operation, _) => {
                matches!(operation, Unary::Sign | Unary::Floor | Unary::Ceil)
            }
            Node::Binary(operation, ..) => matches!(
                operation,
                Binary::Less | Binary::LessEqual | Binary::Equal | Binary::Modulo
            ),
            _ => false,
        })
    }

    /// Whether there is a corner, such as that of `abs`, `min` or `max`, that depends on more than
    /// parameters.
    pub fn bends(&self) -> bool {
        self.varies_at(|node| {
            matches!(
                node,
                Node::Unary(Unary::Abs, _) | Node::Binary(Binary::Min | Binary::Max, ..)
            )
        })
    }

    /// Whether such a node depends on more than parameters.
    fn varies_at(&self, wanted: impl Fn(Node) -> bool) -> bool {
        let varies = |id| !self.graph.kinds(id).within(LeafKinds::PARAMETERS);
        let mut nodes = self.graph.nodes().iter().enumerate();
        nodes.any(|(index, &node)| wanted(node) && varies(NodeId(index as u32)))
    }

    /// Inputs, parameters and intermediates that no text mentions, for warnings.
    pub fn unused(&self) -> &[Unused] {
        &self.unused
    }
}
