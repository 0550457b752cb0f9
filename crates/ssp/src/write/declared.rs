//! Units and enumerations, each declared once. Two of one name that differ get names of their own.

use crate::unit::{BASE_UNITS, BaseUnit, UnitDef};
use crate::value::Enumeration;

use super::WrittenType;
use super::xml::{attribute, optional};

/// The units and enumerations of a file.
#[derive(Default)]
pub(super) struct Declared {
    /// With the names under which they are declared.
    units: Vec<(String, UnitDef)>,
    enumerations: Vec<(String, Enumeration)>,
}

impl Declared {
    /// Declares what a type needs.
    pub fn add(&mut self, typing: &WrittenType) {
        if let Some(unit) = &typing.unit
            && unit.base.is_some()
            && self.unit_name(unit).is_none()
        {
            let name = free_name(&unit.name, self.units.iter().map(|(name, _)| name.as_str()));
            self.units.push((name, unit.clone()));
        }
        if let Some(enumeration) = &typing.enumeration
            && self.enumeration_name(enumeration).is_none()
        {
            let known = self.enumerations.iter().map(|(name, _)| name.as_str());
            let name = free_name(&enumeration.name, known);
            self.enumerations.push((name, enumeration.clone()));
        }
    }

    /// The name of a unit in this file; none where it converts to nothing.
    pub fn unit_name(&self, unit: &UnitDef) -> Option<&str> {
        let mut known = self.units.iter();
        let found = known.find(|(_, known)| known == unit);
        found.map(|(name, _)| name.as_str())
    }

    /// The name of an enumeration in this file.
    pub fn enumeration_name(&self, enumeration: &Enumeration) -> Option<&str> {
        let mut known = self.enumerations.iter();
        let found = known.find(|(_, known)| known.items == enumeration.items);
        found.map(|(name, _)| name.as_str())
    }

    /// The elements, in the namespace of the file.
    pub fn text(&self, namespace: &str) -> String {
        let mut text = String::new();
        if !self.enumerations.is_empty() {
            let each: String = self.enumerations.iter().map(enumeration).collect();
            text += &format!("  <{namespace}:Enumerations>\n{each}  </{namespace}:Enumerations>\n");
        }
        let units = self.units.iter();
        let units: String = units
            .filter_map(|(name, unit)| Some(definition(name, &unit.base?)))
            .collect();
        if !units.is_empty() {
            text += &format!("  <{namespace}:Units>\n{units}  </{namespace}:Units>\n");
        }
        text
    }
}

/// The name, or the name with a number where it is taken.
fn free_name<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let mut name = wanted.to_owned();
    let mut number = 2;
    while known.contains(&name.as_str()) {
        name = format!("{wanted} ({number})");
        number += 1;
    }
    name
}

fn definition(name: &str, base: &BaseUnit) -> String {
    let powers = BASE_UNITS.iter().zip(base.exponents);
    let powers = powers.filter(|(_, power)| *power != 0);
    let powers: String = powers.map(|(name, power)| attribute(name, power)).collect();
    let factor = optional("factor", Some(base.factor).filter(|factor| *factor != 1.0));
    let offset = optional("offset", Some(base.offset).filter(|offset| *offset != 0.0));
    let name = attribute("name", name);
    format!("    <ssc:Unit{name}><ssc:BaseUnit{powers}{factor}{offset}/></ssc:Unit>\n")
}

fn enumeration((name, enumeration): &(String, Enumeration)) -> String {
    let items = enumeration.items.iter();
    let items = items.map(|(name, value)| {
        let (name, value) = (attribute("name", name), attribute("value", value));
        format!("      <ssc:Item{name}{value}/>\n")
    });
    let items: String = items.collect();
    let name = attribute("name", name);
    format!("    <ssc:Enumeration{name}>\n{items}    </ssc:Enumeration>\n")
}
