//! A comparison as a page: error against cost, trajectories over the reference, and a table that sorts.

mod banner;
mod run_curves;

use serde_json::{Map, Value, json};

use crate::comparison::{NOT_VARIED, compared_variables};
use crate::errors::Measure;
use crate::number::brief;
use crate::page::{Origin, Page, encoded};
use crate::paper_table::{TableFormat, paper_table};
use crate::run_page::TIME_UNIT;
use crate::summary::RunSummary;
use crate::trajectory::Trajectory;
use crate::variables::Variable;

pub use run_curves::RunCurves;

const PAGE: Page = Page {
    sections: include_str!("sections.html"),
    script: include_str!("compare.js"),
    is_served: false,
};

/// What a page of a comparison shows.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonPage<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// Start and end of the runs.
    pub span: (f64, f64),
    /// What the runs are compared with, in a sentence.
    pub reference_text: &'a str,
    /// The variables whose curves are drawn.
    pub variables: &'a [Variable],
    /// Their reference; none where no run has one.
    pub reference: &'a Trajectory,
    /// How errors are measured.
    pub measure: Measure,
    /// How the runs went.
    pub runs: &'a [RunSummary],
    /// The curves of each.
    pub curves: &'a [RunCurves],
    /// What was asked of the program.
    pub origin: &'a Origin,
}

impl ComparisonPage<'_> {
    /// The page: one file that loads nothing.
    pub fn render(&self) -> String {
        PAGE.render(self.model, self.origin, self.data())
    }

    fn data(&self) -> Value {
        let runs = self.runs.iter().zip(self.curves);
        let table = |format| paper_table(self.runs, format, self.measure);
        json!({
            "start": self.span.0,
            "stop": self.span.1,
            "timeUnit": TIME_UNIT,
            "measure": self.measure.name(),
            "measureText": self.measure.explanation(),
            "verdict": banner::of(self.runs, self.curves, self.measure),
            "variables": self.distinct().map(named).collect::<Vec<_>>(),
            "referenceText": self.reference_text,
            "reference": curves(self.reference),
            "runs": runs.map(|(run, curves)| self.run(run, curves)).collect::<Vec<_>>(),
            "tables": {
                "markdown": table(TableFormat::Markdown),
                "latex": table(TableFormat::Latex),
                "csv": table(TableFormat::Csv),
            },
        })
    }

    /// The variables, without states that are outputs as well.
    fn distinct(&self) -> impl Iterator<Item = &Variable> {
        let compared = compared_variables(self.runs);
        let is_distinct = move |variable: &&Variable| {
            compared.is_empty() || compared.contains(&variable.name.as_str())
        };
        self.variables.iter().filter(is_distinct)
    }

    fn run(&self, run: &RunSummary, curves_of_run: &RunCurves) -> Value {
        let mut data = curves(&curves_of_run.values);
        data["differences"] = columns(&curves_of_run.differences);
        data["method"] = run.method.as_str().into();
        data["setting"] = curves_of_run.setting(run).into();
        data["variant"] = variant(run).into();
        data["fineness"] = run.step.or(curves_of_run.tolerance).into();
        data["kind"] = if run.step.is_some() {
            "fixed"
        } else {
            "adaptive"
        }
        .into();
        data["steps"] = run.steps.into();
        data["rejected"] = run.rejected.into();
        data["integrations"] = run.integrations().into();
        data["wall"] = run.wall_seconds.into();
        data["worst"] = worst(run, self.measure).into();
        data["trouble"] = run
            .message
            .as_ref()
            .map(|message| message.text.as_str())
            .into();
        data["error"] = errors(run, self.measure);
        data
    }
}

fn named(variable: &Variable) -> Value {
    json!({ "name": variable.name, "unit": variable.unit })
}

fn curves(rows: &Trajectory) -> Value {
    json!({ "time": encoded(rows.times()), "values": columns(rows) })
}

fn columns(rows: &Trajectory) -> Value {
    let columns = rows
        .columns()
        .map(|(name, values)| (name.to_owned(), encoded(values)));
    Value::Object(columns.collect())
}

/// Options other than the tolerance that tell runs of a method apart.
fn variant(run: &RunSummary) -> String {
    let is_other = |(key, value): &&(String, String)| key != "tolerance" && value != NOT_VARIED;
    let others = run.varied.iter().filter(is_other);
    let texts: Vec<String> = others
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    texts.join(", ")
}

/// The largest error of a run, in percent; none where nothing was measured.
fn worst(run: &RunSummary, measure: Measure) -> Option<f64> {
    let errors = &run.comparison.as_ref()?.error;
    let shares = errors.iter().map(|(_, error)| 100.0 * error.share(measure));
    let worst = shares.fold(None, |worst: Option<f64>, share| match worst {
        Some(worst) if share <= worst => Some(worst),
        _ => Some(share),
    });
    worst.filter(|worst| worst.is_finite())
}

fn errors(run: &RunSummary, measure: Measure) -> Value {
    let errors = run
        .comparison
        .iter()
        .flat_map(|comparison| &comparison.error);
    let shares = errors.map(|(name, error)| (name.clone(), json!(100.0 * error.share(measure))));
    Value::Object(shares.collect::<Map<_, _>>())
}

/// A step or a tolerance as people write it.
fn short(value: f64) -> String {
    if value < 1e-3 {
        format!("{value:e}")
    } else {
        brief(value)
    }
}

#[cfg(test)]
mod tests;
