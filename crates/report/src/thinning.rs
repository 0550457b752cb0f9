//! Fewer points for the same picture.

/// At most `most` points that look the same: of each stretch of points the lowest and the highest, in the order of time, so
/// that no peak is lost; and the very first and last. Points that are not finite are left out.
pub fn thinned(times: &[f64], values: &[f64], most: usize) -> Vec<(f64, f64)> {
    let finite = |(t, x): &(f64, f64)| t.is_finite() && x.is_finite();
    let points: Vec<(f64, f64)> = times
        .iter()
        .copied()
        .zip(values.iter().copied())
        .filter(finite)
        .collect();
    if points.len() <= most.max(4) {
        return points;
    }
    let stretches = (most.max(4) - 2) / 2;
    let (first, last) = (points[0], points[points.len() - 1]);
    let inner = &points[1..points.len() - 1];
    let mut kept = vec![first];
    for stretch in 0..stretches {
        let from = stretch * inner.len() / stretches;
        let to = (stretch + 1) * inner.len() / stretches;
        keep_extremes(&inner[from..to], &mut kept);
    }
    kept.push(last);
    kept
}

fn keep_extremes(stretch: &[(f64, f64)], kept: &mut Vec<(f64, f64)>) {
    let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let (Some(&low), Some(&high)) = (
        stretch.iter().min_by(by_value),
        stretch.iter().max_by(by_value),
    ) else {
        return;
    };
    let (earlier, later) = if low.0 <= high.0 {
        (low, high)
    } else {
        (high, low)
    };
    kept.push(earlier);
    if later.0 > earlier.0 {
        kept.push(later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_and_ends_survive() {
        let times: Vec<f64> = (0..100_000).map(f64::from).collect();
        let mut values: Vec<f64> = times.iter().map(|t| (t * 1e-3).sin()).collect();
        (values[31_337], values[77_777]) = (50.0, -40.0);
        let points = thinned(&times, &values, 2000);
        assert!(points.len() <= 2000 && points.len() > 1500);
        assert!(points.contains(&(31_337.0, 50.0)) && points.contains(&(77_777.0, -40.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!((points[0].0, points[points.len() - 1].0), (0.0, 99_999.0));
    }

    #[test]
    fn few_points_stay_as_they_are_and_nan_is_left_out() {
        assert_eq!(
            thinned(&[0.0, 1.0, 2.0], &[5.0, f64::NAN, 6.0], 2000),
            [(0.0, 5.0), (2.0, 6.0)]
        );
    }
}
