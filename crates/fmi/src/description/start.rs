//! Start values: reading them, and whether they are where they must be.

use super::findings::{DescriptionError, quoted};
use super::number;
use super::xml::Element;
use super::{Causality, Dimension, Initial, Value, ValueType, Variable, Version};

/// The start values of a variable, as far as given.
pub(super) fn read(
    element: Element<'_>,
    value_type: ValueType,
) -> Result<Vec<Value>, DescriptionError> {
    let written = element.children().filter(|child| child.name() == "Start");
    let mut values = Vec::new();

    for child in written {
        let Some(text) = child.expected("value")? else {
            continue;
        };
        values.extend(value(child, "value", text, value_type)?);
    }

    let Some(text) = element.text("start")? else {
        return Ok(values);
    };
    if !values.is_empty() {
        element.departure(
            "a variable has both the attribute `start` and elements <Start>; the latter hold"
                .into(),
        )?;
        return Ok(values);
    }
    if value_type == ValueType::String {
        return Ok(vec![Value::String(text.to_owned())]);
    }

    for word in text.split_ascii_whitespace() {
        // A gap would shift all that follow.
        let Some(value) = value(element, "start", word, value_type)? else {
            return Ok(Vec::new());
        };
        values.push(value);
    }

    if values.is_empty() {
        element.departure("`start` is empty; it is left out".into())?;
    }
    Ok(values)
}

fn value(
    element: Element<'_>,
    attribute: &str,
    text: &str,
    value_type: ValueType,
) -> Result<Option<Value>, DescriptionError> {
    match value_type {
        ValueType::Float64 | ValueType::Float32 => Ok(element
            .value(attribute, text, "a number", number::float)?
            .map(Value::Float)),
        ValueType::Boolean => Ok(element
            .value(attribute, text, "`true` or `false`", number::boolean)?
            .map(Value::Boolean)),
        ValueType::String => Ok(Some(Value::String(text.to_owned()))),
        ValueType::Binary => {
            let parse = |text: &str| number::bytes(text).map(|bytes| (bytes, true));
            Ok(element
                .value(attribute, text, "pairs of hexadecimal digits", parse)?
                .map(Value::Binary))
        }
        ValueType::Clock => Ok(None),
        _ => {
            let (low, high) = range(value_type);
            let within = |text: &str| {
                number::integer(text).filter(|(value, _)| (low..=high).contains(value))
            };
            let wanted = "an integer in the range of its type";
            Ok(element
                .value(attribute, text, wanted, within)?
                .map(Value::Integer))
        }
    }
}

fn range(value_type: ValueType) -> (i128, i128) {
    match value_type {
        ValueType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        ValueType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        ValueType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        ValueType::UInt8 => (0, u8::MAX.into()),
        ValueType::UInt16 => (0, u16::MAX.into()),
        ValueType::UInt32 => (0, u32::MAX.into()),
        ValueType::UInt64 => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

/// Whether start values are there where they must be, and so many as the array has elements.
pub(super) fn check(
    element: Element<'_>,
    variable: &Variable,
    version: Version,
) -> Result<(), DescriptionError> {
    if version == Version::One {
        // It asks for none, and does not say what they are for where a variable is calculated.
        return Ok(());
    }

    let name = quoted(&variable.name);
    let wanted = matches!(variable.initial, Some(Initial::Exact | Initial::Approx))
        || variable.causality == Causality::Input
        || (version == Version::Two && variable.causality == Causality::Parameter);
    let given = !variable.start.is_empty();

    if wanted && !given && variable.value_type != ValueType::Clock {
        element.departure(format!(
            "{name} has no start value, which the standard asks for; the FMU's own is used"
        ))?;
    }

    if given && variable.causality == Causality::Independent {
        element.departure(format!(
            "{name} has a start value, which the standard does not allow for the independent \
             variable"
        ))?;
    } else if given && variable.initial == Some(Initial::Calculated) {
        element.departure(format!(
            "{name} has a start value although it is calculated, which the standard does not allow"
        ))?;
    }

    let Some(elements) = elements(&variable.dimensions) else {
        return Ok(());
    };
    let count = variable.start.len();

    if count > 1 && count != elements {
        element.departure(format!(
            "{name} has `{elements}` elements but `{count}` start values"
        ))?;
    }
    Ok(())
}

/// The number of elements, where the dimensions alone tell it.
fn elements(dimensions: &[Dimension]) -> Option<usize> {
    let mut dimensions = dimensions.iter();
    dimensions.try_fold(1_usize, |product, dimension| {
        product.checked_mul(dimension.fixed()?)
    })
}
