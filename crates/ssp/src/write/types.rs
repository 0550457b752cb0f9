//! Types as they are called in the versions of SSP, and what each version has no word for.

use crate::structure::{DataType, Kind};
use crate::value::ParameterValue;

use super::declared::Declared;
use super::xml::{attribute, optional};
use super::{NotInSsp, SspVersion, WrittenComponent, WrittenType};

/// The element of a type: SSP 1.0 has those of FMI 2.0.
pub(super) fn element(data_type: DataType, version: SspVersion) -> &'static str {
    if version == SspVersion::One {
        return match data_type {
            DataType::Float64 | DataType::Float32 => "Real",
            DataType::Boolean => "Boolean",
            DataType::String => "String",
            DataType::Enumeration => "Enumeration",
            DataType::Binary => "Binary",
            _ => "Integer",
        };
    }
    match data_type {
        DataType::Float64 => "Float64",
        DataType::Float32 => "Float32",
        DataType::Int8 => "Int8",
        DataType::UInt8 => "UInt8",
        DataType::Int16 => "Int16",
        DataType::UInt16 => "UInt16",
        DataType::Int32 => "Int32",
        DataType::UInt32 => "UInt32",
        DataType::Int64 => "Int64",
        DataType::UInt64 => "UInt64",
        DataType::Boolean => "Boolean",
        DataType::String => "String",
        DataType::Enumeration => "Enumeration",
        DataType::Binary => "Binary",
        DataType::Clock => "Clock",
    }
}

/// The attributes of such an element: the unit, or the enumeration.
pub(super) fn attributes(typing: &WrittenType, declared: &Declared) -> String {
    let unit = typing.unit.as_ref();
    let unit = unit.and_then(|unit| declared.unit_name(unit));
    let items = typing.enumeration.as_ref();
    let items = items.and_then(|items| declared.enumeration_name(items));
    optional("unit", unit) + &optional("name", items)
}

/// The sizes of an array.
pub(super) fn dimensions(sizes: &[u64]) -> String {
    let each = sizes.iter().map(|size| attribute("size", size));
    each.map(|size| format!("<ssc:Dimension{size}/>")).collect()
}

/// Refuses what the version has no word for.
pub(super) fn check(component: &WrittenComponent, version: SspVersion) -> Result<(), NotInSsp> {
    let refuse = |variable: &str, what: String, in_two: bool| NotInSsp {
        component: component.name.clone(),
        variable: variable.to_owned(),
        what,
        in_two,
    };
    for connector in &component.connectors {
        let name = connector.name.as_str();
        if version == SspVersion::One && !connector.dimensions.is_empty() {
            let what = "is an array, and SSP 1.0 has none".to_owned();
            return Err(refuse(name, what, true));
        }
        if !matches!(connector.kind, Kind::Input | Kind::Output) {
            let what = "is neither an input nor an output".to_owned();
            return Err(refuse(name, what, false));
        }
    }
    for parameter in &component.parameters {
        let name = parameter.name.as_str();
        if version == SspVersion::One && !parameter.dimensions.is_empty() {
            let what = "is an array, and SSP 1.0 has none".to_owned();
            return Err(refuse(name, what, true));
        }
        let large = match &parameter.value {
            ParameterValue::Integer(values) if version == SspVersion::One => {
                values.iter().find(|value| i32::try_from(**value).is_err())
            }
            _ => None,
        };
        if let Some(value) = large {
            let what = format!("is {value}, and whole numbers of SSP 1.0 have 32 bits");
            return Err(refuse(name, what, true));
        }
    }
    Ok(())
}
