//! Parameter mappings (`.ssm`), in files of their own and inside others.

use roxmltree::Node;

use crate::declarations::transformation;
use crate::error::{Place, SspError};
use crate::transform::Map;
use crate::xml::Reader;

/// One entry: the name in the set, the name in the system or component, and what happens between
/// them.
pub(crate) struct MappingEntry {
    pub source: String,
    pub target: String,
    pub transformation: Option<Map>,
    pub suppress_unit_conversion: bool,
    pub place: Place,
}

/// Reads a `ParameterMapping` of the namespace of mappings.
pub(crate) fn read(reader: &mut Reader, root: Node) -> Result<Vec<MappingEntry>, SspError> {
    let entries = reader.children(root, &["MappingEntry"]);
    entries
        .into_iter()
        .map(|node| entry(reader, node))
        .collect()
}

fn entry(reader: &mut Reader, node: Node) -> Result<MappingEntry, SspError> {
    Ok(MappingEntry {
        source: reader.required(node, "source")?.into(),
        target: reader.required(node, "target")?.into(),
        transformation: transformation(reader, node)?,
        suppress_unit_conversion: reader.flag(node, "suppressUnitConversion")?,
        place: reader.place(node),
    })
}
