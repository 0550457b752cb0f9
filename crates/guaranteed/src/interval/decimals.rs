//! Intervals whose ends were written as decimal numbers.

use super::Interval;

impl Interval {
    /// All numbers between two decimal numbers that were read as these doubles: an end that is not exactly its decimal is
    /// rounded outwards.
    pub fn between_decimals(lower: f64, upper: f64) -> Self {
        let lo = if is_its_decimal(lower) {
            lower
        } else {
            lower.next_down()
        };
        let hi = if is_its_decimal(upper) {
            upper
        } else {
            upper.next_up()
        };
        Self::new(lo, hi)
    }

    /// A part of it with ends that surely lie between the decimal numbers that it was written with, if it is one of
    /// [`Interval::between_decimals`].
    pub(crate) fn as_written(self) -> Self {
        let lo = if is_its_decimal(self.lo) {
            self.lo
        } else {
            self.lo.next_up().next_up()
        };
        let hi = if is_its_decimal(self.hi) {
            self.hi
        } else {
            self.hi.next_down().next_down()
        };
        if lo <= hi { Self { lo, hi } } else { self }
    }
}

/// Whether a double equals the shortest decimal number that is read as it: 0.5 does, 0.1 does not.
fn is_its_decimal(value: f64) -> bool {
    const ALL_DIGITS: usize = 1074;
    let exact = format!("{value:.ALL_DIGITS$}");
    let exact = exact.trim_end_matches('0').trim_end_matches('.');
    exact == format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_as_they_were_written() {
        let exact = Interval::between_decimals(-0.5, 3.0);
        assert_eq!(
            (exact, exact.as_written()),
            (Interval::new(-0.5, 3.0), exact)
        );

        let rounded = Interval::between_decimals(0.1, 0.9);
        assert!(rounded.lo < 0.1 && 0.9 < rounded.hi);
        let within = rounded.as_written();
        assert!(0.1 <= within.lo && within.lo < 0.1 + 1e-16);
        assert!(0.9 - 3e-16 < within.hi && within.hi <= 0.9);
    }
}
