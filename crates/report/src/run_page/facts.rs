//! The run in a few numbers.

use serde_json::{Value, json};

use super::RunPage;
use crate::number::{brief, count, significant};
use crate::variables::Kind;

/// Label, value and remark of each tile.
pub(super) fn of(page: &RunPage<'_>) -> Vec<Value> {
    let summary = page.summary;
    let mut facts = vec![method(page), steps(page)];
    facts.extend(step_size(page));
    facts.extend(page.tolerance.map(tolerance));
    let linearizations = match summary.linearizations() {
        0 => String::new(),
        many => format!("{} linearizations", count(many)),
    };
    facts.push(json!([
        "Integrations",
        count(summary.integrations()),
        linearizations
    ]));
    facts.push(json!(["Took", duration(summary.wall_seconds), pace(page)]));
    facts
}

fn method(page: &RunPage<'_>) -> Value {
    let how = match page.summary.reason {
        Some(_) => "chosen automatically",
        None => "as asked for",
    };
    json!(["Method", page.summary.method, how])
}

fn steps(page: &RunPage<'_>) -> Value {
    let summary = page.summary;
    let iterations = summary.iterations as f64 / summary.steps.max(1) as f64;
    let remark = match (summary.rejected, summary.iterations) {
        (0, 0) => String::new(),
        (0, _) => format!("{} iterations a step", significant(iterations, 2)),
        (rejected, _) => format!("{} rejected", count(rejected)),
    };
    json!(["Steps", count(summary.steps), remark])
}

fn step_size(page: &RunPage<'_>) -> Option<Value> {
    if let Some(step) = page.summary.step {
        return Some(json!(["Step size", duration(step), "fixed"]));
    }
    let (least, most) = step_range(page)?;
    let sizes = format!("{} … {}", duration(least), duration(most));
    Some(json!(["Step size", sizes, "chosen by the method"]))
}

/// The shortest and the longest step that the method reports.
fn step_range(page: &RunPage<'_>) -> Option<(f64, f64)> {
    let variables = page.selection.variables().iter();
    let columns = variables.zip(page.trajectory.columns());
    let steps = columns
        .filter(|(variable, _)| variable.kind == Kind::Signal && variable.name.ends_with("$step"));
    let sizes =
        steps.flat_map(|(_, (_, values))| values.iter().copied().filter(|size| *size > 0.0));
    let range = sizes.fold((f64::INFINITY, 0.0), |(least, most), size| {
        (f64::min(least, size), f64::max(most, size))
    });
    (range.0 <= range.1).then_some(range)
}

fn tolerance(tolerance: f64) -> Value {
    let value = if tolerance < 1e-3 {
        format!("{tolerance:e}")
    } else {
        brief(tolerance)
    };
    json!(["Tolerance", value, "relative, of the coupling"])
}

/// How much faster than the clock the run was.
fn pace(page: &RunPage<'_>) -> String {
    let summary = page.summary;
    let simulated = summary.reached - summary.start;
    if simulated <= 0.0 || summary.wall_seconds <= 0.0 {
        return String::new();
    }
    let factor = simulated / summary.wall_seconds;
    let rounded: f64 = format!("{factor:.1e}").parse().unwrap_or(factor);
    format!("{} times real time", brief(rounded))
}

/// What the closed section says of itself.
pub(super) fn solver_line(page: &RunPage<'_>) -> String {
    let summary = page.summary;
    let steps = count(summary.steps);
    let sizes = match (summary.step, step_range(page)) {
        (Some(step), _) => format!(" of {}", duration(step)),
        (None, Some((least, most))) => format!(" of {} to {}", duration(least), duration(most)),
        (None, None) => String::new(),
    };
    format!("{steps} steps{sizes}, {} rejected", count(summary.rejected))
}

/// A time in seconds with the prefix that suits it: 8.71 ms.
pub(crate) fn duration(seconds: f64) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    if seconds <= 0.0 {
        return "0 s".into();
    }
    let fits = |(size, _): &&(f64, &str)| seconds >= size * 0.9995;
    let (size, name) = PREFIXES.iter().find(fits).unwrap_or(&PREFIXES[3]);
    let rounded: f64 = format!("{:.2e}", seconds / size).parse().unwrap_or(seconds);
    format!("{} {name}", brief(rounded))
}
