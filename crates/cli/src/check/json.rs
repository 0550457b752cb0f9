//! What is wrong with a model, as JSON.

use std::path::Path;

use dovetail::scenario::{BadModel, Problem};
use serde_json::{Value, json};

use crate::failure::Failure;

/// What is wrong with a model, each mistake with its place in the file where it has one.
pub(super) fn mistakes(model: &Path, failure: &Failure) -> Value {
    let mistakes = match failure {
        Failure::BadModel(bad) => bad.problems.iter().map(|it| mistake(bad, it)).collect(),
        other => vec![json!({ "message": other.message().map(|text| text.trim_end().to_owned()) })],
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "file": model.display().to_string(),
        "mistakes": mistakes,
    })
}

fn mistake(bad: &BadModel, problem: &Problem) -> Value {
    let place = bad.place(problem);
    json!({
        "message": problem.message,
        "line": place.map(|(line, _)| line),
        "column": place.map(|(_, column)| column),
        "help": problem.help,
    })
}
