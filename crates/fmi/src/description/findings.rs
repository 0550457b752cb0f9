//! What is found wrong with a description: errors, and warnings where the reader goes on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// How faithfully a file must follow the standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// What can be understood is taken, with warnings.
    #[default]
    Lenient,
    /// What the standard forbids is refused.
    Strict,
}

/// A departure from the standard that the reader could live with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where it stands in `modelDescription.xml`, from 1.
    pub line: u32,
    /// What is wrong and what was made of it.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {} of modelDescription.xml: {}",
            self.line, self.message
        )
    }
}

/// Why a description cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// The file is out of all proportion.
    #[error(
        "modelDescription.xml has {size} bytes, more than the {limit} that are read; a \
         description of this size is \
         most likely damaged"
    )]
    TooLarge {
        /// Its size.
        size: usize,
        /// The largest size that is read.
        limit: usize,
    },

    /// The characters of the file cannot be told from its bytes.
    #[error("line {line} of modelDescription.xml: {message}")]
    Encoding {
        /// Where.
        line: u32,
        /// What is wrong and what was expected.
        message: String,
    },

    /// The file is not XML.
    #[error("line {line} of modelDescription.xml is not well-formed XML: {message}")]
    NotXml {
        /// Where.
        line: u32,
        /// What is wrong and what was expected.
        message: String,
    },

    /// The FMU follows a version of the standard that is not supported.
    #[error(
        "line {line} of modelDescription.xml: the unit follows version {version} of FMI, which is \
         not supported; 1.0, 2.0 \
         and 3.0 are, so export it again for one of these"
    )]
    Version {
        /// Where.
        line: u32,
        /// `fmiVersion` as written.
        version: String,
    },

    /// The file says what the standard forbids.
    #[error("line {line} of modelDescription.xml: {message}")]
    Invalid {
        /// Where.
        line: u32,
        /// What is wrong and what was expected.
        message: String,
    },
}

/// So many warnings of a kind are reported one by one; the rest are counted.
const TOLD_OF_A_KIND: usize = 3;

/// So many kinds are told apart; a file with more departures than these has no need of a longer
/// list.
const KINDS: usize = 200;

/// What was found on the way through a file.
pub(super) struct Findings {
    strictness: Strictness,
    warnings: RefCell<Warnings>,
}

#[derive(Default)]
struct Warnings {
    reported: Vec<Warning>,
    kinds: HashMap<String, WarningKind>,
}

/// Warnings whose sentences differ in quoted names only.
struct WarningKind {
    count: usize,
    last_reported: usize,
    last_line: u32,
}

impl Findings {
    pub(super) fn new(strictness: Strictness) -> Self {
        Self {
            strictness,
            warnings: RefCell::default(),
        }
    }

    /// A departure from the standard: a warning, or an error where the reader is strict.
    pub(super) fn departure(&self, line: u32, message: String) -> Result<(), DescriptionError> {
        if self.strictness == Strictness::Strict {
            return Err(DescriptionError::Invalid { line, message });
        }

        self.warnings.borrow_mut().add(line, message);
        Ok(())
    }

    /// All warnings, in the order in which they were found.
    pub(super) fn into_warnings(self) -> Vec<Warning> {
        let Warnings {
            mut reported,
            kinds,
        } = self.warnings.into_inner();
        for kind in kinds
            .into_values()
            .filter(|kind| kind.count > TOLD_OF_A_KIND)
        {
            let more = kind.count - TOLD_OF_A_KIND;
            let text = format!(
                " (and {more} more of this kind, the last on line {})",
                kind.last_line
            );
            reported[kind.last_reported].message.push_str(&text);
        }
        reported
    }
}

impl Warnings {
    fn add(&mut self, line: u32, message: String) {
        let key = without_quoted(&message);
        let full = self.kinds.len() >= KINDS && !self.kinds.contains_key(&key);
        let key = if full { String::new() } else { key };
        let kind = self.kinds.entry(key).or_insert(WarningKind {
            count: 0,
            last_reported: 0,
            last_line: line,
        });
        kind.count += 1;
        kind.last_line = line;

        if kind.count <= TOLD_OF_A_KIND {
            kind.last_reported = self.reported.len();
            self.reported.push(Warning { line, message });
        }
    }
}

/// A sentence without the names in it, by which warnings are grouped.
fn without_quoted(message: &str) -> String {
    message.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// A piece of the file for a message: quoted, of bounded length, without what would give orders to
/// a terminal.
pub(super) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    let plain = |c: char| {
        if c.is_control() {
            '\u{fffd}'
        } else if c == '`' {
            '\''
        } else {
            c
        }
    };
    let mut shown: String = text.chars().take(MOST).map(plain).collect();

    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_a_kind_are_counted_after_the_third() {
        let findings = Findings::new(Strictness::Lenient);
        for line in 1..=10 {
            findings
                .departure(line, format!("{} is odd", quoted(&format!("v{line}"))))
                .unwrap();
        }
        findings.departure(11, "another".into()).unwrap();
        let warnings = findings.into_warnings();
        let shown: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 4);
        assert_eq!(shown[0], "line 1 of modelDescription.xml: `v1` is odd");
        assert!(
            shown[2].ends_with("`v3` is odd (and 7 more of this kind, the last on line 10)"),
            "{}",
            shown[2]
        );
    }

    #[test]
    fn a_file_full_of_departures_has_a_short_list() {
        let findings = Findings::new(Strictness::Lenient);
        for line in 1..=10_000 {
            findings.departure(line, format!("oddity {line}")).unwrap();
        }
        assert!(findings.into_warnings().len() <= KINDS + TOLD_OF_A_KIND);
    }

    #[test]
    fn what_is_quoted_is_short_and_gives_no_orders() {
        let shown = quoted(&format!("\u{9b}31m`{}", "x".repeat(1000)));
        assert!(
            shown.chars().count() < 70
                && !shown.contains('\u{9b}')
                && shown.matches('`').count() == 2,
            "{shown}"
        );
    }
}
