//! An enclosure as a page: the band of every state.

use crate::enclosure::EnclosureSummary;
use crate::enclosure::cells;
use crate::html::{escaped, figures_table, page, row, seconds, steps, table, warnings};
use crate::number::brief;
use crate::number::significant;
use crate::page::sentence;
use crate::plot::band_plot;
use crate::tubes::Tubes;

/// More states than this are in the table only.
const MOST_PLOTS: usize = 60;
/// More pieces of a band than this cannot be told apart.
const MOST_PIECES: usize = 500;
/// How the figures are to be read.
const MEANING: &str = "Every trajectory stays in the area at all times, and at the times of \
                       vertical lines within these.";

/// A self-contained page: what was enclosed, how it went, the band of every state and the boxes at
/// the end.
pub fn enclosure_page(summary: &EnclosureSummary, tubes: &Tubes) -> String {
    let start = brief(summary.start);
    let reached = summary.reached();
    let title = format!("Bounds by {}, t = {start} s to {reached} s", summary.method);

    let parts = [
        heading(summary, &title),
        warnings(&summary.warnings),
        figures(summary),
        bands(tubes),
        last(summary),
    ];
    page(&title, &parts.concat())
}

fn heading(summary: &EnclosureSummary, title: &str) -> String {
    let progress = summary.progress();
    let (class, outcome) = match &summary.message {
        Some(why) => ("early", format!("{progress}: {why}")),
        None => ("done", progress),
    };
    let title = escaped(title);
    let outcome = escaped(&sentence(&outcome));

    format!("<h1>{title}</h1>\n<p class=\"{class}\">{outcome}</p>\n")
}

fn figures(summary: &EnclosureSummary) -> String {
    let mut rows = vec![
        ("steps", steps(summary.steps, summary.rejected)),
        ("wall time", seconds(summary.wall_seconds)),
        ("largest width", significant(summary.max_width(), 4)),
        ("volume", significant(summary.volume(), 6)),
    ];
    if let Some(choices) = &summary.choices {
        rows.push(("choices", choices.clone()));
    }

    for remark in &summary.remarks {
        rows.push(("note", remark.clone()));
    }
    figures_table(&rows)
}

fn bands(tubes: &Tubes) -> String {
    let count = tubes.names().len();
    if count == 0 {
        return String::new();
    }

    let shown = 0..count.min(MOST_PLOTS);
    let figures: String = shown.map(|position| figure(tubes, position)).collect();
    let note = match count.saturating_sub(MOST_PLOTS) {
        0 => String::new(),
        more => format!(
            "<p>{more} more states are in the table below, and in the file of results.</p>\n"
        ),
    };

    format!("<section>\n<h2>Bounds over time</h2>\n<p>{MEANING}</p>\n{figures}{note}</section>\n")
}

fn figure(tubes: &Tubes, position: usize) -> String {
    let name = &tubes.names()[position];
    let band = tubes.band(position, MOST_PIECES);
    let plot = band_plot(name, "time in s", "", &[band]);
    format!("<figure>\n{plot}</figure>\n")
}

fn last(summary: &EnclosureSummary) -> String {
    let states = summary.states.iter();
    let rows = states.map(|(name, state)| row("th", &cells(name, *state)));
    let table = table(&["state", "from", "to", "width"], rows);
    let reached = summary.reached();
    format!("<section>\n<h2>Bounds at t = {reached} s</h2>\n{table}</section>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dovetail_guaranteed::Interval;

    fn enclosed(states: usize) -> (EnclosureSummary, Tubes) {
        let names: Vec<String> = (0..states).map(|k| format!("a.<x{k}>")).collect();
        let mut tubes = Tubes::new(names.clone());
        let boxes = vec![Interval::new(1.0, 2.0); states];
        tubes.row(0.0, 0.0, &boxes);
        tubes.row(0.0, 1.0, &boxes);
        let states = names.into_iter().zip(boxes).collect();
        (
            EnclosureSummary {
                method: "boxes".into(),
                states,
                ..EnclosureSummary::default()
            },
            tubes,
        )
    }

    #[test]
    fn a_page_stands_alone_and_shows_every_state() {
        let (summary, tubes) = enclosed(3);
        let page = enclosure_page(&summary, &tubes);
        assert_eq!(page.matches("<figure>").count(), 3);
        assert!(page.contains("a.&lt;x2&gt;") && !page.contains("<x2>"));
        let named_only = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!named_only.contains("http") && !named_only.contains("<script"));
    }

    #[test]
    fn very_many_states_are_shown_in_part_and_nothing_is_a_page_too() {
        let (summary, tubes) = enclosed(100);
        assert!(enclosure_page(&summary, &tubes).contains("40 more states"));
        let (summary, tubes) = enclosed(0);
        assert!(!enclosure_page(&summary, &tubes).contains("<figure>"));
    }
}
