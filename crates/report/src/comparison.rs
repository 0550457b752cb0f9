//! Several runs of one model, side by side.

use crate::number::significant;
use crate::number::{brief, count};
use crate::summary::RunSummary;
use crate::table::{Alignment, Table};

/// Lines longer than this wrap on too many terminals.
const WIDEST: usize = 80;

/// What every run cost and is worth.
const COSTS: [&str; 5] = ["step", "steps", "integrations", "seconds", "verdict"];

/// A line for each run: what it cost and, where it was compared, how far it is from the reference
/// (NRMSE in percent) and with which order it converges. Where the variables do not fit beside the
/// costs, each gets a line of its own below.
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
    text + &early_ends(runs)
}

/// A line for each run that ended early.
fn early_ends(runs: &[RunSummary]) -> String {
    let mut lines = String::new();
    for run in runs.iter().filter(|run| !run.completed) {
        lines += &format!("{}: {}\n", label(run), run.progress());
    }
    lines
}

/// The variables of any run, in the order in which they first appear.
pub(crate) fn compared_variables(runs: &[RunSummary]) -> Vec<&str> {
    let mut all: Vec<&str> = vec![];
    let comparisons = runs.iter().filter_map(|run| run.comparison.as_ref());

    for (name, _) in comparisons.flat_map(|comparison| &comparison.error) {
        if !all.contains(&name.as_str()) {
            all.push(name);
        }
    }
    all
}

/// A table with a line for each run.
fn table(runs: &[RunSummary], variables: &[&str]) -> Table {
    let columns: Vec<VariableColumn> = variables
        .iter()
        .map(|name| VariableColumn::new(name, runs))
        .collect();
    let mut heads = vec![("method", Alignment::Left)];

    for head in varied_keys(runs).into_iter().chain(COSTS) {
        heads.push((head, Alignment::Right));
    }

    for column in &columns {
        heads.extend(column.heads());
    }

    let mut table = Table::new(&heads);
    for run in runs {
        let mut cells = cost_cells(run);
        for column in &columns {
            cells.extend(column.cells(run));
        }
        table.row(cells);
    }
    table
}

/// The options that differ from run to run.
fn varied_keys(runs: &[RunSummary]) -> Vec<&str> {
    let Some(first) = runs.first() else {
        return vec![];
    };
    let options = first.varied.iter();
    options.map(|(key, _)| key.as_str()).collect()
}

/// The first cells of a run: its method, its options and what it cost.
fn cost_cells(run: &RunSummary) -> Vec<String> {
    let mut cells = vec![run.method.clone()];
    cells.extend(run.varied.iter().map(|(_, value)| value.clone()));
    cells.extend([
        step(run),
        count(run.steps),
        count(run.integrations()),
        significant(run.wall_seconds, 4),
        verdict(run).to_owned(),
    ]);

    cells
}

fn verdict(run: &RunSummary) -> &'static str {
    if run.quality.diverged {
        "diverged"
    } else {
        run.quality.verdict.word()
    }
}

/// The error of a variable and, where any run shows one, its order.
struct VariableColumn<'a> {
    variable: &'a str,
    shows_order: bool,
}

impl<'a> VariableColumn<'a> {
    fn new(variable: &'a str, runs: &[RunSummary]) -> Self {
        Self {
            variable,
            shows_order: runs.iter().any(|run| order(run, variable).is_some()),
        }
    }

    fn heads(&self) -> impl Iterator<Item = (&'a str, Alignment)> {
        let order = self.shows_order.then_some("order");
        let heads = [self.variable].into_iter().chain(order);
        heads.map(|head| (head, Alignment::Right))
    }

    fn cells(&self, run: &RunSummary) -> impl Iterator<Item = String> {
        let order = order(run, self.variable).unwrap_or("-".into());
        let order = self.shows_order.then_some(order);
        [error(run, self.variable)].into_iter().chain(order)
    }
}

/// Tables with a line for each variable and as many runs beside each other as fit.
fn lines_by_variable(runs: &[RunSummary], variables: &[&str]) -> String {
    let mut text = String::new();
    let mut rest = runs;

    while !rest.is_empty() {
        let fits = |n: &usize| transposed(&rest[..*n], variables).width() <= WIDEST;
        let taken = (1..=rest.len()).take_while(fits).last().unwrap_or(1);

        let (shown, later) = rest.split_at(taken);
        text += "\n";
        text += &transposed(shown, variables).render("");
        rest = later;
    }
    text
}

/// A table with a line for each variable.
fn transposed(runs: &[RunSummary], variables: &[&str]) -> Table {
    let labels: Vec<String> = runs.iter().map(label).collect();
    let mut heads = vec![("error (order)", Alignment::Left)];

    for label in &labels {
        heads.push((label, Alignment::Right));
    }

    let mut table = Table::new(&heads);
    for variable in variables {
        let mut cells = vec![variable.to_string()];
        cells.extend(runs.iter().map(|run| error_and_order(run, variable)));
        table.row(cells);
    }
    table
}

fn error_and_order(run: &RunSummary, variable: &str) -> String {
    let error = error(run, variable);
    match order(run, variable) {
        Some(order) => format!("{error} ({order})"),
        None => error,
    }
}

fn label(run: &RunSummary) -> String {
    let mut label = run.method.clone();
    for (_, value) in &run.varied {
        label += &format!(" {value}");
    }

    if let Some(step) = run.step {
        label += &format!(" {}", brief(step));
    }
    label
}

fn step(run: &RunSummary) -> String {
    run.step.map_or("adaptive".into(), brief)
}

fn error(run: &RunSummary, variable: &str) -> String {
    let comparison = run.comparison.as_ref();
    let found = comparison.and_then(|comparison| comparison.error_of(variable)?.nrmse);
    found.map_or("-".into(), |percent| significant(percent, 4))
}

fn order(run: &RunSummary, variable: &str) -> Option<String> {
    let order = run.comparison.as_ref()?.order_of(variable)?;
    Some(format!("{order:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Comparison;
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
    fn errors_that_do_not_fit_beside_the_costs_stand_below() {
        let expected = "\
method        step  steps  integrations   seconds  verdict
jacobi         0.1    500        13 000  0.007120     good
jacobi        0.05    500        13 000  0.007120     good
f3ornits  adaptive    500        13 000  0.007120     good

error (order)  jacobi 0.1   jacobi 0.05  f3ornits
spring.F            35.36  17.68 (1.00)  7.071e-4
mass.x              35.36  17.68 (1.00)  7.071e-4

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
