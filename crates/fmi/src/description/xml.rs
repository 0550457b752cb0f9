//! Elements and attributes with their lines, over a parsed document.

use super::findings::{DescriptionError, Findings, quoted};
use super::number::{self, Read};

/// More nodes than any FMU has: a guard for the memory.
const NODES: u32 = 16_000_000;
/// More attributes than any element has: the time to read them grows with their square.
const MOST_ATTRIBUTES: usize = 1000;

/// Where lines begin, so that a line is found without reading the file again.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.match_indices('\n');
        Self(breaks.map(|(at, _)| at).collect())
    }

    fn at(&self, offset: usize) -> u32 {
        self.0.partition_point(|&newline| newline < offset) as u32 + 1
    }
}

/// A parsed file and what was found in it.
pub(super) struct Document<'a> {
    tree: roxmltree::Document<'a>,
    lines: Lines,
    findings: &'a Findings,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str, findings: &'a Findings) -> Result<Self, DescriptionError> {
        let options = roxmltree::ParsingOptions {
            nodes_limit: NODES,
            ..Default::default()
        };
        let lines = Lines::of(text);
        if let Some(at) = crowded_element(text) {
            let line = lines.at(at);
            let message = format!(
                "an element has more than {MOST_ATTRIBUTES} attributes, which no FMU needs"
            );
            return Err(DescriptionError::NotXml { line, message });
        }
        let tree = roxmltree::Document::parse_with_options(text, options)
            .map_err(|error| syntax(text, &lines, &error))?;

        Ok(Self {
            tree,
            lines,
            findings,
        })
    }

    pub(super) fn root(&self) -> Element<'_> {
        Element {
            node: self.tree.root_element(),
            document: self,
        }
    }
}

/// Where the first element begins that has too many attributes. What is no element at all is left
/// to the parser.
fn crowded_element(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        let rest = &text[at..];
        let special = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        let special = special.iter().find(|(begin, _)| rest.starts_with(begin));
        let (attributes, length) = match special {
            Some((_, end)) => (0, rest.find(end)?),
            None => count_attributes(rest),
        };
        if attributes > MOST_ATTRIBUTES {
            return Some(at);
        }
        from = at + length.max(1);
    }
    None
}

/// How many values in quotes a tag has, and its length.
fn count_attributes(tag: &str) -> (usize, usize) {
    let mut quote = None;
    let mut count = 0;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return (count, at),
            (None, b'"' | b'\'') => (quote, count) = (Some(byte), count + 1),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    (count, tag.len())
}

fn syntax(text: &str, lines: &Lines, error: &roxmltree::Error) -> DescriptionError {
    use roxmltree::Error as E;
    let end = lines.at(text.len());
    let (line, message) = match error {
        E::DtdDetected => {
            let at = text.find("<!DOCTYPE").unwrap_or(0);
            let message = "it holds a document type definition (DTD), which no FMU needs and \
                           which is refused, since it \
                           can blow up the file; remove `<!DOCTYPE …>`";
            (lines.at(at), message.to_owned())
        }
        E::NodesLimitReached => (
            end,
            format!("it has more than {NODES} elements and texts, which no FMU needs"),
        ),
        E::NoRootNode | E::UnclosedRootNode | E::UnexpectedEndOfStream => (
            end,
            "the file ends before its elements do; it was cut short, so copy or export it again"
                .to_owned(),
        ),
        other => (other.pos().row, other.to_string()),
    };

    DescriptionError::NotXml { line, message }
}

/// One element of the file.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    node: roxmltree::Node<'a, 'a>,
    document: &'a Document<'a>,
}

