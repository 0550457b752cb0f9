//! A run as a page: one file, no network, light and dark.

use crate::number::significant;
use crate::number::{brief, count};
use crate::plot::Curve;
use crate::plot::line_plot;
use crate::summary::RunSummary;
use crate::thinning::thinned;
use crate::trajectory::Trajectory;

const MOST_PLOTS: usize = 12;
const MOST_CURVES: usize = 6;
const MOST_POINTS: usize = 2000;
/// Curves whose ranges differ by more than this do not share a plot: the smaller one would be a flat line.
const LARGEST_RATIO: f64 = 20.0;
const STYLE: &str = include_str!("page.css");

/// A self-contained page: what was run, how it went, plots of the recorded variables and their final values.
pub fn report_page(summary: &RunSummary, trajectory: &Trajectory) -> String {
    let title = format!(
        "{}, t = {} s to {} s",
        summary.method,
        brief(summary.start),
        brief(summary.reached)
    );
    let parts = [
        heading(summary, &title),
        warnings(summary),
        figures(summary),
        systems(summary),
        plots(summary, trajectory),
        final_values(summary),
    ];
    page(&title, &parts.concat())
}

/// A whole page around a body.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Dovetail: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// Text that means itself in HTML, between tags and in attributes.
pub(crate) fn escaped(text: &str) -> String {
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
    let reason = summary
        .reason
        .as_ref()
        .map(|why| format!("<p>Why this method? {}</p>\n", escaped(&sentence(why))))
        .unwrap_or_default();
    let class = if summary.completed { "done" } else { "early" };
    let outcome = escaped(&sentence(&summary.outcome()));
    let quality = &summary.quality;
    let verdict = match quality.verdict_reason.as_str() {
        "" => String::new(),
        why => {
            let (word, why) = (quality.verdict.word(), escaped(&sentence(why)));
            format!(
                "<p class=\"verdict {word}\"><strong>{}</strong> {why}</p>\n",
                sentence(word)
            )
        }
    };
    format!(
        "<h1>{}</h1>\n{verdict}<p class=\"{class}\">{outcome}</p>\n{reason}",
        escaped(title)
    )
}

/// With a capital at its head and a full stop at its end.
pub(crate) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let head = rest
        .next()
        .map(|first| first.to_uppercase().to_string())
        .unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{head}{}{stop}", rest.as_str())
}

fn warnings(summary: &RunSummary) -> String {
    if summary.quality.warnings.is_empty() {
        return String::new();
    }
    let items: String = summary
        .quality
        .warnings
        .iter()
        .map(|warning| format!("<li>{}</li>\n", escaped(warning)))
        .collect();
    format!("<section class=\"warnings\">\n<h2>Warnings</h2>\n<ul>\n{items}</ul>\n</section>\n")
}

/// The run in a few numbers.
fn figures(summary: &RunSummary) -> String {
    let residual = significant(summary.quality.residual, 4);
    let place = summary
        .quality
        .residual_variable
        .as_ref()
        .map(|name| format!(" at {name}"))
        .unwrap_or_default();
    let mut rows = vec![
        (
            "step",
            summary.step.map_or("chosen by the method".into(), |step| {
                format!("{} s", brief(step))
            }),
        ),
        (
            "steps",
            format!(
                "{} ({} rejected)",
                count(summary.steps),
                count(summary.rejected)
            ),
        ),
        ("iterations", count(summary.iterations)),
        (
            "integrations",
            format!(
                "{} ({} trials)",
                count(summary.integrations()),
                count(summary.trials())
            ),
        ),
        ("linearizations", count(summary.linearizations())),
        (
            "wall time",
            format!("{} s", significant(summary.wall_seconds, 4)),
        ),
        ("largest coupling residual", residual + &place),
    ];
    if let Some((name, worst)) = summary.worst_discrepancy() {
        rows.push((
            "largest distance from a prediction",
            format!("{} at {name}", significant(worst, 4)),
        ));
    }
    if let Some((name, worst)) = summary.worst_estimate() {
        rows.push((
            "largest estimated error",
            format!("{} at {name}", significant(worst, 4)),
        ));
    }
    let rows: String = rows
        .iter()
        .map(|(name, value)| row("th", &[name.to_string(), value.clone()]))
        .collect();
    format!("<section>\n<h2>Summary</h2>\n<table class=\"figures\">\n{rows}</table>\n</section>\n")
}

