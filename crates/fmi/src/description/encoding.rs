//! From the bytes of a file to its characters. The standard asks for UTF-8; other tools have other
//! habits.

use std::borrow::Cow;

use super::findings::{DescriptionError, Findings, quoted};

/// The text of a file. What is not UTF-8 is a departure from the standard.
pub(super) fn decode<'a>(
    bytes: &'a [u8],
    findings: &Findings,
) -> Result<Cow<'a, str>, DescriptionError> {
    if let Some((text, name)) = utf16(bytes) {
        findings.departure(
            1,
            format!("the file is written in {name}, where the standard asks for UTF-8"),
        )?;
        return text
            .map(Cow::Owned)
            .ok_or_else(|| DescriptionError::Encoding {
                line: 1,
                message: format!(
                    "the file begins as {name} but does not go on so; save it as UTF-8"
                ),
            });
    }

    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let declared = declared(bytes);

    match std::str::from_utf8(bytes) {
        // Whatever the declaration says: text that reads as UTF-8 and is more than ASCII can hardly
        // be anything else.
        Ok(text) => {
            let other = declared.filter(|name| !text.is_ascii() && !is_utf8_or_subset(name));
            if let Some(name) = other {
                findings.departure(
                    1,
                    format!(
                        "the encoding {} is declared, but the file is UTF-8",
                        quoted(name)
                    ),
                )?;
            }
            Ok(Cow::Borrowed(text))
        }
        Err(error) => {
            let line = 1 + bytes[..error.valid_up_to()]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count() as u32;
            single_bytes(bytes, declared, line, findings).map(Cow::Owned)
        }
    }
}

/// Text that is not UTF-8, with a byte for every character if it is to be understood.
fn single_bytes(
    bytes: &[u8],
    declared: Option<&str>,
    line: u32,
    findings: &Findings,
) -> Result<String, DescriptionError> {
    match declared.filter(|name| !is_utf8_or_subset(name)) {
        Some(name) if is_single_byte(name) => {
            findings.departure(
                1,
                format!(
                    "the encoding {} is declared, where the standard asks for UTF-8",
                    quoted(name)
                ),
            )?;
        }
        Some(name) => {
            let message = format!(
                "the encoding {} is declared, which cannot be read; UTF-8, UTF-16, ISO-8859-1 and \
                 Windows-1252 can",
                quoted(name)
            );
            return Err(DescriptionError::Encoding { line: 1, message });
        }
        None => {
            let message =
                "the characters are not UTF-8, as the standard asks; they are read as Windows-1252"
                    .to_owned();
            findings.departure(line, message)?;
        }
    }
    Ok(windows_1252(bytes))
}

/// The text and the name of its encoding, if the file begins like UTF-16, with or without a byte
/// order mark.
fn utf16(bytes: &[u8]) -> Option<(Option<String>, &'static str)> {
    let (little, skipped) = match bytes {
        [0xff, 0xfe, ..] => (true, 2),
        [0xfe, 0xff, ..] => (false, 2),
        [b'<', 0, ..] => (true, 0),
        [0, b'<', ..] => (false, 0),
        _ => return None,
    };
    let (pairs, rest) = bytes[skipped..].as_chunks::<2>();
    let join = if little {
        u16::from_le_bytes
    } else {
        u16::from_be_bytes
    };
    let text =
        char::decode_utf16(pairs.iter().map(|&pair| join(pair))).collect::<Result<String, _>>();
    let name = if little {
        "UTF-16 (little endian)"
    } else {
        "UTF-16 (big endian)"
    };

    Some((text.ok().filter(|_| rest.is_empty()), name))
}

/// The encoding that the XML declaration names.
fn declared(bytes: &[u8]) -> Option<&str> {
    let head = bytes.strip_prefix(b"<?xml")?;
    let end = head.windows(2).take(300).position(|pair| pair == b"?>")?;
    let head = std::str::from_utf8(&head[..end]).ok()?;
    let value = head
        .split_once("encoding")?
        .1
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let quote = value.chars().next().filter(|&c| c == '"' || c == '\'')?;

    value[1..].split_once(quote).map(|(name, _)| name.trim())
}

fn is_utf8_or_subset(name: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Names of Latin-1 and of its superset in Windows.
const SINGLE_BYTE: [&str; 7] = [
    "iso-8859-1",
    "iso8859-1",
    "iso_8859-1",
    "latin1",
    "latin-1",
    "windows-1252",
    "cp1252",
];

fn is_single_byte(name: &str) -> bool {
    SINGLE_BYTE
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Windows-1252, which is ISO-8859-1 with characters where the latter has control codes that nobody
/// means.
fn windows_1252(bytes: &[u8]) -> String {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    let character = |&byte: &u8| match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    bytes.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::super::findings::Strictness;
    use super::*;

    fn lenient(bytes: &[u8]) -> (String, usize) {
        let findings = Findings::new(Strictness::Lenient);
        let text = decode(bytes, &findings).unwrap().into_owned();
        (text, findings.into_warnings().len())
    }

    #[test]
    fn utf8_is_taken_with_and_without_its_mark() {
        assert_eq!(lenient("<é/>".as_bytes()), ("<é/>".into(), 0));
        assert_eq!(lenient("\u{feff}<é/>".as_bytes()), ("<é/>".into(), 0));
    }

    #[test]
    fn utf16_is_understood_in_both_orders() {
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = "\u{feff}<Ω𝄞/>".encode_utf16().flat_map(order).collect();
            assert_eq!(lenient(&bytes), ("<Ω𝄞/>".into(), 1));
            assert_eq!(lenient(&bytes[2..]), ("<Ω𝄞/>".into(), 1));
            assert!(
                decode(
                    &bytes[..bytes.len() - 1],
                    &Findings::new(Strictness::Lenient)
                )
                .is_err()
            );
        }
    }

    #[test]
    fn latin_letters_are_understood_where_they_are_declared_and_where_not() {
        assert_eq!(
            lenient(b"<?xml encoding='ISO-8859-1'?><\xe9\x80/>").0,
            "<?xml encoding='ISO-8859-1'?><é€/>"
        );
        let findings = Findings::new(Strictness::Lenient);
        assert_eq!(decode(b"<a>\n\xe9</a>", &findings).unwrap(), "<a>\né</a>");
        assert_eq!(findings.into_warnings()[0].line, 2);
        let strict = Findings::new(Strictness::Strict);
        assert!(decode(b"<a>\n\xe9</a>", &strict).is_err());
    }

    #[test]
    fn an_encoding_that_cannot_be_read_is_named() {
        let findings = Findings::new(Strictness::Lenient);
        let error = decode(
            b"<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><\x83\x80/>",
            &findings,
        )
        .unwrap_err();
        assert!(error.to_string().contains("`Shift_JIS`"), "{error}");
    }
}
