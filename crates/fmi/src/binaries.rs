//! Binary values as numbers: a connection carries numbers, so that bytes travel as the text of
//! their hexadecimal digits does, by its [number](crate::strings).

use crate::call_error::CallError;
use crate::guard;
use crate::strings;

/// Bytes as digits, two for each.
pub(crate) fn digits(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    let pairs = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    pairs.collect()
}

/// Digits as bytes; spaces do not count.
pub(crate) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = digits
        .bytes()
        .filter(|b| !b.is_ascii_whitespace())
        .collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(pair).collect())
        .flatten()
}

/// The bytes of these numbers.
pub(crate) fn of_numbers(numbers: &[f64]) -> Vec<Vec<u8>> {
    let each = numbers.iter();
    each.map(|&number| bytes(&strings::text(number)).unwrap_or_default())
        .collect()
}

/// The numbers of bytes that an FMU has just shown; `function` is where they come from.
pub(crate) fn numbers_of(
    function: &'static str,
    sizes: &[usize],
    places: &[*const u8],
    numbers: &mut [f64],
) -> Result<(), CallError> {
    for (number, (&size, &place)) in numbers.iter_mut().zip(sizes.iter().zip(places)) {
        if size == 0 {
            *number = 0.0;
            continue;
        }
        let bytes = guard::copied_bytes(place, size);
        let bytes = bytes.ok_or(CallError::BadBinary { function, size })?;
        *number = strings::passing_number(&digits(&bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_their_digits() {
        assert_eq!(digits(&[0, 255, 127, 128]), "00ff7f80");
        assert_eq!(bytes("00 FF7f 80"), Some(vec![0, 255, 127, 128]));
        assert_eq!(
            (bytes("0"), bytes("xy"), bytes("")),
            (None, None, Some(vec![]))
        );
    }

    #[test]
    fn bytes_travel_as_numbers() {
        let all: [&[u8]; 3] = [&[0, 1, 0], b"a text", &[]];
        let sizes = all.map(<[u8]>::len);
        let places = all.map(<[u8]>::as_ptr);
        let mut numbers = [f64::NAN; 3];
        numbers_of("f", &sizes, &places, &mut numbers).unwrap();
        assert_eq!(of_numbers(&numbers), all.map(<[u8]>::to_vec));
    }

    #[test]
    fn bytes_that_are_not_there_are_an_error() {
        let nowhere = std::ptr::without_provenance::<u8>(8);
        let outcome = numbers_of("f", &[4], &[nowhere], &mut [0.0]);
        assert_eq!(
            outcome,
            Err(CallError::BadBinary {
                function: "f",
                size: 4
            })
        );
    }
}
