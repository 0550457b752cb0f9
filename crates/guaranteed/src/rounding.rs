//! Constants of rigorous rounding for sums that are not worth an interval each.
//!
//! Radii are sums and products of nonnegative numbers, computed to nearest; the result is then
//! enlarged once, by more than all roundings and underflows on the way could have taken away.

/// Half the distance from 1 to the next double: the largest relative error of one operation.
pub(crate) const UNIT: f64 = if cfg!(feature = "broken-rounding") {
    0.0
} else {
    f64::EPSILON / 2.0
};

/// More than the relative error of a sum of up to [`MOST_TERMS`] nonnegative terms.
const SLACK: f64 = 1e-11;

/// How many numbers a form may have at most, for sums over it to be covered.
pub(crate) const MOST_TERMS: usize = 40_000;

/// More than the underflows of such a sum.
const TINY: f64 = 1e-300;

/// An upper bound of a nonnegative sum that was computed to nearest.
#[inline]
pub(crate) fn above(sum: f64) -> f64 {
    if cfg!(feature = "broken-rounding") {
        sum
    } else {
        sum * (1.0 + SLACK) + TINY
    }
}

/// A lower bound of such a sum.
#[inline]
pub(crate) fn below(sum: f64) -> f64 {
    if cfg!(feature = "broken-rounding") {
        sum
    } else {
        sum * (1.0 - SLACK) - TINY
    }
}

/// An upper bound of a nonnegative sum of so many terms that was computed to nearest: tighter where
/// there are few.
#[inline]
pub(crate) fn above_terms(sum: f64, terms: usize) -> f64 {
    if cfg!(feature = "broken-rounding") {
        sum
    } else {
        sum * (1.0 + 2.0 * (terms + 8) as f64 * UNIT) + TINY
    }
}

/// Adds `more` to nonnegative `sums`, each rounded up.
pub(crate) fn add_above(sums: &mut [f64], more: &[f64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = above(*sum + more);
    }
}
