//! Values that the user sets, written into the tables of a model file.

use dovetail_core::list_names;
use toml::Spanned;

use crate::catalog::Catalog;
use crate::diagnostic::Problem;
use crate::file::toml_file::ModelFile;
use crate::overrides::Overrides;
use crate::quantity::{OwnUnit, quantity, taken_as_it_is};
use crate::source::table::{Named, SystemTable};
use crate::source::value::Given;

/// Stands for the system in the full names of constants.
pub(crate) const CONSTANTS: &str = "constants";

/// Writes the values into the file's tables. What is to be said of them.
pub(crate) fn apply(
    overrides: &Overrides,
    file: &mut ModelFile,
    catalog: &Catalog,
) -> Result<Vec<String>, Problem> {
    let mut warnings = Vec::new();
    for (name, value) in &overrides.values {
        warnings.extend(set(file, name, value, catalog)?);
    }
    Ok(warnings)
}

fn set(
    file: &mut ModelFile,
    qualified: &str,
    value: &str,
    catalog: &Catalog,
) -> Result<Option<String>, Problem> {
    let target = target(file, qualified, value, catalog)?;
    let (place, name) = match target {
        Some(Target::Constant(name)) => {
            set_constant(file, name, qualified, value)?;
            return Ok(None);
        }
        Some(Target::OfSystem { place, name }) => (place, name),
        None => return Err(unknown(file, qualified, value)),
    };
    let system = file.systems.keys().nth(place);
    let whole = system.map(|system| format!("{}.{name}", system.get_ref()));
    let table = file.systems[place].get_mut();

    if catalog.kind_of(table).looks_up_values() {
        // The source itself knows what can be set; later values win.
        table.overridden.push((name.to_owned(), value.to_owned()));
        return Ok(None);
    }

    let input = table.inputs.keys().any(|key| key.get_ref() == name);
    let settable = [&mut table.parameters, &mut table.states, &mut table.inputs];
    let found = settable.into_iter().find_map(|values| entry(values, name));
    let Some(entry) = found else {
        return Err(unknown(file, qualified, value));
    };
    let (given, warning) = match quantity(value) {
        Some((number, unit)) => {
            let mut units = table.units.iter();
            let own = units.find(|(key, _)| key.get_ref() == name);
            let own = own.map(|(_, unit)| unit.get_ref().as_str());
            let converted = in_own_unit(number, unit, own, qualified);
            let (number, warning) =
                converted.map_err(|what| Problem::of_value(qualified, value, what))?;
            (Given::Number(number), warning)
        }
        None => (given(qualified, value, input)?, None),
    };
    *entry = given.clone();
    if let (true, Some(number)) = (input, given.number()) {
        settle_disturbance(file, whole.as_deref().unwrap_or(qualified), number);
    }
    Ok(warning)
}

/// A number with a unit as one in the unit of its variable, or as it is where that has none, with what is then to be said.
fn in_own_unit(
    number: f64,
    unit: &str,
    own: Option<&str>,
    qualified: &str,
) -> Result<(f64, Option<String>), String> {
    let Some(own) = own else {
        return Ok((number, Some(taken_as_it_is(qualified, unit))));
    };
    let mapping = OwnUnit::named(own).mapping_from(unit, qualified)?;
    Ok((mapping.value(number), None))
}

/// What a value is set of.
enum Target<'n> {
    Constant(&'n str),
    OfSystem { place: usize, name: &'n str },
}

/// What is meant by a name; nothing where no system fits.
fn target<'n>(
    file: &ModelFile,
    qualified: &'n str,
    value: &str,
    catalog: &Catalog,
) -> Result<Option<Target<'n>>, Problem> {
    let prefix = format!("{CONSTANTS}.");
    let constant = qualified.strip_prefix(&prefix).unwrap_or(qualified);
    if file.constants.keys().any(|key| key.get_ref() == constant) {
        return Ok(Some(Target::Constant(constant)));
    }
    let place = qualified.split_once('.').and_then(|(system, name)| {
        let mut names = file.systems.keys();
        let place = names.position(|key| key.get_ref() == system)?;
        Some((place, name))
    });
    let place = match place {
        Some(place) => Some(place),
        None => without_system(file, qualified, value, catalog)?,
    };
    Ok(place.map(|(place, name)| Target::OfSystem { place, name }))
}

/// The full name of what can be set, where a name fits anything.
pub(crate) fn full_name(file: &ModelFile, given: &str, catalog: &Catalog) -> Option<String> {
    Some(match target(file, given, "", catalog).ok()?? {
        Target::Constant(name) => format!("{CONSTANTS}.{name}"),
        Target::OfSystem { place, name } => {
            let system = file.systems.keys().nth(place)?;
            format!("{}.{name}", system.get_ref())
        }
    })
}

