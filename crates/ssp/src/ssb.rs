//! Signal dictionaries (`.ssb`), in files of their own and inside others.

use std::rc::Rc;

use roxmltree::Node;

use crate::declarations::{Declarations, typing};
use crate::error::SspError;
use crate::structure::{Connector, Kind};
use crate::xml::Reader;

/// Reads a `SignalDictionary` of the namespace of dictionaries. Its entries are connectors that can
/// be used both ways.
pub(crate) fn read(
    reader: &mut Reader,
    root: Node,
    outer: &Rc<Declarations>,
) -> Result<Vec<Connector>, SspError> {
    let declarations = Declarations::read(reader, root)?.within(outer);
    let entries = reader.children(root, &["DictionaryEntry", "Units", "Enumerations"]);
    let entries = entries
        .into_iter()
        .filter(|node| node.tag_name().name() == "DictionaryEntry");
    entries
        .map(|node| {
            let typing = typing(reader, &declarations, node)?;
            Ok(Connector {
                name: reader.required(node, "name")?.into(),
                kind: Kind::Inout,
                data_type: typing.data_type,
                unit: typing.unit,
                enumeration: typing.enumeration,
                dimensions: typing.dimensions,
                place: reader.place(node),
            })
        })
        .collect()
}
