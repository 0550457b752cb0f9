//! A model: its systems, their variables and what connects them.

use dovetail::core::{Connections, Source};
use dovetail::equations::Definition;
use dovetail::findings::feedthrough;
use dovetail::report::{Alignment, LINE, Table, paragraph};
use dovetail::scenario::Scenario;

use super::listed_or;
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
