//! Values that users give to an FMU's parameters and start values, checked against its description.

use std::collections::HashMap;

use dovetail_core::nearest;

use crate::binaries;
use crate::description::{
    Causality, Description, Initial, Value, ValueType, Variability, Variable,
};

/// A value that cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such variable.
    #[error("there is no variable `{name}`{}", suggestion(.near))]
    Unknown {
        /// The name.
        name: String,
        /// The nearest name that can be set.
        near: Option<String>,
    },
    /// It is not for users to set.
    #[error("`{name}` cannot be set: {why}")]
    NotSettable {
        /// The name.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// The value is of another type.
    #[error("`{name}` is {expected}, and {given} is not")]
    WrongType {
        /// The name.
        name: String,
        /// What it is.
        expected: String,
        /// What was given.
        given: String,
    },
    /// Too few or too many values.
    #[error("`{name}` has {expected} elements, and {given} values were given")]
    WrongCount {
        /// The name.
        name: String,
        /// How many it has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// The value is outside what the FMU allows.
    #[error("`{name}` = {value} is outside of what the FMU allows, {min} to {max}")]
    OutOfRange {
        /// The name.
        name: String,
        /// The value.
        value: String,
        /// The least.
        min: String,
        /// The most.
        max: String,
    },
}

fn suggestion(near: &Option<String>) -> String {
    near.as_ref()
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Checks what was given: positions of variables, with values of their types. A later value for the
/// same variable wins.
pub(crate) fn check(
    description: &Description,
    given: &[(String, Vec<Value>)],
    size: impl Fn(&Variable) -> usize,
) -> Result<Vec<(usize, Vec<Value>)>, SettingError> {
    let variables = description.variables.iter().enumerate();
    let places: HashMap<&str, usize> = variables.map(|(i, v)| (v.name.as_str(), i)).collect();
    let mut checked: Vec<(usize, Vec<Value>)> = Vec::new();

    for (name, values) in given {
        let Some(&index) = places.get(name.as_str()) else {
            return Err(unknown(description, name));
        };
        let variable = &description.variables[index];
        let values = check_variable(variable, values, &size)?;
        checked.retain(|(known, _)| *known != index);
        checked.push((index, values));
    }
    Ok(checked)
}

fn unknown(description: &Description, name: &str) -> SettingError {
    let variables = description.variables.iter();
    let settable = variables.filter(|variable| obstacle(variable).is_none());
    let near = nearest(name, settable.map(|variable| variable.name.as_str()));

    SettingError::Unknown {
        name: name.to_owned(),
        near: near.map(str::to_owned),
    }
}

/// The values of one variable, in its type.
fn check_variable(
    variable: &Variable,
    values: &[Value],
    size: impl Fn(&Variable) -> usize,
) -> Result<Vec<Value>, SettingError> {
    if let Some(why) = obstacle(variable) {
        let name = variable.name.clone();
        return Err(SettingError::NotSettable { name, why });
    }

    let coerced = values.iter().map(|value| coerce(variable, value));
    let values = coerced.collect::<Result<Vec<Value>, SettingError>>()?;
    let expected = size(variable);

    if values.len() != expected && variable.causality != Causality::StructuralParameter {
        return Err(SettingError::WrongCount {
            name: variable.name.clone(),
            expected,
            given: values.len(),
        });
    }

    for value in &values {
        within(variable, value)?;
        listed(variable, value)?;
    }
    Ok(values)
}

/// Why a variable cannot be given a value before the run, if it cannot.
fn obstacle(variable: &Variable) -> Option<&'static str> {
    match (variable.causality, variable.variability, variable.initial) {
        (_, Variability::Constant, _) => Some("it is a constant of the FMU"),
        (Causality::Independent, ..) => Some("it is the time"),
        (Causality::CalculatedParameter, ..) => Some("the FMU calculates it from other parameters"),
        (Causality::Input | Causality::Parameter | Causality::StructuralParameter, ..) => None,
        (_, _, Some(Initial::Exact | Initial::Approx)) => None,
        (Causality::Output, ..) => Some("it is an output, which the FMU computes"),
        _ => Some("the FMU computes it"),
    }
}

/// A value in the type of the variable.
fn coerce(variable: &Variable, value: &Value) -> Result<Value, SettingError> {
    let (coerced, expected) = match variable.value_type {
        kind if kind.is_float() => (float(value), "a number"),
        ValueType::Boolean => (truth(value), "a truth value (true or false)"),
        ValueType::String => (Some(text(value)), "a text"),
        ValueType::Binary => (binary(value), "bytes, written as hexadecimal digits"),
        ValueType::Clock => (None, "a clock, which cannot be set"),
        ValueType::Enumeration => return enumeration(variable, value),
        _ => (whole(value), "a whole number"),
    };
    coerced.ok_or_else(|| wrong_type(variable, value, expected))
}

fn wrong_type(variable: &Variable, value: &Value, expected: &str) -> SettingError {
    SettingError::WrongType {
        name: variable.name.clone(),
        expected: expected.to_owned(),
        given: shown(value),
    }
}

fn float(value: &Value) -> Option<Value> {
    match value {
        Value::Float(number) => Some(Value::Float(*number)),
        Value::Integer(number) => Some(Value::Float(*number as f64)),
        Value::String(text) => text.trim().parse().map(Value::Float).ok(),
        _ => None,
    }
}

fn truth(value: &Value) -> Option<Value> {
    let truth = match value {
        Value::Boolean(truth) => *truth,
        Value::Integer(number @ 0..=1) => *number == 1,
        Value::Float(number) if *number == 0.0 || *number == 1.0 => *number == 1.0,
        Value::String(text) => match text.trim() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return None,
        },
        _ => return None,
    };
    Some(Value::Boolean(truth))
}

