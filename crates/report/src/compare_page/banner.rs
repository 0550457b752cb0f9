//! What a comparison says, in words.

use serde_json::{Value, json};

use super::run_curves::RunCurves;
use super::worst;
use crate::errors::Measure;
use crate::number::{count, significant};
use crate::summary::RunSummary;

/// An error, in percent of the range, at which methods are compared.
const GOAL: f64 = 0.01;
/// So many runs are named in a sentence.
const MOST_NAMED: usize = 4;

pub(super) fn of(runs: &[RunSummary], curves: &[RunCurves], measure: Measure) -> Value {
    let worst = |run: &RunSummary| worst(run, measure);
    let label = |index: usize| label(&runs[index], &curves[index]);
    let is_lost = |index: &usize| worst(&runs[*index]).is_none_or(|worst| worst > 100.0);
    let lost: Vec<usize> = (0..runs.len()).filter(is_lost).collect();
    let (level, title) = match lost.len() {
        0 => ("good", "All runs are usable.".to_owned()),
        many if many == runs.len() => ("bad", "No run is usable.".to_owned()),
        many => (
            "note",
            format!("{many} of {} runs are not usable.", runs.len()),
        ),
    };

    let mut text = Vec::new();
    if !lost.is_empty() {
        let named: Vec<String> = lost
            .iter()
            .take(MOST_NAMED)
            .map(|&index| label(index))
            .collect();
        let more = if lost.len() > MOST_NAMED {
            " and others"
        } else {
            ""
        };
        text.push(format!(
            "{}{more}: no error could be measured, or it exceeds 100 %.",
            named.join("; ")
        ));
    }
    text.extend(cheapest(runs, measure));
    let measured = (0..runs.len()).filter_map(|index| Some((index, worst(&runs[index])?)));
    if let Some((best, error)) = measured.min_by(|one, other| one.1.total_cmp(&other.1)) {
        text.push(format!(
            "The most accurate run is {}, with {} %.",
            label(best),
            significant(error, 2)
        ));
    }
    json!({ "level": level, "title": title, "text": text })
}

fn label(run: &RunSummary, curves: &RunCurves) -> String {
    let setting = curves.setting(run);
    match setting.as_str() {
        "" => run.method.clone(),
        setting => format!("{} ({setting})", run.method),
    }
}

/// Which methods reach the goal at the least cost.
fn cheapest(runs: &[RunSummary], measure: Measure) -> Option<String> {
    let mut able: Vec<&RunSummary> = runs
        .iter()
        .filter(|run| worst(run, measure).is_some_and(|worst| worst <= GOAL))
        .collect();
    able.sort_by_key(|run| run.integrations());
    let first = able.first()?;
    let second = able.iter().find(|run| run.method != first.method);
    let than = second
        .map(|run| format!(", {} {}", run.method, count(run.integrations())))
        .unwrap_or_default();
    let integrations = count(first.integrations());

    Some(format!(
        "For an error below {GOAL} %, {} needs {integrations} integrations{than}.",
        first.method
    ))
}
