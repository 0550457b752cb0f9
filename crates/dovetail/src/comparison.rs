//! A model by several methods, each measured against all equations solved as one system.

use std::sync::atomic::AtomicBool;

use dovetail_core::{Notice, Remedy};
use dovetail_equations::Monolithic;
use dovetail_report::{ErrorMeasures, Kind, RunSummary, Trajectory, Variable, Variables, measure};
use dovetail_scenario::{Choices, Scenario};

use crate::error::Error;
use crate::execution::{Execution, Keep};
use crate::simulation::NEVER;

/// A run that was measured.
#[derive(Debug)]
pub struct Compared {
    /// What it cost, and what is known of its quality.
    pub summary: RunSummary,
    /// For each state and output, `system.variable`, its error.
    pub errors: Vec<(String, ErrorMeasures)>,
}

/// Runs a model by these methods; by all that it permits where none is named.
pub(crate) fn compare(scenario: &Scenario, methods: &[&str]) -> Result<Vec<Compared>, Error> {
    let usual = scenario.options(&Choices::default())?;
    let methods: Vec<&str> = if methods.is_empty() {
        let permitted = scenario.permitted_methods(&usual).into_iter();
        permitted
            .filter(|name| !scenario.solves_as_one(name))
            .collect()
    } else {
        methods.to_vec()
    };
    let by_method = |method: &&str| {
        let mut choices = Choices::default();
        choices.set("method", *method);
        measured(scenario, &choices, &NEVER)
    };
    methods.iter().map(by_method).collect()
}

pub(crate) fn measured(
    scenario: &Scenario,
    choices: &Choices,
    stop: &AtomicBool,
) -> Result<Compared, Error> {
    let options = scenario.options(choices)?;
    let session = scenario.session(&options)?;
    let outputs = session.start().iter();
    let outputs = outputs.flat_map(|task| task.response.outputs.iter().map(|knot| knot.value));
    let outputs: Vec<f64> = outputs.collect();
    let variables = Variables::of(&scenario.connections);
    let wanted = variables.all().iter().filter(|v| v.kind != Kind::Input);
    let wanted: Vec<String> = wanted.map(|v| v.name.clone()).collect();
    let selection = variables
        .select(&wanted)
        .expect("BUG: the model's own names");
    let execution = Execution {
        keep: Keep::Measured,
        ..Execution::default()
    };
    let done = execution.run(scenario, session, &options, &selection, stop);
    let rows = done.trajectory.unwrap_or_default();

    Ok(Compared {
        errors: errors(scenario, &outputs, selection.variables(), &rows)?,
        summary: done.summary,
    })
}

fn no_reference(error: &dyn std::error::Error, remedies: Vec<Remedy>) -> Error {
    let text = format!("there is no reference: {error}");
    Error::NoReference(Notice::from(text).with(remedies))
}

/// The errors of all columns of a run that started from these outputs.
fn errors(
    scenario: &Scenario,
    start: &[f64],
    variables: &[Variable],
    rows: &Trajectory,
) -> Result<Vec<(String, ErrorMeasures)>, Error> {
    let definitions = scenario.definitions();
    let definitions = definitions.map_err(|error| no_reference(&error, Vec::new()))?;
    let connections = &scenario.connections;
    let equations = Monolithic::new(&definitions, connections);
    let equations = equations.map_err(|error| no_reference(&error, error.remedies()))?;
    let mut equations = equations.starting_at(start);
    let solution = equations.solve(rows.times(), connections.outputs());
    let solution = solution.map_err(|error| no_reference(&error, error.remedies()))?;
    let truth = |variable: &Variable| -> Vec<f64> {
        let all = match variable.kind {
            Kind::State => &solution.states,
            _ => &solution.outputs,
        };
        let position = variable.stacked(connections);
        all.iter().map(|row| row[position]).collect()
    };
    let columns = variables.iter().zip(rows.columns());
    let error = |(variable, (name, values)): (&Variable, (&str, &[f64]))| {
        (
            name.to_owned(),
            measure(rows.times(), values, &truth(variable)),
        )
    };

    Ok(columns.map(error).collect())
}
