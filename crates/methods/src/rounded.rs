//! Numbers as they are reported to users.

/// Three digits are enough to report.
pub(crate) fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}
