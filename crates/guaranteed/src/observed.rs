//! Expressions whose bounds are asked for, beside those of the states: outputs, and anything that can be computed
//! from the variables of a model.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use dovetail_equations::{Coupled, Evaluator, Graph, Leaf, Model, NodeId, Program, Symbol};

use crate::interval::Interval;
use crate::margin::{Equality, Margin, NoMargin};

/// A variable of a coupled model, by its position among all of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A state.
    State(usize),
    /// An output.
    Output(usize),
    /// An input.
    Input(usize),
}

/// An expression of variables and of time.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is called in results.
    pub name: String,
    /// A model without states; its only output is the expression, its inputs are the variables.
    pub model: Arc<Model>,
    /// What each of its inputs stands for.
    pub variables: Vec<Variable>,
}

/// What is computed beside the states.
#[derive(Clone, Debug)]
pub(crate) struct ObservedPart {
    /// The expressions that are shown.
    pub names: Vec<String>,
    /// Whether each condition holds where its margin is zero; margins come after the expressions that are shown.
    pub margins: Vec<Equality>,
    /// All of them; its leaves are the states of all systems and the unknowns of loops as the states after them.
    pub program: Arc<Program>,
}

impl ObservedPart {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len() + self.margins.len()
    }
}

/// Expressions on their way into the graph of a coupled model.
pub(crate) struct ObservedRoots {
    pub names: Vec<String>,
    pub margins: Vec<Equality>,
    pub roots: Vec<NodeId>,
}

impl ObservedRoots {
    /// Puts expressions, and the margins of conditions, into the graph of a coupled model.
    pub fn insert(
        coupled: &mut Coupled,
        expressions: &[Expression],
        conditions: &[Expression],
    ) -> Result<Self, NoMargin> {
        let mut roots = Vec::new();
        for expression in expressions {
            let model = &expression.model;
            let program = Arc::new(Program::compile(&model.graph, &model.output_roots[..1]));
            roots.push(insert(coupled, expression, program));
        }

        let mut margins = Vec::new();
        for condition in conditions {
            let Margin {
                graph,
                root,
                equality,
            } = Margin::of(&condition.model)?;
            let program = Arc::new(Program::compile(&graph, &[root]));
            roots.push(insert(coupled, condition, program));
            margins.push(equality);
        }
        Ok(Self {
            names: expressions.iter().map(|e| e.name.clone()).collect(),
            margins,
            roots,
        })
    }

    /// Compiled, once loops are closed and their unknowns have been replaced in `roots`.
    pub fn compile(self, graph: &Graph, roots: &[NodeId]) -> ObservedPart {
        ObservedPart {
            names: self.names,
            margins: self.margins,
            program: Arc::new(Program::compile(graph, roots)),
        }
    }
}

/// Copies an expression into the graph, with what the variables stand for in the place of its inputs.
fn insert(coupled: &mut Coupled, expression: &Expression, program: Arc<Program>) -> NodeId {
    let graph = Rc::new(RefCell::new(std::mem::take(&mut coupled.graph)));
    let zero = Symbol::constant(&graph, 0.0);
    let inputs = expression.variables.iter().map(|variable| match *variable {
        Variable::State(state) => Symbol::leaf(&graph, Leaf::State(state as u32)),
        Variable::Output(output) => Symbol::new(&graph, coupled.outputs[output]),
        Variable::Input(input) => Symbol::new(&graph, coupled.inputs[input]),
    });
    let inputs: Vec<Symbol> = inputs.collect();

    // Conditions on time alone are switches of the coupled model, too.
    let model = &expression.model;
    let lines = Evaluator::new(Arc::new(model.switch_program()), &zero, &[]).results();
    let mut switches = Vec::new();
    for (switch, line) in model.switches.iter().zip(lines.chunks_exact(2)) {
        let index = coupled.switches.len() as u32;
        let mut moved = *switch;
        (moved.slope, moved.offset) = (line[0].node(), line[1].node());
        coupled.switches.push(moved);
        switches.push(Symbol::leaf(&graph, Leaf::Switch(index)));
    }

    let mut evaluator = Evaluator::new(program, &zero, &[]);
    evaluator.set_time(&Symbol::leaf(&graph, Leaf::Time));
    evaluator.set_switches(&switches);
    evaluator.set_inputs(&inputs);
    let root = evaluator.results().swap_remove(0).node();
    drop(evaluator);
    drop((zero, inputs, switches, lines));
    coupled.graph = Rc::into_inner(graph)
        .expect("BUG: nothing else holds the graph")
        .into_inner();
    root
}

/// Computes the expressions on boxes.
pub(crate) struct BoxObserver {
    evaluator: Option<Evaluator<Interval>>,
}

impl BoxObserver {
    pub fn new(observed: Option<&ObservedPart>, parameters: &[Interval]) -> Self {
        let evaluator = observed.map(|observed| {
            Evaluator::new(Arc::clone(&observed.program), &Interval::ZERO, parameters)
        });
        Self { evaluator }
    }

    /// All expressions while time is in `span` and all states, unknowns included, are in `boxes`.
    pub fn observe(
        &mut self,
        span: Interval,
        switches: &[Interval],
        boxes: &[Interval],
    ) -> Vec<Interval> {
        let Some(evaluator) = &mut self.evaluator else {
            return Vec::new();
        };
        evaluator.set_time(&span);
        evaluator.set_switches(switches);
        evaluator.set_states(boxes);
        evaluator.results()
    }
}
