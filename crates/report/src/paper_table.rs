//! Several runs of one model as a table for a paper: Markdown, LaTeX or CSV.

use crate::comparison::compared_variables;
use crate::errors::Measure;
use crate::summary::RunSummary;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// A pipe table.
    Markdown,
    /// A `tabular` environment.
    Latex,
    /// Comma-separated values, all digits.
    Csv,
}

/// A line for each run: method, varied options, costs, and the error of every compared variable in
/// percent.
pub fn paper_table(runs: &[RunSummary], format: TableFormat, measure: Measure) -> String {
    let variables = compared_variables(runs);
    let heads = heads(runs, &variables, measure);
    let rows = runs.iter().map(|run| {
        let mut cells = costs(run, format);
        cells.extend(errors(run, &variables, format, measure));
        cells
    });
    let rows: Vec<Vec<String>> = rows.collect();

    match format {
        TableFormat::Markdown => markdown(&heads, &rows),
        TableFormat::Latex => latex(&heads, &rows),
        TableFormat::Csv => csv(&heads, &rows),
    }
}

fn heads(runs: &[RunSummary], variables: &[&str], measure: Measure) -> Vec<String> {
    let mut heads = vec!["method".to_owned()];
    let options = runs.first().map(|run| run.varied.as_slice());
    let options = options.unwrap_or_default().iter();
    heads.extend(options.map(|(key, _)| key.clone()));

    let costs = ["step in s", "steps", "integrations", "time in s"];
    heads.extend(costs.map(str::to_owned));
    let errors = variables.iter();
    heads.extend(errors.map(|name| format!("{name}: {} in %", measure.name())));
    heads
}

/// A number in the precision of the format.
fn number(value: f64, format: TableFormat) -> String {
    match format {
        TableFormat::Csv => value.to_string(),
        _ => crate::number::significant(value, 4),
    }
}

fn costs(run: &RunSummary, format: TableFormat) -> Vec<String> {
    let number = |value: f64| number(value, format);
    let mut cells = vec![run.method.clone()];
    cells.extend(run.varied.iter().map(|(_, value)| value.clone()));

    cells.push(run.step.map_or_else(|| "chosen".to_owned(), number));
    cells.push(run.steps.to_string());
    cells.push(run.integrations().to_string());
    cells.push(number(run.wall_seconds));
    cells
}

fn errors(
    run: &RunSummary,
    variables: &[&str],
    format: TableFormat,
    measure: Measure,
) -> Vec<String> {
    let missing = if format == TableFormat::Csv { "" } else { "-" };
    let error = |name: &&str| run.comparison.as_ref()?.error_of(name)?.percent(measure);
    let text = |error: Option<f64>| error.map_or_else(|| missing.to_owned(), |e| number(e, format));
    variables.iter().map(error).map(text).collect()
}

fn markdown(heads: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|cell| cell.replace('|', "\\|"));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut rule = vec!["---".to_owned()];
    rule.resize(heads.len(), "---:".to_owned());

    let body: String = rows.iter().map(|row| line(row)).collect();
    line(heads) + &line(&rule) + &body
}

fn latex(heads: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|cell| latex_text(cell));
        format!("{} \\\\\n", cells.collect::<Vec<_>>().join(" & "))
    };
    let columns = "r".repeat(heads.len() - 1);
    let body: String = rows.iter().map(|row| line(row)).collect();
    let head = line(heads);

    format!("\\begin{{tabular}}{{l{columns}}}\n{head}\\hline\n{body}\\end{{tabular}}\n")
}

/// Text that means itself in LaTeX.
fn latex_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => safe.extend(['\\', character]),
            other => safe.push(other),
        }
    }
    safe
}

fn csv(heads: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|cell| csv_cell(cell));
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    let body: String = rows.iter().map(|row| line(row)).collect();
    line(heads) + &body
}

/// A cell with a comma, a quote or a line break stands in quotes.
fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::ErrorMeasures;
    use crate::summary::Comparison;

    fn run(nrmse: Option<f64>) -> RunSummary {
        let measures = ErrorMeasures {
            nrmse,
            l2: None,
            max: 0.5,
        };
        RunSummary {
            method: "gauss_seidel".into(),
            step: Some(0.1),
            steps: 12_000,
            wall_seconds: 0.25,
            comparison: Some(Comparison {
                error: vec![("a.x_1, left|right".into(), measures)],
                order: vec![],
            }),
            ..RunSummary::default()
        }
    }

    #[test]
    fn markdown_has_a_rule_and_a_line_for_each_run() {
        let text = paper_table(
            &[run(Some(1.5)), run(None)],
            TableFormat::Markdown,
            Measure::Nrmse,
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].contains("a.x_1, left\\|right: NRMSE in %"));
        assert!(lines[2].starts_with("| gauss_seidel | 0.1") && lines[2].contains("| 12000 |"));
        assert!(lines[3].ends_with("| - |"));
    }

    #[test]
    fn latex_takes_names_as_text() {
        let text = paper_table(&[run(Some(1.5))], TableFormat::Latex, Measure::Nrmse);
        assert!(text.starts_with("\\begin{tabular}{lrrrrr}\n"));
        assert!(text.contains("gauss\\_seidel & ") && text.contains("NRMSE in \\% \\\\"));
        assert!(text.ends_with("\\end{tabular}\n"));
    }

    #[test]
    fn csv_has_all_digits_and_quotes_what_would_split() {
        let third = 1.0 / 3.0;
        let text = paper_table(
            &[run(Some(third)), run(None)],
            TableFormat::Csv,
            Measure::Nrmse,
        );
        assert!(text.contains("\"a.x_1, left|right: NRMSE in %\""));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].rsplit(',').next(), Some(&*third.to_string()));
        assert!(lines[2].ends_with(','));
    }
}
