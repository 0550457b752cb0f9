//! Colors on a terminal: none in a pipe, with NO_COLOR, or where a terminal cannot show them.

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RED: &str = "\x1b[1;31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const BLUE: &str = "\x1b[1;34m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// Whether colors are wanted here.
pub(crate) fn wanted(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// A text of ours, with its keywords in color.
pub(crate) fn painted(text: &str) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines.map(|(row, line)| line_of(row, line)).collect()
}

/// What lines of ours begin with.
const STARTS: [(&str, &str); 14] = [
    ("error:", RED),
    ("the run ended early:", RED),
    ("the run has diverged:", RED),
    ("too far from the reference:", RED),
    ("warning:", YELLOW),
    ("Warning:", YELLOW),
    ("note:", CYAN),
    ("method ", FAINT),
    ("steps ", FAINT),
    ("quality ", FAINT),
    ("time ", FAINT),
    ("results ", FAINT),
    ("work ", FAINT),
    ("workers ", FAINT),
];

/// What stands before the place of a mistake, and before advice.
const MARKS: [&str; 3] = ["--> ", "help: ", "try: "];

/// Verdicts in the line of the quality.
const VERDICTS: [(&str, &str); 4] = [
    ("good:", GREEN),
    ("doubtful:", YELLOW),
    ("unusable:", RED),
    ("unknown:", YELLOW),
];

fn line_of(row: usize, line: &str) -> String {
    let inner = line.trim_start();
    let mark = MARKS.iter().find(|mark| inner.starts_with(**mark));
    if let Some(mark) = mark.filter(|_| line.starts_with(' ')) {
        let (mark, rest) = line.split_at(line.len() - inner.len() + mark.len());
        return format!("{BLUE}{mark}{PLAIN}{rest}");
    }
    if let Some((number, source)) = source_line(line) {
        return format!("{BLUE}{number}|{PLAIN}{}", carets(source));
    }
    if row == 0 && line.contains(" … ") && line.contains("   ") {
        // The model's name, before the span of the run.
        let (model, rest) = line.split_once("   ").unwrap_or(("", line));
        return format!("{BOLD}{model}{PLAIN}   {rest}");
    }

    let start = STARTS.iter().find(|(start, _)| line.starts_with(start));
    let Some((start, color)) = start else {
        return line.to_owned();
    };
    format!("{color}{start}{PLAIN}{}", verdict(&line[start.len()..]))
}

/// The number and the text of a line of a model that is shown with an error.
fn source_line(line: &str) -> Option<(&str, &str)> {
    let (number, source) = line.split_once('|')?;
    let is_number = number.trim().chars().all(|c| c.is_ascii_digit());
    (is_number && !number.is_empty()).then_some((number, source))
}

/// The marks below a mistake.
fn carets(source: &str) -> String {
    match source.trim_start().starts_with('^') {
        true => format!("{RED}{}{PLAIN}\n", source.trim_end_matches('\n')),
        false => source.to_owned(),
    }
}

fn verdict(rest: &str) -> String {
    let word = rest.trim_start();
    let found = VERDICTS
        .iter()
        .find(|(verdict, _)| word.starts_with(verdict));
    let Some((verdict, color)) = found else {
        return rest.to_owned();
    };
    let space = &rest[..rest.len() - word.len()];
    format!("{space}{color}{verdict}{PLAIN}{}", &word[verdict.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_matter_are_colored_and_nothing_is_lost() {
        let text = "tank   0 … 60 s   done in 1 ms\nmethod    jacobi\nquality   good: all is well\n\
                    warning: b\nerror: x\n --> tank.toml:3\n  |\n3 | der(x) = y\n  |          ^\n help: z\n";
        let painted = painted(text);
        assert!(painted.contains("\x1b[32mgood:\x1b[0m"), "{painted:?}");
        assert!(painted.contains("\x1b[1;31merror:\x1b[0m x"));
        assert!(painted.contains("\x1b[1;34m help: \x1b[0mz"));
        let mut plain = painted;
        for code in [BOLD, FAINT, RED, GREEN, YELLOW, BLUE, CYAN, PLAIN] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, text);
    }
}
