//! The angle of a point `(x, y)`: about the centers to first order, the second bounded by the
//! distance from the origin.

use crate::interval::Interval;

/// Whether the cut of the angle, or the origin, is among the points.
fn meets_cut(y: Interval, x: Interval) -> bool {
    x.lo <= 0.0 && y.contains(0.0)
}

/// All angles; nothing is known across the cut.
pub(super) fn angle_range(y: Interval, x: Interval) -> Interval {
    if meets_cut(y, x) {
        Interval::ENTIRE
    } else {
        y.atan2(x)
    }
}

/// `constant + by_y · y + by_x · x + rest`.
pub(super) struct AngleExpansion {
    pub constant: Interval,
    pub by_y: Interval,
    pub by_x: Interval,
    pub rest: Interval,
}

impl AngleExpansion {
    /// About the middles; `None` across the cut, or where it is not finite.
    pub fn of(y: Interval, x: Interval) -> Option<Self> {
        let y0 = Interval::point(y.middle());
        let x0 = Interval::point(x.middle());
        let inverse_square = Interval::ONE / (x0.square() + y0.square());
        let bend = second_order(y, x, y0, x0);
        let finite = inverse_square.is_finite() && bend.is_finite();
        if meets_cut(y, x) || !finite {
            return None;
        }

        let by_y = x0 * inverse_square;
        let by_x = -y0 * inverse_square;

        Some(Self {
            constant: y0.atan2(x0) - by_y * y0 - by_x * x0,
            by_y,
            by_x,
            rest: Interval::new(-bend.hi, bend.hi),
        })
    }
}

/// The second order: squares of the deviations over twice that of the distance from the origin.
fn second_order(y: Interval, x: Interval, y0: Interval, x0: Interval) -> Interval {
    let nearest = Interval::point((x.square() + y.square()).lo);
    let deviations = (y - y0).square() + (x - x0).square();
    deviations / (nearest + nearest)
}
