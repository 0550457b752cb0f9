//! A model for an integrator outside: its equations coupled, with the loops solved inside.
//!
//! Inputs that nothing feeds are states of a system of our own, which nobody integrates: so they are like any other variable for
//! derivatives and for what switches.

use dovetail_core::{Archive, Checkpoint, Error, Interface, Source};
use dovetail_equations::{Definition, ExchangeEquations, Model};

use crate::diagnostic::{BadModel, Problem};
use crate::options::RunOptions;
use crate::scenario::{NoEquations, Scenario};

/// The system whose states are the inputs from outside.
const OUTSIDE: &str = "$outside";
/// How a refusal begins.
const REFUSED: &str = "this model cannot be exported for Model Exchange, only for Co-Simulation";

/// A model for an integrator outside.
pub struct ExchangeModel {
    equations: ExchangeEquations,
    time: f64,
    /// Those of all systems, stacked; then the inputs from outside.
    states: Vec<f64>,
    /// The states that move between events.
    continuous: Vec<usize>,
    /// How many states there are before the inputs from outside.
    own_states: usize,
    /// For each output of the model's connections, where it is among those of the equations.
    outputs: Vec<usize>,
    derivatives: Vec<f64>,
    observed: Vec<f64>,
    /// Whether `observed` is what the model is now.
    is_observed: bool,
    direction: Vec<f64>,
}

/// What an event has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandledEvent {
    /// Continuous states have jumped.
    pub states_changed: bool,
    /// The next time at which something is known to switch; infinite where there is none.
    pub next_event: f64,
}

/// Something that an integrator can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeKnown {
    /// A continuous state, by its position among those.
    State(usize),
    /// An input from outside.
    Input(usize),
}

/// Something that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeUnknown {
    /// The derivative of a continuous state, by the position of the state among those.
    Derivative(usize),
    /// An output, stacked as the model's connections have them.
    Output(usize),
}

impl Scenario {
    /// The model for an integrator outside, where all systems are equations without delays; else a refusal that names what is in
    /// the way.
    pub fn exchange(&self, options: &RunOptions) -> Result<ExchangeModel, BadModel> {
        let definitions = self.exchange_definitions()?;
        let interfaces: Vec<Interface> = definitions.iter().map(Definition::interface).collect();
        let inner: usize = interfaces.iter().map(|it| it.outputs.len()).sum();
        let first = inner - interfaces.last().map_or(0, |last| last.outputs.len());
        let connections =
            self.connections_with_open(interfaces, |slot, _| Source::Output(first + slot));
        let equations = ExchangeEquations::new(&definitions, &connections, self.start_time);
        let equations =
            equations.map_err(|error| self.bad(Problem::general(format!("{REFUSED}: {error}"))))?;

        let mut states: Vec<f64> = Vec::new();
        for definition in &definitions {
            states.extend(&definition.states);
        }
        let slots = definitions.last().map_or(0, |last| last.states.len());
        let own_states = states.len() - slots;
        let discrete = &equations.discrete()[..own_states];
        let continuous = (0..own_states).filter(|&state| !discrete[state]).collect();
        let outputs = self.inner_outputs();
        let mut known = vec![0.0; connections.outputs()];
        for task in self.start(options)? {
            let stacked = self.connections.outputs_of(task.system);
            for (output, knot) in stacked.zip(&task.response.outputs) {
                known[outputs[output]] = knot.value;
            }
        }

        let equations = equations.starting_at(&known);
        Ok(ExchangeModel {
            time: self.start_time,
            derivatives: vec![0.0; states.len()],
            observed: vec![0.0; equations.observables()],
            is_observed: false,
            direction: vec![0.0; states.len()],
            equations,
            states,
            continuous,
            own_states,
            outputs,
        })
    }

    /// The equations of all systems, and those of the inputs from outside.
    fn exchange_definitions(&self) -> Result<Vec<Definition>, BadModel> {
        let mut definitions = Vec::new();
        let mut starts = Vec::new();
        for (k, part) in self.parts.iter().enumerate() {
            let Some(known) = part.equations_behind_open_inputs() else {
                let why = NoEquations::of(part);
                let message = format!("{REFUSED}: {why}");
                return Err(self.bad(Problem::general(message)));
            };
            let mut definition = known.definition.clone();
            if let Some(states) = &self.start_states {
                definition.states.clone_from(&states[k]);
            }
            for (position, slot, start) in part.exposed.each() {
                if definition.model.uses_slope[position] {
                    return Err(self.open_slope(&definition, position));
                }
                starts.resize(starts.len().max(slot + 1), 0.0);
                starts[slot] = start;
            }
            definitions.push(definition);
        }
        definitions.push(outside(starts));
        Ok(definitions)
    }

    fn open_slope(&self, definition: &Definition, position: usize) -> BadModel {
        let message = format!(
            "{REFUSED}: `{}` uses the derivative of its input `{}`, which importers do not give",
            definition.name, definition.model.inputs[position]
        );
        self.bad(Problem::general(message))
    }
}

