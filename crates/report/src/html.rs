//! A run as a page: one file, no network, light and dark.

use std::fmt::Display;

use crate::number::significant;
use crate::number::{brief, count};
use crate::plot::Curve;
use crate::plot::line_plot;
use crate::summary::{FinalValue, Quality, RunSummary};
use crate::text::system_cells;
use crate::thinning::thinned;
use crate::trajectory::Trajectory;

const MOST_PLOTS: usize = 12;
const MOST_CURVES: usize = 6;
const MOST_POINTS: usize = 2000;
/// Curves whose ranges differ by more than this do not share a plot: the smaller one would be a
/// flat line.
const LARGEST_RATIO: f64 = 20.0;
const STYLE: &str = include_str!("page.css");

/// A self-contained page: what was run, how it went, plots of the recorded variables and their
/// final values.
pub fn report_page(summary: &RunSummary, trajectory: &Trajectory) -> String {
    let start = brief(summary.start);
    let reached = brief(summary.reached);
    let title = format!("{}, t = {start} s to {reached} s", summary.method);

    let parts = [
        heading(summary, &title),
        warnings(&summary.quality.warnings),
        figures(summary),
        systems(summary),
        plots(summary, trajectory),
        final_values(summary),
    ];
    page(&title, &parts.concat())
}

/// A whole page around a body.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Dovetail: {}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// Text that means itself in HTML, between tags and in attributes.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }

    safe
}

fn heading(summary: &RunSummary, title: &str) -> String {
    let title = escaped(title);
    let verdict = verdict(&summary.quality);

    let class = if summary.completed { "done" } else { "early" };
    let outcome = escaped(&sentence(&summary.outcome()));
    let reason = match &summary.reason {
        Some(why) => format!("<p>Why this method? {}</p>\n", escaped(&sentence(why))),
        None => String::new(),
    };

    format!("<h1>{title}</h1>\n{verdict}<p class=\"{class}\">{outcome}</p>\n{reason}")
}

/// Nothing where nobody has judged the run.
fn verdict(quality: &Quality) -> String {
    if quality.verdict_reason.text.is_empty() {
        return String::new();
    }

    let class = quality.verdict.word();
    let word = sentence(class);
    let why = escaped(&sentence(&quality.verdict_reason.text));

    format!("<p class=\"verdict {class}\"><strong>{word}</strong> {why}</p>\n")
}

/// With a capital at its head and a full stop at its end.
pub fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let head: String = rest.next().iter().flat_map(|c| c.to_uppercase()).collect();
    let ends = text.ends_with(['.', '!', '?']);
    let stop = if ends { "" } else { "." };
    format!("{head}{}{stop}", rest.as_str())
}

/// Nothing where there are none.
pub fn warnings<T: Display>(warnings: &[T]) -> String {
    if warnings.is_empty() {
        return String::new();
    }

    let item = |warning: &T| format!("<li>{}</li>\n", escaped(&warning.to_string()));
    let items: String = warnings.iter().map(item).collect();
    format!("<section class=\"warnings\">\n<h2>Warnings</h2>\n<ul>\n{items}</ul>\n</section>\n")
}

/// The run in a few numbers.
fn figures(summary: &RunSummary) -> String {
    let mut rows = vec![
        ("step", step(summary)),
        ("steps", steps(summary.steps, summary.rejected)),
        ("iterations", count(summary.iterations)),
        ("integrations", integrations(summary)),
        ("linearizations", count(summary.linearizations())),
        ("wall time", seconds(summary.wall_seconds)),
        ("largest coupling residual", residual(&summary.quality)),
    ];

    if let Some(worst) = summary.worst_discrepancy() {
        rows.push(("largest distance from a prediction", value_at(worst)));
    }

    if let Some(worst) = summary.worst_estimate() {
        rows.push(("largest estimated error", value_at(worst)));
    }
    figures_table(&rows)
}

/// A table of names and values, under the heading of a summary.
pub fn figures_table(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| row("th", &[name.to_string(), value.clone()]);
    let rows: String = rows.iter().map(row).collect();
    format!("<section>\n<h2>Summary</h2>\n<table class=\"figures\">\n{rows}</table>\n</section>\n")
}

fn step(summary: &RunSummary) -> String {
    match summary.step {
        Some(step) => format!("{} s", brief(step)),
        None => "chosen by the method".into(),
    }
}

