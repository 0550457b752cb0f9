//! The sizes of arrays, which 3.0 has.

use super::Dimension;
use super::findings::DescriptionError;
use super::xml::Element;

/// The dimensions of a variable; none for a scalar.
pub(super) fn dimensions(variable: Element<'_>) -> Result<Vec<Dimension>, DescriptionError> {
    let mut dimensions = Vec::new();
    for child in variable.children() {
        match child.name() {
            "Dimension" => dimensions.push(dimension(child)?),
            "Start" | "Alias" => {}
            _ => child.misplaced(variable.name())?,
        }
    }
    Ok(dimensions)
}

fn dimension(element: Element<'_>) -> Result<Dimension, DescriptionError> {
    match (
        element.integer("start")?,
        element.integer("valueReference")?,
    ) {
        (Some(size), None) => Ok(Dimension::Fixed(size)),
        (None, Some(reference)) => Ok(Dimension::Parameter(reference)),
        (Some(_), Some(reference)) => {
            element.departure(
                "a dimension has both `start` and `valueReference`; the latter holds".into(),
            )?;
            Ok(Dimension::Parameter(reference))
        }
        // The size of the array is unknown, so none of its values could ever be set or got.
        (None, None) => Err(element
            .invalid("a dimension has neither a size, `start`, nor a `valueReference`".into())),
    }
}
