//! An enclosure as a page: the band of every state.

use crate::enclosure::EnclosureSummary;
use crate::enclosure::cells;
use crate::html::{escaped, page, row, sentence, table};
use crate::number::significant;
use crate::number::{brief, count};
use crate::plot::band_plot;
use crate::tubes::Tubes;

/// More states than this are in the table only.
const MOST_PLOTS: usize = 60;
/// More pieces of a band than this cannot be told apart.
const MOST_PIECES: usize = 500;

/// A self-contained page: what was enclosed, how it went, the band of every state and the boxes at the end.
pub fn enclosure_page(summary: &EnclosureSummary, tubes: &Tubes) -> String {
    let (start, reached) = (brief(summary.start), summary.reached());
    let title = format!("Bounds by {}, t = {start} s to {reached} s", summary.method);
    let parts = [
        heading(summary, &title),
        warnings(summary),
        figures(summary),
        bands(tubes),
        last(summary),
    ];
    page(&title, &parts.concat())
}

fn heading(summary: &EnclosureSummary, title: &str) -> String {
    let class = if summary.message.is_some() {
        "early"
    } else {
        "done"
    };
    let why = summary
        .message
        .as_ref()
        .map(|message| format!(": {message}"))
        .unwrap_or_default();
    let outcome = sentence(&(summary.progress() + &why));
    format!(
        "<h1>{}</h1>\n<p class=\"{class}\">{}</p>\n",
        escaped(title),
        escaped(&outcome)
    )
}

fn warnings(summary: &EnclosureSummary) -> String {
    if summary.warnings.is_empty() {
        return String::new();
    }
    let items: String = summary
        .warnings
        .iter()
        .map(|warning| format!("<li>{}</li>\n", escaped(warning)))
        .collect();
    format!("<section class=\"warnings\">\n<h2>Warnings</h2>\n<ul>\n{items}</ul>\n</section>\n")
}

fn figures(summary: &EnclosureSummary) -> String {
    let mut rows = vec![
        (
            "steps",
            format!(
                "{} ({} rejected)",
                count(summary.steps),
                count(summary.rejected)
            ),
        ),
        (
            "wall time",
            format!("{} s", significant(summary.wall_seconds, 4)),
        ),
        ("largest width", significant(summary.max_width(), 4)),
        ("volume", significant(summary.volume(), 6)),
    ];
    rows.extend(
        summary
            .choices
            .iter()
            .map(|choices| ("choices", choices.clone())),
    );
    rows.extend(
        summary
            .remarks
            .iter()
            .map(|remark| ("note", remark.clone())),
    );
    let rows: String = rows
        .iter()
        .map(|(name, value)| row("th", &[name.to_string(), value.clone()]))
        .collect();
    format!("<section>\n<h2>Summary</h2>\n<table class=\"figures\">\n{rows}</table>\n</section>\n")
}

fn bands(tubes: &Tubes) -> String {
    let names = tubes.names();
    if names.is_empty() {
        return String::new();
    }
    let figure = |(position, name): (usize, &String)| {
        let band = tubes.band(position, MOST_PIECES);
        format!(
            "<figure>\n{}</figure>\n",
            band_plot(name, "time in s", "", &[band])
        )
    };
    let figures: String = names
        .iter()
        .enumerate()
        .take(MOST_PLOTS)
        .map(figure)
        .collect();
    let note = match names.len().saturating_sub(MOST_PLOTS) {
        0 => String::new(),
        more => format!(
            "<p>{more} more states are in the table below, and in the file of --output.</p>\n"
        ),
    };
    let meaning = "Every trajectory stays in the area at all times, and at the times of vertical lines within these.";
    format!("<section>\n<h2>Bounds over time</h2>\n<p>{meaning}</p>\n{figures}{note}</section>\n")
}

fn last(summary: &EnclosureSummary) -> String {
    let rows = summary
        .states
        .iter()
        .map(|(name, state)| row("th", &[vec![name.clone()], cells(*state)].concat()));
    let table = table(&["state", "from", "to", "width"], rows);
    format!(
        "<section>\n<h2>Bounds at t = {} s</h2>\n{table}</section>\n",
        summary.reached()
    )
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
