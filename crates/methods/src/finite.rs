//! Numbers that are not known count as none.

use dovetail_core::Knot;

/// The number, or zero where it is not finite.
pub(crate) fn finite_or_zero(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

/// The knot, with derivatives that are zero where they are not known.
pub(crate) fn with_known_derivatives(knot: Knot) -> Knot {
    Knot {
        value: knot.value,
        slope: finite_or_zero(knot.slope),
        curvature: finite_or_zero(knot.curvature),
    }
}
