//! Curves between two communication times, and whether they can be believed.

use dovetail_core::{Knot, Signal};

/// Points that a variable without slopes is interpolated through.
pub(crate) const MOST_POINTS: usize = 4;

/// Slopes that miss the change of a value by more than this part of themselves are not believed:
/// where curvatures are known too, and where they are not.
const BELIEVED_WITH_CURVATURES: f64 = 0.06;
const BELIEVED_WITHOUT: f64 = 0.25;

/// A curve of degree 5 or 3 between two knots, where derivatives are known and can be believed.
pub(crate) fn hermite(size: f64, left: Knot, right: Knot) -> Option<Signal> {
    let slopes = left.slope.is_finite() && right.slope.is_finite();
    let curvatures = left.curvature.is_finite() && right.curvature.is_finite();
    if !slopes || !agree(size, left, right, curvatures) {
        return None;
    }

    let curve = if curvatures {
        Signal::quintic(size, left, right)
    } else {
        Signal::hermite(size, left, right)
    };
    Some(curve)
}

/// Whether the values at both ends of a step agree with the slopes there: their difference is about
/// what the trapezoidal rule makes of the slopes. Where something follows its input far faster than
/// steps are, its slopes are differences of nearly equal numbers, magnified.
fn agree(size: f64, left: Knot, right: Knot, curvatures: bool) -> bool {
    let correction = if curvatures {
        size * size / 12.0 * (left.curvature - right.curvature)
    } else {
        0.0
    };
    let believed = if curvatures {
        BELIEVED_WITH_CURVATURES
    } else {
        BELIEVED_WITHOUT
    };

    let missed = right.value - left.value - size / 2.0 * (left.slope + right.slope) - correction;
    let moved = (right.value - left.value).abs();

    missed.abs() <= believed * (moved + size / 2.0 * (left.slope.abs() + right.slope.abs()))
}

/// A line between two values, or the left one where there is none.
pub(crate) fn line(size: f64, left: f64, right: f64) -> Signal {
    let slope = (right - left) / size;
    if slope.is_finite() {
        Signal::new(&[left, slope])
    } else {
        Signal::constant(left)
    }
}

/// How far a curve leaves the span between its ends.
pub(crate) fn bulge(curve: &Signal, size: f64) -> f64 {
    let start = curve.value(0.0);
    let end = curve.value(size);
    let beyond = |part: f64| excess(curve.value(part * size), start.min(end), start.max(end));
    let parts = [0.25, 0.5, 0.75];
    parts.into_iter().map(beyond).fold(0.0, f64::max)
}

/// How far a value lies outside `low..=high`.
fn excess(value: f64, low: f64, high: f64) -> f64 {
    if value.is_finite() {
        (value - high).max(low - value).max(0.0)
    } else {
        f64::INFINITY
    }
}

/// The polynomial through these points, in powers of time, by Newton's divided differences, which
/// `values` become.
pub(crate) fn polynomial(times: &[f64], values: &mut [f64]) -> Signal {
    let count = times.len();
    for order in 1..count {
        for i in (order..count).rev() {
            values[i] = (values[i] - values[i - 1]) / (times[i] - times[i - order]);
        }
    }
    in_powers_of_time(times, values)
}

/// The polynomial with these divided differences, by Horner's rule.
fn in_powers_of_time(times: &[f64], differences: &[f64]) -> Signal {
    let count = times.len();
    let mut coefficients = [0.0; MOST_POINTS];

    for (i, difference) in differences.iter().enumerate().rev() {
        for power in (1..count).rev() {
            coefficients[power] = coefficients[power - 1] - times[i] * coefficients[power];
        }
        coefficients[0] = difference - times[i] * coefficients[0];
    }
    Signal::new(&coefficients[..count])
}
