//! What is wrong with a system structure, said so that it can be mended.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::unit::UnitMismatch;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as messages name it: relative to the folder of the package.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Why a system structure cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SspError {
    /// The system structure itself is not there, or is no text.
    #[error("{}: cannot be read: {reason}; {help}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
        /// What to try.
        help: &'static str,
    },
    /// The text is not XML.
    #[error("{place}: this is not well-formed XML: {reason}")]
    Syntax {
        /// Where the parser stopped.
        place: Place,
        /// What it met there.
        reason: String,
    },
    /// An element does not say what it must.
    #[error("{place}: `{element}`: {message}")]
    Malformed {
        /// Where.
        place: Place,
        /// The element.
        element: String,
        /// What is wrong and what to try.
        message: String,
    },
    /// A file that is referred to cannot be used.
    #[error("{place}: `{source_uri}`: {reason}; {help}")]
    Source {
        /// Where it is referred to.
        place: Place,
        /// The reference.
        source_uri: String,
        /// What is wrong.
        reason: String,
        /// What to try.
        help: String,
    },
    /// A name that nothing has.
    #[error("{place}: there is no {what} `{name}` in {owner}; {help}")]
    Unknown {
        /// Where it is used.
        place: Place,
        /// What was looked for: an element, a connector, a signal dictionary.
        what: &'static str,
        /// The name.
        name: String,
        /// Where it was looked for.
        owner: String,
        /// What there is.
        help: String,
    },
    /// A connection that has no direction, or that gives a connector a second source.
    #[error("{place}: {message}")]
    Connection {
        /// Where.
        place: Place,
        /// What is wrong and what to try.
        message: String,
    },
    /// Values cannot be converted between two units.
    #[error(
        "{place}: `{to_name}` is in `{to}` and `{from_name}` in `{from}`, which measure different \
         things; correct one of the units, or set suppressUnitConversion"
    )]
    Units {
        /// The connection, or the parameter.
        place: Place,
        /// Where the value comes from.
        from_name: String,
        /// Its unit.
        from: String,
        /// Where it goes.
        to_name: String,
        /// The unit there.
        to: String,
    },
    /// A feature of SSP that is not supported.
    #[error("{place}: {what} cannot be used here; {help}")]
    Unsupported {
        /// Where.
        place: Place,
        /// The feature.
        what: String,
        /// What to try.
        help: &'static str,
    },
    /// A system that contains itself, or more of them than fit.
    #[error("{place}: {message}")]
    Nesting {
        /// The reference that goes too far.
        place: Place,
        /// What is wrong.
        message: String,
    },
}

impl SspError {
    pub(crate) fn connection(place: &Place, message: String) -> Self {
        let place = place.clone();
        Self::Connection { place, message }
    }

    pub(crate) fn units(place: &Place, names: [String; 2], units: UnitMismatch) -> Self {
        let [from_name, to_name] = names;
        Self::Units {
            place: place.clone(),
            from_name,
            from: units.from,
            to_name,
            to: units.to,
        }
    }

    pub(crate) fn nesting(place: &Place, message: String) -> Self {
        let place = place.clone();
        Self::Nesting { place, message }
    }
}

/// What a path and a name in it are called together.
pub(crate) fn dotted(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.into()
    } else {
        format!("{path}.{name}")
    }
}

/// The known names of a table, for messages.
pub(crate) fn known_keys<T>(table: &HashMap<String, T>) -> String {
    known(table.keys().map(String::as_str))
}

/// A handful of known names, for messages.
pub(crate) fn known<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.take(200).collect();
    if names.is_empty() {
        return "it has none".into();
    }

    names.sort_unstable();
    let more = if names.len() > 8 { ", …" } else { "" };
    names.truncate(8);

    format!("known are `{}`{more}", names.join("`, `"))
}