impl<'a> Element<'a> {
    pub(super) fn name(self) -> &'a str {
        self.node.tag_name().name()
    }

    pub(super) fn line(self) -> u32 {
        self.document.lines.at(self.node.range().start)
    }

    pub(super) fn children(self) -> impl Iterator<Item = Element<'a>> {
        let document = self.document;
        self.node
            .children()
            .filter(|node| node.is_element())
            .map(move |node| Element { node, document })
    }

    /// The text that it holds.
    pub(super) fn content(self) -> &'a str {
        self.node.text().unwrap_or_default().trim()
    }

    pub(super) fn child(self, name: &str) -> Option<Element<'a>> {
        self.children().find(|child| child.name() == name)
    }

    /// Whether it has an attribute of exactly this name.
    pub(super) fn has(self, name: &str) -> bool {
        self.node
            .attributes()
            .any(|attribute| attribute.namespace().is_none() && attribute.name() == name)
    }

    /// A departure from the standard in this element: a warning, or an error where the reader is
    /// strict.
    pub(super) fn departure(self, message: String) -> Result<(), DescriptionError> {
        self.document.findings.departure(self.line(), message)
    }

    /// Something that cannot be understood at all.
    pub(super) fn invalid(self, message: String) -> DescriptionError {
        DescriptionError::Invalid {
            line: self.line(),
            message,
        }
    }

    /// The value of an attribute; one that is spelled in other cases is taken with a warning.
    pub(super) fn text(self, name: &str) -> Result<Option<&'a str>, DescriptionError> {
        // Attributes of other namespaces are other attributes, whatever their local names are.
        let mut own = self
            .node
            .attributes()
            .filter(|attribute| attribute.namespace().is_none());
        if let Some(attribute) = own.clone().find(|attribute| attribute.name() == name) {
            return Ok(Some(attribute.value()));
        }

        let Some(similar) = own.find(|attribute| attribute.name().eq_ignore_ascii_case(name))
        else {
            return Ok(None);
        };
        self.departure(format!(
            "the attribute {} should be spelled `{name}`; it is taken for it",
            quoted(similar.name())
        ))?;
        Ok(Some(similar.value()))
    }

    /// The value of an attribute that must be there; without it, a warning and nothing.
    pub(super) fn expected(self, name: &str) -> Result<Option<&'a str>, DescriptionError> {
        let value = self.text(name)?;
        if value.is_none() {
            self.departure(format!(
                "<{}> has no attribute `{name}`, which the standard asks for",
                self.name()
            ))?;
        }
        Ok(value)
    }

    pub(super) fn owned(self, name: &str) -> Result<Option<String>, DescriptionError> {
        Ok(self.text(name)?.map(str::to_owned))
    }

    pub(super) fn boolean(self, name: &str) -> Result<Option<bool>, DescriptionError> {
        self.parsed(name, "`true` or `false`", number::boolean)
    }

    /// A truth value that is false unless it is given.
    pub(super) fn flag(self, name: &str) -> Result<bool, DescriptionError> {
        Ok(self.boolean(name)?.unwrap_or(false))
    }

    pub(super) fn float(self, name: &str) -> Result<Option<f64>, DescriptionError> {
        self.parsed(name, "a number", number::float)
    }

    /// An integer that fits `T`.
    pub(super) fn integer<T: TryFrom<i128>>(
        self,
        name: &str,
    ) -> Result<Option<T>, DescriptionError> {
        let fitting = |text: &str| {
            let (value, exact) = number::integer(text)?;
            Some((T::try_from(value).ok()?, exact))
        };
        self.parsed(name, "an integer in the range of its type", fitting)
    }

    /// A value as `parse` reads it; one that it does not understand is left out with a warning.
    fn parsed<T>(
        self,
        name: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Read<T>,
    ) -> Result<Option<T>, DescriptionError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        self.value(name, text, wanted, parse)
    }

    /// One value of an attribute, in words that `parse` understands.
    pub(super) fn value<T>(
        self,
        name: &str,
        text: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Read<T>,
    ) -> Result<Option<T>, DescriptionError> {
        match parse(text) {
            Some((value, true)) => Ok(Some(value)),
            Some((value, false)) => {
                self.departure(format!(
                    "`{name}` is written {}, which is not how XML Schema has it",
                    quoted(text)
                ))?;
                Ok(Some(value))
            }
            None => {
                self.departure(format!(
                    "`{name}` is {}, where {wanted} was expected; it is left out",
                    quoted(text)
                ))?;
                Ok(None)
            }
        }
    }

    /// Value references or indices, separated by white space; `None` where one of them cannot be
    /// read.
    pub(super) fn references(self, name: &str) -> Result<Option<Vec<u32>>, DescriptionError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let mut references = Vec::new();

        for word in text.split_ascii_whitespace() {
            let Ok(reference) = word.parse() else {
                let wanted = "numbers separated by spaces were expected; the attribute is left out";
                self.departure(format!("`{name}` holds {}, where {wanted}", quoted(word)))?;
                return Ok(None);
            };
            references.push(reference);
        }
        Ok(Some(references))
    }

    /// Warns of attributes that do not belong here.
    pub(super) fn only(self, known: &[&[&str]]) -> Result<(), DescriptionError> {
        for attribute in self
            .node
            .attributes()
            .filter(|attribute| attribute.namespace().is_none())
        {
            let name = attribute.name();
            if !known
                .iter()
                .copied()
                .flatten()
                .any(|known| known.eq_ignore_ascii_case(name))
            {
                self.departure(format!(
                    "<{}> has no attribute {} in the standard; it is ignored",
                    self.name(),
                    quoted(name)
                ))?;
            }
        }
        Ok(())
    }

    /// Says that this element does not belong where it stands. What vendors add is theirs and
    /// passed over.
    pub(super) fn misplaced(self, within: &str) -> Result<(), DescriptionError> {
        let foreign = self.node.tag_name().namespace().is_some();
        if foreign
            || matches!(
                self.name(),
                "Annotations" | "VendorAnnotations" | "Annotation" | "Tool"
            )
        {
            return Ok(());
        }
        self.departure(format!(
            "<{within}> holds no element {} in the standard; it is ignored",
            quoted(self.name())
        ))
    }
}
