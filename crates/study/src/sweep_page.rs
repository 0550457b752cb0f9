//! A sweep as a page: what each kept value is over each varied one, sensitivities, and the trajectories as a fan.

use dovetail_report::html::{escaped, figures_table, page, row, table, warnings};
use dovetail_report::{Curve, Trajectory, fan_plot, point_plot, significant, thinned};

use crate::row::{Columns, Row};
use crate::sensitivity::Sensitivity;

/// So many kept values are drawn, each over so many varied ones, at most.
const MOST_KEPT: usize = 6;
const MOST_VARIED: usize = 6;
/// Of more runs than this an even choice is drawn.
const MOST_DOTS: usize = 2000;
/// So many variables have a fan at most.
pub const FAN_VARIABLES: usize = 8;
/// Points of a curve of a fan.
const MOST_POINTS: usize = 120;

/// So many trajectories make a fan; of more runs an even choice is drawn.
pub const FAN_CURVES: usize = 200;

/// The sensitivities of a kept value: the name and the indices of each varied value.
pub type NamedSensitivities = (String, Vec<Sensitivity>);

/// What a page of a sweep shows.
pub struct SweepPage<'a> {
    /// Its heading.
    pub title: &'a str,
    /// The columns of the table.
    pub columns: &'a Columns,
    /// Its rows.
    pub rows: &'a [Row],
    /// Sensitivities, where the design permits some.
    pub sensitivities: &'a [NamedSensitivities],
    /// Trajectories of some of the runs.
    pub fan: &'a [Trajectory],
    /// The seconds that the sweep took.
    pub wall_seconds: f64,
}

impl SweepPage<'_> {
    /// The page: one file that loads nothing.
    pub fn render(&self) -> String {
        let heading = format!("<h1>{}</h1>\n", escaped(self.title));
        let parts = [
            heading,
            warnings(&self.failures()),
            self.summary(),
            self.sensitivities(),
            self.scatter(),
            self.fans(),
        ];
        page(self.title, &parts.concat())
    }

    /// The first reasons of failures, each once.
    fn failures(&self) -> Vec<String> {
        const MOST: usize = 5;
        let mut reasons: Vec<String> = Vec::new();
        for row in self.rows {
            if let Err(reason) = &row.outcome
                && !reasons.contains(reason)
                && reasons.len() < MOST
            {
                reasons.push(reason.clone());
            }
        }
        reasons
    }

    fn summary(&self) -> String {
        let failed = self.rows.iter().filter(|row| row.outcome.is_err()).count();
        figures_table(&[
            ("runs", self.rows.len().to_string()),
            ("failed", failed.to_string()),
            (
                "wall time",
                format!("{} s", significant(self.wall_seconds, 4)),
            ),
            ("varied", self.columns.varied.join(", ")),
        ])
    }

    /// Nothing where the design permits none.
    fn sensitivities(&self) -> String {
        let of_value = |(name, indices): &NamedSensitivities| {
            let named = self.columns.varied.iter().zip(indices);
            let rows = named.map(|(varied, index)| {
                let cells = [
                    varied.clone(),
                    format!("{:.3}", index.first),
                    format!("{:.3}", index.total),
                    bar(index.first, index.total),
                ];
                bar_row(&cells)
            });
            let heads = ["varied", "alone", "with interactions", ""];
            format!("<h3>{}</h3>\n{}", escaped(name), table(&heads, rows))
        };
        let tables: String = self.sensitivities.iter().map(of_value).collect();
        match tables.is_empty() {
            true => tables,
            false => {
                format!("<section>\n<h2>Sensitivities (Sobol indices)</h2>\n{tables}</section>\n")
            }
        }
    }

    fn scatter(&self) -> String {
        let every = self.rows.len().div_ceil(MOST_DOTS).max(1);
        let shown: Vec<&Row> = self.rows.iter().step_by(every).collect();
        let mut figures = String::new();
        for (place, kept) in self.columns.kept.iter().enumerate().take(MOST_KEPT) {
            for (factor, varied) in self.columns.varied.iter().enumerate().take(MOST_VARIED) {
                let point = |row: &&Row| {
                    let (values, _) = row.outcome.as_ref().ok()?;
                    Some((row.point[factor], values[place]))
                };
                let points = shown.iter().filter_map(point);
                let dots = Curve {
                    name: "runs".to_owned(),
                    points: points.filter(|(_, value)| value.is_finite()).collect(),
                };
                let plot = point_plot(kept, (varied, ""), &[dots], &[]);
                figures += &format!("<figure>\n{plot}</figure>\n");
            }
        }
        let drawn =
            self.columns.kept.len().min(MOST_KEPT) * self.columns.varied.len().min(MOST_VARIED);
        let all = self.columns.kept.len() * self.columns.varied.len();
        let note = match all - drawn {
            0 => String::new(),
            more => format!("<p>{more} more pairs are in the table only.</p>\n"),
        };
        format!("<section>\n<h2>Runs</h2>\n{figures}{note}</section>\n")
    }

    /// Nothing where there are no trajectories.
    fn fans(&self) -> String {
        let Some(first) = self.fan.first() else {
            return String::new();
        };
        let figure = |name: &String| {
            let curve = |trajectory: &Trajectory| {
                let values = trajectory.column(name).unwrap_or_default();
                Curve {
                    name: name.clone(),
                    points: thinned(trajectory.times(), values, MOST_POINTS),
                }
            };
            let curves: Vec<Curve> = self.fan.iter().map(curve).collect();
            let plot = fan_plot(name, ("time in s", ""), &curves);
            format!("<figure>\n{plot}</figure>\n")
        };
        let figures: String = first
            .names()
            .iter()
            .take(FAN_VARIABLES)
            .map(figure)
            .collect();
        let count = self.fan.len();
        let runs = self.rows.len();
        format!(
            "<section>\n<h2>Trajectories</h2>\n<p>{count} of {runs} runs.</p>\n{figures}</section>\n"
        )
    }
}

