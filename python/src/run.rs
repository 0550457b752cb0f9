//! Runs: from a request to columns that NumPy owns.

use std::path::Path;
use std::sync::Arc;

use dovetail::core::{Error as RunError, SignalKind, Source};
use dovetail::report::{Kind, Origin, Selection, Variable};
use dovetail::scenario::Scenario;
use dovetail::{Error, Executed, Execution, Keep, Observer, RealTime, drawn_selection, run_page};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{Fields, bad_model, misuse};
use crate::progress::Reached;
use crate::remedies;
use crate::request::Request;
use crate::system::first_exception;
use crate::waiting::{Stop, Wait};

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
    let share = Arc::new(Share::default());
    let stop = Stop::default();
    let limit = request.step_limit().map_err(|bad| bad_model(py, bad))?;
    let show = |py: Python<'_>| match (&look, share.of(reached.time())) {
        (Some(look), Some(share)) => look.call1(py, (share,)).map(drop),
        _ => Ok(()),
    };
    let wait = Wait {
        stop: &stop,
        systems: &systems,
        limit,
    };
    let (course, noted, stopped) = (reached.clone(), share.clone(), stop.clone());
    let work = move || execute(&request, &noted, course, &stopped);
    let waited = wait.for_work(py, work, show)?;
    let cause = first_exception(&systems);
    let interrupted = match waited.raised {
        None => false,
        Some(raised) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => true,
        Some(raised) => return Err(raised),
    };

    let done = waited.answer.map_err(|error| {
        let refused = match error {
            Error::Model(bad) => bad_model(py, bad),
            other => misuse(py, &other.to_string()),
        };
        refused.set_cause(py, cause.as_ref().map(|cause| cause.clone_ref(py)));
        refused
    });
    if interrupted && done.is_err() {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    outcome(py, done?, cause, interrupted)
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

fn not_written(request: &Request, path: &Path, error: &std::io::Error) -> Error {
    let path = path.display();
    Error::Model(request.bad(format!("report={path} cannot be written: {error}")))
}

/// A run that is over, and which of its variables are held between communication times.
struct Done {
    executed: Executed,
    held: Vec<String>,
}

/// The variables that are held, and not continuous: truth values, integers, and what a controller sets.
fn held_variables(scenario: &Scenario, selection: &Selection) -> Vec<String> {
    let connections = &scenario.connections;
    let interfaces = connections.interfaces().iter();
    let outputs = interfaces.flat_map(|interface| &interface.outputs);
    let discrete: Vec<bool> = outputs
        .map(|output| output.kind != SignalKind::Continuous)
        .collect();
    let is_held = |variable: &&Variable| match variable.kind {
        Kind::Output => discrete[variable.stacked(connections)],
        Kind::Input => match connections.sources()[variable.stacked(connections)] {
            Source::Output(output) => discrete[output],
            Source::Constant(_) => false,
        },
        Kind::State | Kind::Signal => false,
    };
    let held = selection.variables().iter().filter(is_held);
    held.map(|variable| variable.name.clone()).collect()
}

/// The run itself, without the interpreter.
fn execute(
    request: &Request,
    share: &Share,
    mut reached: Reached,
    stop: &Stop,
) -> Result<Done, Error> {
    let (scenario, options) = request.read(stop)?;
    reached.note(scenario.start_time);
    let _ = share.0.set((scenario.start_time, scenario.stop_time));
    let session = scenario.session(&options)?;
    let selection = request.selection(&scenario, &session)?;
    let draw = || drawn_selection(&scenario, &session, &selection);
    let drawn = request.report.as_ref().map(|_| draw());
    let mut pace = request.real_time.map(|factor| RealTime::new(factor, stop));
    let mut observers: Vec<&mut dyn Observer> = vec![&mut reached];
    observers.extend(pace.as_mut().map(|pace| pace as &mut dyn Observer));
    let execution = Execution {
        keep: Keep::Shown,
        output_interval: request.output_interval,
        verify: request.verify,
        drawn,
        observers,
        ..Execution::default()
    };
    let mut executed = execution.run(&scenario, session, &options, &selection, stop);
    if let Some(pace) = &pace {
        pace.summarize(&mut executed.summary);
    }
    if let Some(path) = &request.report {
        let page = run_page(&scenario, &executed, &[], &Origin::default()).unwrap_or_default();
        std::fs::write(path, page).map_err(|error| not_written(request, path, &error))?;
    }
    remedies::word_summary(&mut executed.summary);
    Ok(Done {
        held: held_variables(&scenario, &selection),
        executed,
    })
}

fn outcome<'py>(
    py: Python<'py>,
    done: Done,
    cause: Option<PyErr>,
    interrupted: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let Done {
        executed: done,
        held,
    } = done;
    let (names, times, columns) = done.trajectory.unwrap_or_default().into_parts();
    let columns = columns.into_iter().map(|column| array(py, column));
    let columns: Vec<_> = columns.collect::<PyResult<_>>()?;
    let outcome = PyDict::new(py);
    outcome.set_item("time", array(py, times)?)?;
    outcome.set_item("names", names)?;
    outcome.set_item("held", held)?;
    outcome.set_item("columns", PyList::new(py, columns)?)?;
    outcome.set_item("summary", done.summary.to_json().to_string())?;
    outcome.set_item("text", done.summary.to_text())?;
    // What was interrupted has not failed.
    let failure = done.failure.as_ref().filter(|_| !interrupted);
    let fields = failure.map(|failure: &RunError| Fields::of_run(failure));
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
