//! One FMU of a model file, checked.

use std::path::Path;

use dovetail_core::Restrictions;
use dovetail_fmi::Use;
use dovetail_fmi::description::{Description, Value};
use toml::Spanned;

use crate::diagnostic::Problem;
use crate::file::{Given, SystemTable};
use crate::part::{Part, PartModel};
use crate::shelf::{Shelf, Usage, recorded, warnings};
use crate::system::{is_system_name, restrictions};

/// More parts of a step than this are a mistake.
const MOST_SUB_STEPS: u64 = 1000;

/// Opens and tries the FMU of a system's table.
pub(crate) fn check(
    folder: &Path,
    name: &Spanned<String>,
    table: &SystemTable,
    shelf: &mut Shelf,
) -> Result<(Part, Vec<String>), Vec<Problem>> {
    let mut problems = Vec::new();
    let Some(file) = &table.fmu else {
        return Err(problems);
    };
    is_system_name(name, &mut problems);
    check_keys(table, &mut problems);
    let interface = interface(table, &mut problems);
    if let Some(parts) = table
        .sub_steps
        .as_ref()
        .filter(|parts| !(1..=MOST_SUB_STEPS).contains(parts.get_ref()))
    {
        problems.push(Problem::at(
            parts.span(),
            format!("sub-steps are a whole number from 1 to {MOST_SUB_STEPS}"),
        ));
    }
    let restrictions = restrictions(table, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let usage = Usage {
        interface,
        values: values(table),
        imposed_step: restrictions.and_then(|r| r.imposed_step),
        sub_steps: table.sub_steps.as_ref().map_or(1, |parts| *parts.get_ref()),
        continuous: table.continuous.clone(),
        recorded: Vec::new(),
        unprobed: table.probe == Some(false),
    };
    let path = folder.join(file.get_ref());
    let in_words = |error: dovetail_fmi::UnitError| {
        let message = format!(
            "the FMU `{}` of system `{}`: {error}",
            file.get_ref(),
            name.get_ref()
        );
        vec![Problem::at(place(table, file, &error), message)]
    };
    let unit = shelf.open(&path).map_err(in_words)?;
    check_continuous(unit.description(), table, file)?;
    let recorded = recorded(name.get_ref(), unit.description(), shelf.patterns(), false);
    let usage = Usage { recorded, ..usage };
    let prepared = shelf.prepare(&path, usage).map_err(in_words)?;
    let warnings = warnings(name.get_ref(), &prepared);
    let prepared_use = prepared.used();
    let model = PartModel::Unit {
        name: name.get_ref().clone(),
        prepared,
    };
    if let (Use::ModelExchange, Some(parts)) = (prepared_use, &table.sub_steps) {
        let message =
            "sub-steps are for Co-Simulation: a unit for Model Exchange follows its inputs exactly";
        return Err(vec![Problem::at(parts.span(), message)]);
    }
    // Of a unit for Co-Simulation the imposed step is its own by now.
    let own = prepared_use == Use::CoSimulation;
    let restrictions = restrictions.map(|r| Restrictions {
        imposed_step: r.imposed_step.filter(|_| !own),
        ..r
    });
    let restrictions = restrictions.filter(|r| *r != Restrictions::default());
    Ok((
        Part {
            model,
            mappings: Vec::new(),
            restrictions,
        },
        warnings,
    ))
}

/// Where in the file an error belongs: to a value that was given, or to the FMU as a whole.
fn place(
    table: &SystemTable,
    file: &Spanned<String>,
    error: &dovetail_fmi::UnitError,
) -> std::ops::Range<usize> {
    use dovetail_fmi::{SettingError, UnitError};
    let name = match error {
        UnitError::Setting(
            SettingError::Unknown { name, .. }
            | SettingError::NotSettable { name, .. }
            | SettingError::WrongType { name, .. }
            | SettingError::WrongCount { name, .. }
            | SettingError::OutOfRange { name, .. },
        ) => name,
        _ => return file.span(),
    };
    let mut given = table
        .parameters
        .iter()
        .chain(&table.states)
        .chain(&table.inputs);
    let found = given.find(|(key, _)| key.get_ref() == name);
    found.map_or_else(
        || file.span(),
        |(key, value)| key.span().start..value.span().end,
    )
}

/// What is called continuous must be a real of the FMU.
fn check_continuous(
    description: &Description,
    table: &SystemTable,
    file: &Spanned<String>,
) -> Result<(), Vec<Problem>> {
    let reals = || {
        description
            .variables
            .iter()
            .filter(|v| v.value_type.is_float())
            .map(|v| v.name.as_str())
    };
    let unknown = table
        .continuous
        .iter()
        .filter(|name| !reals().any(|real| real == *name));
    let problems: Vec<Problem> = unknown
        .map(|name| {
            let message =
                format!("`continuous` names `{name}`, which is no real variable of the FMU");
            Problem::at(file.span(), message).suggest(name, reals())
        })
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

/// What only equations have.
fn check_keys(table: &SystemTable, problems: &mut Vec<Problem>) {
    let equations = table
        .equations
        .as_ref()
        .map(|text| ("equations", text.span()));
    let outputs = table
        .outputs
        .iter()
        .next()
        .map(|(name, _)| ("outputs", name.span()));
    let units = table
        .units
        .iter()
        .next()
        .map(|(name, _)| ("units", name.span()));
    for (key, span) in [equations, outputs, units].into_iter().flatten() {
        let message =
            format!("`{key}` belongs to systems given as equations, and this one is an FMU");
        problems.push(
            Problem::at(span, message).help("an FMU says by itself what its outputs and units are"),
        );
    }
}

fn interface(table: &SystemTable, problems: &mut Vec<Problem>) -> Option<Use> {
    let asked = table.interface.as_ref()?;
    match asked.get_ref().as_str() {
        "co-simulation" => Some(Use::CoSimulation),
        "model-exchange" => Some(Use::ModelExchange),
        other => {
            let known = ["co-simulation", "model-exchange"];
            let problem = Problem::at(
                asked.span(),
                format!("`{other}` is not an interface of FMUs"),
            );
            problems.push(
                problem
                    .help("known are co-simulation and model-exchange")
                    .suggest(other, known),
            );
            None
        }
    }
}

/// Parameters and start values, those of the command line last.
fn values(table: &SystemTable) -> Vec<(String, Vec<Value>)> {
    let given = table
        .parameters
        .iter()
        .chain(&table.states)
        .chain(&table.inputs);
    let mut values: Vec<_> = given
        .map(|(name, value)| (name.get_ref().clone(), elements(value.get_ref())))
        .collect();
    values.extend(
        table
            .overridden
            .iter()
            .map(|(name, text)| (name.clone(), texts(text))),
    );
    values
}

fn elements(given: &Given) -> Vec<Value> {
    match given {
        Given::Number(number) => vec![Value::Float(*number)],
        Given::Integer(number) => vec![Value::Integer(i128::from(*number))],
        Given::Boolean(truth) => vec![Value::Boolean(*truth)],
        Given::Text(text) => vec![Value::String(text.clone())],
        Given::List(items) => items.iter().flat_map(elements).collect(),
    }
}

/// A value of the command line: `[1, 2]` is a list, and everything else is as the type of its variable has it.
pub(crate) fn texts(text: &str) -> Vec<Value> {
    let inner = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match inner {
        Some(list) => list
            .split(',')
            .map(|item| Value::String(item.trim().to_owned()))
            .collect(),
        None => vec![Value::String(text.to_owned())],
    }
}
