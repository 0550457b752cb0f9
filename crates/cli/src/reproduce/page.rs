//! The tables as a page.

use super::Paper;
use super::row::{Finding, Row};

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.note { opacity: .75; }
";

pub(super) fn page(results: &[(Paper, Vec<Row>)]) -> String {
    let tables: String = results
        .iter()
        .map(|(paper, rows)| table(*paper, rows))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Five papers, reproduced</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>Five papers, reproduced</h1>\n<p>Dovetail {}. Errors in percent unless another unit is given.</p>\n\
         {tables}</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn table(paper: Paper, rows: &[Row]) -> String {
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<h2>{}</h2>\n<table>\n<tr><th>item</th><th class=\"number\">paper</th>\
         <th class=\"number\">ours</th><th>note</th></tr>\n{rows}</table>\n",
        paper.name()
    )
}

fn row(row: &Row) -> String {
    format!(
        "<tr><td>{}</td>{}{}<td class=\"note\">{}</td></tr>\n",
        escaped(&row.item),
        cell(&row.paper),
        cell(&row.ours),
        escaped(&row.note)
    )
}

fn cell(finding: &Finding) -> String {
    let text = escaped(&finding.to_string());
    match finding {
        Finding::Number(_) => format!("<td class=\"number\">{text}</td>"),
        Finding::Words(_) => format!("<td>{text}</td>"),
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}
