//! Pages of figures and tables without scripts, as HTML.

use std::fmt::Display;

const STYLE: &str = include_str!("html.css");

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

/// Nothing where there are none.
pub fn warnings<T: Display>(warnings: &[T]) -> String {
    if warnings.is_empty() {
        return String::new();
    }

    let item = |warning: &T| format!("<li>{}</li>\n", escaped(&warning.to_string()));
    let items: String = warnings.iter().map(item).collect();
    format!("<section class=\"warnings\">\n<h2>Warnings</h2>\n<ul>\n{items}</ul>\n</section>\n")
}

/// A table of names and values, under the heading of a summary.
pub fn figures_table(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| row("th", &[name.to_string(), value.clone()]);
    let rows: String = rows.iter().map(row).collect();
    format!("<section>\n<h2>Summary</h2>\n<table class=\"figures\">\n{rows}</table>\n</section>\n")
}

/// A table row whose first cell has the tag `first`.
pub fn row(first: &str, cells: &[String]) -> String {
    let rest: String = cells[1..]
        .iter()
        .map(|cell| format!("<td>{}</td>", escaped(cell)))
        .collect();
    format!("<tr><{first}>{}</{first}>{rest}</tr>\n", escaped(&cells[0]))
}

/// A table with these heads.
pub fn table(heads: &[&str], rows: impl Iterator<Item = String>) -> String {
    let head = |head: &&str| format!("<th>{head}</th>");
    let heads: String = heads.iter().map(head).collect();
    let rows: String = rows.collect();
    format!("<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
}
