//! Inputs of a model file that are known beforehand: connections with an expression, and tables.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;

use crate::catalog::Catalog;
use crate::diagnostic::Problem;
use crate::equations::source::NAME as EQUATIONS;
use crate::events::scenario_events::Event;
use crate::expressions::{Formula, Known, names_in, parse, resolve, with_numbers};
use crate::file::connect::fed_twice;
use crate::file::toml_file::{ConnectionTable, InputTable, ModelFile, within_string};
use crate::inputs::attach::{Connecting, SystemNames, WantedExpression, WantedTable, wanted_table};
use crate::inputs::table_file::{Beyond, Interpolation};
use crate::overrides::Overrides;
use crate::source::table::SystemTable;
use crate::source::value::Given;

/// What drives inputs of a model.
#[derive(Default)]
pub(crate) struct Signals {
    pub tables: Vec<WantedTable>,
    pub expressions: Vec<WantedExpression>,
    pub events: Vec<Event>,
    /// The constants that events may name.
    pub constants: Known,
    /// Parameters of equations that are inputs.
    pub tuned: Vec<(String, String)>,
}

/// Reads the heads of all tables.
pub(crate) fn tables(
    file: &ModelFile,
    folder: &Path,
    changes: &Overrides,
) -> Result<Vec<WantedTable>, Problem> {
    let names: Vec<&str> = file
        .systems
        .keys()
        .map(|name| name.get_ref().as_str())
        .collect();
    let systems = SystemNames {
        names,
        alone: false,
    };
    let mut tables = Vec::new();
    for input in &file.inputs {
        let table = input.get_ref();
        let path = folder.join(table.file.get_ref());
        tables.push(wanted_table(&path, connecting(table)?, &systems)?);
    }
    for path in &changes.inputs {
        tables.push(wanted_table(path, Connecting::default(), &systems)?);
    }
    Ok(tables)
}

fn connecting(table: &InputTable) -> Result<Connecting, Problem> {
    let connect = table.connect.iter().map(|(column, to)| {
        (
            column.get_ref().clone(),
            to.get_ref().clone(),
            Some(to.span()),
        )
    });
    let interpolation = [
        ("linear", Interpolation::Linear),
        ("hold", Interpolation::Hold),
        ("cubic", Interpolation::Cubic),
    ];
    let beyond = [
        ("hold", Beyond::Hold),
        ("error", Beyond::Error),
        ("periodic", Beyond::Periodic),
    ];
    Ok(Connecting {
        place: Some(table.file.span()),
        connect: connect.collect(),
        interpolation: chosen("interpolation", &table.interpolation, &interpolation)?,
        beyond: chosen("beyond", &table.beyond, &beyond)?,
    })
}

/// One of these words; the first where nothing is said.
fn chosen<T: Copy>(
    key: &str,
    given: &Option<Spanned<String>>,
    known: &[(&str, T)],
) -> Result<T, Problem> {
    let Some(word) = given else {
        return Ok(known[0].1);
    };
    let found = known.iter().find(|(name, _)| name == word.get_ref());
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let message = format!("`{}` is not a value of `{key}`", word.get_ref());
        Problem::at(word.span(), message)
            .help(format!("known are {}", names.join(", ")))
            .suggest(word.get_ref(), names)
    })
}

/// Connections with expressions: those without `time` become numbers, the others drive their inputs. Equations take the
/// expression in, so that all that can be known of them is still known.
pub(crate) fn expressions(
    text: &str,
    file: &mut ModelFile,
    constants: &Known,
    catalog: &Catalog,
) -> Result<Vec<WantedExpression>, Problem> {
    let mut wanted = Vec::new();
    let connections = std::mem::take(&mut file.connections);
    let targets: Vec<String> = connections
        .iter()
        .map(|table| table.get_ref().to.get_ref().clone())
        .collect();

    for mut table in connections {
        let Some((string, span)) = expression(table.get_ref()) else {
            file.connections.push(table);
            continue;
        };
        check(text, &string, &span, constants)?;
        if !names_in(&string).any(|name| name == "time") {
            let number = constant(text, &string, &span, constants)?;
            table.get_mut().value = Some(Spanned::new(span, toml::Value::Float(number)));
            file.connections.push(table);
            continue;
        }

        let to = table.get_ref().to.clone();
        if targets
            .iter()
            .filter(|target| *target == to.get_ref())
            .count()
            > 1
        {
            return Err(fed_twice(&to));
        }
        let string = with_numbers(&string, constants);
        let taken = take_in(file, to.get_ref(), &string, catalog);
        if !taken {
            let Some((system, name)) = to.get_ref().split_once('.') else {
                let message = format!("`{}` is not of the form system.variable", to.get_ref());
                return Err(Problem::at(to.span(), message));
            };
            wanted.push(WantedExpression {
                text: string,
                system: system.to_owned(),
                name: name.to_owned(),
                place: Some(to.span()),
            });
        }
    }
    Ok(wanted)
}

