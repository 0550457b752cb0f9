//! How values of options are read.

use std::num::NonZeroUsize;
use std::time::Duration;

/// A share of a range.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let positive = number.filter(|share| *share > 0.0 && share.is_finite());
    positive.ok_or_else(|| "a positive number is expected, such as 1e-3".to_owned())
}

/// How fast simulated time goes by.
pub(crate) fn pace(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let positive = number.filter(|factor| *factor > 0.0 && factor.is_finite());
    positive.ok_or_else(|| {
        "a number above zero is expected, such as 2 for twice as fast; the model goes before --real-time".to_owned()
    })
}

pub(crate) fn thread_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "it takes at least one thread: give a whole number from 1".to_owned())
}

pub(crate) fn piece_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "boxes have at least one piece: give a whole number from 1".to_owned())
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| "give a number of seconds above zero".to_owned())
}

/// A number of bytes, perhaps with K, M or G for powers of 1024.
pub(crate) fn byte_count(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g', 'i', 'B']);
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => 0,
    };
    let count = digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor));
    let enough = count.filter(|count| *count >= LEAST_MEMORY);
    enough.ok_or_else(|| "give a number of bytes such as 500M or 2G, at least 32M".to_owned())
}

/// With less than this nothing can be run.
pub(crate) const LEAST_MEMORY: u64 = 32 << 20;

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) fn assignment(text: &str) -> Result<(String, String), String> {
    key_value(text).map_err(|_| "expected SYSTEM.NAME=VALUE".to_owned())
}
