//! Parameter bindings as they are written.

use std::rc::Rc;

use roxmltree::Node;

use crate::declarations::Declarations;
use crate::error::{Place, SspError};
use crate::source::Reference;
use crate::ssm::{self, MappingEntry};
use crate::ssv::{self, SetParameter};
use crate::xml::{Reader, child, listed};

/// A set of values, and how its names and values become those of the element it is bound to.
pub(crate) struct Binding {
    pub prefix: String,
    pub values: Reference<Vec<SetParameter>>,
    pub mapping: Option<Reference<Vec<MappingEntry>>>,
    pub place: Place,
}

/// The bindings of an element.
pub(crate) fn bindings(
    reader: &mut Reader,
    outer: &Rc<Declarations>,
    node: Node,
) -> Result<Vec<Binding>, SspError> {
    let nodes = listed(node, "ParameterBindings", "ParameterBinding");
    nodes
        .into_iter()
        .map(|node| binding(reader, outer, node))
        .collect()
}

fn binding(reader: &mut Reader, outer: &Rc<Declarations>, node: Node) -> Result<Binding, SspError> {
    only(reader, node, "application/x-ssp-parameter-set")?;
    reader.children(node, &["ParameterValues", "ParameterMapping"]);
    let values = match node.attribute("source") {
        Some(source) => Reference::external(source, node),
        None => {
            let mut values = Vec::new();
            for set in listed(node, "ParameterValues", "ParameterSet") {
                values.extend(ssv::read(reader, set, outer)?);
            }
            Reference::Inline(values)
        }
    };
    let mapping = child(node, "ParameterMapping")
        .map(|node| mapping(reader, node))
        .transpose()?;
    let prefix = node.attribute("prefix").unwrap_or("").into();

    Ok(Binding {
        prefix,
        values,
        mapping,
        place: reader.place(node),
    })
}

fn mapping(reader: &mut Reader, node: Node) -> Result<Reference<Vec<MappingEntry>>, SspError> {
    only(reader, node, "application/x-ssp-parameter-mapping")?;
    if let Some(source) = node.attribute("source") {
        return Ok(Reference::external(source, node));
    }

    // Some tools leave out the inner `ParameterMapping`.
    let inner = child(node, "ParameterMapping");
    let bare = child(node, "MappingEntry").is_some();

    match inner {
        Some(inner) => Ok(Reference::Inline(ssm::read(reader, inner)?)),
        None if bare => Ok(Reference::Inline(ssm::read(reader, node)?)),
        None => Ok(Reference::Inline(Vec::new())),
    }
}

/// Values in a format that is not known cannot be left out in silence: the results would be others.
fn only(reader: &Reader, node: Node, media_type: &str) -> Result<(), SspError> {
    match node.attribute("type") {
        Some(other) if other.split(';').next().unwrap_or("").trim() != media_type => {
            Err(SspError::Unsupported {
                place: reader.place(node),
                what: format!("the type `{}`", crate::xml::shortened(other)),
                help: "give the parameters as .ssv and their mapping as .ssm",
            })
        }
        _ => Ok(()),
    }
}