pub(crate) fn steps(accepted: u64, rejected: u64) -> String {
    format!("{} ({} rejected)", count(accepted), count(rejected))
}

fn integrations(summary: &RunSummary) -> String {
    let trials = count(summary.trials());
    format!("{} ({trials} trials)", count(summary.integrations()))
}

pub(crate) fn seconds(seconds: f64) -> String {
    format!("{} s", significant(seconds, 4))
}

fn residual(quality: &Quality) -> String {
    match &quality.residual_variable {
        Some(name) => value_at((name, quality.residual)),
        None => significant(quality.residual, 4),
    }
}

fn value_at((name, value): (&str, f64)) -> String {
    format!("{} at {name}", significant(value, 4))
}

/// A table row whose first cell has the tag `first`.
pub fn row(first: &str, cells: &[String]) -> String {
    let rest: String = cells[1..]
        .iter()
        .map(|cell| format!("<td>{}</td>", escaped(cell)))
        .collect();
    format!("<tr><{first}>{}</{first}>{rest}</tr>\n", escaped(&cells[0]))
}

const SYSTEM_HEADS: [&str; 6] = [
    "system",
    "integrations",
    "trials",
    "linearizations",
    "seconds",
    "share",
];

fn systems(summary: &RunSummary) -> String {
    let systems = summary.systems.iter().zip(summary.shares());
    let rows = systems.map(|(system, share)| row("th", &system_cells(system, share)));
    let table = table(&SYSTEM_HEADS, rows);
    format!("<section>\n<h2>Systems</h2>\n{table}</section>\n")
}

/// A table with these heads.
pub fn table(heads: &[&str], rows: impl Iterator<Item = String>) -> String {
    let head = |head: &&str| format!("<th>{head}</th>");
    let heads: String = heads.iter().map(head).collect();
    let rows: String = rows.collect();
    format!("<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
}

fn final_values(summary: &RunSummary) -> String {
    let values = summary.final_values.iter();
    let rows = values.map(|last| row("th", &final_cells(last)));
    let table = table(&["variable", "kind", "value", "unit"], rows);
    format!("<section class=\"final\">\n<h2>Final values</h2>\n{table}</section>\n")
}

fn final_cells(last: &FinalValue) -> [String; 4] {
    [
        last.name.clone(),
        format!("{:?}", last.kind).to_lowercase(),
        significant(last.value, 10),
        last.unit_text(),
    ]
}

/// Curves of one system that can share a plot.
struct Group<'a> {
    system: &'a str,
    range: f64,
    curves: Vec<Curve>,
}

fn plots(summary: &RunSummary, trajectory: &Trajectory) -> String {
    let groups = groups(summary, trajectory);
    if groups.is_empty() || trajectory.times().is_empty() {
        return String::new();
    }

    let (shown, left_out) = groups.split_at(groups.len().min(MOST_PLOTS));
    let figures: String = shown.iter().map(Group::figure).collect();

    let note = match left_out.iter().map(|group| group.curves.len()).sum() {
        0_usize => String::new(),
        n => format!(
            "<p>{n} more variables were recorded; choose which variables are recorded to see others here.</p>\n"
        ),
    };
    format!("<section>\n<h2>Recorded variables</h2>\n{figures}{note}</section>\n")
}

fn groups<'a>(summary: &'a RunSummary, trajectory: &'a Trajectory) -> Vec<Group<'a>> {
    let mut all: Vec<Group> = vec![];
    for (name, values) in trajectory.columns() {
        let (system, short) = parts(summary, name);
        let curve = Curve {
            name: short.into(),
            points: thinned(trajectory.times(), values, MOST_POINTS),
        };
        add_curve(&mut all, system, curve);
    }

    // Plots of one system stay together, in the order in which systems first appear.
    let order: Vec<&str> = all.iter().map(|group| group.system).collect();
    all.sort_by_key(|group| order.iter().position(|system| *system == group.system));
    all
}

/// Adds a curve to the first group of its system that takes it, or else to a new one.
fn add_curve<'a>(groups: &mut Vec<Group<'a>>, system: &'a str, curve: Curve) {
    let range = range(&curve.points);
    let takes = |group: &&mut Group| group.system == system && group.takes(range);

    match groups.iter_mut().find(takes) {
        Some(group) => group.curves.push(curve),
        None => groups.push(Group {
            system,
            range,
            curves: vec![curve],
        }),
    }
}

