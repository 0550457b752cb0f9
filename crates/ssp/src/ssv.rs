//! Parameter sets (`.ssv`), in files of their own and inside others.

use std::rc::Rc;

use roxmltree::Node;

use crate::declarations::{Declarations, data_type};
use crate::error::{Place, SspError};
use crate::structure::DataType;
use crate::unit::UnitDef;
use crate::value::{EnumerationItem, ParameterValue};
use crate::xml::{Reader, listed, named_children, ssp_children, tag};

/// A parameter as a set gives it.
pub(crate) struct SetParameter {
    pub name: String,
    pub value: ParameterValue,
    pub dimensions: Vec<u64>,
    pub unit: Option<UnitDef>,
    pub place: Place,
}

/// Reads a `ParameterSet`. Inside another file its units may be defined there.
pub(crate) fn read(
    reader: &mut Reader,
    root: Node,
    outer: &Rc<Declarations>,
) -> Result<Vec<SetParameter>, SspError> {
    let declarations = Declarations::read(reader, root)?.within(outer);
    let parameters = listed(root, "Parameters", "Parameter");
    parameters
        .into_iter()
        .filter_map(|node| parameter(reader, &declarations, node).transpose())
        .collect()
}

fn parameter(
    reader: &mut Reader,
    declarations: &Declarations,
    node: Node,
) -> Result<Option<SetParameter>, SspError> {
    let name = reader.name(node)?.to_string();
    let typed = ssp_children(node).find_map(|child| Some((child, data_type(tag(child))?)));
    let Some((typed, kind)) = typed else {
        let message =
            format!("the parameter `{name}` has no value of a known type and was ignored");
        reader.warn(node, message);
        return Ok(None);
    };
    let declared = declared_dimensions(reader, node)?;
    let value = value(reader, typed, kind)?;
    let dimensions = checked_dimensions(reader, node, declared, value.len() as u64)?;
    let unit = declarations.unit(reader, typed);
    let enumeration = match kind {
        DataType::Enumeration => declarations.enumeration(reader, typed),
        _ => None,
    };

    Ok(Some(SetParameter {
        name,
        value: value.numbered_by(enumeration.as_ref()),
        dimensions,
        unit,
        place: reader.place(node),
    }))
}

fn declared_dimensions(reader: &Reader, node: Node) -> Result<Vec<u64>, SspError> {
    named_children(node, "Dimension")
        .map(|child| reader.required_number(child, "size"))
        .collect()
}

/// The dimensions of so many values, which must multiply to them.
fn checked_dimensions(
    reader: &mut Reader,
    node: Node,
    mut dimensions: Vec<u64>,
    count: u64,
) -> Result<Vec<u64>, SspError> {
    if dimensions.is_empty() && count != 1 {
        let message = "a list of values without dimensions was taken as an array of one dimension";
        reader.warn(node, message);
        dimensions.push(count);
    }

    let mut sizes = dimensions.iter();
    let size = sizes.try_fold(1_u64, |size, &next| size.checked_mul(next));

    if size != Some(count) {
        let message = format!(
            "its dimensions do not multiply to the {count} values given; correct one of them"
        );
        return Err(reader.malformed(node, message));
    }
    Ok(dimensions)
}

fn value(reader: &Reader, node: Node, kind: DataType) -> Result<ParameterValue, SspError> {
    Ok(match kind {
        DataType::Float64 | DataType::Float32 => ParameterValue::Float(numbers(reader, node)?),
        DataType::Boolean => ParameterValue::Boolean(booleans(reader, node)?),
        DataType::String => {
            let texts = texts(reader, node)?.into_iter();
            ParameterValue::String(texts.map(String::from).collect())
        }
        DataType::Enumeration => {
            let texts = texts(reader, node)?.into_iter();
            ParameterValue::Enumeration(texts.map(item).collect())
        }
        DataType::Binary => {
            let texts = texts(reader, node)?.into_iter();
            let values = texts.map(|text| bytes(reader, node, text));
            ParameterValue::Binary(values.collect::<Result<_, _>>()?)
        }
        DataType::Clock => return Err(reader.malformed(node, "a clock is no parameter; remove it")),
        _ => ParameterValue::Integer(numbers(reader, node)?),
    })
}

/// An item of an enumeration, which may be given by its number.
fn item(name: &str) -> EnumerationItem {
    EnumerationItem {
        name: name.into(),
        value: name.trim().parse().ok(),
    }
}

fn booleans(reader: &Reader, node: Node) -> Result<Vec<bool>, SspError> {
    let text = reader.required(node, "value")?;
    text.split_whitespace()
        .map(|word| reader.boolean(node, "value", word))
        .collect()
}

/// `value`, which for arrays is a list.
fn numbers<T: std::str::FromStr>(reader: &Reader, node: Node) -> Result<Vec<T>, SspError> {
    let text = reader.required(node, "value")?;
    text.split_whitespace()
        .map(|word| reader.parse(node, "value", word))
        .collect()
}

/// `value`, or the `Value` children that texts have in its place.
fn texts<'a>(reader: &Reader, node: Node<'a, '_>) -> Result<Vec<&'a str>, SspError> {
    let children: Vec<Node> = named_children(node, "Value").collect();
    if children.is_empty() {
        return Ok(vec![reader.required(node, "value")?]);
    }
    children
        .into_iter()
        .map(|child| Ok(value_text(child)))
        .collect()
}

/// The attribute of a `Value`, or what stands inside.
fn value_text<'a>(node: Node<'a, '_>) -> &'a str {
    let text = node.attribute("value").or_else(|| node.text());
    text.unwrap_or("")
}

fn bytes(reader: &Reader, node: Node, text: &str) -> Result<Vec<u8>, SspError> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| Some(letter.to_digit(16)? as u8))
        .collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => Ok(digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()),
        _ => Err(reader.malformed(
            node,
            "the binary value is not made of pairs of hexadecimal digits; write it so",
        )),
    }
}