fn set_constant(
    file: &mut ModelFile,
    name: &str,
    qualified: &str,
    value: &str,
) -> Result<(), Problem> {
    let given = match value.starts_with('[') {
        true => given(qualified, value, false)?,
        false => {
            let refuse = |what: String| Problem::of_value(qualified, value, what);
            number(value).map(Given::Number).map_err(refuse)?
        }
    };
    let entry = entry(&mut file.constants, name);
    *entry.expect("BUG: the constant was found") = given;
    Ok(())
}

/// The one system that has a value of this name; else the one whose source knows by itself what can be set.
fn without_system<'a>(
    file: &ModelFile,
    name: &'a str,
    value: &str,
    catalog: &Catalog,
) -> Result<Option<(usize, &'a str)>, Problem> {
    let has = |table: &SystemTable| {
        let settable = [&table.parameters, &table.states, &table.inputs];
        settable
            .iter()
            .any(|values| values.keys().any(|key| key.get_ref() == name))
    };
    let looks_up = |table: &SystemTable| catalog.kind_of(table).looks_up_values();
    let places = |fits: &dyn Fn(&SystemTable) -> bool| -> Vec<usize> {
        let systems = file.systems.values().enumerate();
        let fitting = systems.filter(|(_, table)| fits(table.get_ref()));
        fitting.map(|(place, _)| place).collect()
    };

    match (&places(&has)[..], &places(&looks_up)[..]) {
        ([one], _) => Ok(Some((*one, name))),
        ([], [one]) => Ok(Some((*one, name))),
        ([], _) => Ok(None),
        (several, _) => {
            let systems: Vec<&str> = file
                .systems
                .keys()
                .map(|key| key.get_ref().as_str())
                .collect();
            let named = several
                .iter()
                .map(|&place| format!("{}.{name}", systems[place]));
            let named = list_names(&named.collect::<Vec<String>>());
            let message = format!("several systems have a value `{name}`: choose from {named}");
            Err(Problem::of_value(name, value, message))
        }
    }
}

/// An input of which only bounds are known has this value instead.
fn settle_disturbance(file: &mut ModelFile, qualified: &str, number: f64) {
    for connection in &mut file.connections {
        let connection = connection.get_mut();
        let bounded = |value: &&mut Spanned<toml::Value>| value.get_ref().is_table();
        if connection.to.get_ref() == qualified
            && let Some(value) = connection.value.as_mut().filter(bounded)
        {
            *value.get_mut() = toml::Value::Float(number);
        }
    }
}

fn entry<'a>(values: &'a mut Named<Given>, name: &str) -> Option<&'a mut Given> {
    values
        .iter_mut()
        .find(|(key, _)| key.get_ref() == name)
        .map(|(_, value)| value.get_mut())
}

/// A number or, for what is not an input, a box `[lower, upper]`.
fn given(qualified: &str, text: &str, input: bool) -> Result<Given, Problem> {
    let refuse = |what: String| Problem::of_value(qualified, text, what);
    let Some(inner) = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    else {
        return number(text).map(Given::Number).map_err(refuse);
    };

    if input {
        let message = format!("`{qualified}` is an input, which starts with a number");
        return Err(
            refuse(message).help("a box is for a parameter or for the start value of a state")
        );
    }

    let ends: Vec<f64> = inner
        .split(',')
        .map(|end| number(end.trim()))
        .collect::<Result<_, _>>()
        .map_err(refuse)?;
    match ends[..] {
        [lower, upper] if lower <= upper => Ok(Given::List(vec![
            Given::Number(lower),
            Given::Number(upper),
        ])),
        [lower, upper] => Err(refuse(format!(
            "the box is empty: {lower} is above {upper}"
        ))),
        _ => Err(refuse(
            "expected a box of two numbers, [lower, upper]".to_owned(),
        )),
    }
}

fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err("the value must be a finite number".to_owned())
    }
}

fn unknown(file: &ModelFile, qualified: &str, value: &str) -> Problem {
    let is_output = |table: &SystemTable, name: &str| {
        table.outputs.keys().any(|output| output.get_ref() == name)
    };
    let output = qualified.split_once('.').is_some_and(|(system, name)| {
        file.systems
            .iter()
            .any(|(key, table)| key.get_ref() == system && is_output(table.get_ref(), name))
    });

    if output {
        let message = format!("`{qualified}` is an output, which the model computes");
        return Problem::of_value(qualified, value, message)
            .help("set a parameter, or the start value of a state or an input");
    }

    let all: Vec<String> = file
        .systems
        .iter()
        .flat_map(|(system, table)| settable(system.get_ref(), table.get_ref()))
        .collect();
    let message = "there is no such parameter, state or input";
    Problem::of_value(qualified, value, message)
    .help("a value is set as SYSTEM.NAME=VALUE, with the name of a parameter, a state or an input")
    .suggest(qualified, all.iter().map(String::as_str))
}

fn settable(system: &str, table: &SystemTable) -> Vec<String> {
    let names = table
        .parameters
        .keys()
        .chain(table.states.keys())
        .chain(table.inputs.keys());
    names
        .map(|name| format!("{system}.{}", name.get_ref()))
        .collect()
}
