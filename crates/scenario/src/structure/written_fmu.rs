//! What a system structure says of an FMU: types, units and values of its variables.

use dovetail_core::{Input, Interface, Output};
use dovetail_fmi::PreparedFmu;
use dovetail_fmi::description::{Value, ValueType, Variable};
use dovetail_ssp::{
    DataType, Enumeration, EnumerationItem, Kind, ParameterValue, UnitDef, WrittenConnector,
    WrittenParameter, WrittenType,
};

use super::elements::{Elements, sizes};
use super::wiring::unit_def;
use crate::source::part::Part;
use crate::units::unit_named;

/// The inputs and outputs of a part, arrays as one.
pub(super) fn connectors(part: &Part, interface: &Interface) -> Vec<WrittenConnector> {
    let inputs = interface.inputs.iter();
    let inputs = inputs.map(|Input { name, unit, .. }| (name, unit.as_deref(), Kind::Input));
    let outputs = interface.outputs.iter();
    let outputs = outputs.map(|Output { name, unit, .. }| (name, unit.as_deref(), Kind::Output));
    let mut connectors: Vec<WrittenConnector> = Vec::new();

    for (name, unit, kind) in inputs.chain(outputs) {
        let element = element(part, name);
        let known = |own: &WrittenConnector| own.name == element.variable && own.kind == kind;
        if connectors.iter().any(known) {
            continue;
        }
        let names: Vec<&str> = match kind {
            Kind::Input => interface
                .inputs
                .iter()
                .map(|own| own.name.as_str())
                .collect(),
            _ => interface
                .outputs
                .iter()
                .map(|own| own.name.as_str())
                .collect(),
        };
        let dimensions = match element.indices.is_empty() {
            true => Vec::new(),
            false => sizes(&element.variable, &names),
        };
        connectors.push(WrittenConnector {
            typing: typing(part, &element.variable, unit),
            name: element.variable,
            kind,
            dimensions,
        });
    }
    connectors
}

/// A variable of a part by the name of one of its elements.
pub(super) fn element(part: &Part, name: &str) -> Elements {
    let is_array = |variable: &str| {
        described(part, variable).is_some_and(|variable| !variable.dimensions.is_empty())
    };
    Elements::of(name, is_array)
}

/// The values that a model gives to an FMU.
pub(super) fn values(part: &Part, prepared: &PreparedFmu) -> Vec<WrittenParameter> {
    let given = prepared.checked_values();
    let parameters = given.into_iter().map(|given| WrittenParameter {
        name: given.variable.name.clone(),
        typing: typing(part, &given.variable.name, given.variable.unit.as_deref()),
        value: value_of(given.variable, &given.values),
        dimensions: given.sizes.iter().map(|&size| size as u64).collect(),
    });
    parameters.collect()
}

/// Numbers as the values of a variable.
pub(super) fn numbers_of(variable: &Variable, numbers: &[f64]) -> ParameterValue {
    let each = numbers.iter().map(|&number| match variable.value_type {
        kind if kind.is_float() => Value::Float(number),
        ValueType::Boolean => Value::Boolean(number != 0.0),
        _ => Value::Integer(number as i128),
    });
    value_of(variable, &each.collect::<Vec<Value>>())
}

/// The variable of an FMU.
pub(super) fn described<'a>(part: &'a Part, name: &str) -> Option<&'a Variable> {
    let prepared = part.source.fmu()?;
    let mut variables = prepared.fmu().description().variables.iter();
    variables.find(|variable| variable.name == name)
}

/// What the values of a variable are.
pub(super) fn typing(part: &Part, name: &str, unit: Option<&str>) -> WrittenType {
    let described = described(part, name);
    let own = part.source.unit_of_measure(name);
    let own = own.map(|own| unit_def(own.definition));
    let generally = || Some(unit_def(&unit_named(unit?)?));
    let known = own.filter(|own| own.base.is_some()).or_else(generally);
    WrittenType {
        data_type: described.map_or(DataType::Float64, |own| data_type(own.value_type)),
        unit: known.map(|own| named(own, unit)),
        enumeration: described.and_then(|own| enumeration(part, own)),
    }
}

/// A unit that is generally known has many names: that of the model.
fn named(unit: UnitDef, name: Option<&str>) -> UnitDef {
    UnitDef {
        name: name.map_or(unit.name, str::to_owned),
        base: unit.base,
    }
}

fn enumeration(part: &Part, variable: &Variable) -> Option<Enumeration> {
    (variable.value_type == ValueType::Enumeration).then(|| Enumeration {
        name: format!("{}.{}", part.name(), variable.name),
        items: variable.items.clone(),
    })
}

fn data_type(value_type: ValueType) -> DataType {
    match value_type {
        ValueType::Float64 => DataType::Float64,
        ValueType::Float32 => DataType::Float32,
        ValueType::Int64 => DataType::Int64,
        ValueType::Int32 => DataType::Int32,
        ValueType::Int16 => DataType::Int16,
        ValueType::Int8 => DataType::Int8,
        ValueType::UInt64 => DataType::UInt64,
        ValueType::UInt32 => DataType::UInt32,
        ValueType::UInt16 => DataType::UInt16,
        ValueType::UInt8 => DataType::UInt8,
        ValueType::Boolean => DataType::Boolean,
        ValueType::Enumeration => DataType::Enumeration,
        ValueType::String => DataType::String,
        ValueType::Binary => DataType::Binary,
        ValueType::Clock => DataType::Clock,
    }
}

/// Values in the type of their variable, which they have been checked to be of.
fn value_of(variable: &Variable, values: &[Value]) -> ParameterValue {
    let all = values.iter();
    match variable.value_type {
        kind if kind.is_float() => ParameterValue::Float(all.filter_map(float).collect()),
        ValueType::Boolean => ParameterValue::Boolean(all.filter_map(truth).collect()),
        ValueType::String => ParameterValue::String(all.filter_map(text).collect()),
        ValueType::Binary => ParameterValue::Binary(all.filter_map(bytes).collect()),
        ValueType::Enumeration => {
            let items = all.filter_map(whole).map(|number| item(variable, number));
            ParameterValue::Enumeration(items.collect())
        }
        _ => ParameterValue::Integer(all.filter_map(whole).collect()),
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(truth) => Some(*truth),
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Binary(bytes) => Some(bytes.clone()),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Integer(number) => Some(*number),
        _ => None,
    }
}

/// The item of a number; one that an enumeration has no name for goes by its number.
fn item(variable: &Variable, number: i128) -> EnumerationItem {
    let known = variable.items.iter();
    let mut known = known.filter(|(_, own)| i128::from(*own) == number);
    EnumerationItem {
        name: known
            .next()
            .map_or(number.to_string(), |(name, _)| name.clone()),
        value: i64::try_from(number).ok(),
    }
}
