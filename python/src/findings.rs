//! What can be known of a model without running it: `check` and `inspect`.

use dovetail::findings::{FoundFmu, PermittedMethods, check_findings, inspection};
use dovetail::scenario::{BadModel, Choices, Overrides, Scenario};
use pyo3::prelude::*;

use crate::errors::bad_model;
use crate::request::Request;
use crate::system::first_exception;
use crate::waiting::{Stop, Wait};

/// Where a model says nothing of when it ends.
const ANY_STOP_TIME: f64 = 1.0;
/// What systems are that are neither equations nor FMUs.
const SOURCE: &str = "python";

/// Everything that can be known of a model without running it, as JSON.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, request: Request, systems: Vec<u64>) -> PyResult<String> {
    answer(py, request, &systems, |request, stop| {
        let changes = Overrides {
            stop_time_unless_given: Some(ANY_STOP_TIME),
            ..request.overrides(stop)?
        };
        let mut scenario = request.load(&changes)?;
        let mut options = request.run_options(&scenario, stop)?;
        if !scenario.units().is_empty() && !request.python {
            options.placement = request.processes(stop)?;
        }
        request.start_at_rest(&mut scenario, &options)?;
        let chosen = scenario.chosen_method(&options)?;
        scenario.start(&options)?;
        Ok(check_findings(&scenario, &options, chosen)?.to_string())
    })
}

/// What a model consists of, and what was found of its FMUs, as JSON: with all their variables, or without trying them out.
#[pyfunction]
pub(crate) fn inspect(
    py: Python<'_>,
    request: Request,
    systems: Vec<u64>,
    all: bool,
    unprobed: bool,
) -> PyResult<String> {
    answer(py, request, &systems, move |request, stop| {
        let changes = Overrides {
            stop_time_unless_given: Some(ANY_STOP_TIME),
            inspecting: true,
            unprobed,
            ..request.overrides(stop)?
        };
        let scenario: Scenario = request.load(&changes)?;
        let options = scenario.options(&Choices::default())?;
        let capabilities = scenario.capabilities_of_systems(&options)?;
        let fmus = FoundFmu::of(&scenario, &capabilities, all, !unprobed);
        let methods = PermittedMethods::of(&scenario, &options);
        Ok(inspection(&scenario, &fmus, &methods, SOURCE).to_string())
    })
}

/// Asks the engine in a thread of its own.
fn answer(
    py: Python<'_>,
    request: Request,
    systems: &[u64],
    ask: impl FnOnce(&Request, &Stop) -> Result<String, BadModel> + Send + 'static,
) -> PyResult<String> {
    let stop = Stop::default();
    let wait = Wait {
        stop: &stop,
        systems,
        limit: None,
    };
    let stopped = stop.clone();
    let waited = wait.for_work(py, move || ask(&request, &stopped), |_| Ok(()))?;
    let cause = first_exception(systems);
    match (waited.answer, waited.raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(text), None) => Ok(text),
        (Err(bad), None) => {
            let refused = bad_model(py, bad);
            refused.set_cause(py, cause);
            Err(refused)
        }
    }
}
