//! Numbers for people.

/// `value` with so many significant digits: plain from a thousandth to a million, with an exponent
/// outside.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return value.to_string();
    }

    // Rounding first: 9.9996 is 10.00, with one digit more before the point.
    let scientific = scientific(value, digits);
    let exponent = exponent(&scientific);

    if (-3..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        scientific
    }
}

/// `value` with so many significant digits and an exponent.
pub(crate) fn scientific(value: f64, digits: usize) -> String {
    format!("{value:.*e}", digits.saturating_sub(1))
}

/// The exponent of a number that is written with one.
pub(crate) fn exponent(scientific: &str) -> i32 {
    let exponent = scientific.rsplit('e').next();
    exponent.and_then(|e| e.parse().ok()).unwrap_or(0)
}

/// As [`significant`], without zeros at the end: for steps and times, which people choose round.
pub(crate) fn brief(value: f64) -> String {
    let text = significant(value, 7);
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", without_zeros(mantissa)),
        None => without_zeros(&text).into(),
    }
}

/// How long something took, in three digits and a unit that suits it.
pub(crate) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (1e3 * s, "ms"),
        s => (1e6 * s, "µs"),
    };
    format!("{} {unit}", without_zeros(&significant(value, 3)))
}

/// Without zeros at the end of a fraction.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// Digits in groups of three, from five digits on.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }

    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_four_digits_at_any_size() {
        let shown: Vec<String> = [
            0.0, 1.0, -12.3456, 0.00123456, 123456.7, 1234567.0, 1.5e-9, 9.99996,
        ]
        .map(|x| significant(x, 4))
        .into();
        assert_eq!(
            shown,
            [
                "0", "1.000", "-12.35", "0.001235", "123457", "1.235e6", "1.500e-9", "10.00"
            ]
        );
        assert_eq!(significant(f64::NAN, 4), "NaN");
    }

    #[test]
    fn round_numbers_stay_short() {
        assert_eq!(
            [0.02, 10.0, 1e-6, 1e6, 100.0].map(brief),
            ["0.02", "10", "1e-6", "1e6", "100"]
        );
    }

    #[test]
    fn durations_have_a_unit_that_suits_them() {
        assert_eq!(
            [0.0, 1.234e-5, 0.038, 1.0, 123.4].map(duration),
            ["0 µs", "12.3 µs", "38 ms", "1 s", "123 s"]
        );
    }

    #[test]
    fn long_counts_are_grouped() {
        assert_eq!(
            [7, 1234, 12345, 1234567].map(count),
            ["7", "1234", "12 345", "1 234 567"]
        );
    }
}
