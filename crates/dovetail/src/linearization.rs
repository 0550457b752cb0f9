//! A model, linearized.

use std::sync::atomic::AtomicBool;

use dovetail_core::Notice;
use dovetail_report::LinearModel;
use dovetail_scenario::{BadModel, RunOptions, Scenario};

/// The coupled model with its eigenvalues: at its start, or, where `at_the_end`, at its stop time, to which it is run by the
/// method that `options` choose.
pub fn linearize(
    scenario: &Scenario,
    options: &RunOptions,
    at_the_end: bool,
    interrupted: &AtomicBool,
) -> Result<LinearModel, BadModel> {
    let mut session = scenario.session(options)?;
    let (time, found) = if at_the_end {
        session.run_and_linearize(interrupted)?
    } else {
        (scenario.start_time, session.linearize()?)
    };
    let fastest = found.fastest();
    let fastest = fastest.map(|(state, rate)| (state.to_owned(), rate));
    let eigenvalues = found.eigenvalues();
    let eigenvalues = eigenvalues.ok_or_else(|| {
        let text = "the eigenvalues of the model could not be found: its matrix A is out of range";
        scenario.refuse(Notice::from(text))
    })?;

    Ok(LinearModel {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: scenario.name.clone(),
        time,
        eigenvalues,
        fastest: fastest.filter(|_| at_the_end || !scenario.starts_at_rest()),
        state_values: found.x.as_slice().to_vec(),
        states: found.states,
        inputs: found.inputs,
        outputs: found.outputs,
        a: found.a,
        b: found.b,
        c: found.c,
        d: found.d,
        notes: found.notes,
    })
}
