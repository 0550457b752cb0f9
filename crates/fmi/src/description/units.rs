//! `<UnitDefinitions>` and `<TypeDefinitions>`: what variables refer to by name.

use std::collections::HashMap;

use super::findings::{DescriptionError, quoted};
use super::limits::{self, DescriptionLimits, LIMITS};
use super::typed_elements::{typed_child, value_type};
use super::xml::Element;
use super::{UnitDefinition, ValueType, Version};

/// Attributes of `<BaseUnit>`: the exponents of the units of the SI.
const EXPONENTS: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

/// Reads `<UnitDefinitions>`. Those of 1.0 say how units are displayed, and not what they are.
pub(super) fn units(
    list: Element<'_>,
    version: Version,
) -> Result<Vec<UnitDefinition>, DescriptionError> {
    if version == Version::One {
        let named =
            |element: Element<'_>| Ok(unconvertible(element.owned("unit")?.unwrap_or_default()));
        return list.children().map(named).collect();
    }

    let mut units: Vec<UnitDefinition> = Vec::new();
    let mut seen = HashMap::new();

    for element in list.children() {
        if element.name() != "Unit" {
            element.misplaced("UnitDefinitions")?;
            continue;
        }
        let unit = unit(element)?;
        if seen.insert(unit.name.clone(), units.len()).is_some() {
            element.departure(format!(
                "the unit {} is defined twice; the first definition holds",
                quoted(&unit.name)
            ))?;
            seen.insert(unit.name.clone(), 0);
            continue;
        }
        units.push(unit);
    }
    Ok(units)
}

fn unit(element: Element<'_>) -> Result<UnitDefinition, DescriptionError> {
    let name = element.expected("name")?.unwrap_or_default().to_owned();
    let Some(base) = element.child("BaseUnit") else {
        return Ok(unconvertible(name));
    };
    base.only(&[&EXPONENTS, &["factor", "offset"]])?;
    let exponents = exponents(base)?;
    let factor = base.float("factor")?.unwrap_or(1.0);
    let offset = base.float("offset")?.unwrap_or(0.0);

    if factor == 0.0 || !factor.is_finite() || !offset.is_finite() {
        let message = format!(
            "the unit {} cannot be converted by a factor of `{factor}` and an offset of `{offset}`",
            quoted(&name)
        );
        base.departure(message)?;
        return Ok(unconvertible(name));
    }
    Ok(UnitDefinition {
        name,
        exponents: Some(exponents),
        factor,
        offset,
    })
}

/// A unit of measure that converts to nothing.
fn unconvertible(name: String) -> UnitDefinition {
    UnitDefinition {
        name,
        exponents: None,
        factor: 1.0,
        offset: 0.0,
    }
}

fn exponents(base: Element<'_>) -> Result<[i32; 8], DescriptionError> {
    let mut exponents = [0; 8];
    for (exponent, name) in exponents.iter_mut().zip(EXPONENTS) {
        *exponent = exponent_of(base, name)?;
    }
    Ok(exponents)
}

/// Looked up without regard to similar names: `k` is not `K`, nor `M` the meter.
fn exponent_of(base: Element<'_>, name: &str) -> Result<i32, DescriptionError> {
    if base.has(name) {
        Ok(base.integer(name)?.unwrap_or(0))
    } else {
        Ok(0)
    }
}

/// What a declared type gives to the variables that name it.
#[derive(Clone, Debug, Default)]
pub(super) struct Type {
    /// `None` for an entry that could not be understood.
    pub(super) value_type: Option<ValueType>,
    pub(super) unit: Option<String>,
    pub(super) relative: Option<bool>,
    pub(super) limits: DescriptionLimits,
    pub(super) items: Vec<(String, i64)>,
}

/// Reads `<TypeDefinitions>`.
pub(super) fn types(
    list: Element<'_>,
    version: Version,
) -> Result<HashMap<&str, Type>, DescriptionError> {
    let mut types = HashMap::new();
    for element in list.children() {
        let details = match version {
            // <Type name=".."><RealType ../></Type>
            Version::One if element.name() == "Type" => element
                .children()
                .find(|child| child.name().ends_with("Type")),
            // <SimpleType name=".."><Real ../></SimpleType>
            Version::Two if element.name() == "SimpleType" => typed_child(element, version),
            // <Float64Type name=".." ../>
            Version::Three if element.name().ends_with("Type") => Some(element),
            _ => {
                element.misplaced("TypeDefinitions")?;
                continue;
            }
        };
        let Some(name) = element.expected("name")? else {
            continue;
        };
        let Some(details) = details else {
            element.departure(format!(
                "the type {} does not say of which kind it is; it is ignored",
                quoted(name)
            ))?;
            continue;
        };
        if types.insert(name, read_type(details, version)?).is_some() {
            element.departure(format!(
                "the type {} is defined twice; the last definition holds",
                quoted(name)
            ))?;
        }
    }
    Ok(types)
}

fn read_type(element: Element<'_>, version: Version) -> Result<Type, DescriptionError> {
    let name = element.name();
    let value_type = value_type(name.strip_suffix("Type").unwrap_or(name), version);

    if value_type.is_none() {
        element.misplaced("TypeDefinitions")?;
    }

    let numbers = matches!(value_type, Some(value) if value.is_number());
    if numbers {
        element.only(&[LIMITS, &["name", "description"]])?;
    }

    let is_float = value_type.is_some_and(ValueType::is_float);
    Ok(Type {
        value_type,
        unit: if is_float {
            element.owned("unit")?
        } else {
            None
        },
        relative: if is_float {
            element.boolean("relativeQuantity")?
        } else {
            None
        },
        limits: if numbers {
            limits::read(element)?
        } else {
            DescriptionLimits::default()
        },
        items: if value_type == Some(ValueType::Enumeration) {
            items(element, version)?
        } else {
            Vec::new()
        },
    })
}

fn items(element: Element<'_>, version: Version) -> Result<Vec<(String, i64)>, DescriptionError> {
    let mut items = Vec::new();
    for item in element.children() {
        if item.name() != "Item" {
            item.misplaced(element.name())?;
            continue;
        }
        let name = item.expected("name")?.unwrap_or_default().to_owned();
        if version != Version::One {
            item.expected("value")?;
        }
        // FMI 1.0 counted items from 1, and tools that grew up with it may still leave the values
        // out.
        let value = item.integer("value")?.unwrap_or(items.len() as i64 + 1);
        items.push((name, value));
    }
    Ok(items)
}