/// A system whose outputs are its states, which nothing moves.
fn outside(starts: Vec<f64>) -> Definition {
    let names: Vec<String> = (0..starts.len()).map(|slot| format!("u{slot}")).collect();
    let equations: Vec<String> = names
        .iter()
        .map(|name| format!("der({name}) = 0"))
        .collect();
    let shown: Vec<String> = names.iter().map(|name| format!("{name}_out")).collect();
    let model = Model::parse(&dovetail_equations::Source {
        states: names.iter().map(String::as_str).collect(),
        equations: &equations.join("\n"),
        outputs: shown
            .iter()
            .zip(&names)
            .map(|(shown, name)| (shown.as_str(), name.as_str()))
            .collect(),
        ..Default::default()
    });
    let model = model.expect("BUG: a state that does not move is a correct model");
    Definition::new(OUTSIDE, model, Vec::new(), starts, Vec::new())
}

impl ExchangeModel {
    /// How many continuous states there are.
    pub fn state_count(&self) -> usize {
        self.continuous.len()
    }

    /// How many event indicators there are.
    pub fn indicator_count(&self) -> usize {
        self.equations.indicator_count()
    }

    /// The time from now on.
    pub fn set_time(&mut self, time: f64) {
        self.time = time;
        self.is_observed = false;
    }

    /// The continuous states.
    pub fn states(&self, into: &mut [f64]) {
        for (value, &state) in into.iter_mut().zip(&self.continuous) {
            *value = self.states[state];
        }
    }

    /// Sets the continuous states.
    pub fn set_states(&mut self, values: &[f64]) {
        for (value, &state) in values.iter().zip(&self.continuous) {
            self.states[state] = *value;
        }
        self.is_observed = false;
    }

    /// Sets an input from outside.
    pub fn set_input(&mut self, slot: usize, value: f64) {
        self.states[self.own_states + slot] = value;
        self.is_observed = false;
    }

    /// The derivatives of the continuous states.
    pub fn derivatives(&mut self, into: &mut [f64]) -> Result<(), Error> {
        let derivatives = &mut self.derivatives;
        self.equations
            .derivatives(self.time, &self.states, derivatives)?;
        for (value, &state) in into.iter_mut().zip(&self.continuous) {
            *value = derivatives[state];
        }
        Ok(())
    }

    /// An output, stacked as the model's connections have them.
    pub fn output(&mut self, stacked: usize) -> Result<f64, Error> {
        if !self.is_observed {
            let observed = &mut self.observed;
            self.equations.observe(self.time, &self.states, observed)?;
            self.is_observed = true;
        }
        Ok(self.observed[self.outputs[stacked]])
    }

    /// The event indicators.
    pub fn indicators(&mut self, into: &mut [f64]) -> Result<(), Error> {
        self.equations.indicators(self.time, &self.states, into)
    }

    /// At the start, and at every event.
    pub fn handle_event(&mut self) -> Result<HandledEvent, Error> {
        let before: Vec<f64> = self.continuous.iter().map(|&k| self.states[k]).collect();
        self.equations.handle_event(self.time, &mut self.states)?;
        self.is_observed = false;
        let mut pairs = before.iter().zip(&self.continuous);
        Ok(HandledEvent {
            states_changed: pairs.any(|(before, &state)| *before != self.states[state]),
            next_event: self.equations.next_event(),
        })
    }

    /// The derivatives of `unknowns` in the direction in which `knowns` move as `seed` says.
    pub fn directional(
        &mut self,
        unknowns: &[ExchangeUnknown],
        knowns: &[ExchangeKnown],
        seed: &[f64],
        into: &mut [f64],
    ) -> Result<(), Error> {
        self.direction.fill(0.0);
        for (known, part) in knowns.iter().zip(seed) {
            let place = match *known {
                ExchangeKnown::State(state) => self.continuous[state],
                ExchangeKnown::Input(slot) => self.own_states + slot,
            };
            self.direction[place] += part;
        }
        self.is_observed = false; // its room is used
        let rooms = (&mut self.derivatives[..], &mut self.observed[..]);
        self.equations
            .directional(self.time, &self.states, &self.direction, rooms)?;
        for (value, unknown) in into.iter_mut().zip(unknowns) {
            *value = match *unknown {
                ExchangeUnknown::Derivative(state) => self.derivatives[self.continuous[state]],
                ExchangeUnknown::Output(stacked) => self.observed[self.outputs[stacked]],
            };
        }
        Ok(())
    }

    /// All that further answers depend on.
    pub fn save(&mut self) -> Result<Vec<u8>, Error> {
        let mut archive = Archive::writer();
        self.visit(&mut archive)?;
        Ok(archive.into_bytes())
    }

    /// Goes back to it.
    pub fn restore(&mut self, saved: &[u8]) -> Result<(), Error> {
        let mut archive = Archive::reader(saved.to_vec());
        self.visit(&mut archive)?;
        self.is_observed = false;
        archive.finish()
    }
}

impl Checkpoint for ExchangeModel {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.field(&mut self.time)?;
        archive.slice(&mut self.states)?;
        self.equations.visit(archive)
    }
}
