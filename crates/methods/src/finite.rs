//! Numbers that are not known count as none.

/// The number, or zero where it is not finite.
pub(crate) fn finite_or_zero(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}
