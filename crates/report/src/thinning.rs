//! Fewer points for the same picture.

/// Time and value.
type PlotPoint = (f64, f64);

/// At most `most` points that look the same: of each stretch of points the lowest and the highest,
/// in the order of time, so that no peak is lost; and the very first and last. Points that are not
/// finite are left out.
pub fn thinned(times: &[f64], values: &[f64], most: usize) -> Vec<PlotPoint> {
    let points = finite_points(times, values);
    let most = most.max(4);
    let [first, inner @ .., last] = points.as_slice() else {
        return points;
    };
    if points.len() <= most {
        return points;
    }

    let mut kept = vec![*first];
    let stretches = (most - 2) / 2;

    for stretch in 0..stretches {
        let from = stretch * inner.len() / stretches;
        let to = (stretch + 1) * inner.len() / stretches;
        keep_extremes(&inner[from..to], &mut kept);
    }

    kept.push(*last);
    kept
}

fn finite_points(times: &[f64], values: &[f64]) -> Vec<PlotPoint> {
    let points = times.iter().copied().zip(values.iter().copied());
    let finite = points.filter(|(time, value)| time.is_finite() && value.is_finite());
    finite.collect()
}

/// Keeps the lowest and the highest point, the earlier one first.
fn keep_extremes(stretch: &[PlotPoint], kept: &mut Vec<PlotPoint>) {
    let by_value = |a: &&PlotPoint, b: &&PlotPoint| a.1.total_cmp(&b.1);
    let lowest = stretch.iter().min_by(by_value);
    let highest = stretch.iter().max_by(by_value);
    let (Some(&low), Some(&high)) = (lowest, highest) else {
        return;
    };
    let low_first = low.0 <= high.0;
    let (earlier, later) = if low_first { (low, high) } else { (high, low) };
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
