//! Several runs of one model, side by side.

use crate::number::{brief, count};
use crate::{Alignment, RunSummary, Table, significant};

/// Lines longer than this wrap on too many terminals.
const WIDEST: usize = 100;

/// A line for each run: what it cost and, where it was compared, how far it is from the reference (NRMSE in percent) and with
/// which order it converges. Where the variables do not fit beside the costs, each gets a line of its own below.
pub fn comparison_table(runs: &[RunSummary]) -> String {
    let variables = compared_variables(runs);
    let side_by_side = table(runs, &variables);
    let mut text = if side_by_side.width() <= WIDEST {
        side_by_side.render("")
    } else {
        table(runs, &[]).render("") + &lines_by_variable(runs, &variables)
    };
    if !variables.is_empty() {
        text += "\nerrors: NRMSE in % of the range of the reference\n";
    }
    text.extend(
        runs.iter()
            .filter(|run| !run.completed)
            .map(|run| format!("{}: {}\n", label(run), run.progress())),
    );
    text
}

/// The variables of any run, in the order in which they first appear.
fn compared_variables(runs: &[RunSummary]) -> Vec<&str> {
    let mut all: Vec<&str> = vec![];
    for (name, _) in runs
        .iter()
        .filter_map(|run| run.comparison.as_ref())
        .flat_map(|c| &c.error)
    {
        if !all.contains(&name.as_str()) {
            all.push(name);
        }
    }
    all
}

fn table(runs: &[RunSummary], variables: &[&str]) -> Table {
    let costs = ["step", "steps", "integrations", "seconds", "verdict"];
    let mut heads = vec![("method", Alignment::Left)];
    let varied: Vec<&str> = runs.first().map_or(vec![], |run| {
        run.varied.iter().map(|(key, _)| key.as_str()).collect()
    });
    heads.extend(varied.iter().map(|key| (*key, Alignment::Right)));
    heads.extend(costs.map(|head| (head, Alignment::Right)));
    let shows_order = |variable: &str| runs.iter().any(|run| order(run, variable).is_some());
    for variable in variables {
        heads.push((variable, Alignment::Right));
        heads.extend(shows_order(variable).then_some(("order", Alignment::Right)));
    }
    let mut table = Table::new(&heads);
    for run in runs {
        let mut cells = vec![run.method.clone()];
        cells.extend(run.varied.iter().map(|(_, value)| value.clone()));
        cells.extend([step(run), count(run.steps), count(run.integrations())]);
        cells.push(significant(run.wall_seconds, 4));
        cells.push(
            if run.quality.diverged {
                "diverged"
            } else {
                run.quality.verdict.word()
            }
            .to_owned(),
        );
        for variable in variables {
            cells.push(error(run, variable));
            cells.extend(shows_order(variable).then(|| order(run, variable).unwrap_or("-".into())));
        }
        table.row(cells);
    }
    table
}

/// Tables with a line for each variable and as many runs beside each other as fit.
fn lines_by_variable(runs: &[RunSummary], variables: &[&str]) -> String {
    let mut text = String::new();
    let mut rest = runs;
    while !rest.is_empty() {
        let fits = |n: &usize| transposed(&rest[..*n], variables).width() <= WIDEST;
        let taken = (1..=rest.len()).take_while(fits).last().unwrap_or(1);
        text += &format!("\n{}", transposed(&rest[..taken], variables).render(""));
        rest = &rest[taken..];
    }
    text
}

fn transposed(runs: &[RunSummary], variables: &[&str]) -> Table {
    let labels: Vec<String> = runs.iter().map(label).collect();
    let mut heads = vec![("error (order)", Alignment::Left)];
    heads.extend(
        labels
            .iter()
            .map(|label| (label.as_str(), Alignment::Right)),
    );
    let mut table = Table::new(&heads);
    for variable in variables {
        let with_order = |run| {
            order(run, variable)
                .map(|order| format!(" ({order})"))
                .unwrap_or_default()
        };
        let cells = runs
            .iter()
            .map(|run| error(run, variable) + &with_order(run));
        table.row([variable.to_string()].into_iter().chain(cells).collect());
    }
    table
}

fn label(run: &RunSummary) -> String {
    let varied: String = run
        .varied
        .iter()
        .map(|(_, value)| format!(" {value}"))
        .collect();
    let step = run
        .step
        .map_or_else(String::new, |step| format!(" {}", brief(step)));
    format!("{}{varied}{step}", run.method)
}

fn step(run: &RunSummary) -> String {
    run.step.map_or("adaptive".into(), brief)
}

fn error(run: &RunSummary, variable: &str) -> String {
    let found = run
        .comparison
        .as_ref()
        .and_then(|comparison| comparison.error_of(variable)?.nrmse);
    found.map_or("-".into(), |percent| significant(percent, 4))
}

fn order(run: &RunSummary, variable: &str) -> Option<String> {
    let order = run.comparison.as_ref()?.order_of(variable)?;
    Some(format!("{order:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;
    use crate::summary::tests::compared;

    fn runs() -> Vec<RunSummary> {
        vec![
            compared("jacobi", 0.1, 0.5, None),
            compared("jacobi", 0.05, 0.25, Some(1.0)),
            RunSummary {
                step: None,
                ..compared("f3ornits", 0.1, 1e-5, None)
            },
        ]
    }

    #[test]
    fn two_variables_fit_beside_the_costs() {
        let expected = "\
method        step  steps  integrations   seconds  verdict  spring.F  order    mass.x  order
jacobi         0.1    500        13 000  0.007120     good     35.36      -     35.36      -
jacobi        0.05    500        13 000  0.007120     good     17.68   1.00     17.68   1.00
f3ornits  adaptive    500        13 000  0.007120     good  7.071e-4      -  7.071e-4      -

errors: NRMSE in % of the range of the reference
";
        let table = comparison_table(&runs());
        assert_eq!(table, expected);
        assert!(table.lines().all(|line| line.len() <= WIDEST));
    }

    #[test]
    fn many_variables_and_runs_stay_within_the_width() {
        let mut many: Vec<RunSummary> = (0..9).flat_map(|_| runs()).collect();
        for run in &mut many {
            let error = run.comparison.as_ref().unwrap().error[0].1;
            let named = |i| (format!("crankshaft.bearing[{i}].force"), error);
            run.comparison = Some(Comparison {
                error: (0..30).map(named).collect(),
                order: vec![],
            });
        }
        let table = comparison_table(&many);
        assert!(
            table.lines().all(|line| line.chars().count() <= WIDEST),
            "{table}"
        );
        assert!(table.contains("crankshaft.bearing[29].force"));
    }

    #[test]
    fn a_run_that_ended_early_is_noted_below() {
        let mut all = runs();
        (all[0].completed, all[0].reached, all[0].message) =
            (false, 3.5, Some("it diverged".into()));
        let table = comparison_table(&all);
        assert!(
            table.ends_with("jacobi 0.1: ended early at t = 3.5 s of 0 s to 10 s\n"),
            "{table}"
        );
    }

    #[test]
    fn runs_without_a_reference_show_their_costs_only() {
        let plain = RunSummary {
            comparison: None,
            ..runs().remove(0)
        };
        assert_eq!(comparison_table(&[plain]).lines().count(), 2);
    }
}
