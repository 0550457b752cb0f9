//! What readings of an FMU are measured by: how far they are apart, and what their motion shows.

/// The largest relative difference.
pub(crate) fn distance(one: &[f64], other: &[f64]) -> f64 {
    // What is next to nothing beside the other values may be noise.
    let noise = 1e-6
        * one
            .iter()
            .fold(0.0, |most: f64, value| most.max(value.abs()));
    let apart = |(a, b): (&f64, &f64)| {
        if a.to_bits() == b.to_bits() {
            0.0
        } else {
            (a - b).abs() / a.abs().max(b.abs()).max(noise)
        }
    };
    one.iter()
        .zip(other)
        .map(apart)
        .fold(0.0, |most, d| if d.is_nan() || d > most { d } else { most })
}

/// Whether they differ in any bit.
pub(crate) fn differ(one: &[f64], other: &[f64]) -> bool {
    one.iter()
        .zip(other)
        .any(|(a, b)| a.to_bits() != b.to_bits())
}

/// The largest difference, in units of the largest value of the reading.
pub(crate) fn relative_distance(one: &[f64], other: &[f64]) -> f64 {
    let largest = one
        .iter()
        .chain(other)
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let apart = one
        .iter()
        .zip(other)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    if apart > 0.0 { apart / largest } else { 0.0 }
}

/// Readings before and after shorter and shorter steps. A step moves an FMU in proportion to its
/// length, but for rounding; the longest that moves it by far too much tells what it resolves.
pub(crate) fn resolution(readings: &[Vec<f64>], sizes: &[f64]) -> f64 {
    let mut coarse: f64 = 0.0;
    let pairs: Vec<_> = readings.chunks_exact(2).collect();
    let Some(&[first, ref rest @ ..]) = pairs.get(..) else {
        return 0.0;
    };

    for variable in 0..first[0].len() {
        // The rate is that of the first short step, which is long enough for it.
        let rate = (first[1][variable] - first[0][variable]).abs() / sizes[0];
        let rounding = 64.0 * f64::EPSILON * first[0][variable].abs();
        for (pair, size) in rest.iter().zip(&sizes[1..]) {
            let moved = (pair[1][variable] - pair[0][variable]).abs();
            if moved > 4.0 * rate * size + rounding && moved.is_finite() && rate > 0.0 {
                coarse = coarse.max(moved / rate);
            }
        }
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of an FMU that is at `at(time)`, before and after these steps, one after the other.
    fn readings(at: impl Fn(f64) -> f64, sizes: &[f64]) -> Vec<Vec<f64>> {
        let mut time = 0.3;
        let mut pair = |size: &f64| {
            let before = at(time);
            time += size;
            [vec![before], vec![at(time)]]
        };
        sizes.iter().flat_map(&mut pair).collect()
    }

    #[test]
    fn a_unit_that_moves_by_whole_ticks_resolves_no_less() {
        let sizes: Vec<f64> = (0..9).map(|power| 1e-3 * 0.1_f64.powi(power)).collect();
        let found = resolution(
            &readings(|time| (time / 1e-6).ceil() * 1e-6, &sizes),
            &sizes,
        );
        assert!((5e-7..2e-6).contains(&found), "{found}");
        assert_eq!(resolution(&readings(f64::sin, &sizes), &sizes), 0.0);
    }

    #[test]
    fn noise_is_measured_by_the_largest_value() {
        assert_eq!(
            relative_distance(&[1000.0, 1.0], &[1000.0, 1.1]),
            0.10000000000000009 / 1000.0
        );
        assert_eq!(relative_distance(&[0.0], &[0.0]), 0.0);
    }
}
