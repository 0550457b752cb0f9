//! A comparison as a page: the table, and errors against steps where there are several.

use crate::html::{escaped, page};
use crate::{Curve, RunSummary, comparison_table, error_plot};

/// More variables than this are in the table only.
const MOST_PLOTS: usize = 12;

/// A self-contained page with the table of the runs and a plot of error against step for each variable.
pub fn comparison_page(title: &str, runs: &[RunSummary]) -> String {
    let early: String = runs
        .iter()
        .filter(|run| !run.completed)
        .map(|run| {
            format!(
                "<p class=\"early\">{}: {}</p>\n",
                escaped(&run.method),
                escaped(&run.outcome())
            )
        })
        .collect();
    let figures: String = variables(runs)
        .iter()
        .take(MOST_PLOTS)
        .filter_map(|name| figure(name, runs))
        .collect();
    let heading = format!("<h1>{}</h1>\n{early}", escaped(title));
    let table = format!("<pre>{}</pre>\n", escaped(&comparison_table(runs)));
    page(title, &[heading, table, figures].concat())
}

fn variables(runs: &[RunSummary]) -> Vec<&str> {
    let first = runs.iter().find_map(|run| run.comparison.as_ref());
    first
        .map(|comparison| {
            comparison
                .error
                .iter()
                .map(|(name, _)| name.as_str())
                .collect()
        })
        .unwrap_or_default()
}

/// Nothing where no method ran with two steps.
fn figure(variable: &str, runs: &[RunSummary]) -> Option<String> {
    let mut curves: Vec<Curve> = Vec::new();
    for run in runs {
        let error = run
            .comparison
            .as_ref()
            .and_then(|comparison| comparison.error_of(variable)?.nrmse);
        let (Some(step), Some(error)) = (run.step, error) else {
            continue;
        };
        match curves.iter_mut().find(|curve| curve.name == run.method) {
            Some(curve) => curve.points.push((step, error)),
            None => curves.push(Curve {
                name: run.method.clone(),
                points: vec![(step, error)],
            }),
        }
    }
    let several = curves.iter().any(|curve| curve.points.len() > 1);
    several.then(|| {
        format!(
            "<figure>\n{}\n</figure>\n",
            error_plot(variable, "NRMSE in %", &curves)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, ErrorMeasures};

    fn run(method: &str, step: f64) -> RunSummary {
        let measures = ErrorMeasures {
            nrmse: Some(10.0 * step),
            l2: None,
            max: step,
        };
        let comparison = Some(Comparison {
            error: vec![("a.<y>".into(), measures)],
            order: vec![],
        });
        RunSummary {
            method: method.into(),
            step: Some(step),
            completed: true,
            comparison,
            ..RunSummary::default()
        }
    }

    #[test]
    fn several_steps_make_a_plot_and_one_does_not() {
        let page = comparison_page("two <steps>", &[run("jacobi", 0.1), run("jacobi", 0.01)]);
        assert_eq!(page.matches("<figure>").count(), 1);
        assert!(page.contains("two &lt;steps&gt;") && !page.contains("a.<y>"));
        assert!(!comparison_page("one", &[run("jacobi", 0.1)]).contains("<figure>"));
    }
}
