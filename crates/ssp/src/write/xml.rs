//! Pieces of XML.

use std::fmt::Display;

/// A text as it stands in an attribute.
fn escape(text: &str) -> String {
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
            // XML has no other control characters.
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

/// A number as `xs:double` has it.
pub(super) fn double(number: f64) -> String {
    match number {
        f64::INFINITY => "INF".to_owned(),
        f64::NEG_INFINITY => "-INF".to_owned(),
        number => number.to_string(),
    }
}

/// A path as the reference of a URI, with what such a reference gives a meaning of its own escaped.
pub(super) fn reference(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                escaped.push(char::from(byte));
            }
            other => escaped += &format!("%{other:02X}"),
        }
    }
    escaped
}
