//! Values that users give to a unit's parameters and start values, checked against its description.

use std::collections::HashMap;

use dovetail_core::nearest;

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
    /// The value is outside what the unit allows.
    #[error("`{name}` = {value} is outside of what the unit allows, {min} to {max}")]
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

/// Checks what was given: positions of variables, with values of their types. A later value for the same variable wins.
pub(crate) fn check(
    description: &Description,
    given: &[(String, Vec<Value>)],
    size: impl Fn(&Variable) -> usize,
) -> Result<Vec<(usize, Vec<Value>)>, SettingError> {
    let places: HashMap<&str, usize> = description
        .variables
        .iter()
        .enumerate()
        .map(|(i, v)| (v.name.as_str(), i))
        .collect();
    let mut checked: Vec<(usize, Vec<Value>)> = Vec::new();
    for (name, values) in given {
        let Some(&index) = places.get(name.as_str()) else {
            let settable = description
                .variables
                .iter()
                .filter(|v| obstacle(v).is_none());
            let near = nearest(name, settable.map(|v| v.name.as_str())).map(str::to_owned);
            return Err(SettingError::Unknown {
                name: name.clone(),
                near,
            });
        };
        let variable = &description.variables[index];
        if let Some(why) = obstacle(variable) {
            return Err(SettingError::NotSettable {
                name: name.clone(),
                why,
            });
        }
        let values = values
            .iter()
            .map(|value| coerce(variable, value))
            .collect::<Result<Vec<_>, _>>()?;
        let expected = size(variable);
        if values.len() != expected && variable.causality != Causality::StructuralParameter {
            return Err(SettingError::WrongCount {
                name: name.clone(),
                expected,
                given: values.len(),
            });
        }
        values
            .iter()
            .try_for_each(|value| within(variable, value).and_then(|()| listed(variable, value)))?;
        checked.retain(|(known, _)| *known != index);
        checked.push((index, values));
    }
    Ok(checked)
}

/// Why a variable cannot be given a value before the run, if it cannot.
fn obstacle(variable: &Variable) -> Option<&'static str> {
    match (variable.causality, variable.variability, variable.initial) {
        (_, Variability::Constant, _) => Some("it is a constant of the unit"),
        (Causality::Independent, ..) => Some("it is the time"),
        (Causality::CalculatedParameter, ..) => {
            Some("the unit calculates it from other parameters")
        }
        (Causality::Input | Causality::Parameter | Causality::StructuralParameter, ..) => None,
        (_, _, Some(Initial::Exact | Initial::Approx)) => None,
        (Causality::Output, ..) => Some("it is an output, which the unit computes"),
        _ => Some("the unit computes it"),
    }
}

/// A value in the type of the variable.
fn coerce(variable: &Variable, value: &Value) -> Result<Value, SettingError> {
    let wrong = |expected: &str| SettingError::WrongType {
        name: variable.name.clone(),
        expected: expected.to_owned(),
        given: shown(value),
    };
    match (variable.value_type, value) {
        (kind, Value::Float(_)) if kind.is_float() => Ok(value.clone()),
        (kind, Value::Integer(number)) if kind.is_float() => Ok(Value::Float(*number as f64)),
        (kind, Value::String(text)) if kind.is_float() => text
            .trim()
            .parse()
            .map(Value::Float)
            .map_err(|_| wrong("a number")),
        (kind, _) if kind.is_float() => Err(wrong("a number")),
        (ValueType::Boolean, Value::Boolean(_)) => Ok(value.clone()),
        (ValueType::Boolean, Value::Integer(number @ 0..=1)) => Ok(Value::Boolean(*number == 1)),
        (ValueType::Boolean, Value::Float(number)) if *number == 0.0 || *number == 1.0 => {
            Ok(Value::Boolean(*number == 1.0))
        }
        (ValueType::Boolean, Value::String(text))
            if matches!(text.trim(), "true" | "false" | "0" | "1") =>
        {
            Ok(Value::Boolean(matches!(text.trim(), "true" | "1")))
        }
        (ValueType::Boolean, _) => Err(wrong("a truth value (true or false)")),
        (ValueType::String, Value::String(_)) => Ok(value.clone()),
        (ValueType::String, _) => Ok(Value::String(shown(value))),
        (ValueType::Binary, Value::Binary(_)) => Ok(value.clone()),
        (ValueType::Binary, Value::String(text)) => bytes(text)
            .map(Value::Binary)
            .ok_or_else(|| wrong("bytes, written as hexadecimal digits")),
        (ValueType::Binary, _) => Err(wrong("bytes, written as hexadecimal digits")),
        (ValueType::Clock, _) => Err(wrong("a clock, which cannot be set")),
        (ValueType::Enumeration, Value::String(text)) => {
            let item = variable
                .items
                .iter()
                .find(|(name, _)| name == text)
                .map(|(_, value)| i128::from(*value));
            let number = item.or_else(|| text.trim().parse().ok());
            let names: Vec<&str> = variable
                .items
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            number
                .map(Value::Integer)
                .ok_or_else(|| wrong(&format!("one of {}", names.join(", "))))
        }
        (_, Value::Integer(_)) => Ok(value.clone()),
        (_, Value::Float(number)) if number.fract() == 0.0 => Ok(Value::Integer(*number as i128)),
        (_, Value::String(text)) => text
            .trim()
            .parse()
            .map(Value::Integer)
            .map_err(|_| wrong("a whole number")),
        _ => Err(wrong("a whole number")),
    }
}

fn within(variable: &Variable, value: &Value) -> Result<(), SettingError> {
    let number = match value {
        Value::Float(number) => *number,
        Value::Integer(number) => *number as f64,
        _ => return Ok(()),
    };
    let (min, max) = (
        variable.min.unwrap_or(f64::NEG_INFINITY),
        variable.max.unwrap_or(f64::INFINITY),
    );
    if number >= min && number <= max {
        return Ok(());
    }
    let (min, max) = (min.to_string(), max.to_string());
    Err(SettingError::OutOfRange {
        name: variable.name.clone(),
        value: number.to_string(),
        min,
        max,
    })
}

/// An enumeration has the values of its items and no others; a number of single precision is not beyond them all.
fn listed(variable: &Variable, value: &Value) -> Result<(), SettingError> {
    let wrong = |expected: String| {
        Err(SettingError::WrongType {
            name: variable.name.clone(),
            expected,
            given: shown(value),
        })
    };
    match (variable.value_type, value) {
        (ValueType::Enumeration, Value::Integer(number))
            if !variable.items.is_empty()
                && !variable
                    .items
                    .iter()
                    .any(|(_, item)| i128::from(*item) == *number) =>
        {
            let items: Vec<String> = variable
                .items
                .iter()
                .map(|(name, value)| format!("{name} ({value})"))
                .collect();
            wrong(format!("one of {}", items.join(", ")))
        }
        (ValueType::Float32, Value::Float(number))
            if number.is_finite() && !(*number as f32).is_finite() =>
        {
            wrong("a number of single precision".to_owned())
        }
        _ => Ok(()),
    }
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

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(pair).collect())
        .flatten()
}
