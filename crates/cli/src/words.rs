//! Words that several commands print.

use std::fmt::Display;

use dovetail::core::StepRule;
use dovetail::report::paragraph;

pub(crate) fn yes_or_no(has: bool) -> String {
    if has { "yes" } else { "no" }.to_owned()
}

/// The communication steps that a system takes.
pub(crate) fn step_rule(rule: StepRule) -> String {
    match rule {
        StepRule::Free => "free".to_owned(),
        StepRule::Imposed(size) => format!("{size} s"),
    }
}

/// A line for each warning.
pub(crate) fn warnings<W: Display>(all: impl IntoIterator<Item = W>) -> String {
    let lines = all.into_iter();
    lines
        .map(|warning| paragraph(&format!("Warning: {warning}.")))
        .collect()
}

/// `1 system`, `2 systems`.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// What stands after the first few of a list.
pub(crate) fn more(count: usize, shown: usize) -> &'static str {
    if count > shown { ", …" } else { "" }
}