fn text(value: &Value) -> Value {
    match value {
        Value::String(_) => value.clone(),
        _ => Value::String(shown(value)),
    }
}

fn binary(value: &Value) -> Option<Value> {
    match value {
        Value::Binary(_) => Some(value.clone()),
        Value::String(text) => binaries::bytes(text).map(Value::Binary),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<Value> {
    match value {
        Value::Integer(_) => Some(value.clone()),
        Value::Float(number) if number.fract() == 0.0 => Some(Value::Integer(*number as i128)),
        Value::String(text) => text.trim().parse().map(Value::Integer).ok(),
        _ => None,
    }
}

/// An item by its name, or any whole number.
fn enumeration(variable: &Variable, value: &Value) -> Result<Value, SettingError> {
    let Value::String(text) = value else {
        return whole(value).ok_or_else(|| wrong_type(variable, value, "a whole number"));
    };
    let item = variable.items.iter().find(|(name, _)| name == text);
    let number = match item {
        Some((_, number)) => Some(i128::from(*number)),
        None => text.trim().parse().ok(),
    };

    number.map(Value::Integer).ok_or_else(|| {
        let names: Vec<&str> = variable.items.iter().map(|(name, _)| &**name).collect();
        wrong_type(variable, value, &format!("one of {}", names.join(", ")))
    })
}

fn within(variable: &Variable, value: &Value) -> Result<(), SettingError> {
    let number = match value {
        Value::Float(number) => *number,
        Value::Integer(number) => *number as f64,
        _ => return Ok(()),
    };
    let min = variable.min.unwrap_or(f64::NEG_INFINITY);
    let max = variable.max.unwrap_or(f64::INFINITY);
    if number >= min && number <= max {
        return Ok(());
    }

    Err(SettingError::OutOfRange {
        name: variable.name.clone(),
        value: number.to_string(),
        min: min.to_string(),
        max: max.to_string(),
    })
}

/// An enumeration has the values of its items and no others; a number of single precision is not
/// beyond them all.
fn listed(variable: &Variable, value: &Value) -> Result<(), SettingError> {
    match (variable.value_type, value) {
        (ValueType::Enumeration, Value::Integer(number)) if !is_item(variable, *number) => {
            let item = |(name, value): &(String, i64)| format!("{name} ({value})");
            let items: Vec<String> = variable.items.iter().map(item).collect();
            let expected = format!("one of {}", items.join(", "));
            Err(wrong_type(variable, value, &expected))
        }
        (ValueType::Float32, Value::Float(number))
            if number.is_finite() && !(*number as f32).is_finite() =>
        {
            Err(wrong_type(variable, value, "a number of single precision"))
        }
        _ => Ok(()),
    }
}

/// Whether an enumeration has an item of this value; one without items has all.
fn is_item(variable: &Variable, number: i128) -> bool {
    let mut items = variable.items.iter();
    items.len() == 0 || items.any(|(_, item)| i128::from(*item) == number)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => number.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::String(text) => format!("\"{text}\""),
        Value::Binary(bytes) => format!("{} bytes", bytes.len()),
    }
}
