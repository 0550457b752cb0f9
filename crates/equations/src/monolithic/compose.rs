//! Many models made one, by substitution: what feeds an input takes the input's place.
//!
//! The pieces depend on one another: an output on the outputs that feed its inputs, a state's
//! derivative likewise, and the slope of an output (where a model uses `der(input)`) on derivatives
//! and slopes. They are substituted in dependency order. Where a loop leaves no such order, its
//! outputs and slopes become unknowns with one equation each.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use dovetail_core::{Connections, Remedy, Source, components};

use crate::analysis::Dependencies;
use crate::dual::Dual;
use crate::evaluator::Evaluator;
use crate::graph::{Graph, Leaf, NodeId};
use crate::native::Definition;
use crate::number::Number;
use crate::switches::{Switch, Switches};
use crate::symbol::Symbol;
use crate::tape::Program;

/// Why models cannot be made one.
#[derive(Debug, thiserror::Error)]
pub enum NotComposable {
    /// `der(input)` of an input whose source itself contains such a slope.
    #[error(
        "`der` of the input `{input}` needs the second derivative of an input, since its source \
         `{output}` uses `der` itself; the monolithic reference does not go that far"
    )]
    SecondSlope {
        /// The input whose slope is used.
        input: String,
        /// What feeds it.
        output: String,
    },
    /// `delay` of an input.
    #[error(
        "`{system}` delays its input `{input}`: models with delays are not ordinary differential \
         equations, and the monolithic reference solves no others"
    )]
    Delay {
        /// The system.
        system: String,
        /// Its input.
        input: String,
    },
}

impl NotComposable {
    /// What to try.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::SecondSlope { .. } | Self::Delay { .. } => vec![Remedy::ReferenceFile],
        }
    }
}

/// The one model. Its states are those of all systems, stacked, and so are inputs and outputs.
#[derive(Clone, Debug)]
pub struct Coupled {
    /// All expressions.
    pub graph: Graph,
    /// The derivative of each state.
    pub derivatives: Vec<NodeId>,
    /// Each output.
    pub outputs: Vec<NodeId>,
    /// Each input.
    pub inputs: Vec<NodeId>,
    /// For each unknown of the loops through feedthrough, its equation: zero at the solution.
    pub residuals: Vec<NodeId>,
    /// Its name.
    pub unknowns: Vec<String>,
    /// Its first guess.
    pub guesses: Vec<f64>,
    /// The output (stacked) that each unknown is the value of; none for slopes.
    pub unknown_outputs: Vec<Option<usize>>,
    /// Conditions on time alone.
    pub switches: Vec<Switch>,
    /// The parameters of all systems, stacked.
    pub parameters: Vec<f64>,
    /// What is set anew at events.
    pub whens: Vec<CoupledWhen>,
    /// For each state whether only events change it.
    pub discrete: Vec<bool>,
}

/// A clause of one system, with everything substituted.
#[derive(Clone, Debug)]
pub struct CoupledWhen {
    /// The condition; none where a clock runs it.
    pub condition: Option<NodeId>,
    /// The period of that clock; infinite where there is a condition.
    pub period: f64,
    /// The condition as it is written, and the system that it belongs to.
    pub text: String,
    /// The name of the system.
    pub system: String,
    /// States (stacked), and their new values in terms of what is before the event.
    pub assignments: Vec<(usize, NodeId)>,
    /// The same of what is set where it runs without end.
    pub at_rest: Vec<(usize, NodeId)>,
}

impl CoupledWhen {
    /// All that it may set, in order.
    pub(super) fn all_assignments(&self) -> impl Iterator<Item = &(usize, NodeId)> {
        self.assignments.iter().chain(&self.at_rest)
    }
}

/// Composes the systems.
pub fn compose(
    definitions: &[Definition],
    connections: &Connections,
) -> Result<Coupled, NotComposable> {
    refuse_delays(definitions)?;
    let pieces = Pieces::new(definitions, connections);
    let needed = pieces.needed_slopes()?;
    let mut dependencies = Vec::new();

    for index in 0..pieces.count() {
        dependencies.push(pieces.dependencies(pieces.piece(index), &needed));
    }

    let mut composer = Composer::new(definitions, connections, &pieces);
    for mut members in components(&dependencies) {
        members.retain(|&index| pieces.is_needed(index, &needed));
        let on_itself = |&index: &usize| dependencies[index].contains(&index);
        if members.len() > 1 || members.iter().any(on_itself) {
            composer.close_loop(&members);
        } else {
            members.iter().for_each(|&index| composer.substitute(index));
        }
    }
    Ok(composer.finish())
}

