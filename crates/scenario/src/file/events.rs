//! The events of a model file, as they are meant.

use std::ops::Range;

use dovetail_core::Override;
use toml::Spanned;

use crate::diagnostic::Problem;
use crate::events::scenario_events::{Change, Event, Trigger};
use crate::expressions::{Formula, Known, resolve};
use crate::file::toml_file::{EventTable, ModelFile};

/// The keys of a change that is a table.
const KEYS: [&str; 5] = ["value", "offset", "gain", "stuck", "until"];

/// Reads all events.
pub(crate) fn events(file: &ModelFile, constants: &Known) -> Result<Vec<Event>, Problem> {
    let systems: Vec<&str> = file
        .systems
        .keys()
        .map(|name| name.get_ref().as_str())
        .collect();
    let events = file.events.iter();
    events
        .map(|table| event(table, constants, &systems))
        .collect()
}

fn event(
    table: &Spanned<EventTable>,
    constants: &Known,
    systems: &[&str],
) -> Result<Event, Problem> {
    let EventTable {
        at,
        when,
        set,
        stop,
    } = table.get_ref();
    let trigger = match (at, when) {
        (Some(time), None) if time.get_ref().is_finite() => Trigger::At(*time.get_ref()),
        (Some(time), None) => return Err(Problem::at(time.span(), "a time is a finite number")),
        (None, Some(condition)) => Trigger::When(condition.get_ref().clone(), condition.span()),
        _ => {
            let problem = Problem::at(table.span(), "an event has `at` or `when`, one of the two");
            return Err(problem.help("at = 5.0, or when = \"tank.level > 2\""));
        }
    };
    let changes = set
        .iter()
        .map(|(name, value)| change(name, value, constants, systems));
    let changes: Vec<Change> = changes.collect::<Result<_, _>>()?;
    if let Trigger::At(begins) = trigger {
        check_ends(&changes, begins)?;
    }
    let stop = stop.unwrap_or(false);
    if changes.is_empty() && !stop {
        let problem = Problem::at(table.span(), "this event does nothing");
        return Err(problem.help("add `set = { \"system.name\" = 3.0 }` or `stop = true`"));
    }

    Ok(Event {
        trigger,
        changes,
        stop,
    })
}

/// Refuses a change that ends before it begins.
fn check_ends(changes: &[Change], begins: f64) -> Result<(), Problem> {
    for change in changes {
        if let Some(until) = change.until
            && until <= begins
        {
            let message =
                format!("this does nothing: it begins at {begins} s and is over at {until} s");
            let problem = Problem::at(change.place.clone(), message);
            return Err(problem.help("`until` is a time after that of the event"));
        }
    }
    Ok(())
}

fn change(
    name: &Spanned<String>,
    value: &Spanned<toml::Value>,
    constants: &Known,
    systems: &[&str],
) -> Result<Change, Problem> {
    let qualified = name.get_ref();
    let Some((system, variable)) = qualified.split_once('.') else {
        let message = format!("`{qualified}` is not of the form system.name");
        return Err(Problem::at(name.span(), message).suggest(qualified, systems.iter().copied()));
    };
    let place = value.span();
    let (action, until) = match value.get_ref() {
        toml::Value::Table(table) => action(table, &place, constants)?,
        value => (Override::Value(number(value, &place, constants)?), None),
    };

    Ok(Change {
        system: system.to_owned(),
        name: variable.to_owned(),
        action,
        until,
        place: name.span().start..place.end,
    })
}

/// An override that is a table.
fn action(
    table: &toml::Table,
    place: &Range<usize>,
    constants: &Known,
) -> Result<(Override, Option<f64>), Problem> {
    let refuse = |message: String| Problem::at(place.clone(), message);
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let help = format!("the keys here are {}", KEYS.join(", "));
        let problem = refuse(format!("unknown key `{key}`")).help(help);
        return Err(problem.suggest(key, KEYS));
    }
    let given = |key: &str| {
        let value = table.get(key);
        value
            .map(|value| number(value, place, constants))
            .transpose()
    };
    let until = given("until")?;
    let value = given("value")?;
    let gain = given("gain")?;
    let offset = given("offset")?;
    let stuck = match table.get("stuck") {
        None => false,
        Some(toml::Value::Boolean(stuck)) => *stuck,
        Some(_) => return Err(refuse("`stuck` is true or false".to_owned())),
    };
    let affine = gain.is_some() || offset.is_some();
    let action = match (value, affine, stuck) {
        (Some(value), false, false) => Override::Value(value),
        (None, true, false) => Override::Affine {
            gain: gain.unwrap_or(1.0),
            offset: offset.unwrap_or(0.0),
        },
        (None, false, true) => Override::Stuck,
        _ => {
            let message = "an override has one of `value`, `stuck = true`, or `gain` and `offset`";
            return Err(refuse(message.to_owned()));
        }
    };
    Ok((action, until))
}

/// A number, a truth value, or an expression of constants.
fn number(value: &toml::Value, place: &Range<usize>, constants: &Known) -> Result<f64, Problem> {
    let refuse = |message: String| Problem::at(place.clone(), message);
    let number = match value {
        toml::Value::Float(number) => *number,
        toml::Value::Integer(number) => *number as f64,
        toml::Value::Boolean(truth) => f64::from(u8::from(*truth)),
        toml::Value::String(text) => {
            let formula = Formula {
                name: "value",
                text,
            };
            resolve(constants, &[formula]).map_err(|error| refuse(error.message))?[0]
        }
        _ => {
            let message = "expected a number, true or false, or an expression of constants";
            return Err(refuse(message.to_owned()));
        }
    };
    match number.is_finite() {
        true => Ok(number),
        false => Err(refuse("the value must be a finite number".to_owned())),
    }
}
