//! Systems that are written in Python.

mod calls;
mod hand;
mod kind;
mod ode;
mod stepping;
mod under_way;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dovetail::core::{Input, Interface, Output, SignalKind};
use pyo3::prelude::*;

pub(crate) use kind::PYTHON_SYSTEMS;
use under_way::CallsUnderWay;
pub(crate) use under_way::{end_calls, longest_call};

/// A system as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Description {
    /// `derivatives`, `step`, or `hand`: outputs that are set from outside.
    kind: String,
    inputs: Vec<(String, f64)>,
    states: Vec<(String, f64)>,
    outputs: Vec<String>,
    parameters: Vec<(String, f64)>,
    /// For each output the inputs on which it depends at once.
    feedthrough: Vec<Vec<usize>>,
    /// The only step that it takes.
    imposed_step: Option<f64>,
    /// It has `jacobians`.
    jacobians: bool,
    /// It can be saved and restored.
    rollback: bool,
    /// Makes one, with these parameters.
    make: Py<PyAny>,
}

/// A system in Python, of which any number can be made.
pub(crate) struct PythonModel {
    description: Description,
    /// The first exception that one of them has raised.
    exception: Mutex<Option<PyErr>>,
    calls: CallsUnderWay,
    /// What the outputs of a hand are now.
    values: Vec<AtomicU64>,
}

impl PythonModel {
    /// Sets an output of a hand.
    pub fn set_value(&self, output: usize, value: f64) {
        self.values[output].store(value.to_bits(), Ordering::Relaxed);
    }

    fn value(&self, output: usize) -> f64 {
        f64::from_bits(self.values[output].load(Ordering::Relaxed))
    }

    fn interface(&self, name: &str) -> Interface {
        let description = &self.description;
        let input = |(name, start): &(String, f64)| Input {
            name: name.clone(),
            start: *start,
            ..Input::default()
        };
        let output = |(name, inputs): (&String, &Vec<usize>)| Output {
            name: name.clone(),
            depends_on: inputs.clone(),
            kind: match description.kind.as_str() {
                "hand" => SignalKind::Discrete,
                _ => SignalKind::Continuous,
            },
            ..Output::default()
        };
        let outputs = description.outputs.iter().zip(&description.feedthrough);

        Interface {
            name: name.to_owned(),
            inputs: description.inputs.iter().map(input).collect(),
            outputs: outputs.map(output).collect(),
            states: description
                .states
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// Keeps the first exception for whoever started the run.
    fn note(&self, exception: PyErr) {
        let mut first = self
            .exception
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(exception);
    }
}

/// All that models in Python have and have not yet given up.
static SYSTEMS: Mutex<Option<HashMap<u64, Arc<PythonModel>>>> = Mutex::new(None);
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

fn with_systems<T>(act: impl FnOnce(&mut HashMap<u64, Arc<PythonModel>>) -> T) -> T {
    let mut systems = SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner);
    act(systems.get_or_insert_default())
}

pub(crate) fn system(number: u64) -> Option<Arc<PythonModel>> {
    with_systems(|systems| systems.get(&number).cloned())
}

/// Takes a system in; its number, which stands for it in the text of a model.
#[pyfunction]
pub(crate) fn add_system(description: Description) -> u64 {
    let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
    let starts = match description.kind.as_str() {
        "hand" => &description.parameters[..],
        _ => &[],
    };
    let model = PythonModel {
        values: starts
            .iter()
            .map(|(_, start)| AtomicU64::new(start.to_bits()))
            .collect(),
        description,
        exception: Mutex::new(None),
        calls: CallsUnderWay::default(),
    };
    with_systems(|systems| systems.insert(number, Arc::new(model)));
    number
}

/// Gives a system up.
#[pyfunction]
pub(crate) fn remove_system(number: u64) {
    let removed = with_systems(|systems| systems.remove(&number));
    drop(removed);
}

/// The first exception that one of these has raised since somebody asked last.
pub(crate) fn first_exception(numbers: &[u64]) -> Option<PyErr> {
    let mut models = numbers.iter().filter_map(|number| system(*number));
    models.find_map(|model| {
        let mut first = model
            .exception
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        first.take()
    })
}