fn refuse_delays(definitions: &[Definition]) -> Result<(), NotComposable> {
    for definition in definitions {
        if let Some(delay) = definition.model.delays.first() {
            return Err(NotComposable::Delay {
                system: definition.name.clone(),
                input: definition.model.inputs[delay.input].clone(),
            });
        }
    }
    Ok(())
}

/// What has to be expressed: the values and slopes of all outputs, and the derivatives of all
/// states.
struct Pieces<'a> {
    connections: &'a Connections,
    /// The system of each state (stacked), and the first state of each system.
    owner: Vec<usize>,
    first_state: Vec<usize>,
    outputs: Vec<Dependencies>,
    derivatives: Vec<Dependencies>,
    uses_slope: Vec<bool>,
}

/// One of them, with the index of its output or state.
#[derive(Clone, Copy)]
enum Piece {
    Value(usize),
    Slope(usize),
    Derivative(usize),
}

impl<'a> Pieces<'a> {
    fn new(definitions: &[Definition], connections: &'a Connections) -> Self {
        let mut pieces = Self {
            connections,
            owner: vec![],
            first_state: vec![],
            outputs: vec![],
            derivatives: vec![],
            uses_slope: vec![],
        };
        for (k, definition) in definitions.iter().enumerate() {
            let model = &definition.model;
            pieces.first_state.push(pieces.owner.len());
            pieces.owner.extend(model.states.iter().map(|_| k));
            for output in 0..model.outputs.len() {
                let dependencies = model.output_dependencies(output);
                pieces.outputs.push(dependencies);
            }
            for state in 0..model.states.len() {
                let dependencies = model.derivative_dependencies(state);
                pieces.derivatives.push(dependencies);
            }
            pieces.uses_slope.extend(&model.uses_slope);
        }
        pieces
    }

    fn count(&self) -> usize {
        2 * self.outputs.len() + self.derivatives.len()
    }

    fn piece(&self, index: usize) -> Piece {
        let outputs = self.outputs.len();
        if index < outputs {
            Piece::Value(index)
        } else if index < 2 * outputs {
            Piece::Slope(index - outputs)
        } else {
            Piece::Derivative(index - 2 * outputs)
        }
    }

    fn is_needed(&self, index: usize, needed_slopes: &[bool]) -> bool {
        match self.piece(index) {
            Piece::Slope(output) => needed_slopes[output],
            Piece::Value(_) | Piece::Derivative(_) => true,
        }
    }

    fn index(&self, piece: Piece) -> usize {
        match piece {
            Piece::Value(output) => output,
            Piece::Slope(output) => self.outputs.len() + output,
            Piece::Derivative(state) => 2 * self.outputs.len() + state,
        }
    }

    /// The output that feeds an input of a system.
    fn feeder(&self, system: usize, input: usize) -> Option<usize> {
        source_of(self.connections, system, input).output()
    }

    /// The outputs whose slopes someone needs: those that feed a used slope and, through
    /// feedthrough, those behind them.
    fn needed_slopes(&self) -> Result<Vec<bool>, NotComposable> {
        let mut needed = vec![false; self.outputs.len()];
        let mut waiting = self.used_slopes();

        while let Some((system, input)) = waiting.pop() {
            let Some(output) = self.feeder(system, input) else {
                continue;
            };
            if std::mem::replace(&mut needed[output], true) {
                continue;
            }
            if !self.outputs[output].slopes.is_empty() {
                return Err(self.second_slope(system, input, output));
            }
            let owner = self.connections.owner(output);
            waiting.extend(self.outputs[output].inputs.iter().map(|&i| (owner, i)));
        }
        Ok(needed)
    }

    /// The inputs whose slopes are used, with their systems.
    fn used_slopes(&self) -> Vec<(usize, usize)> {
        let mut used = Vec::new();
        for system in 0..self.connections.systems() {
            for (position, input) in self.connections.inputs_of(system).enumerate() {
                if self.uses_slope[input] {
                    used.push((system, position));
                }
            }
        }
        used
    }

    fn second_slope(&self, system: usize, input: usize, output: usize) -> NotComposable {
        let interface = &self.connections.interfaces()[system];
        NotComposable::SecondSlope {
            input: interface.qualified(&interface.inputs[input].name),
            output: self.connections.output_name(output),
        }
    }

