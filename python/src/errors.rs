//! Exceptions: what `dovetail.errors` defines, made from the errors of the engine.

use dovetail::core;
use dovetail::scenario::{BadModel, GivenChoice};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::remedies;

/// What an exception says beside its message.
#[derive(Default)]
pub(crate) struct Fields {
    pub system: Option<String>,
    pub variable: Option<String>,
    pub time: Option<f64>,
    pub remedies: Vec<String>,
}

impl Fields {
    /// What is known of an error that ended a run.
    pub fn of_run(error: &core::Error) -> Self {
        Self {
            system: error.culprit().map(str::to_owned),
            variable: error.variable(),
            time: error.time(),
            remedies: remedies::all_words(&error.remedies()),
        }
    }

    /// What is known of a model that is not sound.
    fn of_model(bad: &BadModel) -> Self {
        let remedies = remedies::all_words(&bad.remedies());
        let mut subjects = bad
            .problems
            .iter()
            .filter_map(|problem| problem.subject.as_deref());
        let subject = subjects.next().cloned().unwrap_or_default();
        let choices = bad.problems.iter();
        let mut chosen = choices.filter_map(|problem| match problem.choice.as_deref() {
            Some(GivenChoice::Value { name, .. }) => Some(name.clone()),
            _ => None,
        });
        let mut named = chosen.next_back();
        let message = bad.problems.first().map(|problem| problem.message.as_str());
        let message = message.unwrap_or_default();
        if named.is_none() {
            named = quoted(message).map(str::to_owned);
        }
        let (system, variable) = match named {
            _ if subject.variable.is_some() => (subject.system.clone(), subject.variable),
            Some(name) => match name.split_once('.') {
                Some((system, _)) => (Some(system.to_owned()), Some(name.clone())),
                None => (Some(name), None),
            },
            None => (system_in_file(bad), None),
        };

        Self {
            system: subject.system.or(system),
            variable,
            time: subject.time,
            remedies,
        }
    }

    pub fn into_dict<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("system", self.system)?;
        fields.set_item("variable", self.variable)?;
        fields.set_item("time", self.time)?;
        fields.set_item("remedies", self.remedies)?;
        Ok(fields)
    }
}

/// The system or variable that a message begins with, in backquotes.
fn quoted(message: &str) -> Option<&str> {
    let name = message.strip_prefix('`')?;
    name.split_once('`').map(|(name, _)| name)
}

/// The system in whose table the first problem stands.
fn system_in_file(bad: &BadModel) -> Option<String> {
    let place = bad.problems.first()?.span.clone()?;
    let before = bad.source.text.get(..place.end)?;
    let header = before.rmatch_indices("\n[").next();
    let header = header.map_or(before, |(at, _)| &before[at + 1..]);
    let name = header.trim_start_matches('[').strip_prefix("systems.")?;
    let end = name.find(['.', ']'])?;
    Some(name[..end].trim_matches('"').to_owned())
}

/// `dovetail.ModelError`: a model that is not sound, or choices that do not fit it.
pub(crate) fn bad_model(py: Python<'_>, bad: BadModel) -> PyErr {
    let fields = Fields::of_model(&bad);
    let worded = remedies::worded_model(bad);
    let text = worded.to_string();
    let text = text.trim_end().strip_prefix("error: ").unwrap_or(&text);
    exception(py, "ModelError", text.trim_end(), fields)
}

/// `dovetail.ModelError` with nothing but a sentence.
pub(crate) fn misuse(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "ModelError", message, Fields::default())
}

/// An exception of this class.
pub(crate) fn exception(py: Python<'_>, class: &str, message: &str, fields: Fields) -> PyErr {
    let make = || {
        let class = py.import("dovetail.errors")?.getattr(class)?;
        class.call((message,), Some(&fields.into_dict(py)?))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}
