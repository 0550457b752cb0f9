//! Runs: from a request to columns that NumPy owns.

use std::sync::atomic::AtomicBool;

use dovetail::core::Error as RunError;
use dovetail::{Error, Executed, Execution, Keep, Observer};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{Fields, bad_model, misuse};
use crate::progress::Reached;
use crate::remedies;
use crate::request::Request;
use crate::system::first_exception;
use crate::waiting::wait_for;

/// Runs a model. What it leaves behind, as a dictionary: `time`, `names`, `columns`, `summary` (JSON), `error` (fields of
/// the exception to be raised, if the run failed), `cause` (an exception of a system in Python), `interrupted`.
///
/// `look` is called now and then with the share of the run that is done.
#[pyfunction]
pub(crate) fn run<'py>(
    py: Python<'py>,
    request: Request,
    systems: Vec<u64>,
    look: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let reached = Reached::default();
    let share = Share::default();
    let show = |py: Python<'_>| match (&look, share.of(reached.time())) {
        (Some(look), Some(share)) => look.call1(py, (share,)).map(drop),
        _ => Ok(()),
    };
    let work = |stop: &AtomicBool| execute(&request, &share, reached.clone(), stop);
    let waited = wait_for(py, work, show)?;
    let cause = first_exception(&systems);

    let done = waited.answer.map_err(|error| {
        let refused = match error {
            Error::Model(bad) => bad_model(py, bad),
            other => misuse(py, &other.to_string()),
        };
        refused.set_cause(py, cause.as_ref().map(|cause| cause.clone_ref(py)));
        refused
    });
    if waited.interrupted && done.is_err() {
        return Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(()));
    }
    outcome(py, done?, cause, waited.interrupted)
}

/// From when to when a run goes, once that is known.
#[derive(Default)]
struct Share(std::sync::OnceLock<(f64, f64)>);

impl Share {
    fn of(&self, reached: f64) -> Option<f64> {
        let (start, stop) = self.0.get()?;
        Some(((reached - start) / (stop - start)).clamp(0.0, 1.0))
    }
}

/// The run itself, without the interpreter.
fn execute(
    request: &Request,
    share: &Share,
    mut reached: Reached,
    stop: &AtomicBool,
) -> Result<Executed, Error> {
    let (scenario, options) = request.read()?;
    reached.note(scenario.start_time);
    let _ = share.0.set((scenario.start_time, scenario.stop_time));
    let session = scenario.session(&options)?;
    let selection = request.selection(&scenario, &session)?;
    let observers: Vec<&mut dyn Observer> = vec![&mut reached];
    let execution = Execution {
        keep: Keep::Shown,
        output_interval: request.output_interval,
        verify: request.verify,
        observers,
        ..Execution::default()
    };
    let mut done = execution.run(&scenario, session, &options, &selection, stop);
    remedies::word_summary(&mut done.summary);
    Ok(done)
}

fn outcome<'py>(
    py: Python<'py>,
    done: Executed,
    cause: Option<PyErr>,
    interrupted: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (names, times, columns) = done.trajectory.unwrap_or_default().into_parts();
    let columns = columns.into_iter().map(|column| array(py, column));
    let columns: Vec<_> = columns.collect::<PyResult<_>>()?;
    let outcome = PyDict::new(py);
    outcome.set_item("time", array(py, times)?)?;
    outcome.set_item("names", names)?;
    outcome.set_item("columns", PyList::new(py, columns)?)?;
    outcome.set_item("summary", done.summary.to_json().to_string())?;
    outcome.set_item("text", done.summary.to_text())?;
    let fields = done
        .failure
        .as_ref()
        .map(|failure: &RunError| Fields::of_run(failure));
    let fields = fields.map(|fields| fields.into_dict(py)).transpose()?;
    outcome.set_item("error", fields)?;
    outcome.set_item("cause", cause.map(|cause| cause.into_value(py)))?;
    outcome.set_item("interrupted", interrupted)?;
    Ok(outcome)
}

/// NumPy's own from here on: nothing is copied. Results are not to be written to.
fn array<'py>(py: Python<'py>, numbers: Vec<f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let array = PyArray1::from_vec(py, numbers);
    array.call_method("setflags", (false,), None)?;
    Ok(array)
}
