//! Student's distribution: how far from its mean a value may be whose variance is estimated too.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// From so many degrees of freedom on, an expansion about the normal distribution is as good as the sum.
const MANY: usize = 200;
/// Halvings of an interval that holds the quantile.
const HALVINGS: usize = 80;

/// The number that the magnitude of a value of Student's distribution stays below with this probability.
pub(crate) fn two_sided_quantile(probability: f64, freedom: usize) -> f64 {
    if freedom > MANY {
        return expanded(normal_quantile(probability), freedom as f64);
    }

    let mut low = 0.0;
    let mut high = 1.0;
    while within(high, freedom) < probability {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The probability of a magnitude of at most `t`: finite sums (Abramowitz, Stegun 1964, 26.7.3 and 26.7.4).
fn within(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // The powers of the cosine are odd where the degrees of freedom are.
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = usize::from(odd);
    while power + 2 <= freedom {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }

    if odd {
        2.0 / PI * (angle + sine * sum)
    } else {
        sine * sum
    }
}

/// The same for the normal distribution.
fn normal_quantile(probability: f64) -> f64 {
    let mut low = 0.0;
    let mut high = 40.0;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if error_function(middle * FRAC_1_SQRT_2) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Its series, all of whose terms are positive (Abramowitz, Stegun 1964, 7.1.6).
fn error_function(x: f64) -> f64 {
    if x > 6.0 {
        return 1.0; // to the last bit
    }
    let mut term = x;
    let mut sum = x;
    let mut index = 1.0;
    while term > f64::EPSILON * 0.1 * sum {
        term *= 2.0 * x * x / (2.0 * index + 1.0);
        sum += term;
        index += 1.0;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

/// A quantile of the normal distribution as one of Student's (Abramowitz, Stegun 1964, 26.7.5).
fn expanded(x: f64, freedom: f64) -> f64 {
    let square = x * x;
    let first = x * (square + 1.0) / 4.0;
    let second = x * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = x * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    x + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_scipy() {
        // scipy.stats.t.ppf(0.975, freedom), and of 0.995 for the last.
        for (freedom, known) in [
            (1, 12.706_204_736_174_7),
            (2, 4.302_652_729_749_46),
            (3, 3.182_446_305_283_71),
            (10, 2.228_138_851_986_27),
            (199, 1.971_956_544_251_75),
            (201, 1.971_836_506_779_86),
            (5000, 1.960_438_551_706_51),
        ] {
            let found = two_sided_quantile(0.95, freedom);
            assert!(
                (found - known).abs() < 1e-7 * known,
                "{freedom}: {found}, {known}"
            );
        }
        assert!((two_sided_quantile(0.99, 30) - 2.749_995_653_567_2).abs() < 1e-8);
    }

    #[test]
    fn sum_and_expansion_meet() {
        let summed = two_sided_quantile(0.95, MANY);
        let expanded = expanded(normal_quantile(0.95), MANY as f64);
        assert!((summed - expanded).abs() < 1e-8);
    }
}