/// A table row whose first cell has the tag `first`.
pub(crate) fn row(first: &str, cells: &[String]) -> String {
    let rest: String = cells[1..]
        .iter()
        .map(|cell| format!("<td>{}</td>", escaped(cell)))
        .collect();
    format!("<tr><{first}>{}</{first}>{rest}</tr>\n", escaped(&cells[0]))
}

fn systems(summary: &RunSummary) -> String {
    let heads = [
        "system",
        "integrations",
        "trials",
        "linearizations",
        "seconds",
        "share",
    ];
    let rows = summary
        .systems
        .iter()
        .zip(summary.shares())
        .map(|(system, share)| {
            let counts = [system.integrations, system.trials, system.linearizations].map(count);
            let times = [significant(system.seconds, 4), share];
            row(
                "th",
                &[system.name.clone()]
                    .into_iter()
                    .chain(counts)
                    .chain(times)
                    .collect::<Vec<_>>(),
            )
        });
    format!(
        "<section>\n<h2>Systems</h2>\n{}</section>\n",
        table(&heads, rows)
    )
}

pub(crate) fn table(heads: &[&str], rows: impl Iterator<Item = String>) -> String {
    let heads: String = heads
        .iter()
        .map(|head| format!("<th>{head}</th>"))
        .collect();
    let rows: String = rows.collect();
    format!("<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
}

fn final_values(summary: &RunSummary) -> String {
    let rows = summary.final_values.iter().map(|last| {
        let kind = format!("{:?}", last.kind).to_lowercase();
        row(
            "th",
            &[
                last.name.clone(),
                kind,
                significant(last.value, 10),
                last.unit.clone().unwrap_or_default(),
            ],
        )
    });
    let table = table(&["variable", "kind", "value", "unit"], rows);
    format!("<section class=\"final\">\n<h2>Final values</h2>\n{table}</section>\n")
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
    let figure = |group: &Group| {
        format!(
            "<figure>\n{}</figure>\n",
            line_plot(group.system, "time in s", "", &group.curves)
        )
    };
    let shown: String = groups.iter().take(MOST_PLOTS).map(figure).collect();
    let left_out: usize = groups
        .iter()
        .skip(MOST_PLOTS)
        .map(|group| group.curves.len())
        .sum();
    let note = match left_out {
        0 => String::new(),
        n => format!(
            "<p>{n} more variables were recorded; choose with --record what is shown here.</p>\n"
        ),
    };
    format!("<section>\n<h2>Recorded variables</h2>\n{shown}{note}</section>\n")
}

fn groups<'a>(summary: &'a RunSummary, trajectory: &'a Trajectory) -> Vec<Group<'a>> {
    let mut all: Vec<Group> = vec![];
    for (name, values) in trajectory.columns() {
        let (system, short) = parts(summary, name);
        let points = thinned(trajectory.times(), values, MOST_POINTS);
        let range = range(&points);
        let curve = Curve {
            name: short.into(),
            points,
        };
        match all
            .iter_mut()
            .find(|group| group.system == system && group.takes(range))
        {
            Some(group) => group.curves.push(curve),
            None => all.push(Group {
                system,
                range,
                curves: vec![curve],
            }),
        }
    }
    // Plots of one system stay together, in the order in which systems first appear.
    let order: Vec<&str> = all.iter().map(|group| group.system).collect();
    all.sort_by_key(|group| order.iter().position(|system| *system == group.system));
    all
}

impl Group<'_> {
    fn takes(&self, range: f64) -> bool {
        let ratio = if range == self.range {
            1.0
        } else {
            range.max(self.range) / range.min(self.range)
        };
        self.curves.len() < MOST_CURVES && ratio <= LARGEST_RATIO
    }
}

/// How far a curve and zero span the axis: curves that share a plot should have this in common.
fn range(points: &[(f64, f64)]) -> f64 {
    points
        .iter()
        .fold(0.0, |most, point| f64::max(most, point.1.abs()))
}

/// `system.name` taken apart. A system's name may have dots in it: the longest one that fits is meant.
fn parts<'a>(summary: &'a RunSummary, name: &'a str) -> (&'a str, &'a str) {
    let fits = |system: &&str| {
        name.strip_prefix(*system)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let known = summary
        .systems
        .iter()
        .map(|system| system.name.as_str())
        .filter(fits)
        .max_by_key(|name| name.len());
    match known {
        Some(system) => (system, &name[system.len() + 1..]),
        None => name.split_once('.').unwrap_or(("", name)),
    }
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
