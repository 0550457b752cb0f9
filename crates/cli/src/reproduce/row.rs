//! One number of a paper, with ours beside it.

use std::fmt;

use dovetail::report::significant;
use serde_json::{Value, json};

/// What a paper prints, or what we found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Finding {
    Number(f64),
    /// Where a paper has a curve or a sentence instead of a number.
    Words(String),
}

/// One number of a table, one point of a figure, or one claim.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The table or figure, and the row in it.
    pub item: String,
    pub paper: Finding,
    pub ours: Finding,
    /// What differs, and why.
    pub note: String,
}

impl Row {
    pub fn new(
        item: impl Into<String>,
        paper: impl Into<Finding>,
        ours: impl Into<Finding>,
    ) -> Self {
        Self {
            item: item.into(),
            paper: paper.into(),
            ours: ours.into(),
            note: String::new(),
        }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        Self {
            note: note.into(),
            ..self
        }
    }

    pub fn to_json(&self, paper: &str) -> Value {
        json!({
            "paper": paper,
            "item": self.item,
            "paper_value": self.paper.to_json(),
            "ours": self.ours.to_json(),
            "note": self.note,
        })
    }
}

impl Finding {
    fn to_json(&self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Words(words) => json!(words),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 1e6 => {
                write!(f, "{number}")
            }
            Self::Number(number) => f.write_str(&significant(*number, 4)),
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl From<f64> for Finding {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Finding {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<&str> for Finding {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}
