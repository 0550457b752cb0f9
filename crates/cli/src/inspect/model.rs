//! A model: its systems, their variables and what connects them.

use dovetail::core::{Connections, Input, Interface, Output, Source};
use dovetail::equations::Definition;
use dovetail::report::{Alignment, LINE, Table, paragraph};
use dovetail::scenario::Scenario;
use serde_json::{Map, Value, json};

use super::{listed_or, nature};
use crate::check::heading;

/// The systems that are given as equations, and algebraic loops; nothing of a single FMU, which is shown by itself.
pub(super) fn text(scenario: &Scenario, fmus: usize) -> String {
    let connections = &scenario.connections;
    if connections.systems() == 1 && fmus == 1 {
        return String::new();
    }

    let mut text = heading(scenario);
    for (system, interface) in connections.interfaces().iter().enumerate() {
        if let Some(definition) = scenario.definition(system) {
            text += &format!("{}: equations\n\n", interface.name);
            text += &variables(connections, system, definition);
            text.push('\n');
        }
    }
    for members in scenario.algebraic_loops() {
        text += &paragraph(&format!("Algebraic loop through {members}."));
    }
    text
}

/// A table of all variables of a system.
fn variables(connections: &Connections, system: usize, definition: &Definition) -> String {
    let interface = &connections.interfaces()[system];
    let mut table = Table::new(&[
        ("variable", Alignment::Left),
        ("kind", Alignment::Left),
        ("unit", Alignment::Left),
        ("start", Alignment::Right),
        ("fed by / direct feedthrough from", Alignment::Left),
    ]);
    let mut row = |name: &str, kind: &str, unit: Option<&String>, start: String, from: String| {
        let unit = unit.cloned().unwrap_or_default();
        table.row(vec![name.to_owned(), kind.to_owned(), unit, start, from]);
    };

    for (input, position) in interface.inputs.iter().zip(connections.inputs_of(system)) {
        let start = input.start.to_string();
        row(
            &input.name,
            "input",
            input.unit.as_ref(),
            start,
            source(connections, position),
        );
    }
    for (name, value) in named(&definition.model.parameters, &definition.parameters) {
        row(name, "parameter", None, value.to_string(), String::new());
    }
    for (name, value) in named(&definition.model.states, &definition.states) {
        row(name, "state", None, value.to_string(), String::new());
    }
    for output in interface.outputs.iter() {
        let from = feedthrough(interface, output);
        let from = listed_or(&from, "nothing");
        row(
            &output.name,
            "output",
            output.unit.as_ref(),
            String::new(),
            from,
        );
    }
    table.narrowed(LINE).render("")
}

/// Names with their values.
fn named<'a>(names: &'a [String], values: &'a [f64]) -> impl Iterator<Item = (&'a str, f64)> {
    names.iter().map(String::as_str).zip(values.iter().copied())
}

/// What feeds an input, by its position among all.
fn source(connections: &Connections, position: usize) -> String {
    match connections.sources()[position] {
        Source::Output(output) => connections.output_name(output),
        Source::Constant(value) => value.to_string(),
    }
}

fn feedthrough<'a>(interface: &'a Interface, output: &Output) -> Vec<&'a str> {
    let inputs = output.depends_on.iter().map(|&i| &interface.inputs[i]);
    inputs.map(|input| input.name.as_str()).collect()
}

/// All systems, those that are FMUs too.
pub(super) fn systems_json(scenario: &Scenario) -> Map<String, Value> {
    let interfaces = scenario.connections.interfaces().iter().enumerate();
    let systems = interfaces.map(|(system, interface)| {
        let definition = scenario.definition(system);
        (interface.name.clone(), system_json(interface, definition))
    });
    systems.collect()
}

fn system_json(interface: &Interface, definition: Option<&Definition>) -> Value {
    let values = |names: &[String], values: &[f64]| -> Map<String, Value> {
        let pairs = named(names, values);
        pairs
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect()
    };
    json!({
        "source": if definition.is_some() { "equations" } else { "fmu" },
        "inputs": interface.inputs.iter().map(input_json).collect::<Vec<_>>(),
        "outputs": interface.outputs.iter().map(|of| output_json(interface, of)).collect::<Vec<_>>(),
        "states": interface.states,
        "state_starts": definition.map(|of| values(&of.model.states, &of.states)),
        "parameters": definition.map(|of| values(&of.model.parameters, &of.parameters)),
    })
}

fn input_json(of: &Input) -> Value {
    json!({ "name": of.name, "unit": of.unit, "nature": nature(of.kind), "start": of.start })
}

fn output_json(interface: &Interface, of: &Output) -> Value {
    json!({
        "name": of.name,
        "unit": of.unit,
        "nature": nature(of.kind),
        "depends_on": feedthrough(interface, of),
    })
}

/// What feeds each input of each system: an output, or a number.
pub(super) fn connections_json(scenario: &Scenario) -> Vec<Value> {
    let connections = &scenario.connections;
    let mut all = Vec::new();
    for (system, interface) in connections.interfaces().iter().enumerate() {
        for (input, position) in interface.inputs.iter().zip(connections.inputs_of(system)) {
            let to = interface.qualified(&input.name);
            all.push(match connections.sources()[position] {
                Source::Output(output) => {
                    json!({ "from": connections.output_name(output), "to": to })
                }
                Source::Constant(value) => json!({ "value": value, "to": to }),
            });
        }
    }
    all
}
