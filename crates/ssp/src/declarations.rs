//! What all files of SSP share: units, enumerations, types, dimensions and transformations.

use std::collections::HashMap;
use std::rc::Rc;

use roxmltree::Node;

use crate::error::{Place, SspError};
use crate::structure::{Connector, DataType, Dimension, Kind};
use crate::transform::Map;
use crate::unit::{BASE_UNITS, BaseUnit, UnitDef};
use crate::value::{Enumeration, EnumerationItem};
use crate::xml::{Reader, child, listed, ssp_children, tag, written};

/// The units and enumerations of a file, which are those of this file alone.
#[derive(Default)]
pub(crate) struct Declarations {
    units: HashMap<String, UnitDef>,
    enumerations: HashMap<String, Enumeration>,
    /// Those of the file around, for what is written inside another file.
    outer: Option<Rc<Declarations>>,
}

impl Declarations {
    /// Reads those of a root element.
    pub fn read(reader: &mut Reader, root: Node) -> Result<Self, SspError> {
        let mut declarations = Self::default();
        for node in listed(root, "Units", "Unit") {
            let unit = unit(reader, node)?;
            declarations.units.insert(unit.name.clone(), unit);
        }

        for node in listed(root, "Enumerations", "Enumeration") {
            let enumeration = enumeration(reader, node)?;
            declarations
                .enumerations
                .insert(enumeration.name.clone(), enumeration);
        }
        Ok(declarations)
    }

    /// Looks in `outer` too.
    pub fn within(self, outer: &Rc<Self>) -> Self {
        Self {
            outer: Some(outer.clone()),
            ..self
        }
    }

    fn unit_named(&self, name: &str) -> Option<&UnitDef> {
        self.units
            .get(name)
            .or_else(|| self.outer.as_ref()?.unit_named(name))
    }

    fn enumeration_named(&self, name: &str) -> Option<&Enumeration> {
        self.enumerations
            .get(name)
            .or_else(|| self.outer.as_ref()?.enumeration_named(name))
    }

    /// The unit that a type or a value names.
    pub fn unit(&self, reader: &mut Reader, node: Node) -> Option<UnitDef> {
        let name = written(node, "unit")?;
        let unit = self.unit_named(name).cloned();

        Some(unit.unwrap_or_else(|| {
            reader.warn(
                node,
                format!(
                    "the unit `{name}` is not defined in this file and is converted to no other"
                ),
            );
            UnitDef {
                name: name.into(),
                base: None,
            }
        }))
    }

    /// The enumeration that a type or a value names. Some tools write none.
    pub fn enumeration(&self, reader: &mut Reader, node: Node) -> Option<Enumeration> {
        let name = written(node, "name")?;
        let enumeration = self.enumeration_named(name).cloned();

        if enumeration.is_none() {
            reader.warn(
                node,
                format!("the enumeration `{name}` is not defined in this file"),
            );
        }
        enumeration
    }
}

fn unit(reader: &mut Reader, node: Node) -> Result<UnitDef, SspError> {
    let name = reader.name(node)?.to_string();
    let Some(base) = child(node, "BaseUnit") else {
        return Ok(UnitDef { name, base: None });
    };
    let mut exponents = [0; 8];

    for (exponent, attribute) in exponents.iter_mut().zip(BASE_UNITS) {
        *exponent = reader.number(base, attribute)?.unwrap_or(0);
    }

    let factor = reader.finite(base, "factor", 1.0)?;
    let offset = reader.finite(base, "offset", 0.0)?;

    if factor == 0.0 {
        return Err(reader.malformed(
            base,
            format!("the factor of the unit `{name}` is 0; give another"),
        ));
    }
    Ok(UnitDef {
        name,
        base: Some(BaseUnit {
            exponents,
            factor,
            offset,
        }),
    })
}

fn enumeration(reader: &mut Reader, node: Node) -> Result<Enumeration, SspError> {
    let name = reader.name(node)?.to_string();
    let mut items = Vec::new();

    for item in reader.children(node, &["Item"]) {
        let number = reader.required_number(item, "value")?;
        items.push((reader.name(item)?.to_string(), number));
    }
    Ok(Enumeration { name, items })
}

/// The type of that name; `Real` and `Integer` are the names of FMI 2.
pub(crate) fn data_type(name: &str) -> Option<DataType> {
    Some(match name {
        "Real" | "Float64" => DataType::Float64,
        "Float32" => DataType::Float32,
        "Int8" => DataType::Int8,
        "UInt8" => DataType::UInt8,
        "Int16" => DataType::Int16,
        "UInt16" => DataType::UInt16,
        "Integer" | "Int32" => DataType::Int32,
        "UInt32" => DataType::UInt32,
        "Int64" => DataType::Int64,
        "UInt64" => DataType::UInt64,
        "Boolean" => DataType::Boolean,
        "String" => DataType::String,
        "Enumeration" => DataType::Enumeration,
        "Binary" => DataType::Binary,
        "Clock" => DataType::Clock,
        _ => return None,
    })
}

