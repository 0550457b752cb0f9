//! A fit as a page: the parameters with their certainty, and the measured points over the curves before and after.

use dovetail_report::html::{escaped, figures_table, page, row, table, warnings};
use dovetail_report::{Curve, Trajectory, point_plot, significant, thinned};

use super::{Fitted, FittedColumn, FittedParameter, Measured};

/// A curve has so many points at most; more would not be seen.
const MOST_POINTS: usize = 2000;

/// A self-contained page of a fit. `before` and `after` have the measured variables over a run with the first and with the fitted
/// values.
pub fn fit_page(
    title: &str,
    fitted: &Fitted,
    measured: &Measured,
    before: &Trajectory,
    after: &Trajectory,
) -> String {
    let outcome = match fitted.converged {
        true => "<p class=\"done\">The least sum of squares was found.</p>\n",
        false => "<p class=\"early\">The search was ended before it came to rest.</p>\n",
    };
    let heading = format!("<h1>{}</h1>\n{outcome}", escaped(title));
    let columns = measured.columns.iter().zip(&fitted.columns);
    let figures = columns.map(|(column, fitted)| {
        let points: Vec<(f64, f64)> = column
            .times
            .iter()
            .copied()
            .zip(column.values.clone())
            .collect();
        figure(fitted, points, before, after)
    });
    let figures: String = figures.collect();
    let parts = [
        heading,
        warnings(&fitted.notes),
        parameters(fitted),
        format!("<section>\n<h2>Measured and simulated</h2>\n{figures}</section>\n"),
        columns_table(fitted),
        correlation(fitted),
        summary(fitted),
    ];
    page(title, &parts.concat())
}

fn parameters(fitted: &Fitted) -> String {
    let cells = |parameter: &FittedParameter| {
        let number = |value: f64| significant(value, 6);
        let interval = parameter.confidence;
        let interval = interval.map(|(low, high)| format!("{} to {}", number(low), number(high)));
        let unknown = if parameter.at_bound {
            "at its bound"
        } else {
            "not known"
        };
        let error = parameter.standard_error.map(|error| significant(error, 3));
        [
            parameter.name.clone(),
            number(parameter.start),
            number(parameter.value),
            error.unwrap_or_else(|| unknown.to_owned()),
            interval.unwrap_or_default(),
        ]
    };
    let rows = fitted
        .parameters
        .iter()
        .map(|parameter| row("th", &cells(parameter)));
    let heads = [
        "parameter",
        "start",
        "fitted",
        "standard error",
        "95 % confidence",
    ];
    format!(
        "<section>\n<h2>Parameters</h2>\n{}</section>\n",
        table(&heads, rows)
    )
}

fn figure(
    column: &FittedColumn,
    points: Vec<(f64, f64)>,
    before: &Trajectory,
    after: &Trajectory,
) -> String {
    let curve = |name: &str, trajectory: &Trajectory| {
        let values = trajectory.column(&column.name).unwrap_or_default();
        Curve {
            name: name.to_owned(),
            points: thinned(trajectory.times(), values, MOST_POINTS),
        }
    };
    let measured = Curve {
        name: "measured".to_owned(),
        points,
    };
    let curves = [curve("before", before), curve("fitted", after)];
    let unit = column.unit.as_deref().unwrap_or_default();
    let plot = point_plot(&column.name, ("time in s", unit), &[measured], &curves);
    format!("<figure>\n{plot}</figure>\n")
}

fn columns_table(fitted: &Fitted) -> String {
    let cells = |column: &FittedColumn| {
        [
            column.name.clone(),
            column.count.to_string(),
            significant(column.before, 4),
            significant(column.after, 4),
            column.unit.clone().unwrap_or_default(),
        ]
    };
    let rows = fitted
        .columns
        .iter()
        .map(|column| row("th", &cells(column)));
    let heads = ["variable", "values", "RMS before", "RMS after", "unit"];
    format!(
        "<section>\n<h2>What is missed</h2>\n{}</section>\n",
        table(&heads, rows)
    )
}

/// Nothing where there is one parameter.
fn correlation(fitted: &Fitted) -> String {
    if fitted.parameters.len() < 2 {
        return String::new();
    }
    let names: Vec<String> = fitted.parameters.iter().map(|p| escaped(&p.name)).collect();
    let mut heads = vec![""];
    heads.extend(names.iter().map(String::as_str));
    let rows = fitted
        .parameters
        .iter()
        .zip(&fitted.correlation)
        .map(|(parameter, entries)| {
            let entry =
                |entry: &Option<f64>| entry.map_or(String::new(), |entry| format!("{entry:.3}"));
            let mut cells = vec![parameter.name.clone()];
            cells.extend(entries.iter().map(entry));
            row("th", &cells)
        });
    format!(
        "<section>\n<h2>Correlation</h2>\n{}</section>\n",
        table(&heads, rows)
    )
}

fn summary(fitted: &Fitted) -> String {
    figures_table(&[
        ("runs", fitted.runs.to_string()),
        ("iterations", fitted.iterations.to_string()),
        (
            "residual, as a part of the range of what was measured",
            significant(fitted.residual, 4),
        ),
        ("the same before", significant(fitted.residual_before, 4)),
    ])
}
