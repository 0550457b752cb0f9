//! A requirement of an enclosure in figures.

use serde_json::{Value, json};

use crate::number::brief;

/// A requirement and its answer, for machines and people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequirementSummary {
    /// As it was asked.
    pub text: String,
    /// `proved`, `violated` or `undecided`.
    pub answer: String,
    /// When it is violated for certain, or by when it is reached.
    pub time: Option<f64>,
    /// Where a trajectory that violates it begins: `system.name` and value of all that is not certain in the model.
    pub counterexample: Option<Vec<(String, f64)>>,
}

impl RequirementSummary {
    /// `system.name=value` of all values of the counterexample.
    pub fn assignments(&self) -> Option<Vec<String>> {
        let values = self.counterexample.as_ref()?.iter();
        Some(
            values
                .map(|(name, value)| format!("{name}={value:?}"))
                .collect(),
        )
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "text": self.text,
            "answer": self.answer,
            "time": self.time,
            "counterexample": self.assignments(),
        })
    }

    /// When and how, in a sentence; empty where there is nothing to say.
    pub fn remark(&self) -> String {
        let at = self.time.map(|time| format!("t = {} s", brief(time)));
        match (self.answer.as_str(), at, &self.counterexample) {
            ("violated", at, Some(values)) => {
                let values = values
                    .iter()
                    .map(|(name, value)| format!("{name} = {value:?}"));
                let values: Vec<String> = values.collect();
                let from = match values.is_empty() {
                    true => "by the only trajectory".to_owned(),
                    false => format!("from {}", values.join(", ")),
                };
                at.map_or(from.clone(), |at| format!("at {at}, {from}"))
            }
            ("proved", Some(at), _) => format!("reached by {at}"),
            ("undecided", ..) => "neither proved nor refuted within the budget".to_owned(),
            _ => String::new(),
        }
    }

    pub(crate) fn to_line(&self) -> String {
        let remark = self.remark();
        let gap = if remark.is_empty() { "" } else { " (" };
        let end = if remark.is_empty() { "" } else { ")" };
        format!("{}: {}{gap}{remark}{end}\n", self.answer, self.text)
    }
}
