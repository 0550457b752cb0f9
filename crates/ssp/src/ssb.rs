//! Signal dictionaries (`.ssb`), in files of their own and inside others.

use std::rc::Rc;

use roxmltree::Node;

use crate::declarations::{Declarations, typing};
use crate::error::SspError;
use crate::structure::{Connector, Kind};
use crate::xml::{Reader, named_children};

/// Reads a `SignalDictionary` of the namespace of dictionaries. Its entries are connectors that can
/// be used both ways.
pub(crate) fn read(
    reader: &mut Reader,
    root: Node,
    outer: &Rc<Declarations>,
) -> Result<Vec<Connector>, SspError> {
    let declarations = Declarations::read(reader, root)?.within(outer);
    reader.children(root, &["DictionaryEntry", "Units", "Enumerations"]);
    named_children(root, "DictionaryEntry")
        .map(|node| entry(reader, &declarations, node))
        .collect()
}

fn entry(
    reader: &mut Reader,
    declarations: &Declarations,
    node: Node,
) -> Result<Connector, SspError> {
    let typing = typing(reader, declarations, node)?;
    let name = reader.name(node)?;
    Ok(typing.into_connector(name, Kind::Inout, reader.place(node)))
}
