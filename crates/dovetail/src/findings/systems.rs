//! The systems of a model and what connects them, as JSON.

use dovetail_core::{Input, Interface, Output, Source};
use dovetail_equations::Definition;
use dovetail_scenario::Scenario;
use serde_json::{Map, Value, json};

use super::words::nature;

/// The inputs on which an output depends at once.
pub fn feedthrough<'a>(interface: &'a Interface, output: &Output) -> Vec<&'a str> {
    let inputs = output.depends_on.iter().map(|&i| &interface.inputs[i]);
    inputs.map(|input| input.name.as_str()).collect()
}

/// Names with their values.
fn named<'a>(names: &'a [String], values: &'a [f64]) -> impl Iterator<Item = (&'a str, f64)> {
    names.iter().map(String::as_str).zip(values.iter().copied())
}

/// All systems. Those that are neither equations nor FMUs have the source `other`.
pub(super) fn systems_json(scenario: &Scenario, other: &str) -> Map<String, Value> {
    let units = scenario.units();
    let interfaces = scenario.connections.interfaces().iter().enumerate();
    let systems = interfaces.map(|(system, interface)| {
        let definition = scenario.definition(system);
        let is_fmu = units.iter().any(|(name, _)| *name == interface.name);
        let source = match definition {
            Some(_) => "equations",
            None if is_fmu => "fmu",
            None => other,
        };
        let json = system_json(interface, definition, source);
        (interface.name.clone(), json)
    });
    systems.collect()
}

fn system_json(interface: &Interface, definition: Option<&Definition>, source: &str) -> Value {
    let values = |names: &[String], values: &[f64]| -> Map<String, Value> {
        let pairs = named(names, values);
        pairs
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect()
    };
    json!({
        "source": source,
        "inputs": interface.inputs.iter().map(input).collect::<Vec<_>>(),
        "outputs": interface.outputs.iter().map(|of| output(interface, of)).collect::<Vec<_>>(),
        "states": interface.states,
        "state_starts": definition.map(|of| values(&of.model.states, &of.states)),
        "parameters": definition.map(|of| values(&of.model.parameters, &of.parameters)),
    })
}

pub(super) fn input(of: &Input) -> Value {
    json!({ "name": of.name, "unit": of.unit, "nature": nature(of.kind), "start": of.start })
}

pub(super) fn output(interface: &Interface, of: &Output) -> Value {
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
