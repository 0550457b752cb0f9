//! A comparison as a page: the table, and errors against steps where there are several.

use crate::comparison::comparison_table;
use crate::html::{escaped, page};
use crate::plot::{Curve, error_plot};
use crate::summary::RunSummary;

/// More variables than this are in the table only.
const MOST_PLOTS: usize = 12;

/// A self-contained page with the table of the runs and a plot of error against step for each
/// variable.
pub fn comparison_page(title: &str, runs: &[RunSummary]) -> String {
    let ended_early = runs.iter().filter(|run| !run.completed);
    let early: String = ended_early.map(early_end).collect();
    let variables = variables(runs).into_iter().take(MOST_PLOTS);
    let figures: String = variables.filter_map(|name| figure(name, runs)).collect();

    let heading = format!("<h1>{}</h1>\n{early}", escaped(title));
    let table = format!("<pre>{}</pre>\n", escaped(&comparison_table(runs)));
    page(title, &[heading, table, figures].concat())
}

fn early_end(run: &RunSummary) -> String {
    let method = escaped(&run.method);
    let outcome = escaped(&run.outcome());
    format!("<p class=\"early\">{method}: {outcome}</p>\n")
}

fn variables(runs: &[RunSummary]) -> Vec<&str> {
    let first = runs.iter().find_map(|run| run.comparison.as_ref());
    let errors = first.iter().flat_map(|comparison| &comparison.error);
    errors.map(|(name, _)| name.as_str()).collect()
}

/// Nothing where no method ran with two steps.
fn figure(variable: &str, runs: &[RunSummary]) -> Option<String> {
    let curves = errors_by_method(variable, runs);
    let several = curves.iter().any(|curve| curve.points.len() > 1);

    several.then(|| {
        let plot = error_plot(variable, "NRMSE in %", &curves);
        format!("<figure>\n{plot}\n</figure>\n")
    })
}

fn errors_by_method(variable: &str, runs: &[RunSummary]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for run in runs {
        let Some(point) = error_at_step(variable, run) else {
            continue;
        };
        match curves.iter_mut().find(|curve| curve.name == run.method) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                name: run.method.clone(),
                points: vec![point],
            }),
        }
    }
    curves
}

/// Step and error of a run with a fixed step that was compared.
fn error_at_step(variable: &str, run: &RunSummary) -> Option<(f64, f64)> {
    let error = run.comparison.as_ref()?.error_of(variable)?.nrmse?;
    Some((run.step?, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::ErrorMeasures;
    use crate::summary::Comparison;

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
