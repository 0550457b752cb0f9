//! Pieces of XML.

use std::fmt::Display;

/// A text as it stands in an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped += "&#9;",
            '\r' => escaped += "&#13;",
            c if c.is_control() => escaped += "?",
            c => escaped.push(c),
        }
    }
    escaped
}

/// ` name="value"`.
pub(super) fn attribute(name: &str, value: impl Display) -> String {
    format!(" {name}=\"{}\"", escape(&value.to_string()))
}

/// The same, where there is a value.
pub(super) fn optional(name: &str, value: Option<impl Display>) -> String {
    value.map_or_else(String::new, |value| attribute(name, value))
}

/// A truth value, which is false where it is not written.
pub(super) fn flag(name: &str, value: bool) -> String {
    match value {
        true => attribute(name, true),
        false => String::new(),
    }
}
