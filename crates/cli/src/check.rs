//! `dovetail check`: everything that can be known without running.

mod json;

use dovetail::findings::check_findings;
use dovetail::guaranteed::Interval;
use dovetail::report::{Alignment, Table, paragraph};
use dovetail::scenario::{RunOptions, Scenario};

use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::output;
use crate::processes::{self, Limits};
use crate::words::{self, counted, step_rule, yes_or_no};

pub(crate) fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let checked = check_model(arguments);
    if let (true, Err(failure)) = (arguments.json, &checked) {
        output::print_json(&json::mistakes(&arguments.model, failure))?;
    }
    checked
}

fn check_model(arguments: &CheckArguments) -> Result<(), Failure> {
    let mut scenario = arguments.changes.load_to_check(&arguments.model)?;
    let choices =
        arguments
            .changes
            .choices(arguments.method.as_deref(), arguments.step.as_deref(), &[]);
    let mut options = scenario.options(&choices)?;

    // Nothing of an FMU is to happen in this very program.
    if !scenario.units().is_empty() {
        options.placement = processes::placement(Limits::of_check())?;
    }

    arguments.changes.start_at_rest(&mut scenario, &options)?;
    let chosen = scenario.chosen_method(&options)?;
    scenario.start(&options)?;

    if arguments.json {
        return output::print_json(&check_findings(&scenario, &options, chosen)?);
    }
    let findings = findings(&scenario, &options, chosen)?;
    if arguments.quiet {
        return Ok(());
    }
    output::print(&findings)
}

fn findings(
    scenario: &Scenario,
    options: &RunOptions,
    (chosen, reason): (&str, Option<String>),
) -> Result<String, Failure> {
    let mut text = heading(scenario);
    text += &systems(scenario, options)?;
    text.push('\n');
    text += &loops(scenario);
    let permitted = scenario.permitted_methods(options).join(", ");
    text += &paragraph(&format!("Methods that the systems support: {permitted}."));

    if let Some(reason) = reason {
        text += &paragraph(&format!("auto chooses {chosen}: {reason}."));
    }

    text += &bounds(scenario);
    text += &words::warnings(&scenario.warnings);
    text += &words::warnings(scenario.method_warnings(chosen));

    if scenario.needs_processes() {
        text += &paragraph(
            "It has several systems of an FMU of which only one can live in a process: \
             run it with --workers processes.",
        );
    }

    text += "No problems found.\n";
    Ok(text)
}

pub(crate) fn heading(scenario: &Scenario) -> String {
    let connections = &scenario.connections;
    let line = format!(
        "{}: {}, {}, {} … {} s",
        scenario.name,
        counted(connections.systems(), "system"),
        counted(connections.inputs(), "connection"),
        scenario.start_time,
        scenario.stop_time
    );
    paragraph(&line) + "\n"
}

fn loops(scenario: &Scenario) -> String {
    let loops = scenario.algebraic_loops();
    if loops.is_empty() {
        return "No algebraic loops.\n".to_owned();
    }

    let sentence = |members| {
        paragraph(&format!(
            "Algebraic loop through {members}; it can be solved at the start."
        ))
    };
    loops.into_iter().map(sentence).collect()
}

/// Whether bounds can be proved for the model.
fn bounds(scenario: &Scenario) -> String {
    match scenario.to_enclose() {
        Ok(_) => given_boxes(scenario),
        Err(bad) => {
            let first = bad.problems.first();
            let why = first.map_or("", |problem| &problem.message);
            paragraph(&format!("It cannot be enclosed: {why}."))
        }
    }
}

/// For how much of the model boxes are given.
fn given_boxes(scenario: &Scenario) -> String {
    let boxes = scenario.boxes().unwrap_or_default();
    let states = boxed(boxes.iter().flat_map(|of| &of.states));
    let parameters = boxed(boxes.iter().flat_map(|of| &of.parameters));

    paragraph(&format!(
        "It can be enclosed; boxes are given for {states} states and {parameters} parameters."
    ))
}

/// How many of them are boxes.
fn boxed<'a>(values: impl Iterator<Item = &'a Interval>) -> String {
    let points: Vec<bool> = values.map(|value| value.is_point()).collect();
    format!(
        "{} of {}",
        points.iter().filter(|point| !**point).count(),
        points.len()
    )
}

fn systems(scenario: &Scenario, options: &RunOptions) -> Result<String, Failure> {
    let right = Alignment::Right;
    let mut table = Table::new(&[
        ("system", Alignment::Left),
        ("states", right),
        ("inputs", right),
        ("outputs", right),
        ("rollback", right),
        ("linear-\nization", right),
        ("input\ndegree", right),
        ("output\nslopes", right),
        ("step", right),
    ]);
    let all = scenario.capabilities_of_systems(options)?;

    for (capabilities, interface) in all.iter().zip(scenario.connections.interfaces()) {
        table.row(vec![
            interface.name.clone(),
            interface.states.len().to_string(),
            interface.inputs.len().to_string(),
            interface.outputs.len().to_string(),
            yes_or_no(capabilities.trial),
            yes_or_no(capabilities.linearize),
            capabilities.input_degree.to_string(),
            capabilities.output_derivatives.to_string(),
            step_rule(capabilities.step_rule),
        ]);
    }
    Ok(table.render(""))
}