/// A bar of an index: alone in full color, interactions paler.
fn bar(first: f64, total: f64) -> String {
    const WIDTH: f64 = 160.0;
    let width = |share: f64| format!("{:.1}", WIDTH * share.clamp(0.0, 1.0));
    format!(
        "<svg width=\"{WIDTH}\" height=\"12\" role=\"img\"><rect width=\"{}\" height=\"12\" fill=\"#1f83c9\" opacity=\"0.35\"/>\
         <rect width=\"{}\" height=\"12\" fill=\"#1f83c9\"/></svg>",
        width(total),
        width(first)
    )
}

/// A row whose last cell is a picture.
fn bar_row(cells: &[String; 4]) -> String {
    let [name, first, total, picture] = cells;
    let words = [name.clone(), first.clone(), total.clone()];
    let line = row("th", &words);
    line.replacen("</tr>", &format!("<td>{picture}</td></tr>"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_report::Sink;

    #[test]
    fn a_page_has_scatter_sensitivities_and_a_fan_and_stands_alone() {
        let columns = Columns {
            varied: vec!["a.<x>".into(), "a.y".into()],
            kept: vec!["max(a.z)".into()],
        };
        let row = |run: usize| Row {
            run,
            point: vec![run as f64, 2.0],
            outcome: match run {
                2 => Err("it <failed>".into()),
                _ => Ok((vec![0.5 * run as f64], "good".into())),
            },
        };
        let rows: Vec<Row> = (0..5).map(row).collect();
        let mut trajectory = Trajectory::new(vec!["a.z".into()]);
        trajectory.row(0.0, &[1.0]).unwrap();
        trajectory.row(1.0, &[2.0]).unwrap();
        let index = Sensitivity {
            first: 0.25,
            total: 0.5,
        };
        let page = SweepPage {
            title: "a sweep",
            columns: &columns,
            rows: &rows,
            sensitivities: &[("max(a.z)".into(), vec![index, index])],
            fan: &[trajectory.clone(), trajectory],
            wall_seconds: 1.0,
        };
        let page = page.render();
        assert_eq!(page.matches("<figure>").count(), 3);
        assert!(page.contains("0.250") && page.contains("2 of 5 runs"));
        assert!(page.contains("it &lt;failed&gt;") && !page.contains("<x>"));
        for outside in ["https://", "<script", "<link", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
