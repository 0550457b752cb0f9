//! What is wrong with a model, said so that it can be mended: file, line, the line itself, and what to try.

use std::fmt;
use std::ops::Range;

use dovetail_core::Remedy;

/// The text of a model file, with the name under which the user knows it.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// Path, as the user gave it.
    pub path: String,
    /// Contents.
    pub text: String,
}

impl SourceText {
    /// Of a file whose contents are no text.
    pub(crate) fn without_text(path: &std::path::Path) -> Self {
        Self {
            path: path.display().to_string(),
            text: String::new(),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// Where: a range of bytes of the file.
    pub span: Option<Range<usize>>,
    /// Another place that matters, and what is there.
    pub first: Option<Box<(Range<usize>, &'static str)>>,
    /// What to try, in a sentence.
    pub help: Option<String>,
    /// What to try, as data: instead of the help, or beside it.
    pub remedies: Vec<Remedy>,
    /// What was chosen beside the file and is to blame, if something is.
    pub choice: Option<Box<GivenChoice>>,
    /// Whom it concerns, where that is known: for programs; the message says it too.
    pub subject: Option<Box<Subject>>,
}

/// Whom a problem concerns, and when it showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// The system.
    pub system: Option<String>,
    /// The variable that shows it, `system.name`.
    pub variable: Option<String>,
    /// The time of the model.
    pub time: Option<f64>,
}

/// Something that was chosen beside the file, by whoever reads or runs the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenChoice {
    /// A value that was set: [`Overrides::values`](crate::Overrides::values).
    Value {
        /// `system.name`.
        name: String,
        /// As it was given.
        text: String,
    },
    /// A value of a file of parameters: [`Overrides::parameter_files`](crate::Overrides::parameter_files).
    FileValue {
        /// `system.name`.
        name: String,
        /// As it was given.
        text: String,
        /// The file, and the line in it where it has lines.
        place: String,
    },
    /// An option of the run: [`Choices::set`](crate::Choices::set).
    Option {
        /// Its key.
        key: String,
        /// As it was given.
        text: String,
    },
}

impl Problem {
    /// A problem at a place.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            span: Some(span),
            first: None,
            help: None,
            remedies: Vec::new(),
            choice: None,
            subject: None,
        }
    }

    /// A problem of the whole, or of what was chosen beside the file.
    pub fn general(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            span: None,
            first: None,
            help: None,
            remedies: Vec::new(),
            choice: None,
            subject: None,
        }
    }

    /// A problem of a value that was set over the file's.
    pub(crate) fn of_value(name: &str, text: &str, message: impl Into<String>) -> Self {
        let name = name.to_owned();
        let text = text.to_owned();
        Self::general(message).of(GivenChoice::Value { name, text })
    }

    /// A problem of an option of the run.
    pub(crate) fn of_option(key: &str, text: &str, message: impl Into<String>) -> Self {
        let key = key.to_owned();
        let text = text.to_owned();
        Self::general(message).of(GivenChoice::Option { key, text })
    }

    /// The same, with the choice that is to blame.
    pub fn of(self, choice: GivenChoice) -> Self {
        Self {
            choice: Some(Box::new(choice)),
            ..self
        }
    }

    /// The same, of a system, unless it is known already whom it concerns.
    pub fn of_system(mut self, name: &str) -> Self {
        let subject = self.subject.get_or_insert_default();
        subject.system.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The same, of a variable, `system.name`.
    pub fn of_variable(mut self, system: &str, name: &str) -> Self {
        let subject = self.subject.get_or_insert_default();
        subject.system = Some(system.to_owned());
        subject.variable = Some(format!("{system}.{name}"));
        self
    }

    /// Adds what to try, as data.
    pub fn with(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        self.remedies.extend(remedies);
        self
    }

    /// What is wrong, with the choice that is to blame.
    pub fn sentence(&self) -> String {
        let message = &self.message;
        match self.choice.as_deref() {
            None => message.clone(),
            Some(GivenChoice::Value { name, text }) => format!("`{name}` = {text}: {message}"),
            Some(GivenChoice::FileValue { name, text, place }) => {
                format!("{place}: `{name}` = {text}: {message}")
            }
            Some(GivenChoice::Option { key, text }) => {
                format!("{message} (given as `{key}={text}`)")
            }
        }
    }

    /// Adds another place that matters, and what is there.
    pub fn first(self, span: Range<usize>, what: &'static str) -> Self {
        Self {
            first: Some(Box::new((span, what))),
            ..self
        }
    }

    /// Adds what to try.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds `did you mean …?` where a known name is near.
    pub fn suggest<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match dovetail_core::nearest(name, known) {
            Some(near) => {
                let help = format!("did you mean `{near}`?");
                self.help(help)
            }
            None => self,
        }
    }
}

/// All that is wrong with a model. Displays itself as a compiler would.
#[derive(Clone, Debug)]
pub struct BadModel {
    /// The file.
    pub source: SourceText,
    /// The problems, in the order in which they were found.
    pub problems: Vec<Problem>,
}

impl std::error::Error for BadModel {}

impl BadModel {
    /// What to try, as data: of all problems.
    pub fn remedies(&self) -> Vec<Remedy> {
        let problems = self.problems.iter();
        problems
            .flat_map(|problem| problem.remedies.iter().cloned())
            .collect()
    }

    /// Line and column of a problem in the file, both from 1; none where it is in no place of it.
    pub fn place(&self, problem: &Problem) -> Option<(usize, usize)> {
        let span = problem.span.as_ref()?;
        Some(line_and_column(&self.source.text, span.start))
    }

