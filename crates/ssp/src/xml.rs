//! Elements and attributes of the files of SSP, with the lines they are on.

use std::str::FromStr;
use std::sync::Arc;

use roxmltree::Node;

use crate::error::{Place, SspError};
use crate::warnings::Warnings;

/// What every element may have, and what has no effect on a run.
const WITHOUT_EFFECT: [&str; 10] = [
    "Annotations",
    "MetaData",
    "Signature",
    "ElementGeometry",
    "ConnectorGeometry",
    "ConnectionGeometry",
    "SystemGeometry",
    "GraphicalElements",
    "SSDVariant",
    "VariantSource",
];

/// A text that is being read.
pub(crate) struct Reader<'w> {
    /// Its name in messages.
    pub file: Arc<str>,
    /// Where its lines begin. Looking for them each time would be quadratic.
    line_starts: Vec<usize>,
    pub warnings: &'w mut Warnings,
}

impl<'w> Reader<'w> {
    pub fn new(file: Arc<str>, text: &str, warnings: &'w mut Warnings) -> Self {
        let breaks = text.match_indices('\n');
        Self {
            file,
            line_starts: breaks.map(|(at, _)| at + 1).collect(),
            warnings,
        }
    }

    pub fn place(&self, node: Node) -> Place {
        Place {
            file: self.file.clone(),
            line: self.line(node.range().start),
        }
    }

    /// The line of a byte of the text.
    fn line(&self, offset: usize) -> u32 {
        let breaks = self.line_starts.partition_point(|&start| start <= offset);
        breaks as u32 + 1
    }

    pub fn warn(&mut self, node: Node, message: impl AsRef<str>) {
        let place = self.place(node);
        self.warnings.at(&place, message.as_ref());
    }

    pub fn malformed(&self, node: Node, message: impl Into<String>) -> SspError {
        SspError::Malformed {
            place: self.place(node),
            element: label(node),
            message: message.into(),
        }
    }

    pub fn required<'a>(&self, node: Node<'a, '_>, attribute: &str) -> Result<&'a str, SspError> {
        node.attribute(attribute).ok_or_else(|| {
            self.malformed(
                node,
                format!("the attribute `{attribute}` is missing; add it"),
            )
        })
    }

    /// The name that an element must have.
    pub fn name<'a>(&self, node: Node<'a, '_>) -> Result<&'a str, SspError> {
        self.required(node, "name")
    }

    /// A number, where there is one.
    pub fn number<T: FromStr>(&self, node: Node, attribute: &str) -> Result<Option<T>, SspError> {
        let Some(text) = node.attribute(attribute) else {
            return Ok(None);
        };
        self.parse(node, attribute, text).map(Some)
    }

    /// A factor or an offset, which must be a number that one can count with.
    pub fn finite(&self, node: Node, attribute: &str, default: f64) -> Result<f64, SspError> {
        let value: f64 = self.number(node, attribute)?.unwrap_or(default);
        if value.is_finite() {
            return Ok(value);
        }
        Err(self.malformed(
            node,
            format!("{attribute}=\"{value}\" is not a finite number; write one"),
        ))
    }

    pub fn parse<T: FromStr>(
        &self,
        node: Node,
        attribute: &str,
        text: &str,
    ) -> Result<T, SspError> {
        text.trim().parse().map_err(|_| {
            let kind = std::any::type_name::<T>();
            let kind = if kind == "f64" {
                "a number"
            } else {
                "an integer that fits"
            };
            self.malformed(
                node,
                format!(
                    "{attribute}=\"{}\" is not {kind}; write one",
                    shortened(text)
                ),
            )
        })
    }

    /// A number that must be there.
    pub fn required_number<T: FromStr>(&self, node: Node, attribute: &str) -> Result<T, SspError> {
        self.parse(node, attribute, self.required(node, attribute)?)
    }

    pub fn boolean(&self, node: Node, attribute: &str, text: &str) -> Result<bool, SspError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => {
                let text = shortened(text);
                Err(self.malformed(
                    node,
                    format!("{attribute}=\"{text}\" is neither `true` nor `false`; write one"),
                ))
            }
        }
    }

    /// Whether a flag is set.
    pub fn flag(&self, node: Node, attribute: &str) -> Result<bool, SspError> {
        node.attribute(attribute)
            .map_or(Ok(false), |text| self.boolean(node, attribute, text))
    }

    /// The children of `node` among `names`. Others of SSP that might matter are warned of.
    pub fn children<'a, 'i>(&mut self, node: Node<'a, 'i>, names: &[&str]) -> Vec<Node<'a, 'i>> {
        let mut found = Vec::new();
        for child in ssp_children(node) {
            let name = tag(child);
            if names.contains(&name) {
                found.push(child);
            } else if !WITHOUT_EFFECT.contains(&name) {
                self.warn(
                    child,
                    format!(
                        "the element `{name}` in `{}` is not known and was ignored",
                        label(node)
                    ),
                );
            }
        }
        found
    }
}

/// A name in the message of an error must not fill the screen.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Children that belong to SSP. Prefixes are the author's, drafts had other addresses, and some
/// files have none at all.
pub(crate) fn ssp_children<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(is_ssp)
}

fn is_ssp(node: &Node) -> bool {
    let namespace = node.tag_name().namespace();
    node.is_element() && namespace.is_none_or(is_ssp_namespace)
}

fn is_ssp_namespace(name: &str) -> bool {
    name.contains("ssp-standard.org") || name.contains("pmsf")
}

/// The name of an element, without its prefix.
pub(crate) fn tag<'i>(node: Node<'_, 'i>) -> &'i str {
    node.tag_name().name()
}

/// What an attribute says, unless it is empty.
pub(crate) fn written<'a>(node: Node<'a, '_>, attribute: &str) -> Option<&'a str> {
    node.attribute(attribute).filter(|text| !text.is_empty())
}

/// The children of that name.
pub(crate) fn named_children<'a, 'i>(
    node: Node<'a, 'i>,
    name: &str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    ssp_children(node).filter(move |child| tag(*child) == name)
}

/// The first child of that name.
pub(crate) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    named_children(node, name).next()
}

/// The children called `item` of the first child called `list`.
pub(crate) fn listed<'a, 'i>(node: Node<'a, 'i>, list: &str, item: &str) -> Vec<Node<'a, 'i>> {
    let list = child(node, list).into_iter();
    list.flat_map(|list| named_children(list, item)).collect()
}

/// An element as messages call it: `Connector x`.
fn label(node: Node) -> String {
    let tag = tag(node);
    node.attribute("name")
        .map_or_else(|| tag.into(), |name| format!("{tag} {}", shortened(name)))
}
