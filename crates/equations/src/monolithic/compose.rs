//! Many models made one, by substitution: what feeds an input takes the input's place.
//!
//! The pieces depend on one another: an output on the outputs that feed its inputs, a state's derivative likewise, and the
//! slope of an output (where a model uses `der(input)`) on derivatives and slopes. They are substituted in dependency order.
//! Where a loop leaves no such order, its outputs and slopes become unknowns with one equation each.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use dovetail_core::{Connections, Source, components};

use crate::native::Definition;
use crate::{
    Dependencies, Dual, Evaluator, Graph, Leaf, NodeId, Number, Program, Switch, Switches, Symbol,
};

/// Why models cannot be made one.
#[derive(Debug, thiserror::Error)]
pub enum NotComposable {
    /// `der(input)` of an input whose source itself contains such a slope.
    #[error(
        "`der` of the input `{input}` needs the second derivative of an input, since its source `{output}` uses `der` itself; \
         the monolithic reference does not go that far: compare with --reference FILE.csv instead"
    )]
    SecondSlope {
        /// The input whose slope is used.
        input: String,
        /// What feeds it.
        output: String,
    },
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
}

/// Composes the systems.
pub fn compose(
    definitions: &[Definition],
    connections: &Connections,
) -> Result<Coupled, NotComposable> {
    let pieces = Pieces::new(definitions, connections);
    let needed = pieces.needed_slopes()?;
    let mut composer = Composer::new(definitions, connections, &pieces);
    let dependencies: Vec<Vec<usize>> = (0..pieces.count())
        .map(|piece| pieces.dependencies(piece, &needed))
        .collect();
    for members in components(&dependencies) {
        let wanted = |piece: &usize| !matches!(pieces.kind(*piece), Kind::Slope(j) if !needed[j]);
        let members: Vec<usize> = members.into_iter().filter(wanted).collect();
        let looped = members.len() > 1
            || members
                .iter()
                .any(|&piece| dependencies[piece].contains(&piece));
        if looped {
            composer.close_loop(&members);
        } else {
            members.iter().for_each(|&piece| composer.substitute(piece));
        }
    }
    Ok(composer.finish())
}

/// What has to be expressed: the values and slopes of all outputs, and the derivatives of all states.
struct Pieces<'a> {
    connections: &'a Connections,
    /// The system of each state (stacked), and the first state of each system.
    owner: Vec<usize>,
    first_state: Vec<usize>,
    outputs: Vec<Dependencies>,
    derivatives: Vec<Dependencies>,
    uses_slope: Vec<bool>,
}