    /// A file of which there is no text to point at.
    pub(crate) fn of_file(path: &std::path::Path, problem: Problem) -> Self {
        Self {
            source: SourceText::without_text(path),
            problems: vec![problem],
        }
    }
}

impl fmt::Display for BadModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            self.show(problem, f)?;
        }
        Ok(())
    }
}

impl BadModel {
    fn show(&self, problem: &Problem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = problem.sentence();
        let sentence: String = sentence.chars().map(printable_or_newline).collect();
        write!(f, "error: {sentence}")?;
        self.show_place(problem, f)?;

        if let Some(help) = &problem.help {
            write!(f, "\n help: {help}")?;
        }

        for remedy in &problem.remedies {
            write!(f, "\n try: {remedy}")?;
        }
        writeln!(f)
    }

    fn show_place(&self, problem: &Problem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.source.path;
        let Some(span) = &problem.span else {
            return write!(f, "\n --> {path}");
        };
        self.show_line(span, "", f)?;
        match problem.first.as_deref() {
            Some((first, what)) => self.show_line(first, what, f),
            None => Ok(()),
        }
    }

    /// A line of the file with a mark below, and what is there.
    fn show_line(
        &self,
        span: &Range<usize>,
        what: &str,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let path = &self.source.path;
        let TextPlace {
            line,
            column,
            text,
            underline,
        } = TextPlace::of(&self.source.text, span);
        let margin = " ".repeat(line.to_string().len());
        write!(f, "\n{margin}--> {path}:{line}:{column}")?;

        let marked = format!("{underline} {what}");
        let marked = marked.trim_end();
        write!(f, "\n{margin} |\n{line} | {text}\n{margin} | {marked}")
    }
}

/// Line and column (from 1) of a byte of the text.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let at = floor_boundary(text, at);
    let line = text[..at].matches('\n').count() + 1;
    let column = text[line_start(text, at)..at].chars().count() + 1;
    (line, column)
}

/// Where the line of a byte begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the line of a byte ends.
fn line_end(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline)
}

/// So many characters of a line are shown, before the place and from there on.
const SHOWN_BEFORE: usize = 80;
const SHOWN_AFTER: usize = 80;

/// A byte range as people see it.
struct TextPlace {
    line: usize,
    column: usize,
    text: String,
    underline: String,
}

/// What is shown of a line before a place.
fn shown_before(before: &str) -> String {
    let cut = before.chars().count().saturating_sub(SHOWN_BEFORE);
    let mark = if cut > 0 { "…" } else { "" };
    let mut shown = mark.to_owned();
    shown.extend(before.chars().skip(cut).map(printable));
    shown
}

/// What is shown of a line from a place on.
fn shown_after(after: &str) -> String {
    let shown: String = after.chars().take(SHOWN_AFTER).map(printable).collect();
    match after.chars().nth(SHOWN_AFTER) {
        Some(_) => shown + "…",
        None => shown,
    }
}

/// As long as the text. Tabs stay tabs, so that the marks stand under what they mark.
fn blank(text: &str) -> String {
    let blank = |c: char| if c == '\t' { '\t' } else { ' ' };
    text.chars().map(blank).collect()
}

impl TextPlace {
    fn of(text: &str, span: &Range<usize>) -> Self {
        let start = floor_boundary(text, span.start);
        let end = floor_boundary(text, span.end.max(start));
        let line_end = line_end(text, start);
        let (line, column) = line_and_column(text, start);
        let marked = text[start..end.min(line_end).max(start)].chars().count();
        let before = shown_before(&text[line_start(text, start)..start]);
        let after = shown_after(text[start..line_end].trim_end_matches('\r'));

        Self {
            line,
            column,
            underline: blank(&before) + &"^".repeat(marked.clamp(1, SHOWN_AFTER)),
            text: before + &after,
        }
    }
}

/// What a file says must not give orders to a terminal.
pub(crate) fn printable(character: char) -> char {
    if character.is_control() && character != '\t' {
        '\u{fffd}'
    } else {
        character
    }
}

fn printable_or_newline(character: char) -> char {
    if character == '\n' {
        character
    } else {
        printable(character)
    }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_points_at_its_line() {
        let source = SourceText {
            path: "model.toml".into(),
            text: "[model]\nname = \"ü\" # x\nstop = 1\n".into(),
        };
        let start = source.text.find("stop").unwrap();
        let problem =
            Problem::at(start..start + 4, "unknown key `stop`").help("did you mean `stop-time`?");
        let shown = BadModel {
            source,
            problems: vec![problem],
        }
        .to_string();
        let expected = "error: unknown key `stop`\n --> model.toml:3:1\n  |\n3 | stop = 1\n  | ^^^^\n help: did you mean `stop-time`?\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_long_line_is_shown_in_part_and_without_control_characters() {
        let text = format!("{}\u{1b}[31mx{}", "a".repeat(1000), "b".repeat(1000));
        let source = SourceText {
            path: "m".into(),
            text,
        };
        let shown = BadModel {
            source,
            problems: vec![Problem::at(1005..1006, "odd")],
        }
        .to_string();
        assert!(
            shown.len() < 600 && shown.contains("m:1:1006") && !shown.contains('\u{1b}'),
            "{shown}"
        );
    }

    #[test]
    fn a_span_outside_the_text_is_no_panic() {
        let source = SourceText {
            path: "m".into(),
            text: "é".into(),
        };
        let problems = vec![Problem::at(1..99, "odd"), Problem::at(50..60, "odd")];
        assert!(BadModel { source, problems }.to_string().contains("m:1:"));
    }
}
