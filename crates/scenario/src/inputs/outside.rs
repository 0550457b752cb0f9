//! Inputs that are left to whoever runs the model: an importer of the model as an FMU.
//!
//! Methods do not see them, as they do not see inputs that a table drives: systems follow them
//! exactly. Whoever changes them says so, and the run restarts there from consistent values.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use dovetail_core::{
    Connections, Drive, Driven, DrivenInputs, Interface, Linearization, MacroStep, Signal, Source,
    System,
};

/// What the inputs are that are left to whoever runs a model.
#[derive(Debug, Default)]
pub struct OutsideSignals {
    course: Mutex<Course>,
    /// Systems with such inputs, as they were linearized last with these; each by the first of them.
    linearized: Mutex<HashMap<usize, Linearization>>,
}

/// Polynomials in the time elapsed since a moment.
#[derive(Debug, Default)]
struct Course {
    since: f64,
    signals: Vec<Signal>,
}

impl OutsideSignals {
    /// Inputs that are held at these values.
    pub fn new(values: &[f64]) -> Self {
        let signals = values.iter().map(|value| Signal::constant(*value));
        let course = Course {
            since: 0.0,
            signals: signals.collect(),
        };
        Self {
            course: Mutex::new(course),
            ..Self::default()
        }
    }

    /// From this time on the inputs are these.
    pub fn set(&self, since: f64, signals: &[Signal]) {
        let mut course = self.lock();
        course.since = since;
        course.signals.clear();
        course.signals.extend_from_slice(signals);
    }

    /// An input at a time; before the last change, what it was right after it.
    fn at(&self, slot: usize, time: f64) -> Signal {
        let course = self.lock();
        match course.signals.get(slot) {
            Some(signal) if time > course.since => signal.shifted(time - course.since),
            Some(signal) => *signal,
            None => Signal::constant(0.0),
        }
    }

    /// The system with these inputs, as it was linearized last.
    pub(crate) fn linearized(&self, exposed: &ExposedInputs) -> Option<Linearization> {
        let first = exposed.inputs.first()?.slot;
        let all = self.linearized.lock();
        let all = all.unwrap_or_else(PoisonError::into_inner);
        all.get(&first).cloned()
    }

    /// Nothing that holds the lock can fail, so that what it guards is whole.
    fn lock(&self) -> std::sync::MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An input that is left to whoever runs the model.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ExposedInput {
    /// Its position among the inputs of its system.
    position: usize,
    /// Its position among all that are left open.
    slot: usize,
    /// What it is where nobody feeds it.
    start: f64,
}

/// The inputs of a system that are left to whoever runs the model, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExposedInputs {
    inputs: Vec<ExposedInput>,
}

impl ExposedInputs {
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// For each, its position among the inputs of its system, that among all that are left open, and its start value.
    pub fn each(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let inputs = self.inputs.iter();
        inputs.map(|input| (input.position, input.slot, input.start))
    }

    fn positions(&self) -> Vec<usize> {
        self.inputs.iter().map(|input| input.position).collect()
    }

    /// Values of all inputs, where these are those of the others.
    pub fn with_exposed(&self, others: &[f64], outside: Option<&OutsideSignals>) -> Vec<f64> {
        let mut all = others.to_vec();
        for input in &self.inputs {
            let value = match outside {
                Some(outside) => outside.at(input.slot, f64::NEG_INFINITY).value(0.0),
                None => input.start,
            };
            all.insert(input.position.min(all.len()), value);
        }
        all
    }

    /// The system with these inputs driven from outside.
    pub fn drive(
        &self,
        system: Box<dyn System>,
        outside: Option<&Arc<OutsideSignals>>,
    ) -> Box<dyn System> {
        if self.is_empty() {
            return system;
        }
        let drive = OutsideDrive {
            outside: outside.cloned(),
            inputs: self.inputs.clone(),
        };
        let driven = DrivenInputs {
            drive: Box::new(drive),
            inputs: self.positions(),
        };
        Box::new(Driven::new(system, vec![driven]))
    }
}

/// The inputs of one system, as they are set from outside.
struct OutsideDrive {
    outside: Option<Arc<OutsideSignals>>,
    inputs: Vec<ExposedInput>,
}

impl Drive for OutsideDrive {
    /// Whoever changes them has the run end there first.
    fn piece_end(&mut self, _from: f64) -> Result<f64, String> {
        Ok(f64::INFINITY)
    }

    fn signals(&mut self, step: MacroStep, into: &mut [Signal]) -> Result<(), String> {
        for (signal, input) in into.iter_mut().zip(&self.inputs) {
            *signal = match &self.outside {
                Some(outside) => outside.at(input.slot, step.start),
                None => Signal::constant(input.start),
            };
        }
        Ok(())
    }

    fn linearized(&mut self, whole: &Linearization) {
        let (Some(outside), Some(first)) = (&self.outside, self.inputs.first()) else {
            return;
        };
        let all = outside.linearized.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        all.insert(first.slot, whole.clone());
    }
}

/// Connections without the inputs that are left open.
pub(crate) struct Opened {
    pub connections: Connections,
    pub places: Vec<Range<usize>>,
    pub of_systems: Vec<ExposedInputs>,
}

/// Takes the inputs (stacked) that are left open out of the connections.
pub(crate) fn open(connections: Connections, places: Vec<Range<usize>>, open: &[usize]) -> Opened {
    let systems = connections.systems();
    if open.is_empty() {
        return Opened {
            connections,
            places,
            of_systems: vec![ExposedInputs::default(); systems],
        };
    }

    let of_systems: Vec<ExposedInputs> = (0..systems)
        .map(|system| exposed_inputs(&connections, system, open))
        .collect();
    let inner = connections.interfaces().iter().zip(&of_systems);
    let outer: Vec<Interface> = inner.map(outer_interface).collect();
    let mut first = 0;
    let mut first_outputs = Vec::new();
    for interface in &outer {
        first_outputs.push(first);
        first += interface.outputs.len();
    }

    let moved = |source: &Source| match *source {
        Source::Output(output) => {
            let owner = connections.owner(output);
            let position = output - connections.outputs_of(owner).start;
            Source::Output(first_outputs[owner] + position)
        }
        Source::Constant(value) => Source::Constant(value),
    };
    let is_left = |input: &usize| !open.contains(input);
    let left = (0..connections.inputs()).filter(is_left);
    let sources = left
        .clone()
        .map(|input| moved(&connections.sources()[input]));
    let sources = sources.collect();
    let places = left.filter_map(|input| places.get(input).cloned());

    Opened {
        connections: Connections::new(outer, sources),
        places: places.collect(),
        of_systems,
    }
}

fn exposed_inputs(connections: &Connections, system: usize, open: &[usize]) -> ExposedInputs {
    let own = connections.inputs_of(system);
    let exposed = open.iter().enumerate();
    let exposed = exposed.filter(|(_, input)| own.contains(input));
    let inputs = exposed.map(|(slot, &input)| ExposedInput {
        position: input - own.start,
        slot,
        start: match connections.sources()[input] {
            Source::Constant(value) => value,
            Source::Output(_) => 0.0,
        },
    });
    ExposedInputs {
        inputs: inputs.collect(),
    }
}

fn outer_interface((inner, exposed): (&Interface, &ExposedInputs)) -> Interface {
    match exposed.is_empty() {
        true => inner.clone(),
        false => Driven::<Box<dyn System>>::outer_interface(inner, &exposed.positions()),
    }
}
