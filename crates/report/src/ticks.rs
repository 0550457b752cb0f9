//! Axes with round numbers.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// A range of an axis with the numbers to write at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The left or lower end.
    pub low: f64,
    /// The right or upper end.
    pub high: f64,
    /// Where numbers stand.
    pub ticks: Vec<f64>,
    /// Their distance.
    spacing: f64,
}

impl Axis {
    /// An axis over `values`, with about `wanted` numbers at 1, 2 or 5 times a power of ten.
    /// `margin` is the part of the range that is left free at both ends.
    pub fn linear(values: impl Iterator<Item = f64>, wanted: usize, margin: f64) -> Self {
        let (low, high) = widened(extent(values));
        let free = margin * (high - low);
        let low = low - free;
        let high = high + free;

        let spacing = round_spacing((high - low) / wanted as f64);
        let first = (low / spacing - 1e-9).ceil() as i64;
        let last = (high / spacing + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|k| k as f64 * spacing);

        Self {
            low,
            high,
            ticks: ticks.collect(),
            spacing,
        }
    }

    /// An axis over decimal logarithms, with numbers at powers of ten, and at 2 and 5 times these
    /// where there is room.
    pub fn decades(logarithms: impl Iterator<Item = f64>) -> Self {
        let (low, high) = extent(logarithms);
        let free = (0.05 * (high - low)).max(0.1);
        let low = low - free;
        let high = high + free;

        let stride = ((high - low) / 8.0).ceil().max(1.0);
        let ticks = decade_ticks(low, high, stride);

        Self {
            low,
            high,
            ticks: ticks.filter(|tick| (low..=high).contains(tick)).collect(),
            spacing: stride,
        }
    }

    /// The number to write at a tick: with the digits that distinguish it from the next, and no
    /// more.
    pub fn label(&self, tick: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        let spacing = self.spacing.log10().floor();

        if (1e-3..1e5).contains(&largest) {
            let decimals = digits(-spacing);
            // Minus zero is zero.
            let tick = if tick == 0.0 { 0.0 } else { tick };
            format!("{tick:.decimals$}")
        } else if tick == 0.0 {
            "0".into()
        } else {
            let digits = digits(largest.log10().floor() - spacing);
            format!("{tick:.digits$e}")
        }
    }
}

/// So many digits after the point, within reason.
fn digits(count: f64) -> usize {
    count.clamp(0.0, 12.0) as usize
}

/// The logarithms of powers of ten around `low..=high`, each `stride` decades from the next, and of
/// 2 and 5 times these where there is room.
fn decade_ticks(low: f64, high: f64, stride: f64) -> impl Iterator<Item = f64> {
    let factors: &[f64] = if high - low < 2.5 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let first = (low / stride).floor() as i64;
    let last = (high / stride).ceil() as i64;
    let powers = (first..=last).map(move |k| k as f64 * stride);

    powers.flat_map(|power| factors.iter().map(move |factor| power + factor.log10()))
}

/// An axis places its own numbers; how many the plot would like does not matter.
impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let part = (value - self.low) / (self.high - self.low);
        limit.0 + (part * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut low = f64::INFINITY;
    let mut high = f64::NEG_INFINITY;

    for value in values.filter(|value| value.is_finite()) {
        low = low.min(value);
        high = high.max(value);
    }
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// A range that can be divided: a constant gets room around it, and so does noise in the last
/// digits.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size && high - low > 1e-290 {
        return (low, high);
    }

    let room = if size > 1e-280 { 0.1 * size } else { 1.0 };
    (low - room, high + room)
}

/// The least of 1, 2, 5 times a power of ten that is not below `rough`.
fn round_spacing(rough: f64) -> f64 {
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * power >= rough * 0.999_999);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|&tick| axis.label(tick)).collect()
    }

    #[test]
    fn numbers_are_round() {
        assert_eq!(
            labels(&Axis::linear([0.0, 10.0].into_iter(), 5, 0.0)),
            ["0", "2", "4", "6", "8", "10"]
        );
        assert_eq!(
            labels(&Axis::linear([-0.25, 0.25].into_iter(), 5, 0.0)),
            ["-0.2", "-0.1", "0.0", "0.1", "0.2"]
        );
        assert_eq!(
            labels(&Axis::linear([0.0, 2e6].into_iter(), 4, 0.0)),
            ["0", "5.0e5", "1.0e6", "1.5e6", "2.0e6"]
        );
    }

    #[test]
    fn a_constant_gets_room_around_it() {
        let axis = Axis::linear([3.0, 3.0].into_iter(), 5, 0.0);
        assert!(axis.low < 3.0 && axis.high > 3.0 && axis.ticks.len() > 2);
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten_and_parts_of_them_where_there_is_room() {
        let powers = Axis::decades([-6.2, -0.5].into_iter());
        assert_eq!(powers.ticks, [-6.0, -5.0, -4.0, -3.0, -2.0, -1.0]);
        let parts = Axis::decades([0.01_f64.log10(), 0.1_f64.log10()].into_iter());
        assert_eq!(parts.ticks, [0.01, 0.02, 0.05, 0.1].map(f64::log10));
        assert!(Axis::decades([-300.0, 300.0].into_iter()).ticks.len() < 12);
    }

    proptest! {
        #[test]
        fn any_range_gives_a_few_ticks_within_it(a in -1e100..1e100_f64, scale in -300..300_i32, b in -1.0..1.0_f64) {
            for pair in [[a, b], [a, a], [10_f64.powi(scale), b], [b, b + 10_f64.powi(scale.min(0))]] {
                let axis = Axis::linear(pair.into_iter(), 6, 0.05);
                prop_assert!(axis.low < axis.high);
                prop_assert!((1..=9).contains(&axis.ticks.len()), "{:?}", axis);
            }
        }
    }
}
