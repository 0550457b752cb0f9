//! The structure of a model for a page: systems with their ports, connections, loops.

use dovetail_core::{Connections, Interface, Source};
use serde_json::{Value, json};

use super::RunPage;
use crate::summary::SystemWork;

pub(super) fn systems(page: &RunPage<'_>) -> Vec<Value> {
    let interfaces = page.connections.interfaces().iter().enumerate();
    interfaces
        .map(|(index, interface)| {
            let kind = page.kinds.get(index).map_or("", String::as_str);
            let none = SystemWork::default();
            let work = page.summary.systems.get(index).unwrap_or(&none);
            let mut system = ports(interface);
            system["kind"] = kind.into();
            system["integrations"] = work.integrations.into();
            system["linearizations"] = work.linearizations.into();
            system["seconds"] = work.seconds.into();
            system
        })
        .collect()
}

/// A system with its ports and what passes through it at once.
pub(crate) fn ports(interface: &Interface) -> Value {
    let inputs = interface.inputs.iter();
    let outputs = interface.outputs.iter();
    let feedthrough = outputs.clone().flat_map(|output| {
        let inputs = output.depends_on.iter();
        inputs.map(|&input| json!([interface.inputs[input].name, output.name]))
    });
    json!({
        "name": interface.name,
        "states": interface.states.len(),
        "inputs": inputs.map(|input| port(&input.name, &input.unit)).collect::<Vec<_>>(),
        "feedthrough": feedthrough.collect::<Vec<_>>(),
        "outputs": outputs.map(|output| port(&output.name, &output.unit)).collect::<Vec<_>>(),
    })
}

fn port(name: &str, unit: &Option<String>) -> Value {
    json!({ "name": name, "unit": unit })
}

/// Pairs of an output and the input that it feeds.
pub(crate) fn connections(connections: &Connections) -> Vec<Value> {
    let interfaces = connections.interfaces().iter();
    let inputs = interfaces.flat_map(|interface| {
        let inputs = interface.inputs.iter();
        inputs.map(|input| interface.qualified(&input.name))
    });
    let fed = inputs.zip(connections.sources());
    fed.filter_map(|(input, source)| match source {
        Source::Output(output) => Some(json!([connections.output_name(*output), input])),
        Source::Constant(_) => None,
    })
    .collect()
}

/// Algebraic loops, each as the names of its outputs.
pub(super) fn loops(page: &RunPage<'_>) -> Vec<Vec<String>> {
    let names = |members: &Vec<usize>| {
        let members = members.iter();
        members
            .map(|&output| page.connections.output_name(output))
            .collect()
    };
    page.loops.iter().map(names).collect()
}