    /// The indices of the pieces that a piece is made of.
    fn dependencies(&self, piece: Piece, needed: &[bool]) -> Vec<usize> {
        match piece {
            Piece::Value(output) => {
                self.substituted(self.connections.owner(output), &self.outputs[output])
            }
            Piece::Derivative(state) => {
                self.substituted(self.owner[state], &self.derivatives[state])
            }
            Piece::Slope(output) if !needed[output] => vec![],
            Piece::Slope(output) => self.slope_dependencies(output),
        }
    }

    fn slope_dependencies(&self, output: usize) -> Vec<usize> {
        let owner = self.connections.owner(output);
        let on = &self.outputs[output];
        let mut all = self.substituted(owner, on);

        for state in &on.states {
            let stacked = self.first_state[owner] + state;
            all.push(self.index(Piece::Derivative(stacked)));
        }

        all.extend(self.feeders(owner, &on.inputs, Piece::Slope));
        all
    }

    /// The pieces that take the place of the inputs and slopes of an expression.
    fn substituted(&self, system: usize, on: &Dependencies) -> Vec<usize> {
        let values = self.feeders(system, &on.inputs, Piece::Value);
        let slopes = self.feeders(system, &on.slopes, Piece::Slope);
        values.chain(slopes).collect()
    }

    /// The pieces that feed these inputs of a system.
    fn feeders(
        &self,
        system: usize,
        inputs: &[usize],
        piece: fn(usize) -> Piece,
    ) -> impl Iterator<Item = usize> {
        inputs.iter().filter_map(move |&input| {
            let output = self.feeder(system, input)?;
            Some(self.index(piece(output)))
        })
    }
}

/// What an input of a system is connected with.
fn source_of(connections: &Connections, system: usize, input: usize) -> Source {
    connections.sources()[connections.inputs_of(system).start + input]
}

/// The composition under way: for each piece its expression, once it is known.
struct Composer<'a> {
    definitions: &'a [Definition],
    connections: &'a Connections,
    pieces: &'a Pieces<'a>,
    graph: Rc<RefCell<Graph>>,
    switches: Switches,
    /// Per system: its parameters, its switches and its states in the common graph.
    parameters: Vec<Vec<Symbol>>,
    conditions: Vec<Vec<Symbol>>,
    states: Vec<Vec<Symbol>>,
    known: Vec<Option<Symbol>>,
    residuals: Vec<NodeId>,
    unknowns: Vec<String>,
    guesses: Vec<f64>,
    unknown_outputs: Vec<Option<usize>>,
}

impl<'a> Composer<'a> {
    fn new(
        definitions: &'a [Definition],
        connections: &'a Connections,
        pieces: &'a Pieces<'a>,
    ) -> Self {
        let graph = Rc::new(RefCell::new(Graph::new()));
        let mut composer = Self {
            definitions,
            connections,
            pieces,
            graph,
            switches: Switches::default(),
            parameters: vec![],
            conditions: vec![],
            states: vec![],
            known: vec![None; pieces.count()],
            residuals: vec![],
            unknowns: vec![],
            guesses: vec![],
            unknown_outputs: vec![],
        };

        for system in 0..definitions.len() {
            composer.add_leaves(system);
        }
        composer
    }

    /// The leaves of a system, after those of the systems before it.
    fn add_leaves(&mut self, system: usize) {
        let definition = &self.definitions[system];
        let first_parameter = self.parameters.iter().map(Vec::len).sum();
        let parameters = self.leaves(
            first_parameter,
            definition.parameters.len(),
            Leaf::Parameter,
        );
        self.parameters.push(parameters);
        let first_state = self.pieces.first_state[system];
        let states = self.leaves(first_state, definition.states.len(), Leaf::State);
        self.states.push(states);
        let conditions = self.conditions_of(system);

        self.conditions.push(conditions);
    }

    fn leaves(&self, first: usize, count: usize, leaf: fn(u32) -> Leaf) -> Vec<Symbol> {
        let indices = first..first + count;
        let leaves = indices.map(|index| Symbol::leaf(&self.graph, leaf(index as u32)));
        leaves.collect()
    }

    fn zero(&self) -> Symbol {
        Symbol::constant(&self.graph, 0.0)
    }

