//! Sine, cosine, tangent and the angle of a point, for every double however large.
//!
//! `core-math` rounds correctly, so the *signs* of its sine and cosine at a double are those of the
//! true ones: they name the quadrant, exactly. Two ends less than a full turn apart then show by
//! their quadrants which extrema lie between them. No multiple of π is ever computed.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::Interval;
use super::rounding::{above, below};

/// What a sine or cosine can be.
pub(super) const COSINES: Interval = Interval { lo: -1.0, hi: 1.0 };

/// The sine and cosine of a double, and the quadrant they are in: 0 to 3.
struct QuarterTurns {
    sine: Interval,
    cosine: Interval,
    quadrant: u8,
}

impl QuarterTurns {
    fn of(x: f64) -> Self {
        let (sine, cosine) = core_math::sincos(x);
        // Neither is ever zero but the sine of zero, which begins the quadrant 0.
        let quadrant = match (sine >= 0.0, cosine >= 0.0) {
            (true, true) => 0,
            (true, false) => 1,
            (false, false) => 2,
            (false, true) => 3,
        };

        Self {
            sine: enclose(sine, x == 0.0),
            cosine: enclose(cosine, x == 0.0),
            quadrant,
        }
    }
}

/// A number from a double that is exact or rounded correctly.
#[inline]
fn enclose(value: f64, exact: bool) -> Interval {
    if exact {
        Interval {
            lo: value,
            hi: value,
        }
    } else {
        Interval {
            lo: below(value),
            hi: above(value),
        }
    }
}

/// The quadrants that begin between two ends less than a turn apart.
struct Passed {
    first: u8,
    number: u8,
}

impl Passed {
    /// On the way from `first` to `last`, which takes at most `width`.
    fn between(first: &QuarterTurns, last: &QuarterTurns, width: f64) -> Self {
        let number = match (last.quadrant + 4 - first.quadrant) % 4 {
            // To pass four beginnings takes more than three right angles; to pass none, less than
            // one.
            0 if width > 3.0 => 4,
            number => number,
        };
        Self {
            first: first.quadrant,
            number,
        }
    }

    fn beginning_of(&self, quadrant: u8) -> bool {
        (quadrant + 3 - self.first) % 4 < self.number
    }
}

impl Interval {
    /// The sine.
    pub fn sin(self) -> Self {
        if self.is_point() || self.magnitude() < FRAC_PI_2 {
            return self
                .increasing(core_math::sin, |x| x == 0.0)
                .clamped(-1.0, 1.0);
        }
        self.wave(|angle| angle.sine, 1)
    }

    /// The cosine.
    pub fn cos(self) -> Self {
        if self.is_point() {
            let cosine = enclose(core_math::cos(self.lo), self.lo == 0.0);
            return Self::new(cosine.lo, cosine.hi).clamped(-1.0, 1.0);
        }
        self.wave(|angle| angle.cosine, 0)
    }

    /// A sine or cosine that is greatest where the quadrant `top` begins, least half a turn later,
    /// and monotone between.
    fn wave(self, of: fn(&QuarterTurns) -> Self, top: u8) -> Self {
        let width = self.width();
        if width > TAU {
            return COSINES; // TAU, as a double, is less than 2π
        }

        let first = QuarterTurns::of(self.lo);
        let last = QuarterTurns::of(self.hi);
        let passed = Passed::between(&first, &last, width);
        let ends = of(&first).hull(of(&last)).clamped(-1.0, 1.0);

        Self {
            lo: if passed.beginning_of((top + 2) % 4) {
                -1.0
            } else {
                ends.lo
            },
            hi: if passed.beginning_of(top) {
                1.0
            } else {
                ends.hi
            },
        }
    }

    /// The tangent; [`Self::ENTIRE`] across a pole.
    pub fn tan(self) -> Self {
        if self.width() > PI - 1e-4 {
            return Self::ENTIRE;
        }

        let low = core_math::tan(self.lo);
        let high = core_math::tan(self.hi);
        // It increases between poles. Across one, almost half a turn or less further, it is clearly
        // less than it was.
        if low > high {
            return Self::ENTIRE;
        }

        enclose(low, self.lo == 0.0).hull(enclose(high, self.hi == 0.0))
    }

    /// The angle of the points `(x, y)`, `self` being `y`, from -π to π.
    ///
    /// All of that range if the origin is among them, or points on both sides of the negative half
    /// of the x axis.
    pub fn atan2(self, x: Self) -> Self {
        let y = self;
        let turn = Self {
            lo: -Self::PI.hi,
            hi: Self::PI.hi,
        };
        let origin = x.contains(0.0) && y.contains(0.0);
        let cut = x.lo < 0.0 && y.lo < 0.0 && y.hi >= 0.0;
        if origin || cut {
            return turn;
        }

        // Elsewhere the angle is extreme in corners. It has the sign of y.
        let angles = y.corner(x.lo).hull(y.corner(x.hi));
        if y.lo >= 0.0 {
            angles.clamped(0.0, turn.hi)
        } else if y.hi <= 0.0 {
            angles.clamped(turn.lo, 0.0)
        } else {
            angles
        }
    }

    /// The angles of two corners.
    fn corner(self, x: f64) -> Self {
        // Adding zero takes away the sign of a zero.
        let angle = |y: f64| enclose(core_math::atan2(y + 0.0, x + 0.0), y == 0.0 && x > 0.0);
        angle(self.lo).hull(angle(self.hi))
    }
}
