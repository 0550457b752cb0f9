//! Fewer points for the same picture.

/// At most about so many points of a curve are drawn.
const MOST: usize = 6000;

/// The points of a curve, of many that lie together the first, the least, the largest and the last: no peak is lost.
pub(super) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST {
        return points.to_vec();
    }
    let together = points.len().div_ceil(MOST / 4);
    points
        .chunks(together)
        .flat_map(ends_and_extremes)
        .collect()
}

fn ends_and_extremes(bin: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let rows = 0..bin.len();
    let height = |row: &usize| bin[*row].1;
    let least = rows
        .clone()
        .min_by(|one, other| height(one).total_cmp(&height(other)));
    let largest = rows.max_by(|one, other| height(one).total_cmp(&height(other)));
    let mut chosen: Vec<usize> = [Some(0), least, largest, bin.len().checked_sub(1)]
        .into_iter()
        .flatten()
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|row| bin[row]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_remain_and_peaks_are_among_them() {
        let spike = |n: usize| {
            if n == 654_321 {
                1e3
            } else {
                (n as f64 * 0.01).sin()
            }
        };
        let points: Vec<(f64, f64)> = (0..1_000_000).map(|n| (n as f64, spike(n))).collect();
        let few = thinned(&points);
        assert!(few.len() <= MOST);
        assert!(few.contains(&(654_321.0, 1e3)));
        assert_eq!((few.first(), few.last()), (points.first(), points.last()));
        assert!(few.is_sorted_by(|one, other| one.0 < other.0));
    }
}