    /// A system's time switches, in the common graph, where equal ones of several systems are one.
    fn conditions_of(&mut self, system: usize) -> Vec<Symbol> {
        let model = &self.definitions[system].model;
        let program = Arc::new(model.switch_program());
        let lines = Evaluator::new(program, &self.zero(), &self.parameters[system]).results();
        let mut conditions = Vec::new();

        for (switch, line) in model.switches.iter().zip(lines.chunks_exact(2)) {
            let moved = Switch {
                slope: line[0].node(),
                offset: line[1].node(),
                inclusive: switch.inclusive,
            };
            let node = self.switches.intern(&mut self.graph.borrow_mut(), moved);
            conditions.push(Symbol::new(&self.graph, node));
        }
        conditions
    }

    /// The expression that feeds an input, or its slope; zero where it is not known, and then not
    /// needed.
    fn fed(&self, system: usize, input: usize, piece: fn(usize) -> Piece) -> Symbol {
        match (source_of(self.connections, system, input), piece(0)) {
            (Source::Output(output), _) => self.known_or_zero(piece(output)),
            (Source::Constant(value), Piece::Value(_)) => Symbol::constant(&self.graph, value),
            (Source::Constant(_), _) => self.zero(),
        }
    }

    fn known_or_zero(&self, piece: Piece) -> Symbol {
        let known = &self.known[self.pieces.index(piece)];
        known.clone().unwrap_or_else(|| self.zero())
    }

    fn all_fed(&self, system: usize, piece: fn(usize) -> Piece) -> Vec<Symbol> {
        let inputs = 0..self.definitions[system].model.inputs.len();
        inputs.map(|i| self.fed(system, i, piece)).collect()
    }

    /// An expression of a system, with everything substituted.
    fn expression(&self, system: usize, root: NodeId) -> Symbol {
        let graph = &self.definitions[system].model.graph;
        let program = Arc::new(Program::compile(graph, &[root]));
        let mut evaluator = Evaluator::new(program, &self.zero(), &self.parameters[system]);
        evaluator.set_time(&Symbol::leaf(&self.graph, Leaf::Time));
        evaluator.set_switches(&self.conditions[system]);
        evaluator.set_states(&self.states[system]);
        evaluator.set_inputs(&self.all_fed(system, Piece::Value));
        evaluator.set_slopes(&self.all_fed(system, Piece::Slope));

        evaluator.results().swap_remove(0)
    }

    /// The derivative of an output along the flow: `∂g/∂t + C f + D u'`.
    fn slope(&self, output: usize) -> Symbol {
        let system = self.connections.owner(output);
        let model = &self.definitions[system].model;
        let root = self.output_root(output);
        let zero = Dual::constant(self.zero());
        let program = Arc::new(Program::compile(&model.graph, &[root]));
        let mut evaluator = Evaluator::new(program, &zero, &constants(&self.parameters[system]));
        evaluator.set_time(&Dual::variable(Symbol::leaf(&self.graph, Leaf::Time)));
        evaluator.set_switches(&constants(&self.conditions[system]));
        let rates = self.state_rates(system);
        evaluator.set_states(&Dual::moving(&self.states[system], &rates));
        let values = self.all_fed(system, Piece::Value);
        let slopes = self.all_fed(system, Piece::Slope);
        evaluator.set_inputs(&Dual::moving(&values, &slopes));
        evaluator.set_slopes(&constants(&slopes));

        evaluator.results().swap_remove(0).derivative
    }

    /// The derivatives of the states of a system.
    fn state_rates(&self, system: usize) -> Vec<Symbol> {
        let first = self.pieces.first_state[system];
        let states = first..first + self.states[system].len();
        let rates = states.map(|state| self.known_or_zero(Piece::Derivative(state)));
        rates.collect()
    }

    /// Where an output is in the graph of its model.
    fn output_root(&self, output: usize) -> NodeId {
        let system = self.connections.owner(output);
        let own = output - self.connections.outputs_of(system).start;
        self.definitions[system].model.output_roots[own]
    }

    /// What a piece is, in terms of pieces that are known.
    fn expressed(&self, piece: Piece) -> Symbol {
        match piece {
            Piece::Slope(output) => self.slope(output),
            Piece::Value(output) => {
                let system = self.connections.owner(output);
                self.expression(system, self.output_root(output))
            }
            Piece::Derivative(state) => {
                let system = self.pieces.owner[state];
                let own = state - self.pieces.first_state[system];
                let model = &self.definitions[system].model;
                self.expression(system, model.derivative_roots[own])
            }
        }
    }

    fn substitute(&mut self, index: usize) {
        self.known[index] = Some(self.expressed(self.pieces.piece(index)));
    }