impl Group<'_> {
    fn figure(&self) -> String {
        let plot = line_plot(self.system, "time in s", "", &self.curves);
        format!("<figure>\n{plot}</figure>\n")
    }

    fn takes(&self, range: f64) -> bool {
        self.curves.len() < MOST_CURVES && ratio(range, self.range) <= LARGEST_RATIO
    }
}

/// The larger by the smaller; 1 where both are zero.
fn ratio(one: f64, other: f64) -> f64 {
    if one == other {
        1.0
    } else {
        one.max(other) / one.min(other)
    }
}

/// How far a curve and zero span the axis: curves that share a plot should have this in common.
fn range(points: &[(f64, f64)]) -> f64 {
    points
        .iter()
        .fold(0.0, |most, point| f64::max(most, point.1.abs()))
}

/// `system.name` taken apart. A system's name may have dots in it: the longest one that fits is
/// meant.
fn parts<'a>(summary: &'a RunSummary, name: &'a str) -> (&'a str, &'a str) {
    let names = summary.systems.iter().map(|system| system.name.as_str());
    let known = names.filter(|system| is_system_of(system, name));

    match known.max_by_key(|system| system.len()) {
        Some(system) => (system, &name[system.len() + 1..]),
        None => name.split_once('.').unwrap_or(("", name)),
    }
}

fn is_system_of(system: &str, name: &str) -> bool {
    let rest = name.strip_prefix(system);
    rest.is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Sink;
    use crate::summary::SystemWork;
    use crate::summary::tests::example;

    fn recorded(names: &[&str]) -> Trajectory {
        let mut trajectory = Trajectory::new(names.iter().map(|n| n.to_string()).collect());
        for n in 0..10 {
            trajectory
                .row(f64::from(n), &vec![f64::from(n); names.len()])
                .unwrap();
        }
        trajectory
    }

    #[test]
    fn a_page_stands_alone() {
        let page = report_page(&example(), &recorded(&["spring.F", "mass.x", "mass.v"]));
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        for outside in ["http://", "https://", "<script", "<link", "url("] {
            let named_only = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!named_only.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("<figure>").count(), 2);
        assert!(page.contains("takes its inputs as cubics"));
    }

    #[test]
    fn names_mean_themselves() {
        let mut run = example();
        run.systems[0] = SystemWork {
            name: "<img src=x>".into(),
            ..SystemWork::default()
        };
        run.quality.warnings = vec!["a < b & \"c\"".into()];
        run.message = Some("</p><b>".into());
        run.completed = false;
        let page = report_page(&run, &recorded(&["<img src=x>.<i>"]));
        assert!(!page.contains("<img") && !page.contains("<i>") && !page.contains("<b>"));
        assert!(page.contains("a &lt; b &amp; &quot;c&quot;"));
    }

    #[test]
    fn plots_are_few_and_say_what_they_leave_out() {
        let names: Vec<String> = (0..20).map(|i| format!("s{i}.x")).collect();
        let page = report_page(
            &example(),
            &recorded(&names.iter().map(String::as_str).collect::<Vec<_>>()),
        );
        assert_eq!(page.matches("<figure>").count(), MOST_PLOTS);
        assert!(page.contains("8 more variables were recorded"));
    }

    #[test]
    fn curves_of_other_magnitude_get_a_plot_of_their_own() {
        let mut trajectory = Trajectory::new(vec![
            "a.force".into(),
            "a.length".into(),
            "b.y".into(),
            "a.gap".into(),
        ]);
        trajectory.row(0.0, &[0.0; 4]).unwrap();
        trajectory.row(1.0, &[1e4, 1.0, 1.0, 0.5]).unwrap();
        let run = example();
        let found: Vec<(&str, usize)> = groups(&run, &trajectory)
            .iter()
            .map(|g| (g.system, g.curves.len()))
            .collect();
        assert_eq!(found, [("a", 1), ("a", 2), ("b", 1)]);
    }

    #[test]
    fn a_run_without_rows_makes_a_page_without_plots() {
        assert!(!report_page(&RunSummary::default(), &Trajectory::default()).contains("<figure>"));
    }

    #[test]
    fn a_system_name_may_have_dots() {
        let mut run = example();
        run.systems[0].name = "car.engine".into();
        assert_eq!(parts(&run, "car.engine.speed"), ("car.engine", "speed"));
        assert_eq!(parts(&run, "mass.r.x"), ("mass", "r.x"));
        assert_eq!(parts(&run, "other.x"), ("other", "x"));
    }
}
