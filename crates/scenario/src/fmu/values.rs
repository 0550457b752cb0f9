//! Values for the variables of an FMU, as users write them.

use dovetail_fmi::PreparedFmu;
use dovetail_fmi::description::{Value, ValueType};

use crate::source::value::Given;

/// A value of a model file, all elements of it.
pub(crate) fn elements(given: &Given) -> Vec<Value> {
    match given {
        Given::Number(number) => vec![Value::Float(*number)],
        Given::Integer(number) => vec![Value::Integer(i128::from(*number))],
        Given::Boolean(truth) => vec![Value::Boolean(*truth)],
        Given::Text(text) => vec![Value::String(text.clone())],
        Given::List(items) => items.iter().flat_map(elements).collect(),
    }
}

/// Whether a variable of an FMU, or the array that it is an element of, is bytes.
pub(crate) fn is_binary(prepared: &PreparedFmu, element: &str) -> bool {
    let array = element.split_once('[').map_or(element, |(array, _)| array);
    let mut variables = prepared.fmu().description().variables.iter();
    variables.any(|variable| {
        let is_meant = variable.name == element || variable.name == array;
        is_meant && variable.value_type == ValueType::Binary
    })
}

/// A value that the user sets: `[1, 2]` is a list, and everything else is as the type of its variable has it.
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
