//! Lines that fit a terminal.

/// Lines of a summary are at most so long, as far as words permit.
pub const LINE: usize = 80;

/// A sentence in lines that fit a terminal, those after the first a little indented.
pub fn paragraph(text: &str) -> String {
    wrapped("", "  ", text)
}

/// A labeled entry: the label in a column of its own, the text wrapped beside it.
pub(crate) fn entry(label: &str, text: &str) -> String {
    let first = format!("{label:<width$}", width = LABEL);
    wrapped(&first, &" ".repeat(LABEL), text)
}

/// The first line of a summary, whose parts stand apart as long as they fit.
pub(crate) fn title(line: &str) -> String {
    if line.chars().count() <= LINE {
        return format!("{line}\n");
    }
    wrapped("", "  ", line)
}

/// The width of the column of labels.
pub(crate) const LABEL: usize = 10;

/// A paragraph: `first` before its first line, `rest` before the others, broken between words.
pub(crate) fn wrapped(first: &str, rest: &str, text: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_begun = false;

    for word in text.split_whitespace() {
        let needed = line.chars().count() + usize::from(is_begun) + word.chars().count();
        if is_begun && needed > LINE {
            lines += line.trim_end();
            lines.push('\n');
            line = rest.to_owned();
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line += word;
        is_begun = true;
    }

    lines + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_broken_between_words_and_indented_below_its_label() {
        let text = entry("quality", &"interface ".repeat(12));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("quality   interface interface"));
        assert!(lines[1].starts_with("          interface"));
        assert!(lines.iter().all(|line| line.len() <= LINE));
    }

    #[test]
    fn a_word_longer_than_a_line_keeps_its_line() {
        let word = "x".repeat(100);
        assert_eq!(entry("method", &word), format!("method    {word}\n"));
        assert_eq!(entry("method", ""), "method\n");
    }
}