/// The expression of a connection that has one and no other source.
fn expression(table: &ConnectionTable) -> Option<(String, Range<usize>)> {
    let value = table.value.as_ref().filter(|_| table.from.is_none())?;
    match value.get_ref() {
        toml::Value::String(text) => Some((text.clone(), value.span())),
        _ => None,
    }
}

fn check(text: &str, string: &str, span: &Range<usize>, constants: &Known) -> Result<(), Problem> {
    parse(string, constants).map(drop).map_err(|error| Problem {
        help: error.help.or(Some(
            "a value is an expression of time and of [constants]".to_owned(),
        )),
        ..Problem::at(
            within_string(text, span, error.offset, error.length),
            error.message,
        )
    })
}

fn constant(
    text: &str,
    string: &str,
    span: &Range<usize>,
    constants: &Known,
) -> Result<f64, Problem> {
    let formula = Formula {
        name: "value",
        text: string,
    };
    let value = resolve(constants, &[formula]).map_err(|error| {
        let place = error.place.unwrap_or((0, string.len()));
        let span = within_string(text, span, place.0, place.1);
        Problem::at(span, error.message)
    })?;
    Ok(value[0])
}

/// The input of equations becomes a variable that is this expression, and an output of the same name. False where it cannot: the
/// system is no equations, or needs it as an input.
fn take_in(file: &mut ModelFile, to: &str, string: &str, catalog: &Catalog) -> bool {
    let Some((system, name)) = to.split_once('.') else {
        return false;
    };
    let Some(place) = file.systems.keys().position(|key| key.get_ref() == system) else {
        return false;
    };
    let table = file.systems[place].get_mut();
    let equations = catalog.kind_of(table).name() == EQUATIONS;
    let known = |key: &Spanned<String>| key.get_ref() == name;
    let is_input = table.inputs.keys().any(known);
    let taken = table.outputs.keys().any(known);
    if !equations || !is_input || taken || needs_input(table, name) {
        return false;
    }

    table.inputs.retain(|key, _| key.get_ref() != name);
    let span = table.equations.as_ref().map_or(0..0, Spanned::span);
    let written = table.equations.take();
    let written = written
        .map(|text| text.get_ref().clone())
        .unwrap_or_default();
    let all = format!("{written}\n{name} = {string}");
    table.equations = Some(Spanned::new(span, all));
    table.outputs.insert(
        Spanned::new(0..0, name.to_owned()),
        Spanned::new(0..0, name.to_owned()),
    );
    true
}

/// Whether equations use the slope of an input or what it was before, which only inputs have; or an event changes it.
fn needs_input(table: &SystemTable, name: &str) -> bool {
    let equations = table.equations.iter().map(|text| text.get_ref().as_str());
    let outputs = table.outputs.values().map(|text| text.get_ref().as_str());
    let special = |text: &str| {
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        plain.contains(&format!("der({name})")) || plain.contains(&format!("delay({name},"))
    };
    let changed = table.changed.iter().any(|changed| changed == name);
    changed || equations.chain(outputs).any(special)
}

/// Parameters of equations that tables or events change are inputs. Which they are.
pub(crate) fn tune(
    file: &mut ModelFile,
    catalog: &Catalog,
) -> Result<Vec<(String, String)>, Problem> {
    let mut tuned = Vec::new();
    for (system, table) in &mut file.systems {
        let table = table.get_mut();
        if catalog.kind_of(table).name() != EQUATIONS {
            continue;
        }
        for name in table.changed.clone() {
            let found = table
                .parameters
                .iter()
                .find(|(key, _)| *key.get_ref() == name);
            let Some((key, value)) = found else {
                continue;
            };
            let (key, value) = (key.clone(), value.clone());
            let start = value.get_ref().bounds().map(|bounds| bounds.middle());
            let start = start.map_err(|message| Problem::at(value.span(), message))?;
            table.parameters.retain(|key, _| *key.get_ref() != name);
            let start = Spanned::new(value.span(), Given::Number(start));
            table.inputs.insert(key, start);
            tuned.push((system.get_ref().clone(), name));
        }
    }
    Ok(tuned)
}
