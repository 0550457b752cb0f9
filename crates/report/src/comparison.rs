//! Several runs of one model, side by side.

use crate::errors::Measure;
use crate::number::{brief, count, significant};
use crate::summary::{FinalValue, RunSummary};
use crate::table::{Alignment, Table};
use crate::variables::Kind;

/// Lines longer than this wrap on too many terminals.
const WIDEST: usize = 80;

/// The value of an option in runs that do not have it, while others have.
pub const NOT_VARIED: &str = "-";

/// What every run cost and is worth.
const COSTS: [&str; 5] = ["step", "steps", "integrations", "seconds", "verdict"];

/// A line for each run: what it cost and, where it was compared, how far it is from the reference
/// and with which order it converges. Where the variables do not fit beside the costs, each gets a
/// line of its own below.
pub fn comparison_table(runs: &[RunSummary], measure: Measure) -> String {
    let tables = Tables { runs, measure };
    let variables = compared_variables(runs);
    let side_by_side = tables.by_run(&variables);
    let mut text = if side_by_side.width() <= WIDEST {
        side_by_side.render("")
    } else {
        tables.by_run(&[]).render("") + &tables.lines_by_variable(&variables)
    };

    if !variables.is_empty() {
        text += &format!("\nerrors: {}\n", measure.explanation());
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

/// The variables of any run, in the order in which they first appear; without states that are
/// outputs as well: every run has the same error in both.
pub(crate) fn compared_variables(runs: &[RunSummary]) -> Vec<&str> {
    let mut all: Vec<&str> = vec![];
    let comparisons = runs.iter().filter_map(|run| run.comparison.as_ref());

    for (name, _) in comparisons.flat_map(|comparison| &comparison.error) {
        if !all.contains(&name.as_str()) {
            all.push(name);
        }
    }

    let is_output = |state: &str| {
        let mut others = all
            .iter()
            .filter(|other| kind_of(runs, other) == Some(Kind::Output));
        others.any(|output| is_same_signal(runs, state, output))
    };
    let is_doubled = |name: &str| kind_of(runs, name) == Some(Kind::State) && is_output(name);
    all.iter()
        .copied()
        .filter(|name| !is_doubled(name))
        .collect()
}

fn kind_of(runs: &[RunSummary], name: &str) -> Option<Kind> {
    let known = |last: &&FinalValue| last.name == name;
    let found = runs.first()?.final_values.iter().find(known);
    found.map(|last| last.kind)
}

/// Whether two variables belong to one system and have the same errors in all runs.
fn is_same_signal(runs: &[RunSummary], one: &str, other: &str) -> bool {
    let systems = runs
        .first()
        .map(|run| run.systems.as_slice())
        .unwrap_or_default();
    let is_within = |name: &str, system: &str| {
        let rest = name.strip_prefix(system);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let together = systems
        .iter()
        .any(|system| is_within(one, &system.name) && is_within(other, &system.name));

    let mut measured = runs.iter().filter_map(|run| run.comparison.as_ref());
    together && measured.all(|comparison| comparison.error_of(one) == comparison.error_of(other))
}

/// Tables of some runs by one measure.
struct Tables<'a> {
    runs: &'a [RunSummary],
    measure: Measure,
}

impl Tables<'_> {
    /// A table with a line for each run.
    fn by_run(&self, variables: &[&str]) -> Table {
        let mut heads = vec![("method", Alignment::Left)];
        for head in varied_keys(self.runs).into_iter().chain(COSTS) {
            heads.push((head, Alignment::Right));
        }
        for variable in variables {
            heads.push((variable, Alignment::Right));
            if self.shows_order(variable) {
                heads.push(("order", Alignment::Right));
            }
        }

        let mut table = Table::new(&heads);
        for run in self.runs {
            let mut cells = cost_cells(run);
            for variable in variables {
                cells.push(self.error(run, variable));
                if self.shows_order(variable) {
                    cells.push(order(run, variable).unwrap_or("-".into()));
                }
            }
            table.row(cells);
        }
        table
    }

    fn shows_order(&self, variable: &str) -> bool {
        self.runs.iter().any(|run| order(run, variable).is_some())
    }

    /// Tables with a line for each variable and as many runs beside each other as fit.
    fn lines_by_variable(&self, variables: &[&str]) -> String {
        let mut text = String::new();
        let mut rest = self.runs;

        while !rest.is_empty() {
            let fits = |n: &usize| self.transposed(&rest[..*n], variables).width() <= WIDEST;
            let taken = (1..=rest.len()).take_while(fits).last().unwrap_or(1);

            let (shown, later) = rest.split_at(taken);
            text += "\n";
            text += &self.transposed(shown, variables).render("");
            rest = later;
        }
        text
    }

    /// A table with a line for each variable.
    fn transposed(&self, runs: &[RunSummary], variables: &[&str]) -> Table {
        let labels: Vec<String> = runs.iter().map(label).collect();
        let mut heads = vec![("error (order)", Alignment::Left)];
        heads.extend(
            labels
                .iter()
                .map(|label| (label.as_str(), Alignment::Right)),
        );

        let mut table = Table::new(&heads);
        for variable in variables {
            let mut cells = vec![variable.to_string()];
            cells.extend(runs.iter().map(|run| self.error_and_order(run, variable)));
            table.row(cells);
        }
        table
    }

    fn error_and_order(&self, run: &RunSummary, variable: &str) -> String {
        let error = self.error(run, variable);
        match order(run, variable) {
            Some(order) => format!("{error} ({order})"),
            None => error,
        }
    }

    fn error(&self, run: &RunSummary, variable: &str) -> String {
        let comparison = run.comparison.as_ref();
        let found = comparison.and_then(|it| it.error_of(variable)?.percent(self.measure));
        found.map_or("-".into(), |percent| significant(percent, 4))
    }
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

fn label(run: &RunSummary) -> String {
    let mut label = run.method.clone();
    for (_, value) in run.varied.iter().filter(|(_, value)| value != NOT_VARIED) {
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
        let table = comparison_table(&runs(), Measure::Nrmse);
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
        let table = comparison_table(&many, Measure::Nrmse);
        assert!(
            table.lines().all(|line| line.chars().count() <= WIDEST),
            "{table}"
        );
        assert!(table.contains("crankshaft.bearing[29].force"));
    }

    #[test]
    fn errors_are_shown_by_the_measure_asked_for() {
        let table = comparison_table(&runs(), Measure::L2);
        assert!(table.contains("errors: L2 norm of the error in % of that of the reference"));
        assert_ne!(table, comparison_table(&runs(), Measure::Nrmse));
    }

    #[test]
    fn a_state_with_the_errors_of_an_output_is_not_shown_beside_it() {
        let mut all = runs();
        for run in &mut all {
            let error = run.comparison.as_ref().unwrap().error[0].1;
            let names = ["spring.length", "spring.F", "mass.v"].map(String::from);
            run.comparison = Some(Comparison {
                error: names.into_iter().map(|name| (name, error)).collect(),
                order: vec![],
            });
            let value = |name: &str, kind| FinalValue {
                name: name.into(),
                kind,
                value: 0.0,
                unit: None,
            };
            run.final_values = vec![
                value("spring.length", Kind::State),
                value("spring.F", Kind::Output),
                value("mass.v", Kind::State),
            ];
        }
        assert_eq!(
            compared_variables(&all),
            ["spring.F", "mass.v"],
            "mass is another system"
        );
    }

    #[test]
    fn a_run_that_ended_early_is_noted_below() {
        let mut all = runs();
        (all[0].completed, all[0].reached, all[0].message) =
            (false, 3.5, Some("it diverged".into()));
        let table = comparison_table(&all, Measure::Nrmse);
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
        assert_eq!(
            comparison_table(&[plain], Measure::Nrmse).lines().count(),
            2
        );
    }
}