    /// The start value of an input that the output feeds.
    fn guess(&self, output: usize) -> f64 {
        let starts = self.definitions.iter().flat_map(|d| &d.inputs);
        for (start, source) in starts.zip(self.connections.sources()) {
            if *source == Source::Output(output) {
                return *start;
            }
        }
        0.0
    }

    /// Outputs and slopes on a loop become unknowns; then everything on it can be expressed.
    fn close_loop(&mut self, members: &[usize]) {
        let is_derivative =
            |index: &usize| matches!(self.pieces.piece(*index), Piece::Derivative(_));
        let (derivatives, cut): (Vec<usize>, Vec<usize>) =
            members.iter().copied().partition(is_derivative);

        for &index in &cut {
            self.add_unknown(index);
        }

        for &index in &derivatives {
            self.substitute(index);
        }
        for index in cut {
            let unknown = self.known[index].clone().expect("BUG: just assigned");
            let expressed = self.expressed(self.pieces.piece(index));
            self.residuals.push(unknown.subtract(&expressed).node());
        }
    }

    fn add_unknown(&mut self, index: usize) {
        let unknown = Leaf::Unknown(self.unknowns.len() as u32);
        self.known[index] = Some(Symbol::leaf(&self.graph, unknown));

        match self.pieces.piece(index) {
            Piece::Slope(output) => {
                let name = self.connections.output_name(output);
                self.unknowns.push(format!("der({name})"));
                self.guesses.push(0.0);
                self.unknown_outputs.push(None);
            }
            Piece::Value(output) | Piece::Derivative(output) => {
                self.unknowns.push(self.connections.output_name(output));
                self.guesses.push(self.guess(output));
                self.unknown_outputs.push(Some(output));
            }
        }
    }

    fn finish(self) -> Coupled {
        let states = 0..self.pieces.derivatives.len();
        let outputs = 0..self.pieces.outputs.len();
        let parameters = self.definitions.iter().flat_map(|d| &d.parameters);

        Coupled {
            derivatives: states.map(|s| self.node(Piece::Derivative(s))).collect(),
            outputs: outputs.map(|j| self.node(Piece::Value(j))).collect(),
            inputs: self.input_nodes(),
            parameters: parameters.copied().collect(),
            switches: self.switches.list().to_vec(),
            whens: self.whens(),
            discrete: self.discrete(),
            residuals: self.residuals,
            unknowns: self.unknowns,
            guesses: self.guesses,
            unknown_outputs: self.unknown_outputs,
            graph: self.graph.borrow().clone(),
        }
    }

    fn discrete(&self) -> Vec<bool> {
        let models = self.definitions.iter().map(|definition| &definition.model);
        let flags = models.flat_map(|model| {
            let continuous = model.states.len() - model.discrete;
            (0..model.states.len()).map(move |state| state >= continuous)
        });
        flags.collect()
    }

    fn whens(&self) -> Vec<CoupledWhen> {
        let mut whens = Vec::new();
        for (system, definition) in self.definitions.iter().enumerate() {
            let node = |root: NodeId| self.expression(system, root).node();
            let first = self.pieces.first_state[system];
            for when in &definition.model.whens {
                let condition = when.condition().map(node);
                let moved = |assignments: &[(usize, NodeId)]| {
                    let pairs = assignments.iter();
                    pairs
                        .map(|(state, value)| (first + state, node(*value)))
                        .collect()
                };
                whens.push(CoupledWhen {
                    period: match condition {
                        Some(_) => f64::INFINITY,
                        None => definition.sample.unwrap_or(f64::INFINITY),
                    },
                    condition,
                    text: when.text.clone(),
                    system: definition.name.clone(),
                    assignments: moved(&when.assignments),
                    at_rest: moved(&when.at_rest),
                });
            }
        }
        whens
    }

    /// Where a piece is in the common graph.
    fn node(&self, piece: Piece) -> NodeId {
        let known = self.known[self.pieces.index(piece)].as_ref();
        known.expect("BUG: a piece was left out").node()
    }

    fn input_nodes(&self) -> Vec<NodeId> {
        let systems = 0..self.connections.systems();
        let fed = systems.flat_map(|system| self.all_fed(system, Piece::Value));
        fed.map(|symbol| symbol.node()).collect()
    }
}

fn constants(symbols: &[Symbol]) -> Vec<Dual<Symbol>> {
    symbols.iter().cloned().map(Dual::constant).collect()
}