#[derive(Clone, Copy)]
enum Kind {
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
            pieces
                .outputs
                .extend((0..model.outputs.len()).map(|j| model.output_dependencies(j)));
            pieces
                .derivatives
                .extend((0..model.states.len()).map(|s| model.derivative_dependencies(s)));
            pieces.uses_slope.extend(&model.uses_slope);
        }
        pieces
    }

    fn count(&self) -> usize {
        2 * self.outputs.len() + self.derivatives.len()
    }

    fn kind(&self, piece: usize) -> Kind {
        let outputs = self.outputs.len();
        match piece {
            p if p < outputs => Kind::Value(p),
            p if p < 2 * outputs => Kind::Slope(p - outputs),
            p => Kind::Derivative(p - 2 * outputs),
        }
    }

    fn piece(&self, kind: Kind) -> usize {
        match kind {
            Kind::Value(output) => output,
            Kind::Slope(output) => self.outputs.len() + output,
            Kind::Derivative(state) => 2 * self.outputs.len() + state,
        }
    }

    /// The output that feeds an input of a system.
    fn feeder(&self, system: usize, input: usize) -> Option<usize> {
        match self.connections.sources()[self.connections.inputs_of(system).start + input] {
            Source::Output(output) => Some(output),
            Source::Constant(_) => None,
        }
    }

    /// The outputs whose slopes someone needs: those that feed a used slope and, through feedthrough, those behind them.
    fn needed_slopes(&self) -> Result<Vec<bool>, NotComposable> {
        let mut needed = vec![false; self.outputs.len()];
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        for system in 0..self.connections.systems() {
            let inputs = self.connections.inputs_of(system);
            waiting.extend(
                inputs
                    .clone()
                    .filter(|&i| self.uses_slope[i])
                    .map(|i| (system, i - inputs.start)),
            );
        }
        while let Some((system, input)) = waiting.pop() {
            let Some(output) = self.feeder(system, input) else {
                continue;
            };
            if std::mem::replace(&mut needed[output], true) {
                continue;
            }
            if !self.outputs[output].slopes.is_empty() {
                let interface = &self.connections.interfaces()[system];
                let input = interface.qualified(&interface.inputs[input].name);
                return Err(NotComposable::SecondSlope {
                    input,
                    output: self.connections.output_name(output),
                });
            }
            let owner = self.connections.owner(output);
            waiting.extend(self.outputs[output].inputs.iter().map(|&i| (owner, i)));
        }
        Ok(needed)
    }

    fn dependencies(&self, piece: usize, needed: &[bool]) -> Vec<usize> {
        match self.kind(piece) {
            Kind::Value(output) => {
                self.substituted(self.connections.owner(output), &self.outputs[output])
            }
            Kind::Derivative(state) => {
                self.substituted(self.owner[state], &self.derivatives[state])
            }
            Kind::Slope(output) if !needed[output] => vec![],
            Kind::Slope(output) => {
                let (owner, on) = (self.connections.owner(output), &self.outputs[output]);
                let mut all = self.substituted(owner, on);
                all.extend(
                    on.states
                        .iter()
                        .map(|s| self.piece(Kind::Derivative(self.first_state[owner] + s))),
                );
                all.extend(
                    on.inputs
                        .iter()
                        .filter_map(|&i| self.feeder(owner, i))
                        .map(|j| self.piece(Kind::Slope(j))),
                );
                all
            }
        }
    }

    /// The pieces that take the place of the inputs and slopes of an expression.
    fn substituted(&self, system: usize, on: &Dependencies) -> Vec<usize> {
        let values = on
            .inputs
            .iter()
            .filter_map(|&i| self.feeder(system, i))
            .map(Kind::Value);
        let slopes = on
            .slopes
            .iter()
            .filter_map(|&i| self.feeder(system, i))
            .map(Kind::Slope);
        values.chain(slopes).map(|kind| self.piece(kind)).collect()
    }
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
        let (mut parameters, mut states) = (0, 0);
        for definition in definitions {
            let leaves = |first: usize, count: usize, leaf: fn(u32) -> Leaf| {
                (first..first + count)
                    .map(|i| Symbol::leaf(&composer.graph, leaf(i as u32)))
                    .collect::<Vec<_>>()
            };
            let own = leaves(parameters, definition.parameters.len(), Leaf::Parameter);
            let states_of = leaves(states, definition.states.len(), Leaf::State);
            parameters += own.len();
            states += states_of.len();
            composer.parameters.push(own);
            composer.states.push(states_of);
            let conditions = composer.conditions_of(composer.parameters.len() - 1);
            composer.conditions.push(conditions);
        }
        composer
    }

    fn zero(&self) -> Symbol {
        Symbol::constant(&self.graph, 0.0)
    }

    /// A system's time switches, in the common graph, where equal ones of several systems are one.
    fn conditions_of(&mut self, system: usize) -> Vec<Symbol> {
        let model = &self.definitions[system].model;
        let mut lines = vec![self.zero(); 2 * model.switches.len()];
        Evaluator::new(
            Arc::new(model.switch_program()),
            &self.zero(),
            &self.parameters[system],
        )
        .run(&mut lines);
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

    /// The expression that feeds an input, or its slope; zero where it is not known, and then not needed.
    fn fed(&self, system: usize, input: usize, kind: fn(usize) -> Kind) -> Symbol {
        match (
            self.connections.sources()[self.connections.inputs_of(system).start + input],
            kind(0),
        ) {
            (Source::Output(output), _) => self.known[self.pieces.piece(kind(output))]
                .clone()
                .unwrap_or_else(|| self.zero()),
            (Source::Constant(value), Kind::Value(_)) => Symbol::constant(&self.graph, value),
            (Source::Constant(_), _) => self.zero(),
        }
    }

    fn all_fed(&self, system: usize, kind: fn(usize) -> Kind) -> Vec<Symbol> {
        (0..self.definitions[system].model.inputs.len())
            .map(|i| self.fed(system, i, kind))
            .collect()
    }

    /// An expression of a system, with everything substituted.
    fn expression(&self, system: usize, root: NodeId) -> Symbol {
        let program = Arc::new(Program::compile(
            &self.definitions[system].model.graph,
            &[root],
        ));
        let mut evaluator = Evaluator::new(program, &self.zero(), &self.parameters[system]);
        evaluator.set_time(&Symbol::leaf(&self.graph, Leaf::Time));
        evaluator.set_switches(&self.conditions[system]);
        evaluator.set_states(&self.states[system]);
        evaluator.set_inputs(&self.all_fed(system, Kind::Value));
        evaluator.set_slopes(&self.all_fed(system, Kind::Slope));
        let mut result = [self.zero()];
        evaluator.run(&mut result);
        let [result] = result;
        result
    }

    /// The derivative of an output along the flow: `∂g/∂t + C f + D u'`.
    fn slope(&self, output: usize) -> Symbol {
        let system = self.connections.owner(output);
        let model = &self.definitions[system].model;
        let root = model.output_roots[output - self.connections.outputs_of(system).start];
        let still = |symbols: &[Symbol]| {
            symbols
                .iter()
                .cloned()
                .map(Dual::constant)
                .collect::<Vec<_>>()
        };
        let moving = |values: Vec<Symbol>, rates: Vec<Symbol>| {
            values
                .into_iter()
                .zip(rates)
                .map(|(value, rate)| Dual::new(value, rate))
                .collect::<Vec<_>>()
        };
        let rate = |state: usize| {
            let piece = self
                .pieces
                .piece(Kind::Derivative(self.pieces.first_state[system] + state));
            self.known[piece].clone().unwrap_or_else(|| self.zero())
        };
        let rates = (0..model.states.len()).map(rate).collect();
        let zero = Dual::constant(self.zero());
        let program = Arc::new(Program::compile(&model.graph, &[root]));
        let mut evaluator = Evaluator::new(program, &zero, &still(&self.parameters[system]));
        evaluator.set_time(&Dual::variable(Symbol::leaf(&self.graph, Leaf::Time)));
        evaluator.set_switches(&still(&self.conditions[system]));
        evaluator.set_states(&moving(self.states[system].clone(), rates));
        evaluator.set_inputs(&moving(
            self.all_fed(system, Kind::Value),
            self.all_fed(system, Kind::Slope),
        ));
        evaluator.set_slopes(&still(&self.all_fed(system, Kind::Slope)));
        let mut result = [zero];
        evaluator.run(&mut result);
        let [result] = result;
        result.derivative
    }

    /// What a piece is, in terms of pieces that are known.
    fn expressed(&self, piece: usize) -> Symbol {
        match self.pieces.kind(piece) {
            Kind::Slope(output) => self.slope(output),
            Kind::Value(output) => {
                let system = self.connections.owner(output);
                let own = output - self.connections.outputs_of(system).start;
                self.expression(system, self.definitions[system].model.output_roots[own])
            }
            Kind::Derivative(state) => {
                let system = self.pieces.owner[state];
                let own = state - self.pieces.first_state[system];
                self.expression(system, self.definitions[system].model.derivative_roots[own])
            }
        }
    }

    fn substitute(&mut self, piece: usize) {
        self.known[piece] = Some(self.expressed(piece));
    }

    /// The start value of an input that the output feeds.
    fn guess(&self, output: usize) -> f64 {
        let mut starts = self
            .definitions
            .iter()
            .flat_map(|d| &d.inputs)
            .zip(self.connections.sources());
        starts
            .find(|(_, source)| **source == Source::Output(output))
            .map_or(0.0, |(start, _)| *start)
    }

    /// Outputs and slopes on a loop become unknowns; then everything on it can be expressed.
    fn close_loop(&mut self, members: &[usize]) {
        let (derivatives, cut): (Vec<usize>, Vec<usize>) = members
            .iter()
            .partition(|&&piece| matches!(self.pieces.kind(piece), Kind::Derivative(_)));
        let first = self.unknowns.len();
        for (number, &piece) in cut.iter().enumerate() {
            let (name, guess) = match self.pieces.kind(piece) {
                Kind::Slope(output) => (
                    format!("der({})", self.connections.output_name(output)),
                    0.0,
                ),
                Kind::Value(output) | Kind::Derivative(output) => {
                    (self.connections.output_name(output), self.guess(output))
                }
            };
            self.unknowns.push(name);
            self.guesses.push(guess);
            let output = match self.pieces.kind(piece) {
                Kind::Value(output) => Some(output),
                _ => None,
            };
            self.unknown_outputs.push(output);
            self.known[piece] = Some(Symbol::leaf(
                &self.graph,
                Leaf::Unknown((first + number) as u32),
            ));
        }
        derivatives.iter().for_each(|&piece| self.substitute(piece));
        for piece in cut {
            let unknown = self.known[piece].clone().expect("BUG: just assigned");
            self.residuals
                .push(unknown.subtract(&self.expressed(piece)).node());
        }
    }

    fn finish(self) -> Coupled {
        let node = |kind: Kind| {
            self.known[self.pieces.piece(kind)]
                .as_ref()
                .expect("BUG: a piece was left out")
                .node()
        };
        let derivatives = (0..self.pieces.derivatives.len())
            .map(|s| node(Kind::Derivative(s)))
            .collect();
        let outputs = (0..self.pieces.outputs.len())
            .map(|j| node(Kind::Value(j)))
            .collect();
        let systems = 0..self.connections.systems();
        let inputs = systems
            .flat_map(|k| self.all_fed(k, Kind::Value))
            .map(|symbol| symbol.node())
            .collect();
        Coupled {
            derivatives,
            outputs,
            inputs,
            residuals: self.residuals,
            unknowns: self.unknowns,
            guesses: self.guesses,
            unknown_outputs: self.unknown_outputs,
            switches: self.switches.list().to_vec(),
            parameters: self
                .definitions
                .iter()
                .flat_map(|d| d.parameters.iter().copied())
                .collect(),
            graph: self.graph.borrow().clone(),
        }
    }
}
