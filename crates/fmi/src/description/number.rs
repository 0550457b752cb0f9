//! Numbers and truth values as files write them.

/// A value with whether it was written as XML Schema has it.
pub(super) type Read<T> = Option<(T, bool)>;

/// `xs:double`; a decimal comma, `inf` and a Fortran exponent are understood too.
pub(super) fn float(text: &str) -> Read<f64> {
    let text = text.trim();
    match text {
        "INF" | "+INF" => return Some((f64::INFINITY, true)),
        "-INF" => return Some((f64::NEG_INFINITY, true)),
        "NaN" => return Some((f64::NAN, true)),
        "1.#INF" => return Some((f64::INFINITY, false)),
        "-1.#INF" => return Some((f64::NEG_INFINITY, false)),
        _ => {}
    }

    if let Ok(value) = text.parse::<f64>() {
        // Rust reads words that XML Schema does not know, such as `infinity`.
        return Some((value, !text.contains(['n', 'N'])));
    }

    let repaired = if text.contains('.') {
        text.to_owned()
    } else {
        text.replacen(',', ".", 1)
    };
    let repaired = repaired.replacen(['d', 'D'], "e", 1);
    Some((repaired.parse().ok()?, false))
}

/// An integer; `3.0` is understood too.
pub(super) fn integer(text: &str) -> Read<i128> {
    let text = text.trim();
    if let Ok(value) = text.parse::<i128>() {
        return Some((value, true));
    }

    let value = text.parse::<f64>().ok()?;
    (value.fract() == 0.0 && value.abs() < 9e15).then_some((value as i128, false))
}

/// `xs:boolean`; other cases are understood too.
pub(super) fn boolean(text: &str) -> Read<bool> {
    match text.trim() {
        "true" | "1" => Some((true, true)),
        "false" | "0" => Some((false, true)),
        other if other.eq_ignore_ascii_case("true") => Some((true, false)),
        other if other.eq_ignore_ascii_case("false") => Some((false, false)),
        _ => None,
    }
}

/// `xs:hexBinary`.
pub(super) fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.trim().as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }

    pairs
        .iter()
        .map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_many_tools_are_understood() {
        assert_eq!(float(" 1.5e3 "), Some((1500.0, true)));
        assert_eq!(float("-INF"), Some((f64::NEG_INFINITY, true)));
        assert!(float("NaN").unwrap().0.is_nan());
        assert_eq!(float("inf"), Some((f64::INFINITY, false)));
        assert_eq!(float("1,5"), Some((1.5, false)));
        assert_eq!(float("1.5D-3"), Some((0.0015, false)));
        for wrong in ["", "x", "1,000.5", "1,2,3", "0x10", "1.5 2.5"] {
            assert_eq!(float(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn integers_may_be_written_as_floats_and_are_never_rounded() {
        assert_eq!(
            integer("18446744073709551615"),
            Some((u64::MAX.into(), true))
        );
        assert_eq!(integer("3.0"), Some((3, false)));
        assert_eq!(integer("3.5"), None);
        assert_eq!(integer("NaN"), None);
    }

    #[test]
    fn truth_values_have_two_spellings_and_a_third_that_is_understood() {
        assert_eq!(
            (boolean("1"), boolean("false")),
            (Some((true, true)), Some((false, true)))
        );
        assert_eq!(
            (boolean("True"), boolean("yes")),
            (Some((true, false)), None)
        );
    }

    #[test]
    fn bytes_come_in_pairs_of_digits() {
        assert_eq!(bytes("666f6F"), Some(b"foo".to_vec()));
        assert_eq!((bytes("666"), bytes("6g"), bytes("é")), (None, None, None));
    }
}
