//! Elements that stand for a type of values.

use super::xml::Element;
use super::{ValueType, Version};

/// The kind of value that an element stands for.
pub(super) fn value_type(name: &str, version: Version) -> Option<ValueType> {
    Some(match (name, version) {
        ("Real", Version::One | Version::Two) | ("Float64", Version::Three) => ValueType::Float64,
        ("Integer", Version::One | Version::Two) | ("Int32", Version::Three) => ValueType::Int32,
        ("Boolean", _) => ValueType::Boolean,
        ("String", _) => ValueType::String,
        ("Enumeration", _) => ValueType::Enumeration,
        (_, Version::One | Version::Two) => return None,
        ("Float32", _) => ValueType::Float32,
        ("Int64", _) => ValueType::Int64,
        ("Int16", _) => ValueType::Int16,
        ("Int8", _) => ValueType::Int8,
        ("UInt64", _) => ValueType::UInt64,
        ("UInt32", _) => ValueType::UInt32,
        ("UInt16", _) => ValueType::UInt16,
        ("UInt8", _) => ValueType::UInt8,
        ("Binary", _) => ValueType::Binary,
        ("Clock", _) => ValueType::Clock,
        _ => return None,
    })
}

/// The first child that stands for a type of values.
pub(super) fn typed_child(element: Element<'_>, version: Version) -> Option<Element<'_>> {
    let mut children = element.children();
    children.find(|child| value_type(child.name(), version).is_some())
}