/// What is known of a connector or an entry of a dictionary beside its name.
#[derive(Default)]
pub(crate) struct Typing {
    pub data_type: Option<DataType>,
    pub unit: Option<UnitDef>,
    pub enumeration: Option<Enumeration>,
    pub dimensions: Vec<Dimension>,
}

impl Typing {
    pub fn into_connector(self, name: &str, kind: Kind, place: Place) -> Connector {
        Connector {
            name: name.into(),
            kind,
            data_type: self.data_type,
            unit: self.unit,
            enumeration: self.enumeration,
            dimensions: self.dimensions,
            place,
        }
    }
}

/// The type of a connector or an entry: the first child that is one. A later `Clock` only names a
/// clock.
pub(crate) fn typing(
    reader: &mut Reader,
    declarations: &Declarations,
    node: Node,
) -> Result<Typing, SspError> {
    let mut typing = Typing::default();
    for child in ssp_children(node) {
        match tag(child) {
            "Dimension" => typing.dimensions.push(dimension(reader, child)?),
            name => {
                let Some(found) = data_type(name) else {
                    continue;
                };
                if typing.data_type.is_some()
                    || (found == DataType::Clock && child.has_attribute("name"))
                {
                    reader.warn(
                        child,
                        format!("a second type or a clock, `{name}`, was ignored"),
                    );
                    continue;
                }
                typing.data_type = Some(found);
                typing.unit = declarations.unit(reader, child);
                if found == DataType::Enumeration {
                    typing.enumeration = declarations.enumeration(reader, child);
                }
            }
        }
    }
    Ok(typing)
}

fn dimension(reader: &mut Reader, node: Node) -> Result<Dimension, SspError> {
    if let Some(size) = reader.number(node, "size")? {
        return Ok(Dimension::Fixed(size));
    }
    Ok(node
        .attribute("sizeConnector")
        .map_or(Dimension::Unknown, |name| Dimension::Connector(name.into())))
}

/// The elements that are transformations.
pub(crate) const TRANSFORMATIONS: [&str; 4] = [
    "LinearTransformation",
    "BooleanMappingTransformation",
    "IntegerMappingTransformation",
    "EnumerationMappingTransformation",
];

/// The transformation of a connection or a mapping entry.
pub(crate) fn transformation(reader: &mut Reader, node: Node) -> Result<Option<Map>, SspError> {
    let found = reader.children(node, &TRANSFORMATIONS);
    if let Some(second) = found.get(1) {
        return Err(reader.malformed(*second, "there is a second transformation; keep one"));
    }
    found.first().map(|&node| map(reader, node)).transpose()
}

fn map(reader: &mut Reader, node: Node) -> Result<Map, SspError> {
    let kind = tag(node);
    if kind == "LinearTransformation" {
        let factor = reader.finite(node, "factor", 1.0)?;
        let offset = reader.finite(node, "offset", 0.0)?;
        return Ok(Map::Linear { factor, offset });
    }

    let entries = entries(reader, node)?;
    match kind {
        "BooleanMappingTransformation" => boolean_map(reader, &entries),
        "IntegerMappingTransformation" => integer_map(reader, &entries),
        _ => Ok(enumeration_map(&entries)),
    }
}

/// An entry of a table, with the texts of its two sides.
struct MapEntry<'a, 'x> {
    node: Node<'a, 'x>,
    source: &'a str,
    target: &'a str,
}

impl MapEntry<'_, '_> {
    fn items(&self) -> (EnumerationItem, EnumerationItem) {
        (unnumbered(self.source), unnumbered(self.target))
    }
}

fn entries<'a, 'x>(
    reader: &mut Reader,
    node: Node<'a, 'x>,
) -> Result<Vec<MapEntry<'a, 'x>>, SspError> {
    let nodes = reader.children(node, &["MapEntry"]);
    let mut entries = Vec::with_capacity(nodes.len());

    for node in nodes {
        entries.push(MapEntry {
            node,
            source: reader.required(node, "source")?,
            target: reader.required(node, "target")?,
        });
    }
    Ok(entries)
}

fn boolean_map(reader: &Reader, entries: &[MapEntry]) -> Result<Map, SspError> {
    let mut table = [false, true];
    for entry in entries {
        let source = reader.boolean(entry.node, "source", entry.source)?;
        let target = reader.boolean(entry.node, "target", entry.target)?;
        table[usize::from(source)] = target;
    }
    Ok(Map::Boolean(table))
}

fn integer_map(reader: &Reader, entries: &[MapEntry]) -> Result<Map, SspError> {
    let mut table = Vec::with_capacity(entries.len());
    for entry in entries {
        let source = reader.parse(entry.node, "source", entry.source)?;
        let target = reader.parse(entry.node, "target", entry.target)?;
        table.push((source, target));
    }
    Ok(Map::Integer(table))
}

fn enumeration_map(entries: &[MapEntry]) -> Map {
    Map::Enumeration(entries.iter().map(MapEntry::items).collect())
}

/// An item of an enumeration that is not known yet.
fn unnumbered(name: &str) -> EnumerationItem {
    EnumerationItem {
        name: name.into(),
        value: None,
    }
}
